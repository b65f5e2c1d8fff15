"""Viewers, planners and estimators with one small mistake each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import evolve

from corekit.data.status import SolveInfo
from corekit_testing.conformance import Subject

from . import test_wrong_planners as tasks
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
    "always arrived": (plans(lambda self, plan, info: (plan, SolveInfo())), "unreachable-unsolved"),
}


def fits(change: Any) -> Callable[[], Subject]:
    return lambda: tasks.estimator(told=change)


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
    "always certain": (fits(lambda self, found, info: (found, SolveInfo())), "blind-unsolved"),
}
