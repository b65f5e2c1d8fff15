"""Many runs of scenarios, on every core, each stored as soon as it is done, so that a stopped batch can be resumed.

A batch's folder holds one folder a run, and `outcomes.jsonl`: one line a finished or failed run. A line is
kept while the resolved scenario is still the same, by its digest; what has no line is run, anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time as clock
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from attrs import asdict, field, frozen

from corekit.errors import CorekitError, StepFailed
from corekit.scenario.load import load, loads
from corekit_record.results import Results
from corekit_run.processes import end_with_parent
from corekit_run.progress import Progress
from corekit_run.running import run
from corekit_study.progress_display import ShowProgress, no_display

__all__ = ["OUTCOMES", "Job", "Outcome", "run_batch"]

OUTCOMES = "outcomes.jsonl"
"""Name of the file of stored outcomes."""


@frozen(kw_only=True)
class Job:
    """One run of a batch.

    Args:
        name: of the run and of its folder, unique in the batch.
        scenario: name of a shipped one, or a file. overrides: as `--set` takes them.
        allow_code: as for `corekit.load`.
    """

    name: str
    scenario: str
    overrides: tuple[str, ...] = ()
    allow_code: bool = False


@frozen(kw_only=True)
class Outcome:
    """Outcome of a run, as it is stored.

    Args:
        name: of the job. digest: of the resolved scenario.
        error: why it failed, empty if it finished.
        completed: share of the duration that was simulated, 0 to 1.
        wall_s: how long it took [s]. duration: simulated time that was asked for [s].
        statistics: counters over every step, as `Results.statistics`.
    """

    name: str
    digest: str
    error: str = ""
    completed: float
    wall_s: float
    duration: float
    statistics: dict[str, Any] = field(factory=dict)


_Task: TypeAlias = tuple[str, str, str, Path, bool]
"""Name, digest, resolved scenario, folder of the batch, whether code is allowed."""


def run_batch(
    jobs: Sequence[Job], folder: Path, progress: ShowProgress | None = None, workers: int | None = None
) -> dict[str, Outcome]:
    """Run every job that `folder` stores no outcome of; the outcomes of all, by name, in the order of the jobs.

    A run that fails is an outcome too. Processes are started afresh, one a core and never more than jobs.

    Args:
        folder: existing; of an earlier batch to go on with it.
        progress: shows how much is done.
        workers: processes; None: one a core; 0: none, the runs follow one another in this process.
    Raises:
        ConfigError: a scenario that cannot be loaded; nothing is run then.
        ValueError: two jobs of one name.
    """
    if len({job.name for job in jobs}) < len(jobs):
        raise ValueError("two jobs of a batch have the same name")
    loaded = {job.name: load(job.scenario, job.overrides, allow_code=job.allow_code) for job in jobs}
    texts = {name: scenario.resolved_text() for name, scenario in loaded.items()}
    digests = {name: _digest(text) for name, text in texts.items()}
    stored = {name: kept for name, kept in _read_outcomes(folder).items() if digests.get(name) == kept.digest}
    _end_last_line(folder)
    tasks: list[_Task] = [
        (name, digests[name], text, folder, loaded[name].allow_code)
        for name, text in texts.items()
        if name not in stored
    ]
    total = sum(scenario.time.duration for scenario in loaded.values())
    began, before = clock.perf_counter(), sum(kept.duration for kept in stored.values())
    with (progress or no_display)(f"{len(tasks)} of {len(jobs)} runs") as display:

        def store(outcome: Outcome) -> None:
            _append(folder, outcome)
            stored[outcome.name] = outcome
            gone = sum(kept.duration for kept in stored.values())
            rate = (gone - before) / max(clock.perf_counter() - began, 1e-9)
            display(Progress("running", gone / total, gone, rate, (total - gone) / rate, folder))

        if workers == 0 or len(tasks) < 2:
            for task in tasks:
                store(_run(*task))
        else:
            _run_in_processes(tasks, min(workers or os.cpu_count() or 1, len(tasks)), store)
    return {job.name: stored[job.name] for job in jobs}


def _run_in_processes(tasks: Sequence[_Task], workers: int, store: Callable[[Outcome], None]) -> None:
    with ProcessPoolExecutor(workers, get_context("spawn"), end_with_parent) as pool:
        with _without_the_caller_s_script():
            futures: list[Future[Outcome]] = [pool.submit(_run, *task) for task in tasks]
        try:
            for future in as_completed(futures):
                store(future.result())
        except BaseException:
            # waits for what runs: a process that itself is one of a pool would else wait for ever at its end
            pool.shutdown(wait=True, cancel_futures=True)
            raise


@contextmanager
def _without_the_caller_s_script() -> Iterator[None]:
    """Within the block, new processes do not import `__main__`, which would run a script without a guard once more."""
    script, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def _run(name: str, digest: str, text: str, folder: Path, allow_code: bool) -> Outcome:
    """Run one scenario in its own folder; the files of an earlier attempt are removed."""
    own = folder / name
    if own.exists():
        shutil.rmtree(own)
    scenario = loads(text, allow_code=allow_code)
    duration, began = scenario.time.duration, clock.perf_counter()
    error, completed = "", 1.0
    try:
        run(scenario, directory=own, warn=_silent)
    except StepFailed as failed:
        error, completed = str(failed), failed.time / duration
    except CorekitError as refused:
        error, completed = str(refused), 0.0
    statistics = dict(Results(own).statistics) if (own / "results.nc").exists() else {}
    wall = clock.perf_counter() - began
    return Outcome(
        name=name, digest=digest, error=error, completed=completed, wall_s=wall, duration=duration,
        statistics=statistics,
    )  # fmt: skip


def _silent(_sentence: str) -> None:
    """Ignore a warning: those of one among many runs are in its own log."""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _append(folder: Path, outcome: Outcome) -> None:
    with (folder / OUTCOMES).open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(outcome), ensure_ascii=False) + "\n")


def _end_last_line(folder: Path) -> None:
    """End the last line, so that nothing is written behind half a line."""
    path = folder / OUTCOMES
    if path.exists() and not path.read_bytes().endswith(b"\n"):
        with path.open("a", encoding="utf-8") as file:
            file.write("\n")


def _read_outcomes(folder: Path) -> dict[str, Outcome]:
    """Read the stored outcomes by name, the last of each; a line that a kill cut short counts as none."""
    found: dict[str, Outcome] = {}
    path = folder / OUTCOMES
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                outcome = Outcome(**json.loads(line))
            except (ValueError, TypeError):
                continue
            found[outcome.name] = outcome
    return found
