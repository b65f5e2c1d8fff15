"""A model's energy and power, and what must not change when the whole world is turned."""

from __future__ import annotations

from typing import NamedTuple

import attrs
import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import CorekitError
from corekit.geometry.frames import Pose, rotation_from_rpy
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.differences import expect_slope, slope
from corekit_testing.conformance.model_states import Probe, directions, moved, random_motions, rest_state
from corekit_testing.conformance.subject import Subject, skew_context

__all__ = ["ENERGY"]

_SHOWN = 1e-7
"""Least singular value of what points show of velocities, relative to the largest: T is then known to 1e-9 of itself.

Below it rounding decides what it is, and frames came out millimetres off.
"""


@check("kinetic-energy-from-mass", "the kinetic energy is ½·vᵀ·M·v", "energy")
def kinetic_energy_from_mass(subject: Subject) -> None:
    probe = Probe(subject)
    for state in probe.states:
        wanted = 0.5 * float(state.v @ probe.mass(state) @ state.v)
        found = probe.model.compute_energies(state)[0]
        expect_close("kinetic energy [J]", np.array(found), np.array(wanted), 1e-10 * max(wanted, 1e-12))


@check("power-balance", "at rest without inputs f is −∂V/∂q: −dV/dt = fᵀ·v", "energy")
def power_balance(subject: Subject) -> None:
    probe = Probe(subject)
    if probe.description.untracked_work:
        raise NotApplicable(f"has work that no energy counts: {probe.description.untracked_work}")
    for state in probe.states:
        still = state.copy()
        still.v[:] = 0.0
        force = probe.force(still, np.zeros_like(probe.inputs))

        def potential(state: State) -> Array:
            return -np.array([probe.model.compute_energies(state)[1]])

        scale = float(np.max(np.abs(directions(probe.model, state) @ force), initial=0.0))
        for direction in directions(probe.model, state):
            found = np.array([force @ direction])
            if abs(found[0]) > 1e-3 * scale:
                expect_slope("−dV/dt against fᵀ·v [W]", found, probe.along(still, direction, potential))
            else:  # at the bottom of a valley the slope has no size of its own
                wanted, _ = slope(probe.along(still, direction, potential))
                expect_close("−dV/dt against fᵀ·v [W]", found, wanted, 1e-6 * max(scale, 1e-6))


@check("inertial-power", "inertial forces give the power that the change of M takes: fᵀv = −½·vᵀṀv", "energy")
def inertial_power(subject: Subject) -> None:
    probe = Probe(subject)
    powers = [_InertialPower.at(probe, state) for state in probe.states]
    if _left_out(powers):
        option = _option_with_inertial_forces(subject)
        expect(option, "leaves inertial forces out although M changes, and no option brings them in")
        raise NotApplicable(f"leaves inertial forces out with these options ({option} brings them in)")
    for power in powers:
        bound = 1e-6 * max(power.size, abs(power.wanted)) + power.rounding
        expect_close("power of inertial forces [W]", np.array(power.found), np.array(power.wanted), bound)


class _InertialPower(NamedTuple):
    """The power of inertial forces at a state, what the change of M takes, and scales of its errors [W].

    Attributes:
        found, wanted: fᵀv of the inertial part of f, and −½·vᵀṀv.
        size, rounding: |f|ᵀ|v| of that part, and what rounding of the whole f makes of it.
        is_needed: whether M changes here, so that the power cannot be 0.
    """

    found: float
    wanted: float
    size: float
    rounding: float
    is_needed: bool

    @classmethod
    def at(cls, probe: Probe, state: State) -> _InertialPower:
        """Look at a state."""
        forward, backward, still = state.copy(), state.copy(), state.copy()
        backward.v *= -1.0
        still.v[:] = 0.0
        # damping is odd in v and falls out of the even part
        even = 0.5 * (probe.force(forward) + probe.force(backward)) - probe.force(still)
        rate = slope(probe.along(state, state.v, probe.mass), 0.01)[0]
        wanted = -0.5 * float(state.v @ rate @ state.v)
        return cls(
            found=float(even @ state.v),
            wanted=wanted,
            size=float(np.abs(even) @ np.abs(state.v)),
            rounding=1e-11
            * float((np.abs(probe.force(forward)) + probe.inertial_terms(state)) @ np.abs(state.v)),
            is_needed=abs(wanted) > 1e-6 * probe.model.compute_energies(state)[0],
        )


def _left_out(powers: list[_InertialPower]) -> bool:
    """Whether no state shows inertial forces that some state needs."""
    needed = [power for power in powers if power.is_needed]
    return bool(needed) and all(power.size <= 10.0 * power.rounding for power in needed)


def _option_with_inertial_forces(subject: Subject) -> str:
    """Name of a switch among the options, turned over, with which the model has inertial forces; or nothing."""
    config = subject.config()
    for each in attrs.fields(type(config)):
        value = getattr(config, each.name)
        if not isinstance(value, bool):
            continue
        other = evolve(subject, options={**subject.options, each.name: not value})
        try:
            probe = Probe(other)
        except CorekitError:  # the switch does not go with the other options
            continue
        if not _left_out([_InertialPower.at(probe, state) for state in probe.states]):
            return each.name
    return ""


@check(
    "rigid-motion-invariance",
    "base and gravity turned together leave M, f and energy differences as they were",
)
def rigid_motion_invariance(subject: Subject) -> None:
    one = skew_context()
    turn, shift = rotation_from_rpy((1.1, 0.4, -2.2)), np.array([0.7, -1.3, 0.5])
    base = Pose(turn @ one.base.position + shift, turn @ one.base.rotation)
    here = Probe(subject, one)
    there = Probe(subject, evolve(one, base=base, gravity=turn @ one.gravity))
    change, states, others = _corresponding(here, there, turn)
    levels: list[tuple[float, float]] = []
    for state, other in zip(states, others, strict=True):
        places = here.poses(state)[0] @ turn.T + shift
        reach = 1.0 + float(np.abs(places).max(initial=0.0))
        expect_close("frames of a turned body [m]", there.poses(other)[0], places, 1e-9 * reach)
        # without inputs: a model may count them in the world's axes
        nothing = np.zeros_like(here.inputs)
        mass, force = here.mass(state), here.force(state, nothing)
        size = float(np.abs(mass).max(initial=0.0))
        expect_close("M of a turned body", change.T @ there.mass(other) @ change, mass, 1e-9 * size)
        # the force may be a small difference of large terms
        size = max(float(np.abs(force).max(initial=0.0)), size, 1e-9)
        expect_close("f of a turned body", change.T @ there.force(other, nothing), force, 1e-8 * size)
        if "energy" in subject.spec.provides:
            levels.append((here.model.compute_energies(state)[1], there.model.compute_energies(other)[1]))
    if len(levels) > 1:
        table = np.array(levels)
        rise, size = table - table[0], 1.0 + float(np.abs(table).max())
        expect_close("differences of potential energy [J]", rise[:, 1], rise[:, 0], 1e-9 * size)


def _corresponding(here: Probe, there: Probe, turn: Array) -> tuple[Array, list[State], list[State]]:
    """T with v_there = T·v_here for the same motion of material points, and states of the same motion.

    T is 1 for coordinates in the base's axes; world axes turn with the world. Where points do not show
    every velocity, T counts as 1.
    """
    n = len(here.description.velocities)
    change = np.eye(n)
    if here.subject.states is not None:
        return change, here.states, there.states
    rest, other = rest_state(here.model), rest_state(there.model)
    if "point-jacobian" in here.subject.spec.provides and here.description.frames:
        frame = np.repeat(np.arange(len(here.description.frames)), 4)
        local = np.tile(0.2 * np.vstack([np.zeros(3), np.eye(3)]), (len(here.description.frames), 1))
        mine = (turn @ here.rows(rest, frame, local)).reshape(-1, n)
        theirs = there.rows(other, frame, local).reshape(-1, n)
        if np.linalg.matrix_rank(theirs, rtol=_SHOWN) == n:
            change = np.asarray(np.linalg.lstsq(theirs, mine, rcond=None)[0], dtype=np.float64)
            change[np.abs(change) < 1e-9] = 0.0
            if np.allclose(change, np.eye(n), atol=1e-6):
                change = np.eye(n)
    states, others = [], []
    for displacement, velocity in random_motions(here.subject, here.model, rest):
        states.append(moved(here.model, rest, displacement, 1.0))
        others.append(moved(there.model, other, change @ displacement, 1.0))
        states[-1].v[:], others[-1].v[:] = velocity, change @ velocity
    return change, states, others


ENERGY: tuple[Check, ...] = (
    kinetic_energy_from_mass,
    power_balance,
    inertial_power,
    rigid_motion_invariance,
)
"""Checks of energy, power and invariance."""
