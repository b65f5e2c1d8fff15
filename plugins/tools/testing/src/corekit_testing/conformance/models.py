"""What every model promises: layout, mass, motion, and the abilities it declares."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit_testing.conformance.answers import answer_checks
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.differences import BEYOND, expect_slope
from corekit_testing.conformance.model_base import BASE
from corekit_testing.conformance.model_compiled import COMPILED
from corekit_testing.conformance.model_constancy import CONSTANCY
from corekit_testing.conformance.model_energy import ENERGY
from corekit_testing.conformance.model_numbers import NUMBERS
from corekit_testing.conformance.model_rows import ROWS
from corekit_testing.conformance.model_slopes import SLOPES
from corekit_testing.conformance.model_states import (
    ModelSession,
    Probe,
    moved,
    new_state,
    rest_state,
)
from corekit_testing.conformance.model_surface import SURFACE
from corekit_testing.conformance.subject import Subject
from corekit_testing.conformance.symbolic import SYMBOLIC

__all__ = ["CHECKS"]


@check("description-consistent", "names are unique, everything has a unit, every index exists")
def layout_consistent(subject: Subject) -> None:
    description = Probe(subject).description
    frames, n = len(description.frames), len(description.velocities)
    for what, entries in (
        ("coordinate", description.coordinates),
        ("velocity", description.velocities),
        ("input", description.inputs),
    ):
        names = [entry.name for entry in entries]
        expect(len(set(names)) == len(names), f"two {what} entries share a name")
        bare = [entry.name for entry in entries if not entry.unit.strip()]
        expect(not bare, f"{what} {', '.join(bare[:3])} has no unit (1 if it has no dimension)")
    expect(len(set(description.frames)) == frames, "two frames share a name")
    for shape in description.shapes:
        expect(0 <= shape.frame < frames, f"a {shape.kind} is carried by frame {shape.frame} of {frames}")
        edge = shape.kind == "edge"
        expect(not edge or 0 <= shape.second_frame < frames, "an edge ends at a frame that does not exist")
    never = np.asarray(description.excluded_pairs)
    expect(never.ndim == 2 and never.shape[1] == 2, "`never` is not a list of pairs")
    expect(
        ((never >= 0) & (never < len(description.shapes))).all(), "`never` names a shape that does not exist"
    )
    expect(all(size >= 1 for size in (channel.size for channel in description.inputs)), "an input is empty")
    velocities, coordinates = (
        np.asarray(description.prescribed_velocity_index),
        np.asarray(description.prescribed_coordinate_index),
    )
    expect(velocities.shape == coordinates.shape, "prescribed velocities and coordinates differ in number")
    expect(((velocities >= 0) & (velocities < n)).all(), "a prescribed velocity does not exist")
    expect(
        ((coordinates >= 0) & (coordinates < len(description.coordinates))).all(),
        "a prescribed coordinate does not exist",
    )


@check("description-declared", "what the description has is declared as an ability, and the other way round")
def layout_declared(subject: Subject) -> None:
    description, can = Probe(subject).description, subject.spec.provides
    for has, ability in (
        (bool(description.shapes), "point-jacobian"),
        (description.constraint_count > 0, "constraints"),
        (len(description.prescribed_velocity_index) > 0, "prescribed"),
    ):
        expect(
            not has or ability in can, f"the description has what {ability!r} is for, but it is not offered"
        )
    if "point-jacobian" in can:
        within = 1 <= description.jacobian_width <= max(len(description.velocities), 1)
        expect(
            within,
            f"jacobian_width is {description.jacobian_width} for {len(description.velocities)} velocities",
        )
    if "planar" in can:
        carried = subject.free_base  # its plane goes with the base
        expect(carried or description.plane is not None, "says it is planar without a plane")
    if description.plane is not None:
        axes = np.asarray(description.plane)[1:]
        expect(axes.shape == (2, 3), "the plane is not an origin and two axes")
        expect_close("the plane's axes", axes @ axes.T, np.eye(2), 1e-12)


@check("answers-sized", "buffers have the description's sizes", is_basis=True)
def answers_sized(subject: Subject) -> None:
    probe = Probe(subject)
    for state in [*probe.states, rest_state(probe.model)]:
        _sized_answers(probe, state)


@check("answers-finite", "answers are finite")
def answers_finite(subject: Subject) -> None:
    probe = Probe(subject)
    for state in [*probe.states, rest_state(probe.model)]:
        for name, values in _sized_answers(probe, state).items():
            expect(np.isfinite(values).all(), f"{name} is not finite; {BEYOND}")


def _sized_answers(probe: Probe, state: State) -> dict[str, Array]:
    """What a model answers at a state; raises `CheckFailed` where something has not the description's size."""
    n, can = len(probe.description.velocities), probe.subject.spec.provides
    expect(probe.mass(state).shape == (n, n), f"M is not of size {n}")
    arrays = {"M": probe.mass(state), "f": probe.force(state)}
    arrays |= dict(zip(("position", "rotation"), probe.poses(state), strict=True))
    if "force-derivatives" in can:
        arrays |= dict(zip("KD", probe.tangent(state), strict=True))
        expect(arrays["K"].shape == arrays["D"].shape == (n, n), f"K or D is not of size {n}")
    if "constraints" in can:
        rows = probe.bilateral(state)
        expect(
            rows.count == probe.description.constraint_count,
            "the number of bilateral rows is not the description's",
        )
        arrays |= {"J_b": rows.values, "c": rows.position_error, "rate": rows.target_rate}
        expect((rows.compliance >= 0).all(), "a compliance is negative")
        expect(
            (rows.lower[rows.bounded] <= rows.upper[rows.bounded]).all(),
            "a lower bound is above its upper",
        )
    outline = probe.model.compute_outline(state)
    count = len(outline.points)
    arrays["outline"] = outline.points
    expect(outline.radius.shape == (count,), "the outline has another number of radii than points")
    expect((outline.starts < max(count, 1)).all(), "a polyline of the outline starts behind its points")
    return arrays


@check("mass-symmetric-positive", "M is symmetric and positive semidefinite")
def mass_symmetric_positive(subject: Subject) -> None:
    probe = Probe(subject)
    for state in probe.states:
        mass = probe.mass(state)
        size = float(np.abs(mass).max(initial=0.0))
        expect_close("M − Mᵀ", mass, mass.T, 1e-11 * size)
        least = float(np.linalg.eigvalsh(mass).min(initial=0.0))
        expect(least >= -1e-11 * size, f"M has the eigenvalue {least:.3g}, its largest entry is {size:.3g}")


@check("advance-consistent", "advance by nothing is nothing, in two halves is close to at once")
def advance_consistent(subject: Subject) -> None:
    probe = Probe(subject)
    model = probe.model
    for state in probe.states:
        size = 1.0 + float(np.abs(state.q).max(initial=0.0))
        still = moved(model, state, state.v, 0.0)
        expect_close("q after advance by 0", still.q, state.q, 1e-13 * size)
        expect_close("aux after advance by 0", still.aux, state.aux, 1e-12 * size)
        whole, half = _halves(probe, state, 0.1), _halves(probe, state, 0.05)
        small = 1e-12 * size
        steady = whole <= small or half <= max(small, whole / 3.4)
        expect(steady, f"two half steps miss one whole step by {whole:.3g}, by {half:.3g} at half the step")
        out = new_state(model)
        out.v[:], out.time = 3.0, 5.0
        model.integrate(state, state.v, 0.1, state, out)
        expect((out.v == 3.0).all() and out.time == 5.0, "advance writes v or the time")
        near = moved(model, state, state.v, 0.1)
        model.integrate(state, state.v, 0.1, near, near)
        expect_close("q with the previous iterate as `near` and `out`", near.q, out.q, 1e-13 * size)


def _halves(probe: Probe, state: State, step: float) -> float:
    model = probe.model
    once = moved(model, state, state.v, step)
    twice = moved(model, moved(model, state, state.v, step / 2), state.v, step / 2)
    return float(np.max(np.abs(once.q - twice.q), initial=0.0))


@check(
    "reparametrise-equivalent",
    "other coordinates are the same motion; no other coordinates are no change",
    "reparametrisation",
)
def rechart_equivalent(subject: Subject) -> None:
    probe = Probe(subject)
    for state in probe.states:
        other = state.copy()
        changed = probe.model.reparametrise(other)
        if not changed:
            for name in ("q", "v", "aux"):
                expect_close(
                    f"{name} after a refused reparametrise", getattr(other, name), getattr(state, name), 0.0
                )
            continue
        for name, found, wanted in zip("xR", probe.poses(other), probe.poses(state), strict=True):
            expect_close(f"{name} of the frames in another chart", found, wanted, 1e-10)
        twin = moved(probe.model, other, other.v, 1e-4), moved(probe.model, state, state.v, 1e-4)
        expect_close("where it moves to", probe.poses(twin[0])[0], probe.poses(twin[1])[0], 1e-7)


@check("prescribed-rate", "ṗ is the slope of p", "prescribed")
def prescribed_rate(subject: Subject) -> None:
    probe = Probe(subject)
    count = len(probe.description.prescribed_velocity_index)
    if not count:
        raise NotApplicable("no coordinate is prescribed with these options")

    def motion_at(time: float) -> tuple[Array, Array]:
        value, rate = np.full(count, np.nan), np.full(count, np.nan)
        probe.model.compute_prescribed_motion(time, value, rate)
        return value, rate

    for time in (0.31, 1.7):
        expect_slope("ṗ", motion_at(time)[1], lambda s, t=time: motion_at(t + s)[0], 0.01)


@check("terms-sum-to-force", "the named parts of f sum to f", "force-terms")
def terms_sum_to_force(subject: Subject) -> None:
    probe = Probe(subject)
    later = probe.states[0].copy()
    later.time += 0.73  # a force that time alone knows has a part of its own, too
    for state in [*probe.states, later]:
        terms = probe.model.compute_force_terms(state, probe.inputs)
        size = sum(float(np.abs(term).max(initial=0.0)) for term in terms.values())
        total = np.sum(list(terms.values()), axis=0) if terms else np.zeros(state.v.size)
        expect_close("the sum of force terms", total, probe.force(state), 1e-10 * max(size, 1e-12))


@check("state-doubts-said", "doubts of a state are texts", "state-doubts")
def state_doubts_said(subject: Subject) -> None:
    probe = Probe(subject)
    for state in probe.states:
        said = probe.model.find_state_doubts(state, probe.inputs)
        expect(not isinstance(said, str) and all(isinstance(x, str) for x in said), f"it gives {said!r}")


CHECKS: tuple[Check, ...] = (
    layout_consistent,
    layout_declared,
    answers_sized,
    answers_finite,
    *answer_checks(ModelSession, pure=True, buffers=True),
    mass_symmetric_positive,
    advance_consistent,
    rechart_equivalent,
    prescribed_rate,
    *SLOPES,
    terms_sum_to_force,
    state_doubts_said,
    *NUMBERS,
    *COMPILED,
    *BASE,
    *CONSTANCY,
    *ROWS,
    *SURFACE,
    *ENERGY,
    *SYMBOLIC,
)
"""Checks of the model role."""
