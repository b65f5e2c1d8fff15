"""Integrators on worlds beyond a free mass: constraint rows, prescribed motion, memory in the state, varying mass."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.component import BuildContext
from corekit.simulation.loop import Simulation
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.subject import Subject
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.small_world import small_world

__all__ = ["MOTIONS", "swinging"]

_WEIGHTLESS = BuildContext(gravity=np.zeros(3))
_STEPS = (4e-3, 2e-3, 1e-3)
_END = 0.2
_SETTLED = 1e-5
"""Error of a whole motion below which it need not fall [relative]: inner steps may keep a tolerance of their own.

A first-order scheme is about h·ω·(number of radians) ≈ 1e-2 off here, so that none comes below by chance.
"""
_EXACT = 1e-9
"""Error below which rounding and tolerances of inner iterations hide an order."""
_FRACTION = 0.3
"""By how much a measured order may be below the declared one: steps are finite."""
_STIFF = 30.0
"""h·ω of the spring of `implicit-stable`; no explicit scheme of a few stages is stable above 5."""


def _integrator(subject: Subject, step: float) -> Any:
    return subject.build(BuildContext(path="conformance", step=step))


def _approaches(
    subject: Subject,
    what: str,
    world: Callable[[float], Simulation],
    read: Callable[[State], Array],
    wanted: Array,
) -> None:
    """The error at the end falls at least in proportion to the step and is small at the last one.

    Args:
        world: makes the simulation of a step.
        read: numbers of order one out of its last state.
    """
    errors = []
    for step in _STEPS:
        simulation = world(step)
        simulation.run(_END)
        errors.append(float(np.max(np.abs(read(simulation.state) - wanted))))
    listed = ", ".join(f"{error:.3g}" for error in errors)
    expect(errors[-1] < 0.05, f"{what}: after 0.2 s with steps of 1 ms it is {errors[-1]:.2g} off")
    if "error-controlled" in subject.spec.provides:
        expect(max(errors) < 0.01, f"{what}: errors at 4, 2 and 1 ms are {listed}, whatever the step")
        return
    # the factor of a first-order scheme tends to 2; its next term, of about h·ω ≤ 0.1, may cancel some of it
    falls = all(fine <= max(coarse / 1.7, _SETTLED) for coarse, fine in pairwise(errors))
    expect(falls, f"{what}: errors at 4, 2 and 1 ms are {listed}")


def _solution(rate: Callable[[float, Array], Array], start: Array) -> Array:
    """The state at the end of an ordinary differential equation, to about 1e-11."""
    found = solve_ivp(rate, (0.0, _END), start, method="DOP853", rtol=1e-12, atol=1e-13)
    return np.asarray(found.y[:, -1])


@check("rows-held", "a mass on a rigid rod moves as a pendulum and its rod stays as long as it is")
def rows_held(subject: Subject) -> None:
    length, gravity = 0.5, 9.81
    config = PointChainConfig(masses=(2.0,), positions=((length, 0.0, 0.0),), links=("rod",))

    def world(step: float) -> Simulation:
        return small_world({"mass": PointChain(config)}, _integrator(subject, step), step=step)

    angle, rate = _solution(lambda _, y: np.array([y[1], gravity / length * math.cos(y[0])]), np.zeros(2))
    wanted = np.array([math.cos(angle), 0.0, -math.sin(angle)])
    turned = np.array([-math.sin(angle), 0.0, -math.cos(angle)]) * rate / math.sqrt(gravity / length)
    scale = math.sqrt(gravity * length)
    _approaches(
        subject,
        "a pendulum on a rod",
        world,
        lambda state: np.concatenate([state.q / length, state.v / scale]),
        np.concatenate([wanted, turned]),
    )


@check("prescribed-followed", "what is prescribed is followed exactly, and carries what hangs on it along")
def prescribed_followed(subject: Subject) -> None:
    omega, drive, amplitude = 12.0, 2 * math.pi, 0.1
    config = PointChainConfig(
        masses=(1.0, 2.0), positions=((0.3, 0.0, 0.0), (1.3, 0.0, 0.0)), links=("none", "spring"),
        stiffness=2.0 * omega**2, driven=(0,), drive_amplitude=(amplitude, 0.0, 0.0),
    )  # fmt: skip

    def world(step: float) -> Simulation:
        chain = PointChain(config, _WEIGHTLESS)
        simulation = small_world({"mass": chain}, _integrator(subject, step), step=step)
        for _ in range(3):
            simulation.step()
            place = 0.3 + amplitude * math.sin(drive * simulation.time)
            expect_close("the driven place [m]", simulation.state.q[0], np.array(place), 1e-13)
        return simulation

    # y'' = −ω²·(y − a·sin Ωt) from rest
    factor = amplitude * omega**2 / (omega**2 - drive**2)
    wanted = factor * np.array(
        [
            math.sin(drive * _END) - drive / omega * math.sin(omega * _END),
            drive * (math.cos(drive * _END) - math.cos(omega * _END)) / omega,
        ]
    )
    _approaches(
        subject,
        "a mass on a driven spring",
        world,
        lambda state: np.array([state.q[3] - 1.3, state.v[3] / omega]) / amplitude,
        wanted / amplitude,
    )


@check("aux-carried", "the memory in the state goes on with it: an angle is counted over its turns")
def aux_carried(subject: Subject) -> None:
    stiffness, mass, spin, begin = 4.0, 2.0, 8.0, 2.5
    place = np.array([math.cos(begin), 0.0, math.sin(begin)])
    speed = spin * np.array([-math.sin(begin), 0.0, math.cos(begin)])
    config = PointChainConfig(
        masses=(mass,), positions=(tuple(place),), velocities=(tuple(speed),), winding=0,
        winding_stiffness=stiffness, structure="block-diagonal",
    )  # fmt: skip

    def world(step: float) -> Simulation:
        return small_world({"mass": PointChain(config, _WEIGHTLESS)}, _integrator(subject, step), step=step)

    def rate(_: float, y: Array) -> Array:
        r, psi, dr, dpsi = y
        return np.array([dr, dpsi, r * dpsi**2, -stiffness * psi / (mass * r * r) - 2 * dr * dpsi / r])

    r, psi, *_ = _solution(rate, np.array([1.0, begin, 0.0, spin]))
    wanted = np.array([r * math.cos(psi), r * math.sin(psi), psi])
    expect(psi > math.pi, "the angle of this check must pass half a turn")
    _approaches(
        subject,
        "a mass on a spiral spring",
        world,
        lambda state: np.array([state.q[0], state.q[2], state.aux[0]]),
        wanted,
    )


@check(
    "varying-mass", "a double pendulum, whose mass matrix changes with its angles, moves as its equation says"
)
def varying_mass(subject: Subject) -> None:
    wanted = _double_pendulum()
    _approaches(subject, "a double pendulum", partial(_swung, subject), _angles_and_rates, wanted)


@check(
    "order-declared", "the error of a double pendulum falls with the power of the step that the spec declares"
)
def order_declared(subject: Subject) -> None:
    order = subject.spec.order
    if order is None:
        raise NotApplicable("declares no order")
    wanted, errors = _double_pendulum(), list[float]()
    for step in (2e-2, 1e-2, 5e-3):
        simulation = _swung(subject, step)
        if simulation.step().step_size < (1.0 - 1e-9) * step:
            raise NotApplicable("chooses its own steps, and keeps a tolerance with them")
        simulation.run(_END)
        errors.append(float(np.max(np.abs(_angles_and_rates(simulation.state) - wanted))))
    listed = ", ".join(f"{error:.3g}" for error in errors)
    found = math.log2(errors[-2] / max(errors[-1], 1e-300))
    small = errors[-1] < _EXACT
    expect(
        small or found > order - _FRACTION,
        f"declares order {order}, and errors at 20, 10 and 5 ms are {listed}: order {found:.2f}",
    )


_PENDULUM = PendulumConfig(lengths=(0.5, 0.4), masses=(1.0, 1.5), angles=(1.0, -0.6), rates=(0.0, 3.0))


def _swung(subject: Subject, step: float) -> Simulation:
    """A double pendulum at its start."""
    return small_world({"arm": Pendulum(_PENDULUM)}, _integrator(subject, step), step=step)


def _angles_and_rates(state: State) -> Array:
    return np.concatenate([state.q, state.v / math.sqrt(9.81 / 0.4)])


@cache
def _double_pendulum() -> Array:
    """Its angles and rates at the end, from its own equation of motion."""
    config = _PENDULUM
    model = Pendulum(config)
    state = State.zeros(2, 2, model.description.aux)
    mass, force = model.new_mass_matrix(), np.zeros(2)

    def rate(_: float, y: Array) -> Array:
        state.q[:], state.v[:] = y[:2], y[2:]
        model.compute_mass_and_force(state, np.zeros(model.description.input_size), mass, force)
        acceleration: Array = np.linalg.solve(mass.dense(), force).astype(np.float64)
        return np.concatenate([y[2:], acceleration])

    wanted = _solution(rate, np.array([*config.angles, *config.rates]))
    return np.concatenate([wanted[:2], wanted[2:] / math.sqrt(9.81 / 0.4)])


@check(
    "implicit-stable",
    "a spring much stiffer than the step resolves does not make a mass swing wider",
    "implicit",
)
def implicit_stable(subject: Subject) -> None:
    step, mass, stretch = 1e-2, 2.0, 0.1
    # of no natural length, so that it is linear; its weight keeps it off the origin, where it has no direction
    config = PointChainConfig(
        masses=(mass,), positions=((0.0, 0.0, -stretch),), links=("spring",), lengths=(0.0,),
        stiffness=mass * (_STIFF / step) ** 2,
    )  # fmt: skip
    simulation = small_world({"mass": PointChain(config)}, _integrator(subject, step), step=step)
    # one that controls its error follows every swing with steps of its own: five steps are 24 of them
    for _ in range(5 if "error-controlled" in subject.spec.provides else 50):
        simulation.step()
        wide = abs(float(simulation.state.q[2]))
        expect(wide <= 1.01 * stretch, f"h·ω = {_STIFF:g}: let go at {stretch:g} m it swings to {wide:.3g} m")


@check("bodies-independent", "what a body does not touch does not change its motion", "newton")
def bodies_independent(subject: Subject) -> None:
    step = 2e-2

    def moved(others: dict[str, Any]) -> Array:
        models = {"arm": swinging(0.4, 2.0), **others}
        simulation = small_world(models, _integrator(subject, step), step=step)
        for _ in range(5):
            taken = simulation.step().step_size
            if abs(taken - step) > 1e-9 * step:
                raise NotApplicable("chooses its steps by all bodies together")
        part = simulation.state.body_states[0]
        return np.concatenate([part.q, part.v])

    alone, beside = moved({}), moved({"other": swinging(2.5, 12.0)})
    # both iterate to their own tolerance, of 1e-8·(1 + |v|) at most, a step; over five steps it grows a little
    expect_close("an arm beside a faster one", beside, alone, 1e-6)


def swinging(angle: float, rate: float) -> Pendulum:
    """A double pendulum; its rods start at ±`angle` [rad] with ±`rate` [rad/s]."""
    return Pendulum(
        PendulumConfig(lengths=(0.5, 0.4), masses=(1.0, 1.5), angles=(angle, -angle), rates=(rate, -rate))
    )


MOTIONS: tuple[Check, ...] = (
    rows_held, prescribed_followed, aux_carried, varying_mass, order_declared, implicit_stable, bodies_independent,
)  # fmt: skip
"""Checks of motions with closed or very accurate answers."""
