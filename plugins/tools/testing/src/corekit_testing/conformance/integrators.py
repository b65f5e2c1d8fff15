"""Integrators on small worlds of the reference plugins: order, landing, honesty, contact at rest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.component import BuildContext, Component, collect_states, restore_states
from corekit.roles.contact import ContactSolver
from corekit.roles.model import Model
from corekit.simulation.loop import Simulation
from corekit_testing.conformance.answers import answer_checks
from corekit_testing.conformance.check import Check, check, expect, expect_close
from corekit_testing.conformance.integrator_motions import MOTIONS, swinging
from corekit_testing.conformance.integrator_promises import PROMISES
from corekit_testing.conformance.subject import Answer, Session, Subject
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.small_world import floor, small_world

__all__ = ["CHECKS"]

_MASS, _STIFFNESS, _STRETCH = 2.0, 300.0, 0.1
_GRAVITY = 9.81


def _integrator(subject: Subject, step: float) -> Any:
    return subject.build(BuildContext(path="conformance", step=step))


def _oscillator(integrator: Any, step: float, start_time: float = 0.0) -> Simulation:
    """A mass on a spring along x, released stretched, without gravity."""
    chain = PointChain(
        PointChainConfig(
            masses=(_MASS,), positions=((1.0 + _STRETCH, 0.0, 0.0),), links=("spring",), lengths=(1.0,),
            stiffness=_STIFFNESS,
        ),
        BuildContext(gravity=np.zeros(3)),
    )  # fmt: skip
    return small_world({"mass": chain}, integrator, step=step, start_time=start_time)


def _ball(
    integrator: Any,
    step: float,
    solver: ContactSolver,
    height: float,
    *,
    speed: float = 0.0,
    others: Mapping[str, Model] = MappingProxyType({}),
) -> Simulation:
    """A ball of radius 0.1 m above a rough floor, and other bodies beside it."""
    chain = PointChain(
        PointChainConfig(
            masses=(_MASS,), positions=((0.0, 0.0, height),), velocities=((speed, 0.0, 0.0),),
            shape="sphere", radius=0.1,
        )
    )  # fmt: skip
    return small_world(
        {"ball": chain, **others}, integrator, step=step, solver=solver, detector=ReferenceDetector(),
        obstacles=[floor()], friction=0.3,
    )  # fmt: skip


@check(
    "order-one",
    "the error of an oscillator falls at least in proportion to the step, or keeps a tolerance whatever it is",
)
def order_one(subject: Subject) -> None:
    omega, end = math.sqrt(_STIFFNESS / _MASS), 0.2
    wanted = np.array([_STRETCH * math.cos(omega * end), -_STRETCH * omega * math.sin(omega * end)])
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        simulation = _oscillator(_integrator(subject, step), step)
        simulation.run(end)
        found = np.array([simulation.state.q[0] - 1.0, simulation.state.v[0]])
        errors.append(float(np.max(np.abs(found - wanted) / [_STRETCH, _STRETCH * omega])))
    expect(errors[-1] < 0.05, f"after 0.2 s with steps of 1 ms it is {errors[-1]:.2g} of the amplitude off")
    if "error-controlled" in subject.spec.provides:
        expect(max(errors) < 0.01, f"is {max(errors):.2g} of the amplitude off, whatever the step")
        return
    falls = all(fine <= max(coarse / 1.7, 1e-9) for coarse, fine in pairwise(errors))
    expect(
        falls, f"errors at 4, 2 and 1 ms are {', '.join(f'{error:.3g}' for error in errors)} of the amplitude"
    )


@check(
    "lands-on-stop",
    "a step ends at t_stop exactly where it reaches it, and never behind it",
    is_basis=True,  # a run to an end that is never reached has no end
)
def lands_on_stop(subject: Subject) -> None:
    step = 1e-3
    for start in (0.0, 0.7):
        simulation = _oscillator(_integrator(subject, step), step, start)
        system, integrator = simulation.system, simulation.integrator
        state, out = simulation.state.copy(), system.new_state()
        for stop in (start + 0.3e-3, start + 0.3e-3 + 1e-3 / 3, start + 10.1e-3):
            steps = 0
            while state.time != stop:
                report = integrator.step(system, state, stop, out)
                expect(report.accepted, f"a step is not accepted: {report.solve_info.status.value}")
                expect(out.time <= stop, f"a step ends at {out.time!r} s, behind t_stop = {stop!r} s")
                expect(out.time > state.time, f"a step from {state.time!r} s does not advance the time")
                taken = out.time - state.time
                creeps = out.time != stop and taken < 1e-9 * step
                expect(not creeps, f"never lands on t_stop = {stop!r} s: a step before it has {taken:.3g} s")
                # the difference of two times is exact to the rounding of the later one
                same = abs(report.step_size - taken) <= 2.0 * math.ulp(out.time)
                expect(same, f"reports a step of {report.step_size!r} s and moves the time by {taken!r} s")
                system.accept(out, report.step_size)
                state, out = out, state
                steps += 1
                expect(steps < 10_000, f"never lands on t_stop = {stop!r} s, not in 10 000 steps")


@check("free-fall", "a free mass gains g·h of speed a step")
def free_fall(subject: Subject) -> None:
    step = 1e-2
    chain = PointChain(PointChainConfig(masses=(_MASS,), velocities=((0.3, 0.0, 0.0),)))
    simulation = small_world({"mass": chain}, _integrator(subject, step), step=step)
    simulation.run(0.1)
    expect_close(
        "velocity after falling for 0.1 s [m/s]", simulation.state.v, np.array([0.3, 0.0, -0.981]), 1e-10
    )


@check("start-unchanged", "the start of a step is left alone, whether the step is accepted or not")
def start_unchanged(subject: Subject) -> None:
    for mass in (_MASS, 0.0):
        chain = PointChain(PointChainConfig(masses=(mass,), velocities=((0.3, 0.0, -0.2),)))
        simulation = small_world({"mass": chain}, _integrator(subject, 1e-3), step=1e-3)
        state, out = simulation.state, simulation.system.new_state()
        before = state.copy()
        simulation.integrator.step(simulation.system, state, 1e-3, out)
        for name in ("q", "v", "aux"):
            same = np.array_equal(getattr(state, name), getattr(before, name))
            expect(same, f"changes {name} of the state it starts from")
        expect(state.time == before.time, "changes the time of the state it starts from")


@check("singular-refused", "a free mass of 0 kg is no step that is accepted")
def singular_refused(subject: Subject) -> None:
    chain = PointChain(PointChainConfig(masses=(0.0,)))
    simulation = small_world({"mass": chain}, _integrator(subject, 1e-3), step=1e-3)
    out = simulation.system.new_state()
    report = simulation.integrator.step(simulation.system, simulation.state, 1e-3, out)
    expect(not report.accepted, "accepts a step whose matrix is singular")
    expect(
        not report.solve_info.status.solved,
        f"says {report.solve_info.status.name} where nothing could be solved",
    )


@check("rest-exact", "a ball at rest stays there, carried by exactly h·m·g a step", "impulses")
def rest_exact(subject: Subject) -> None:
    step = 1e-3
    simulation = _ball(_integrator(subject, step), step, ProjectedGaussSeidel(), 0.1)
    for _ in range(50):
        simulation.step()
        impulse = simulation.contacts().normal_impulse
        expect(impulse.shape == (1,), f"a ball at rest has {impulse.size} contacts")
        expect_close("impulse at rest [N·s]", impulse, np.array([step * _MASS * _GRAVITY]), 1e-10)
    expect_close("height of a ball at rest [m]", simulation.state.q[2], np.array(0.1), 1e-9)


@check("slides-to-rest", "a sliding ball is braked by μ·g and then sticks", "impulses")
def slides_to_rest(subject: Subject) -> None:
    step, speed = 1e-3, 0.06
    simulation = _ball(_integrator(subject, step), step, ProjectedGaussSeidel(), 0.1, speed=speed)
    simulation.run(0.01)
    wanted = speed - 0.3 * _GRAVITY * 0.01
    expect_close("speed after sliding for 0.01 s [m/s]", simulation.state.v[0], np.array(wanted), 1e-8)
    simulation.run(0.04)
    expect_close("speed after sticking [m/s]", simulation.state.v[0], np.array(0.0), 1e-8)
    way = speed * speed / (2 * 0.3 * _GRAVITY)
    expect_close("way to rest [m]", simulation.state.q[0], np.array(way), 1.1 * speed * step)


@check("potential-carries", "a ball in the equilibrium of a contact potential stays there", "potential")
def potential_carries(subject: Subject) -> None:
    step, stiffness = 1e-3, 1e5
    solver = Penalty(PenaltyConfig(stiffness=stiffness, power=1, thickness=1e-3))
    depth = _MASS * _GRAVITY / stiffness
    simulation = _ball(_integrator(subject, step), step, solver, 0.1 + 1e-3 - depth)
    simulation.run(0.05)
    expect_close("height in equilibrium [m]", simulation.state.q[2], np.array(0.1 + 1e-3 - depth), 1e-8)
    carried, weight = simulation.contacts().normal_impulse, step * _MASS * _GRAVITY
    # a height that is 1e-8 m off changes the force by the stiffness times that
    expect_close("impulse in equilibrium [N·s]", carried, np.array([weight]), step * stiffness * 1e-8)


class IntegratorSession(Session):
    """Steps of a ball that falls, bounces no more and slides; step() is called as the run loop does.

    A double pendulum swings beside it, whose stages are not linear: what Newton's method keeps from step to step shows.
    """

    questions = 12

    def __init__(self, subject: Subject, component: Component, *, reuse: bool = False) -> None:
        super().__init__(subject, component, reuse=reuse)
        integrator: Any = component
        step = BuildContext().step
        solver: ContactSolver = ProjectedGaussSeidel()
        if "impulses" not in subject.spec.provides:
            solver = Penalty()
        self._simulation = _ball(
            integrator, step, solver, 0.10002, speed=0.05, others={"arm": swinging(0.4, 12.0)}
        )
        self._system = self._simulation.system
        self._integrator = integrator
        self._state: State = self._simulation.state.copy()
        self._step = step
        self._index = 0

    def ask(self, index: int) -> Answer:
        if self._index != index:
            self._state.time = index * self._step
        self._index = index + 1
        state = self._state
        handed: dict[str, Array] = {"q": state.q, "v": state.v, "aux": state.aux}
        before = {name: values.copy() for name, values in handed.items()}
        out = self._system.new_state()
        report = self._integrator.step(self._system, state, (index + 1) * self._step, out)
        expect(report.accepted, f"a step is not accepted: {report.solve_info.status.value}")
        self._system.accept(out, report.step_size)
        self._state = out.copy()
        found = {"q": out.q, "v": out.v, "time": np.array([out.time, report.step_size])}
        return Answer({name: (before[name], values) for name, values in handed.items()}, found)

    def internal_state(self) -> dict[str, np.ndarray[Any, Any]]:
        kept = collect_states({"own": self.component})
        kept |= {f"system/{name}": values for name, values in self._system.internal_state().items()}
        state = self._state
        own = {"time": np.array(state.time), "index": np.array(self._index)}
        return kept | {"q": state.q, "v": state.v, "aux": state.aux} | own

    def restore(self, internal_state: dict[str, np.ndarray[Any, Any]]) -> None:
        restore_states({"own": self.component}, internal_state)
        start = "system/"
        self._system.restore(
            {n[len(start) :]: values for n, values in internal_state.items() if n.startswith(start)}
        )
        for name in ("q", "v", "aux"):
            getattr(self._state, name)[:] = internal_state[name]
        self._state.time = float(internal_state["time"])
        self._index = int(internal_state["index"])  # steps may be shorter than the one asked for


CHECKS: tuple[Check, ...] = (
    lands_on_stop,
    *answer_checks(IntegratorSession),
    order_one,
    free_fall,
    start_unchanged,
    singular_refused,
    rest_exact,
    slides_to_rest,
    potential_carries,
    *MOTIONS,
    *PROMISES,
)
"""Checks of the integrator role."""
