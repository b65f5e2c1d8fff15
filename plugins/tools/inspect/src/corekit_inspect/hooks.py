"""What this distribution adds to the kernel: verbs that inspect an installation, doubts about scenarios and runs."""

from __future__ import annotations

from corekit.hooks.specs import Verb, hookimpl

__all__ = ["corekit_run_observers", "corekit_scenario_doubts", "corekit_verbs"]


@hookimpl
def corekit_verbs() -> list[Verb]:
    """The verbs `list`, `info` and `doctor`."""
    return [
        Verb("list", "corekit_inspect.cli.listing:list_components", "What is installed, and what could be."),
        Verb(
            "info",
            "corekit_inspect.cli.info:info",
            "A component and its options; or a run and how it went.",
        ),
        Verb(
            "doctor",
            "corekit_inspect.cli.doctor:doctor",
            "Whether everything installed works, and what is missing.",
        ),
    ]


@hookimpl
def corekit_run_observers() -> list[str]:
    """Return what warns of what is improbable at the start of a run, and of piles that form in it."""
    return ["corekit_inspect.doubt_watch:watch_doubts"]


@hookimpl
def corekit_scenario_doubts() -> list[str]:
    """Return what finds the improbable in a scenario."""
    return ["corekit_inspect.plausibility:scenario_doubts"]
