"""Contact potentials on a flat floor, against differences of their own energy and force."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.contacts import ContactSet
from corekit.roles.contact import PotentialTerms
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.differences import expect_slope
from corekit_testing.conformance.subject import Subject

__all__ = ["POTENTIALS", "Pressed", "new_terms", "pressed"]

_STEP = 1e-3


def new_terms(count: int) -> PotentialTerms:
    """Zeroed buffers for m contacts."""
    return PotentialTerms(
        np.zeros(count), np.zeros((count, 12)), np.zeros((count, 12, 12)), np.zeros((count, 12, 12)),
        np.zeros(count), np.zeros((count, 2)),
    )  # fmt: skip


@frozen(eq=False)
class Pressed:
    """Contacts with a floor askew: one by a point, one by a point between two carriers.

    Args:
        contacts: the set.
        position, velocity: of the carriers, shape (2, 4, 3).
    """

    contacts: ContactSet
    position: Array
    velocity: Array

    def moved(self, displacement: Array) -> Pressed:
        """The same after its carriers have moved by `displacement`, shape (2, 4, 3); gaps follow."""
        contacts, m = ContactSet(2), self.contacts.count
        contacts.copy_from(self.contacts)
        along = np.einsum("mci,mi->mc", displacement, contacts.normal[:m])
        contacts.gap[:m] += np.einsum("mc,mc->m", contacts.weight[:m], along)
        contacts.point[:m] += np.einsum("mc,mci->mi", contacts.weight[:m], displacement)
        return Pressed(contacts, self.position + displacement, self.velocity)

    def terms(self, solver: Any, velocity: Array | None = None) -> PotentialTerms:
        """What the potential says."""
        out = new_terms(self.contacts.count)
        solver.evaluate(
            self.contacts, self.position, self.velocity if velocity is None else velocity, _STEP, out
        )
        return out


@frozen(eq=False)
class GivenMotion:
    """Contacts with given motions; implements `corekit.roles.contact.ContactMotion`."""

    normal_velocity: Array
    normal_acceleration: Array
    mass: float = 1.0

    def effective_mass(self, contact: int) -> float:
        """The same of every contact [kg]."""
        return self.mass


def pressed(reach: float, depth: float, friction: float, speed: float = 0.3) -> Pressed:
    """Contacts whose gap is reach − depth, sliding and approaching at about `speed` [m/s]."""
    random = np.random.default_rng(14)
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    contacts = ContactSet(2)
    contacts.count = 2
    contacts.id[:2] = 3, 4
    contacts.shape[:2] = [[0, 1], [0, 1]]
    contacts.gap[:2] = reach - depth
    contacts.normal[:2], contacts.tangent[:2] = turn[:, 0], turn[:, 1]
    contacts.friction[:2] = friction
    contacts.frame[:2] = [[0, -1, -1, -1], [0, 1, -1, -1]]
    contacts.weight[:2] = [[1.0, 0.0, 0.0, 0.0], [0.7, 0.3, 0.0, 0.0]]
    used = contacts.frame[:2] >= 0
    position = np.where(used[:, :, None], 0.1 * random.normal(size=(2, 4, 3)), 0.0)
    height = np.einsum("mc,mci->mi", contacts.weight[:2], position) @ turn[:, 0]
    position += np.where(used[:, :, None], (contacts.gap[:2] - height)[:, None, None] * turn[:, 0], 0.0)
    contacts.point[:2] = np.einsum("mc,mci->mi", contacts.weight[:2], position)
    velocity = np.where(used[:, :, None], speed * random.normal(size=(2, 4, 3)), 0.0)
    return Pressed(contacts, position, velocity)


def between_bodies(reach: float, depth: float, friction: float, speed: float = 0.3) -> Pressed:
    """The same contacts with a second body, of one point, and of two rods that cross.

    The axes of the rods are a depth of theirs apart, so that their closest points are those of the weights.
    """
    one = pressed(reach, depth, friction, speed)
    contacts, random = one.contacts, np.random.default_rng(18)
    normal, tangent, gap = contacts.normal[0], contacts.tangent[0], float(contacts.gap[0])
    contacts.frame[:2] = [[0, 1, -1, -1], [0, 1, 2, 3]]
    contacts.weight[:2] = [[1.0, -1.0, 0.0, 0.0], [0.7, 0.3, -0.4, -0.6]]
    position, away = np.zeros((2, 4, 3)), 0.5 * (gap + 0.04) * normal
    position[0, 0], position[0, 1] = 0.5 * gap * normal, -0.5 * gap * normal
    across = np.cross(normal, tangent) + 0.3 * tangent
    for slot, (place, along) in enumerate(((away, tangent), (-away, across))):
        weights = np.abs(contacts.weight[1, 2 * slot : 2 * slot + 2])
        position[1, 2 * slot : 2 * slot + 2] = place + np.outer([-weights[1], weights[0]], 0.1 * along)
    used = contacts.frame[:2] >= 0
    velocity = np.where(used[:, :, None], speed * random.normal(size=(2, 4, 3)), 0.0)
    contacts.point[:2] = 0.0
    return Pressed(contacts, position, velocity)


def _acting(subject: Subject) -> tuple[Any, list[float]]:
    """The solver and depths into its layer [m] at which it pushes."""
    solver = subject.build()
    layer = solver.activation_distance
    depths = [0.3 * layer, 0.8 * layer] if layer > 0 else [1e-4, 1e-3]
    return solver, depths


def _displacements(one: Pressed, size: float) -> list[Array]:
    """Every coordinate of every carrier in use."""
    found = []
    for c, i in np.argwhere(one.contacts.frame[:2] >= 0):
        for axis in range(3):
            displacement = np.zeros((2, 4, 3))
            displacement[c, i, axis] = size
            found.append(displacement)
    return found


@check("force-is-slope-of-energy", "without friction and motion the force is −∂E/∂x", "potential")
def force_is_slope_of_energy(subject: Subject) -> None:
    solver, depths = _acting(subject)
    still = np.zeros((2, 4, 3))
    for depth in depths:
        one = pressed(solver.activation_distance, depth, 0.0)
        terms = one.terms(solver, still)
        expect(np.abs(terms.force).max() > 0, f"no force {depth:.3g} m deep in its layer")
        size = 0.1 * depth
        for displacement in _displacements(one, size):
            found = np.array([terms.force.ravel() @ displacement.ravel()])
            if abs(found[0]) > 1e-3 * size * np.abs(terms.force).max():

                def energy(s: float, one: Pressed = one, step: Array = displacement) -> Array:
                    return -np.array([one.moved(s * step).terms(solver, still).energy.sum()])

                expect_slope("f·δ against −dE", found, energy)


@check("potential-stiffness-is-slope", "K_c = −∂f_c/∂x", "potential")
def potential_stiffness_is_slope(subject: Subject) -> None:
    solver, depths = _acting(subject)
    for depth in depths:
        one = pressed(solver.activation_distance, depth, 0.4)
        stiffness = one.terms(solver).stiffness
        for displacement in _displacements(one, 0.1 * depth):
            found = -np.einsum("mij,mj->mi", stiffness, displacement.reshape(2, 12))

            def force(s: float, one: Pressed = one, step: Array = displacement) -> Array:
                return one.moved(s * step).terms(solver).force

            expect_slope("−K_c·δ", found, force)


@check("potential-damping-is-slope", "D_c = −∂f_c/∂ẋ", "potential")
def potential_damping_is_slope(subject: Subject) -> None:
    solver, depths = _acting(subject)
    for depth in depths:
        one = pressed(solver.activation_distance, depth, 0.4)
        damping = one.terms(solver).damping
        for velocity in _displacements(one, 0.1):
            found = -np.einsum("mij,mj->mi", damping, velocity.reshape(2, 12))

            def force(s: float, one: Pressed = one, faster: Array = velocity) -> Array:
                return one.terms(solver, one.velocity + s * faster).force

            if np.abs(found).max() > 0 or np.abs(force(1.0) - force(0.0)).max() > 0:
                expect_slope("−D_c·ẋ", found, force)


@check("within-reach", "nothing acts beyond the reach; contacts do not act on each other", "potential")
def within_reach(subject: Subject) -> None:
    solver, depths = _acting(subject)
    for beyond in (1e-6, 0.1, 10.0, 1e4):
        far = pressed(solver.activation_distance, -beyond, 0.4).terms(solver)
        for name in ("energy", "force", "stiffness", "damping", "normal_force", "tangential_force"):
            what = f"{name} {beyond:g} m beyond the reach"
            expect_close(what, getattr(far, name), np.zeros_like(getattr(far, name)), 0.0)
    one = pressed(solver.activation_distance, depths[0], 0.4)
    displacement = np.zeros((2, 4, 3))
    displacement[0] = -0.1 * depths[0]
    other = one.moved(displacement).terms(solver)
    expect_close(
        "force of the contact that did not move [N]", other.force[1], one.terms(solver).force[1], 0.0
    )


@check(
    "reaction-equal",
    "between two bodies forces add up to nothing, and no common motion of both changes them",
    "potential",
)
def reaction_equal(subject: Subject) -> None:
    solver, depths = _acting(subject)
    for depth in depths:
        terms = between_bodies(solver.activation_distance, depth, 0.4).terms(solver)
        force = terms.force.reshape(2, 4, 3)
        size = 1e-10 * float(np.abs(force).max())
        expect(size > 0.0, f"no force between bodies {depth:.3g} m deep in its layer")
        expect_close("force on both bodies together [N]", force.sum(axis=1), np.zeros((2, 3)), size)
        for name in ("stiffness", "damping"):
            matrix = getattr(terms, name).reshape(2, 4, 3, 4, 3)
            size = 1e-10 * float(np.abs(matrix).max())
            nothing = np.zeros((2, 4, 3, 3))
            expect_close(f"{name} of a common motion", matrix.sum(axis=3), nothing, size)
            expect_close(
                f"{name}: what both bodies get", matrix.sum(axis=1).transpose(0, 2, 1, 3), nothing, size
            )


@check(
    "resolution-bounded",
    "a step may move a pair by more than nothing and half of the layer at most",
    "potential",
)
def resolution_bounded(subject: Subject) -> None:
    solver = subject.build()
    layer, moved = float(solver.activation_distance), float(solver.resolution)
    expect(0.0 <= layer < np.inf, f"`activation_distance` is {layer:g} m")
    fits = 0.0 < moved <= 0.5 * layer or moved == layer == 0.0
    expect(
        fits,
        f"`resolution` is {moved:g} m in a layer of {layer:g} m; more than 0 and at most half of it is asked for",
    )


@check("forces-readable", "normal and tangential force are those of the force on the carriers", "potential")
def forces_readable(subject: Subject) -> None:
    solver, depths = _acting(subject)
    for depth in depths:
        one = pressed(solver.activation_distance, depth, 0.4)
        terms = one.terms(solver)
        total = terms.force.reshape(2, 4, 3).sum(axis=1)
        size = 1e-10 * (1.0 + float(np.abs(total).max()))
        n, t = one.contacts.normal[:2], one.contacts.tangent[:2]
        expect_close("normal force [N]", terms.normal_force, np.einsum("mi,mi->m", total, n), size)
        across = np.column_stack([np.einsum("mi,mi->m", total, e) for e in (t, np.cross(n, t))])
        expect_close("tangential force [N]", terms.tangential_force, across, size)
        unused = terms.force.reshape(2, 4, 3)[one.contacts.frame[:2] < 0]
        expect_close("force on unused carriers [N]", unused, np.zeros_like(unused), 0.0)


@check("friction-opposes", "friction stays in its cone and never drives the slip", "potential")
def friction_opposes(subject: Subject) -> None:
    solver, depths = _acting(subject)
    applied = False
    for depth in depths:
        one = pressed(solver.activation_distance, depth, 0.4)
        terms = one.terms(solver)
        n, t = one.contacts.normal[:2], one.contacts.tangent[:2]
        axes = np.stack([t, np.cross(n, t)], axis=1)
        slip = np.einsum("mc,mci,mai->ma", one.contacts.weight[:2], one.velocity, axes)
        applied |= bool(np.abs(terms.tangential_force).max() > 0)
        size = np.linalg.norm(terms.tangential_force, axis=1)
        expect((size <= 0.4 * terms.normal_force * (1 + 1e-9)).all(), "friction is outside its cone")
        power = np.einsum("ma,ma->m", terms.tangential_force, slip)
        expect((power <= 0).all(), f"friction drives the slip with {power.max():.3g} W")
    if not applied:
        raise NotApplicable("has no friction")


POTENTIALS: tuple[Check, ...] = (
    force_is_slope_of_energy,
    potential_stiffness_is_slope,
    potential_damping_is_slope,
    within_reach,
    resolution_bounded,
    reaction_equal,
    forces_readable,
    friction_opposes,
)
"""Checks of contact potentials."""
