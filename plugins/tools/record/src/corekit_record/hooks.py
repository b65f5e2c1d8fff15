"""Hooks of this distribution: verbs, observers of runs, results and their report."""

from __future__ import annotations

from corekit.hooks.specs import Verb, hookimpl

__all__ = ["corekit_results", "corekit_run_observers", "corekit_run_report", "corekit_verbs"]


@hookimpl
def corekit_verbs() -> list[Verb]:
    """Return the verbs that draw what was recorded."""
    return [
        Verb(
            "view",
            "corekit_record.cli.view:view",
            "A run in the browser, live or replayed; or a scenario driven by sliders.",
        ),
        Verb(
            "render",
            "corekit_record.cli.render:render",
            "A picture, a video or a replay of a run, as a file.",
        ),
    ]


@hookimpl
def corekit_run_observers() -> list[str]:
    """Return statistics, watchdog and recorder."""
    return ["corekit_record.observers:observe"]


@hookimpl
def corekit_results() -> str:
    """Return the class that reads `results.nc`."""
    return "corekit_record.results:Results"


@hookimpl
def corekit_run_report() -> str:
    """Return the report of a recorded run, for `corekit run` and `corekit info`."""
    return "corekit_record.cli.run_report:RecordedRun"
