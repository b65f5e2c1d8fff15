"""Planners on a task with a known answer: a free mass that constant pulls take to a target.

The world of the kit has one body, `mass`, of 0.5 kg and three coordinates [m], which weighs nothing and has the input
`pull` of three numbers [N]; the task lasts 0.4 s with steps of 10 ms. What is to be done is in a planner's own options,
so that these must name it: `--set body=mass --set "target=[0.3, -0.1, 0.2]"` or as the planner calls them. A planner
whose options ask for something else is judged by its spec and options alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.data.signals import Constant
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.errors import CorekitError
from corekit.roles.component import BuildContext, Component
from corekit.roles.planner import BodyTrajectory, PlanningTask, TaskBody
from corekit_testing.conformance.answers import answer_checks
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.subject import Answer, Session, Subject
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import small_world

__all__ = ["CHECKS", "pulled_mass"]

_STEP, _STEPS = 1e-2, 40
_EXACT = 1e-9
"""Of what is simulated twice with the same inputs [m], [m/s]."""
Simulate = Callable[[Mapping[str, Array], Array], Mapping[str, BodyTrajectory]]


def pulled_mass(mass: float = 0.5) -> tuple[PlanningTask, Simulate]:
    """The kit's task, and the simulation of it."""
    model = PointChain(PointChainConfig(masses=(mass,)), BuildContext(gravity=np.zeros(3)))

    def simulate(inputs: Mapping[str, Array], times: Array) -> Mapping[str, BodyTrajectory]:
        given = np.asarray(inputs["mass"], dtype=float)
        state, q, v = State.zeros(3, 3), np.zeros((len(times), 3)), np.zeros((len(times), 3))
        for k in range(1, len(times)):
            simulation = small_world(
                {"mass": model}, SemiImplicitEuler(None, BuildContext(step=_STEP)), step=_STEP,
                inputs={"mass": {"pull": Constant(tuple(given[k].tolist()))}},
            )  # fmt: skip
            simulation.state.q[:], simulation.state.v[:] = state.q, state.v
            simulation.run(float(times[k] - times[k - 1]))
            state.q[:], state.v[:] = simulation.state.q, simulation.state.v
            q[k], v[k] = state.q, state.v
        return {"mass": BodyTrajectory(q=q, v=v, inputs=given)}

    body = TaskBody(model, frozenset({"force-derivatives"}), State.zeros(3, 3))
    task = PlanningTask(bodies={"mass": body}, step=_STEP, duration=_STEPS * _STEP, simulate=simulate)
    return task, simulate


def _planned(planner: Any, task: PlanningTask) -> tuple[Any, SolveInfo]:
    """What a planner makes of the kit's task; raises `NotApplicable` where its options ask for another one."""
    try:
        return planner.plan(task, lambda _numbers: None)
    except CorekitError as error:
        said = str(error).splitlines()[0]
        raise NotApplicable(
            f"its options do not ask for the kit's task, the body `mass` with the input `pull`: {said}"
        ) from error


class PlannerSession(Session):
    """The task, again and again: a planner begins afresh."""

    questions = 2

    def __init__(self, subject: Subject, component: Component, *, reuse: bool = False) -> None:
        super().__init__(subject, component, reuse=reuse)
        self.task, self.simulate = pulled_mass()
        self.info = SolveInfo()

    def ask(self, index: int) -> Answer:
        start = self.task.bodies["mass"].start
        before = {"q": start.q.copy(), "v": start.v.copy()}
        plan, self.info = _planned(self.component, self.task)
        planned = ", ".join(sorted(plan.bodies)) or "no body"
        expect(set(plan.bodies) == {"mass"}, f"the plan moves {planned}, the task has the body mass")
        body = plan.bodies["mass"]
        found = {"time": plan.time, "q": body.q, "v": body.v}
        if body.inputs is not None:
            found["inputs"] = body.inputs
        return Answer({name: (kept, getattr(start, name)) for name, kept in before.items()}, found)


@check("plan-sized", "instants rise from 0 within the task, arrays fit them, and what is solved is finite")
def plan_sized(subject: Subject) -> None:
    session = PlannerSession(subject, subject.build())
    found = session.ask(0).found
    time = np.asarray(found["time"])
    fits = time.ndim == 1 and len(time) > 0 and time[0] == 0.0 and (np.diff(time) > 0.0).all()
    expect(fits, f"instants must rise from 0, they are {np.array2string(time, threshold=6)}")
    last = float(time[-1])
    expect(
        last <= session.task.duration + 1e-9,
        f"the plan lasts {last:g} s, the task {session.task.duration:g} s",
    )
    for name in found.keys() - {"time"}:
        shape = np.shape(found[name])
        expect(shape == (len(time), 3), f"{name} has the shape {shape}, wanted is {(len(time), 3)}")
        finite = np.isfinite(found[name]).all() or not session.info.status.solved
        expect(finite, f"{name} is not finite, and the plan {session.info.status.name}")


@check(
    "plan-as-simulated", "a plan that is solved is the motion that its inputs give, from the task's start on"
)
def plan_as_simulated(subject: Subject) -> None:
    session = PlannerSession(subject, subject.build())
    found = session.ask(0).found
    if not session.info.status.solved or "inputs" not in found:
        raise NotApplicable(f"plans no inputs, or does not solve the task: {session.info.status.name}")
    moved = session.simulate({"mass": found["inputs"]}, found["time"])["mass"]
    size = 1.0 + float(np.abs(moved.q).max()) + float(np.abs(moved.v).max())
    # of a planner with equations of its own, a share of what the body moves in a step
    slack = max(_EXACT, 2.0 * _STEP) * size
    for name in ("q", "v"):
        expect_close(
            f"{name} at the start of the plan", found[name][0], getattr(moved, name)[0], _EXACT * size
        )
    expect_close("planned places against simulated ones [m]", found["q"], moved.q, slack)
    expect_close("planned velocities against simulated ones [m/s]", found["v"], moved.v, slack)


@check("unreachable-unsolved", "a target that no input reaches is never said to be reached")
def unreachable_unsolved(subject: Subject) -> None:
    session = PlannerSession(subject, subject.build())
    moved = float(np.abs(session.ask(0).found["q"]).max())
    if not session.info.status.solved or moved < 1e-6:
        raise NotApplicable("asks the mass to stay, or does not solve the task")
    task, simulate = pulled_mass(1e9)
    heavy = PlannerSession(subject, subject.build())
    heavy.task, heavy.simulate = task, simulate
    there = heavy.ask(0).found
    pulled = np.abs(there.get("inputs", np.full(1, np.inf))).max()
    lies = heavy.info.status.solved and pulled < 1e6 and np.abs(there["q"]).max() > 0.5 * moved
    still = heavy.info.status.solved and np.abs(there["q"]).max() < 1e-3 * moved
    expect(
        not (lies or still), f"a mass of 1e9 kg that is hardly pulled, or stays, is {heavy.info.status.name}"
    )


CHECKS: tuple[Check, ...] = (
    *answer_checks(PlannerSession),
    plan_sized,
    plan_as_simulated,
    unreachable_unsolved,
)
"""Checks of the planner role."""
