"""How the tests of the workspace are shared out among processes, what these spare themselves, and command lines.

A fresh interpreter spends a second on its imports before the command line begins; a process forked from one that has
done them spends some hundredths. It is a process in every other way: it has its own arguments, folder, environment,
`sys.path`, streams, exit code and death. How an interpreter starts and what it imports is asked of fresh ones, by
`python -m corekit.cli`.
"""

from __future__ import annotations

import gc
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from multiprocessing import forkserver, get_all_start_methods, get_context
from pathlib import Path
from typing import Any

import pytest

from corekit_testing.reference_data import NOT_JUDGED, REFERENCE_DATA

pytest_plugins = [
    "corekit_testing.directed_rounding",
    "corekit_testing.product_tables",
    "corekit_testing.slow_tests",
]

ROOT = Path(__file__).parent
WARM = ROOT / "tests" / "forked"
BEGIN = "import sys; sys.path.insert(0, warm); from warm import begin; begin(**asked)"
PATHS = tuple(sys.path)

# Most of what tests make lives on: modules, kernels, expressions.
gc.set_threshold(20_000, 20, 50)

# Started in the background, Python and all that it starts would ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Every core runs tests already: a run does not start a second process that compiles.
os.environ.setdefault("COREKIT_PROCESSES", "1")

# How long an example took says something of the machine, not of the code.
if find_spec("hypothesis") is not None:
    from hypothesis import settings

    # the same examples in every run and on every machine; `make fuzz` draws others (`tools/fuzz.py`)
    settings.register_profile("same", deadline=None, derandomize=True, database=None)
    settings.register_profile("random", deadline=None, database=None)
    settings.load_profile("same")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: some process always waits, for a child, a file or a kernel of another."""
    return (os.cpu_count() or 1) + 1


@cache
def _place(file: Path) -> tuple[str, ...]:
    """Folders and name of a file with tests, from the root of the workspace."""
    return file.relative_to(ROOT).with_suffix("").parts


def _turn(item: pytest.Item) -> int:
    if _place(item.path)[0] == "plugins":
        return 0
    group = item.get_closest_marker("xdist_group")
    return 1 if group is not None and "wheels" in group.args else 2


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a plugin, and else of a file, in one process.

    Its kernels are then compiled, its modules imported and its fixtures made once, not once a process. The longest
    group, which installs wheels, comes first among those that are no plugin's: begun last it would end alone.
    """
    items.sort(key=_turn)
    for item in items:
        place = _place(item.path)
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
    """What was imported stays to the end: it is no longer searched for garbage, and leaves Ctrl-C alone."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        raise pytest.UsageError("a module that the tests import takes Ctrl-C (SIGINT) away from them")
    gc.collect()
    gc.freeze()


class Running:
    """A command line that was started, with the part of `subprocess.Popen` that the tests ask for."""

    def __init__(self, process: Any, words: list[str], out: Path, err: Path) -> None:
        self._process, self.words, self._out, self._err = process, words, out, err
        self.pid: int = process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Wait for its end; what it wrote on its two streams."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            self.kill()
            raise subprocess.TimeoutExpired(self.words, timeout)
        return self._out.read_text(encoding="utf-8"), self._err.read_text(encoding="utf-8")


class Forked:
    """Starts command lines; their streams are kept as files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._numbers = folder, itertools.count(1)
        # where processes cannot be forked each imports everything anew
        method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        self._context: Any = get_context(method)
        if method == "forkserver":
            running: Any = forkserver._forkserver  # noqa: SLF001
            running._stop()  # noqa: SLF001 - a pool of this process started it without `warm`
            self._context.set_forkserver_preload(["warm"])
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("PYTHONPATH", str(WARM), prepend=os.pathsep)
                forkserver.ensure_running()

    def start(
        self, *arguments: str, folder: Path, environment: Mapping[str, str], module: str = "corekit.cli"
    ) -> Running:
        """Start `python -m MODULE ARGUMENTS` in a folder and leave it running."""
        number = next(self._numbers)  # threads start processes side by side
        out, err = (self._folder / f"{number}.{stream}" for stream in ("out", "err"))
        asked = {
            "module": module, "arguments": arguments, "folder": str(folder), "environment": dict(environment),
            "paths": PATHS, "out": str(out), "err": str(err),
        }  # fmt: skip
        process = self._context.Process(target=exec, args=(BEGIN, {"warm": str(WARM), "asked": asked}))
        process.start()
        return Running(process, [module, *arguments], out, err)

    def run(self, *arguments: str, timeout: float = 300.0, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run it to its end; `more` as in `start`."""
        running = self.start(*arguments, **more)
        out, err = running.communicate(timeout)
        return subprocess.CompletedProcess(running.words, running.poll() or 0, out, err)


@pytest.fixture(scope="session")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Forked:
    """The process that command lines are forked from, started when the first is asked for."""
    return Forked(tmp_path_factory.mktemp("streams"))
