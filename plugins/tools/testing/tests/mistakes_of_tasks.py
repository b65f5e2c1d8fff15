"""Viewers, planners and estimators with one small mistake each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import evolve

from corekit.data.status import SolveInfo
from corekit.roles.estimator import FittedParameter
from corekit_testing.conformance import Subject

from . import test_wrong_planners as tasks
from .defects import counter, drift
from .test_wrong_viewers import Numbers, viewer

__all__ = ["ESTIMATORS", "PLANNERS", "VIEWERS"]


def draws(**methods: Any) -> Callable[[], Subject]:
    return lambda: viewer(**methods)


def half(self, replay):
    for part in Numbers.parts(self, replay):
        yield part[: len(part) // 2]


def bodies_alone(self, replay):
    yield next(iter(Numbers.parts(self, replay)))


def clocked(self, replay):
    self.calls = getattr(self, "calls", 0) + 1
    return Numbers.text(self, replay) + str(self.calls)


def empty(self, replay, path, progress=None):
    Numbers.render(self, replay, path, progress)
    path.write_text("")


def swallowed(self, replay, path, progress=None):
    if path.suffix == ".txt":
        Numbers.render(self, replay, path, progress)


def sorts_time(self, replay, path, progress=None):
    replay.time[:] = replay.time[::-1].copy()
    Numbers.render(self, replay, path, progress)


VIEWERS = {
    "the last instant is missing": (draws(parts=half), "draws-contacts"),
    "bodies alone": (draws(parts=bodies_alone), "draws-obstacles"),
    "counts": (draws(text=clocked), "saved-and-loaded"),
    "an empty file": (draws(render=empty), "writes-file"),
    "silent about what it cannot write": (draws(render=swallowed), "nothing-on-failure"),
    "turns the time": (draws(render=sorts_time), "inputs-unchanged"),
    "a share that never ends": (draws(shares=lambda self: (0.1, 0.5)), "progress-rises"),
    "a chart of nothing": (draws(chart=lambda self, chart, path: path.write_text("")), "draws-charts"),
    "prints": (
        draws(text=lambda self, replay: print("drawing") or Numbers.text(self, replay)),
        "leaves-no-trace",
    ),
}


def plans(change: Any) -> Callable[[], Subject]:
    return lambda: tasks.planner(told=change)


def moved_body(plan: Any, **changes: Any) -> Any:
    return evolve(plan, bodies={"mass": evolve(plan.bodies["mass"], **changes)})


def goes_on(self, task, progress):
    """Moves the start of the task to where its plan ends."""
    plan, info = tasks.Pushing.plan(self, task, progress)
    task.bodies["mass"].start.q[:] = plan.bodies["mass"].q[-1]
    return plan, info


PLANNERS = {
    "NaN": (
        plans(lambda self, plan, info: (moved_body(plan, q=plan.bodies["mass"].q * np.nan), info)),
        "plan-sized",
    ),
    "one instant too few": (
        plans(lambda self, plan, info: (evolve(plan, time=plan.time[:-1]), info)),
        "plan-sized",
    ),
    "begins later": (
        plans(lambda self, plan, info: (evolve(plan, time=plan.time + 0.05), info)),
        "plan-sized",
    ),
    "goes back in time": (
        plans(lambda self, plan, info: (evolve(plan, time=plan.time[::-1].copy()), info)),
        "plan-sized",
    ),
    "coordinates twice": (
        plans(lambda self, plan, info: (moved_body(plan, q=2.0 * plan.bodies["mass"].q), info)),
        "plan-as-simulated",
    ),
    "another start": (
        plans(lambda self, plan, info: (moved_body(plan, q=plan.bodies["mass"].q + 0.01), info)),
        "plan-as-simulated",
    ),
    "inputs of the next interval": (
        plans(lambda self, plan, info: (moved_body(plan, inputs=2.0 * plan.bodies["mass"].inputs), info)),
        "plan-as-simulated",
    ),
    "another body": (
        plans(lambda self, plan, info: (evolve(plan, bodies={"body": plan.bodies["mass"]}), info)),
        "plan-sized",
        "the plan moves body, the task has the body mass",
    ),
    "inputs of intervals, one too few": (
        plans(lambda self, plan, info: (moved_body(plan, inputs=plan.bodies["mass"].inputs[:-1]), info)),
        "plan-sized",
        "inputs has the shape (4, 3), wanted is (5, 3)",
    ),
    "lasts longer than the task": (
        plans(lambda self, plan, info: (evolve(plan, time=2.0 * plan.time), info)),
        "plan-sized",
        "the task 0.4 s",
    ),
    "one instant is there twice": (
        plans(lambda self, plan, info: (evolve(plan, time=np.maximum(plan.time - 0.1, 0.0)), info)),
        "plan-sized",
        "instants must rise from 0",
    ),
    "one coordinate too few": (
        plans(lambda self, plan, info: (moved_body(plan, q=plan.bodies["mass"].q[:, :2]), info)),
        "plan-sized",
        "q has the shape (5, 2), wanted is (5, 3)",
    ),
    "velocities in millimetres": (
        plans(lambda self, plan, info: (moved_body(plan, v=1e3 * plan.bodies["mass"].v), info)),
        "plan-as-simulated",
        "planned velocities against simulated ones",
    ),
    "inputs with the other sign": (
        plans(lambda self, plan, info: (moved_body(plan, inputs=-plan.bodies["mass"].inputs), info)),
        "plan-as-simulated",
        "planned places against simulated ones",
    ),
    "begins where the last plan ended": (
        lambda: tasks.planner(plan=goes_on),
        "inputs-unchanged",
        "changes its argument q",
    ),
    "counts its plans": (
        plans(
            lambda self, plan, info: (moved_body(plan, q=plan.bodies["mass"].q + 1e-12 * counter(self)), info)
        ),
        "saved-and-loaded",
        "is not the same",
    ),
    "a random first guess": (
        plans(
            lambda self, plan, info: (moved_body(plan, q=plan.bodies["mass"].q + 1e-12 * drift(self)), info)
        ),
        "deterministic",
        "in a second component",
    ),
    "prints": (
        plans(lambda self, plan, info: print("iteration 1") or (plan, info)),
        "leaves-no-trace",
        "prints 'iteration 1",
    ),
    "always arrived": (plans(lambda self, plan, info: (plan, SolveInfo())), "unreachable-unsolved"),
}


def fits(change: Any) -> Callable[[], Subject]:
    return lambda: tasks.estimator(told=change)


def fitted(verdict: str) -> FittedParameter:
    return FittedParameter(
        name="options.stiffness", unit="N/m", value=50.0, start=40.0, low=49.0, high=51.0, verdict=verdict
    )


def pulled_by(found: Any, factor: float) -> Any:
    """The estimate with every pull times a factor."""
    return evolve(
        found, schedules=tuple(evolve(each, values=factor * each.values) for each in found.schedules)
    )


def begins_there(self, task, progress):
    """Leaves the start of the task where it found the mass."""
    found, info = tasks.Pulled.estimate(self, task, progress)
    task.start.q[:] = found.predicted[0, 0]
    return found, info


ESTIMATORS = {
    "NaN": (
        fits(lambda self, found, info: (evolve(found, predicted=found.predicted * np.nan), info)),
        "estimate-sized",
    ),
    "another shape": (
        fits(lambda self, found, info: (evolve(found, predicted=found.predicted[0, 0]), info)),
        "estimate-sized",
    ),
    "millimetres": (
        fits(lambda self, found, info: (evolve(found, predicted=1e3 * found.predicted), info)),
        "prediction-true",
    ),
    "predicts what was seen": (
        fits(
            lambda self, found, info: (
                evolve(
                    found, schedules=tuple(evolve(each, values=2.0 * each.values) for each in found.schedules)
                ),
                info,
            )
        ),
        "prediction-true",
    ),
    "a verdict of its own": (
        fits(lambda self, found, info: (evolve(found, fitted=(fitted("certain"),)), info)),
        "estimate-sized",
        "is no verdict",
    ),
    "an interval of deviations": (
        fits(
            lambda self, found, info: (
                evolve(found, fitted=(evolve(fitted("identified"), low=-1.0, high=1.0),)),
                info,
            )
        ),
        "estimate-sized",
        "its interval is -1 to 1",
    ),
    "a marker too many": (
        fits(lambda self, found, info: (evolve(found, markers=("tip", "base")), info)),
        "estimate-sized",
        "has the shape (1, 1, 3), wanted is (1, 2, 3)",
    ),
    "the pull with the other sign": (
        fits(lambda self, found, info: (pulled_by(found, -1.0), info)),
        "prediction-true",
        "predicted place [m]",
    ),
    "places of the mass's own axes": (
        fits(lambda self, found, info: (evolve(found, predicted=found.predicted[..., ::-1].copy()), info)),
        "prediction-true",
        "predicted place [m]",
    ),
    "predicts what was seen, whatever it finds": (
        fits(
            lambda self, found, info: (evolve(pulled_by(found, 0.5), predicted=found.observed.copy()), info)
        ),
        "prediction-true",
        "predicted place [m]",
    ),
    "writes to the start": (
        lambda: tasks.estimator(estimate=begins_there),
        "inputs-unchanged",
        "changes its argument q",
    ),
    "begins where the last fit ended": (
        fits(lambda self, found, info: (pulled_by(found, 1.0 + 1e-12 * counter(self)), info)),
        "saved-and-loaded",
        "is not the same",
    ),
    "a random first guess": (
        fits(lambda self, found, info: (pulled_by(found, 1.0 + 1e-12 * drift(self)), info)),
        "deterministic",
        "in a second component",
    ),
    "prints": (
        fits(lambda self, found, info: print("misfit") or (found, info)),
        "leaves-no-trace",
        "prints 'misfit",
    ),
    "always certain": (fits(lambda self, found, info: (found, SolveInfo())), "blind-unsolved"),
}
