"""Estimators on an observation with a known answer: a mass on a spring, at rest under a constant pull.

The world of the kit has one body, `mass`, of three coordinates [m] with the frame `node0`, which hangs on a spring of
50 N/m without length: under the pull u it rests at x = u/50. What was seen is in an estimator's own options, so that
these must name it: `--set 'seen=[{frame = "node0", place = [0.2, 0.0, -0.1]}]'`, or as the estimator calls it. One
whose options ask for files is judged by its spec and options alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.errors import CorekitError
from corekit.roles.component import BuildContext, Component
from corekit.roles.estimator import VERDICTS, EstimationTask
from corekit.roles.options import ComponentRef
from corekit_testing.conformance.answers import answer_checks
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.subject import Answer, Session, Subject
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig

__all__ = ["CHECKS", "mass_on_spring"]

_STIFFNESS = 50.0
_NEAR = 1e-4
"""How far what is predicted may be from where the mass rests under the estimate [m]."""


def mass_on_spring(shown: float = 1.0) -> EstimationTask:
    """The kit's task; `shown` scales how far the mass gives way, 0: it does not."""
    model = PointChain(PointChainConfig(masses=(1.0,)), BuildContext(gravity=np.zeros(3)))

    def rest(inputs: Array, _start: State, _time: float) -> State:
        state = State.zeros(3, 3)
        state.q[:] = shown * np.asarray(inputs) / _STIFFNESS
        return state

    def no_run(*_asked: object) -> Any:
        raise NotApplicable("asks for runs of the scenario, which the kit's task has not")

    return EstimationTask(
        body="mass", model=model, abilities=frozenset({"force-derivatives"}), start=State.zeros(3, 3), step=1e-3,
        duration=2.0, integrator=ComponentRef("reference-semi-implicit-euler"), inputs=lambda _time: np.zeros(3),
        find_equilibrium=rest, simulate=no_run, differentiate=no_run, minimise=no_run, with_changes=no_run,
    )  # fmt: skip


class EstimatorSession(Session):
    """The task, again and again: every fit begins afresh."""

    questions = 2

    def __init__(self, subject: Subject, component: Component, *, reuse: bool = False) -> None:
        super().__init__(subject, component, reuse=reuse)
        needed = set(subject.spec.requires.get("models", ())) - mass_on_spring().abilities
        if needed:
            raise NotApplicable(
                f"asks of a model what the kit's mass cannot give: {', '.join(sorted(needed))}"
            )
        self.task, self.info, self.estimate = mass_on_spring(), SolveInfo(), None

    def ask(self, index: int) -> Answer:
        start, estimator = self.task.start, self.component
        before = {"q": start.q.copy(), "v": start.v.copy()}
        try:
            made: Any = estimator
            self.estimate, self.info = made.estimate(self.task, lambda _numbers: None)
        except (CorekitError, OSError) as error:
            said = str(error).splitlines()[0]
            raise NotApplicable(
                f"its options do not ask for the kit's task, the body `mass` with the input `pull`: {said}"
            ) from error
        own: Any = self.estimate
        found = {"time": own.time, "observed": own.observed, "predicted": own.predicted}
        found |= {f"{each.channel} {i}": each.values for i, each in enumerate(own.schedules)}
        found |= {each.name: np.array([each.value, each.low, each.high]) for each in own.fitted}
        return Answer({name: (kept, getattr(start, name)) for name, kept in before.items()}, found)


@check("estimate-sized", "places are (T, markers, 3), verdicts are known words, and what is solved is finite")
def estimate_sized(subject: Subject) -> None:
    session = EstimatorSession(subject, subject.build())
    session.ask(0)
    own: Any = session.estimate
    wanted = (len(own.time), len(own.markers), 3)
    for name in ("observed", "predicted"):
        shape = np.shape(getattr(own, name))
        expect(shape == wanted, f"{name} has the shape {shape}, wanted is {wanted}")
    unknown = [each.verdict for each in own.fitted if each.verdict not in VERDICTS]
    expect(not unknown, f"{unknown[:1]} is no verdict; they are {', '.join(VERDICTS)}")
    for each in own.fitted:
        inside = each.low <= each.value <= each.high and np.isfinite([each.low, each.high]).all()
        expect(
            each.verdict != VERDICTS[0] or inside,
            f"{each.name} is {each.verdict} as {each.value:g}, its interval is {each.low:g} to {each.high:g}",
        )
    if session.info.status.solved:
        numbers = [own.predicted, *(each.values for each in own.schedules)]
        finite = all(np.isfinite(each).all() for each in numbers)
        expect(finite, f"it is {session.info.status.name}, and an estimate is not finite")


@check("prediction-true", "what is predicted is where the body rests under what was estimated")
def prediction_true(subject: Subject) -> None:
    session = EstimatorSession(subject, subject.build())
    session.ask(0)
    own: Any = session.estimate
    pulls = [each for each in own.schedules if each.channel == "pull"]
    if not session.info.status.solved or not pulls:
        raise NotApplicable("estimates no pull, or does not solve the task")
    place = pulls[0].values[-1] / _STIFFNESS
    for marker in range(len(own.markers)):
        expect_close("predicted place [m]", own.predicted[-1, marker], place, _NEAR)


@check(
    "blind-unsolved", "an input that shows nowhere is never said to be found by a fit that misses its marker"
)
def blind_unsolved(subject: Subject) -> None:
    session = EstimatorSession(subject, subject.build())
    session.task = mass_on_spring(0.0)
    session.ask(0)
    own: Any = session.estimate
    away = float(np.nanmax(np.abs(own.observed), initial=0.0))
    if away < 10.0 * _NEAR:
        raise NotApplicable("saw the mass where it is without a pull")
    status = session.info.status
    expect(
        not status.solved,
        f"a mass that cannot give way was seen {away:.3g} m away, and the fit is {status.name}",
    )


CHECKS: tuple[Check, ...] = (
    *answer_checks(EstimatorSession),
    estimate_sized,
    prediction_true,
    blind_unsolved,
)
"""Checks of the estimator role."""
