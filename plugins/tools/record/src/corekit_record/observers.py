"""Observers that this distribution adds to runs, in the order in which they depend on each other."""

from __future__ import annotations

from corekit_record.record_layout import PARTS
from corekit_record.recorder import Recorder
from corekit_record.results import RESULTS
from corekit_record.statistics import Statistics
from corekit_record.watchdog import Watchdog
from corekit_run.observers import RunContext, RunObserver

__all__ = ["observe"]


def observe(context: RunContext) -> list[RunObserver]:
    """Make statistics, watchdog and recorder, in this order: a step at which the watchdog stops is not recorded."""
    scenario, simulation = context.scenario, context.simulation
    every = scenario.output.every or simulation.step_length
    statistics = Statistics()
    watchdog = Watchdog(scenario.watchdog, simulation, statistics, every, context.log, context.warn)
    if context.folder is None:
        return [statistics, watchdog]

    def tell(sentence: str) -> None:
        context.warn(sentence)
        context.log("records lost", reason=sentence)

    left_out = [part for part in PARTS if part not in scenario.output.record]
    recorder = Recorder(
        context.folder / RESULTS, simulation, every, statistics, scenario.name, left_out=left_out, tell=tell
    )
    return [statistics, watchdog, recorder]
