"""How the tests of the workspace are shared out among processes, and what their processes spare themselves."""

from __future__ import annotations

import gc
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from corekit_testing.reference_data import NOT_JUDGED, REFERENCE_DATA

ROOT = Path(__file__).parent

# Most of what tests make lives on: modules, kernels, expressions.
gc.set_threshold(20_000, 20, 50)

# Every core runs tests already: a run does not start a second process that compiles.
os.environ.setdefault("COREKIT_PROCESSES", "1")

# How long an example took says something of the machine, not of the code.
if find_spec("hypothesis") is not None:
    from hypothesis import settings

    # the same examples in every run and on every machine; `make fuzz` draws others (`tools/fuzz.py`)
    settings.register_profile("same", deadline=None, derandomize=True, database=None)
    settings.register_profile("random", deadline=None, database=None)
    settings.load_profile("same")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a plugin, and else of a file, in one process.

    Its kernels are then compiled, its modules imported and its fixtures made once, not once a process.
    """
    for item in items:
        place = item.path.relative_to(ROOT).with_suffix("").parts
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group("-".join(place[1:3] if place[0] == "plugins" else place)))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say in one line how many tests had nothing to compare with."""
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(NOT_JUDGED in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(
            f"{count} tests were not judged: their data may not be shipped ({REFERENCE_DATA} names a folder with it)"
        )


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: it is no longer searched for garbage."""
    gc.collect()
    gc.freeze()
