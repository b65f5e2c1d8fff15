"""Scenarios run into a new folder, and what the installed recorder reads there."""

from __future__ import annotations

from typing import Any

from corekit.simulation.execute import execute
from corekit.simulation.results import recorded_results
from corekit.simulation.runnable import Runnable

__all__ = ["run"]


def run(scenario: Runnable, **options: Any) -> Any:
    """Run a scenario into a new folder.

    Args:
        scenario: what to run.
        options: of `corekit.simulation.execute.execute`, which says what is raised.
    Returns:
        Its `corekit.Results`; its `RunFolder` where no recorder is installed.
    """
    return recorded_results(execute(scenario, **options))
