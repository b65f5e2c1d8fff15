"""A pytest plugin: of a test that is a table of all combinations, few cells run unless `--full` is given.

A test marked `product_table` is one claim about every cell of the product of its parameters. A plain run has the
cells of `covering_cells`, in which every pair of values meets; the summary says how many cells were left out.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from corekit_testing.covering import covering_cells

__all__: list[str] = []

LEFT_OUT = pytest.StashKey[int]()
WORKER = "cells_left_out"
"""Where a process of pytest-xdist reports to the one that writes the summary."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full", action="store_true",
        help="run every cell of the tests marked product_table, not only cells that hold every pair of values",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "product_table: a claim about all combinations of its parameters, of which --full runs each",
    )
    config.stash[LEFT_OUT] = 0


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """After `-k` and node ids made their choice: the pairs of what they chose are covered."""
    if config.getoption("full"):
        return
    tables = defaultdict(list)
    for item in items:
        if item.get_closest_marker("product_table") is not None:
            tables[item.nodeid.partition("[")[0]].append(item)
    left_out: set[pytest.Item] = set()
    for table in tables.values():
        cells: list[Any] = [tuple(item.callspec.params.values()) for item in table]  # pyrefly: ignore
        kept = {table[number] for number in covering_cells(cells)}
        left_out |= set(table) - kept
    if left_out:
        config.stash[LEFT_OUT] = len(left_out)
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[WORKER] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Each process of pytest-xdist collects the same tests and leaves out the same cells."""
    left_out = getattr(node, "workeroutput", {}).get(WORKER, 0)
    node.config.stash[LEFT_OUT] = max(node.config.stash[LEFT_OUT], left_out)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if count := config.stash[LEFT_OUT]:
        terminalreporter.write_line(
            f"{count} cells of product tables were left out: every pair of their values met in another cell "
            "(--full, or make test FULL=1, runs all)"
        )
