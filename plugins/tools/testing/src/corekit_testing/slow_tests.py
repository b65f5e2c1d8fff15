"""A pytest plugin: `--quick` leaves out the tests that a list names as slow, and says how many.

The list is measured, not judged: `--slow-above SECONDS` runs all tests and writes down which took longer. The ini
option `slow_tests` names its file, in which every line is the id of a test.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import pytest

__all__: list[str] = []

_REPORTED = "slow_tests"
"""Where a process of pytest-xdist reports to the one that writes the summary."""
_GROUP = re.compile(r"@[\w-]+$")
"""What pytest-xdist appends to the id of a test in a group."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("slow_tests", "file that names slow tests, one a line", type="paths", default=[])
    parser.addoption(
        "--quick", action="store_true", help="leave out the tests that the list of slow tests names"
    )
    parser.addoption(
        "--slow-above", type=float, metavar="SECONDS",
        help="run all tests, and write those that took longer into the list of slow tests",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    files = config.getini("slow_tests")
    if not files:
        return
    # each process of pytest-xdist is given the same command line, and decides alike
    some = config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    some = some or bool(config.option.quick or config.option.keyword or config.option.markexpr)
    if some and config.option.slow_above is not None:
        raise pytest.UsageError(
            "--slow-above writes the list of all slow tests anew: it goes with no choice of tests"
        )
    config.pluginmanager.register(_SlowTests(config, files[0]))


@final
class _SlowTests:
    """Leaves slow tests out or measures them, and says so.

    Args:
        config: pytest's.
        file: the list.
    """

    def __init__(self, config: pytest.Config, file: Path) -> None:
        self._config, self._file = config, file
        self._left_out = 0
        self._seconds: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        """After all others have chosen: a list leaves out tests of a run, it does not change the others."""
        yield
        if not self._config.option.quick or not self._file.exists():
            return
        named = set(self._file.read_text(encoding="utf-8").splitlines())
        slow = [item for item in items if _GROUP.sub("", item.nodeid) in named]
        if slow:
            self._left_out = len(slow)
            self._config.hook.pytest_deselected(items=slow)
            items[:] = [item for item in items if _GROUP.sub("", item.nodeid) not in named]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Sum up the wall time of a test and of the fixtures that were made for it."""
        self._seconds[_GROUP.sub("", report.nodeid)] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the list, unless tests failed or did not run: it would lack some."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_REPORTED] = self._left_out
        elif (above := self._config.option.slow_above) is not None and exitstatus == pytest.ExitCode.OK:
            slow = sorted(name for name, seconds in self._seconds.items() if seconds > above)
            self._file.write_text("".join(f"{name}\n" for name in slow), encoding="utf-8")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Each process of pytest-xdist collects the same tests and leaves out the same ones."""
        self._left_out = max(self._left_out, getattr(node, "workeroutput", {}).get(_REPORTED, 0))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._left_out:
            terminalreporter.write_line(f"{self._left_out} slow tests were left out (--quick)")
