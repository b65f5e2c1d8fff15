"""A model's frames and rows: poses, material points, bilateral constraints."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.differences import expect_slope
from corekit_testing.conformance.model_states import Probe, directions, extent, points_of
from corekit_testing.conformance.subject import Subject

__all__ = ["ROWS"]


def _with_frames(subject: Subject) -> Probe:
    probe = Probe(subject)
    if not probe.description.frames:
        raise NotApplicable("has no frames")
    return probe


@check("poses-orthonormal", "frames are rotated without reflection or stretch")
def poses_orthonormal(subject: Subject) -> None:
    probe = _with_frames(subject)
    for state in probe.states:
        rotation = probe.poses(state)[1]
        expect_close("Rᵀ·R", np.einsum("fji,fjk->fik", rotation, rotation), np.eye(3) + 0 * rotation, 1e-11)
        expect_close("det R", np.linalg.det(rotation), np.ones(len(rotation)), 1e-11)


@check("rows-are-slopes-of-points", "carrier rows are the slopes of material points", "point-jacobian")
def rows_are_slopes_of_points(subject: Subject) -> None:
    probe = _with_frames(subject)
    frame, local = points_of(probe.model, extent(probe.model, probe.states[0]))
    for state in probe.states:
        rows = probe.rows(state, frame, local)
        for direction in directions(probe.model, state):
            place = probe.along(state, direction, lambda moved: probe.points(moved, frame, local))
            expect_slope("rows·v of material points", rows @ direction, place)


@check("rows-well-formed", "unused entries of carrier rows have a valid index", "point-jacobian")
def rows_well_formed(subject: Subject) -> None:
    probe = _with_frames(subject)
    frame, local = points_of(probe.model, 1.0)
    k, n = probe.description.jacobian_width, len(probe.description.velocities)
    for state in probe.states:
        dofs = np.full((len(frame), k), -99, dtype=np.int64)
        probe.model.compute_point_jacobians(state, frame, local, dofs, np.zeros((len(frame), 3, k)))
        expect(((dofs >= 0) & (dofs < n)).all(), f"a carrier row names a velocity outside 0 … {n - 1}")


@check("stays-in-plane", "a planar body moves in its plane")
def stays_in_plane(subject: Subject) -> None:
    probe = _with_frames(subject)
    if probe.description.plane is None:
        raise NotApplicable("is not planar")
    origin, first, second = np.asarray(probe.description.plane)
    normal = np.cross(first, second)
    for state in probe.states:
        away = (probe.poses(state)[0] - origin) @ normal
        expect_close("distance of frames from the plane [m]", away, np.zeros_like(away), 1e-12)


def _with_rows(subject: Subject) -> Probe:
    probe = Probe(subject)
    if not probe.description.constraint_count:
        raise NotApplicable("has no bilateral rows with these options")
    return probe


@check("bilateral-rows-are-slopes", "J_b of position rows is the slope of c", "constraints")
def bilateral_rows_are_slopes(subject: Subject) -> None:
    probe = _with_rows(subject)
    position = ~probe.model.new_constraints().is_velocity_level
    if not position.any():
        raise NotApplicable("has rate rows alone with these options")
    for state in probe.states:
        rows = probe.bilateral(state)
        for direction in directions(probe.model, state):
            wanted = probe.along(
                state, direction, lambda moved: probe.bilateral(moved).position_error[position]
            )
            found = rows.product(direction)[position]
            expect_slope("J_b·v of position rows", found, wanted, terms=probe.reach(state))


@check(
    "bilateral-rows-fixed", "which rows prescribe a rate and which have bounds never changes", "constraints"
)
def bilateral_rows_fixed(subject: Subject) -> None:
    probe = _with_rows(subject)
    new = probe.model.new_constraints()
    for state in probe.states:
        rows = probe.bilateral(state)
        for name in ("is_velocity_level", "bounded"):
            expect((getattr(rows, name) == getattr(new, name)).all(), f"`{name}` of a row changes")
        inside = (rows.dofs >= 0) & (rows.dofs < state.v.size)
        expect(inside.all(), "a bilateral row names a velocity that does not exist")
    bounded = bool(new.bounded.any())
    expect(
        not bounded or "bounded-constraints" in subject.spec.provides,
        "has bounded rows without offering bounded-constraints",
    )


@check(
    "bilateral-curvature-is-slope", "∂(J_bᵀ·λ)/∂δ is the slope of J_bᵀ·λ", "constraints", "force-derivatives"
)
def bilateral_curvature_is_slope(subject: Subject) -> None:
    probe = _with_rows(subject)
    impulse = np.random.default_rng(5).normal(size=probe.description.constraint_count)

    def pull(state: State) -> Array:
        out = np.zeros(state.v.size)
        probe.bilateral(state).add_transpose_product(impulse, out)
        return out

    for state in probe.states:
        out = probe.model.new_stiffness_and_damping()[0]
        probe.model.compute_constraint_force_gradient(state, impulse, out)
        for direction in directions(probe.model, state):
            found = out.dense() @ direction
            terms = probe.reach(state) * float(np.abs(impulse).sum())
            expect_slope("∂(J_bᵀ·λ)/∂δ·δ", found, probe.along(state, direction, pull), terms=terms)


ROWS: tuple[Check, ...] = (
    poses_orthonormal,
    rows_are_slopes_of_points,
    rows_well_formed,
    stays_in_plane,
    bilateral_rows_are_slopes,
    bilateral_rows_fixed,
    bilateral_curvature_is_slope,
)
"""Checks of frames and rows."""
