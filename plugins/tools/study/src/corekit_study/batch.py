"""Many runs of scenarios, at once, each stored as soon as it is done, so that a stopped batch can be resumed.

A batch's folder holds `outcomes.jsonl`, one line a finished or failed run (`journal`), and a folder of each run that
is kept. `failures.jsonl` says when which run failed or was lost with whoever made it, and whether it is made again.
A line is kept while what decides the run is the same, by its digest; what has no line is run, anew.
"""

from __future__ import annotations

import hashlib
import time as clock
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import final

from attrs import frozen

from corekit.errors import CorekitError
from corekit.scenario.load import load
from corekit_run.json_file import append_line
from corekit_run.output_file import writing
from corekit_run.progress import Progress
from corekit_run.schedulers import Lost, Scheduler, Task, open_scheduler
from corekit_study.journal import Journal
from corekit_study.needs import needs_of
from corekit_study.progress_display import ProgressDisplay, ShowProgress, no_display
from corekit_study.run_chunk import FUNCTION, Chunk
from corekit_study.run_task import Outcome, Recipe, RunTask, load_task

__all__ = ["FAILURES", "Job", "make_runs", "run_batch"]

FAILURES = "failures.jsonl"
"""Name of the log of failures."""
_CHUNK_WALL = 1.0
"""Wall time [s] that runs handed over together should take, so that handing over costs little of it."""
_LARGEST_CHUNK = 64


@frozen(kw_only=True)
class Job:
    """One run of a batch.

    Args:
        name: of the run and of its folder, unique in the batch.
        scenario: name of a shipped one, or a file. overrides: as in `--set`.
        allow_code: as for `corekit.load`.
    """

    name: str
    scenario: str
    overrides: tuple[str, ...] = ()
    allow_code: bool = False


def _task_of(job: Job) -> RunTask:
    """Read the scenario of a job; it is run from its resolved text."""
    scenario = load(job.scenario, job.overrides, allow_code=job.allow_code)
    text = scenario.resolved_text()
    return RunTask(
        name=job.name, recipe=Recipe(text=text, allow_code=job.allow_code),
        digest=hashlib.sha256(text.encode()).hexdigest()[:16],
    )  # fmt: skip


def run_batch(
    jobs: Sequence[Job], folder: Path, progress: ShowProgress | None = None, workers: int | None = None
) -> dict[str, Outcome]:
    """Run every job that `folder` stores no outcome of; the outcomes of all, by name, in the order of the jobs.

    A run that fails is an outcome too.

    Args:
        folder: existing; of an earlier batch to go on with it.
        progress: shows how much is done.
        workers: as `jobs` of `corekit_run.schedulers.open_scheduler`.
    Raises:
        ConfigError: a scenario that cannot be loaded; nothing is run then.
        ValueError: two jobs of one name.
    """
    if len({job.name for job in jobs}) < len(jobs):
        raise ValueError("two jobs of a batch have the same name")
    tasks = [_task_of(job) for job in jobs]
    journal = Journal(folder)
    left = sum(not journal.holds(task.name, task.digest) for task in tasks)
    with open_scheduler(jobs=workers, most=left) as scheduler:
        make_runs(tasks, len(tasks), folder, journal, scheduler, progress)
    return {task.name: journal.read(task.name) for task in tasks}


def make_runs(
    tasks: Iterable[RunTask],
    count: int,
    folder: Path,
    journal: Journal,
    scheduler: Scheduler,
    progress: ShowProgress | None = None,
    stored: Callable[[], object] | None = None,
) -> None:
    """Make the runs that a journal holds no outcome of, and store these.

    Args:
        tasks: asked for as there is room for them, so that they need not all be in memory. count: of them.
        folder: for the folders of runs.
        progress: shows how much is done. stored: called after outcomes were stored.
    """
    done = 0

    def missing() -> Iterator[RunTask]:
        nonlocal done
        for task in tasks:
            if journal.holds(task.name, task.digest):
                done += 1
            else:
                yield task

    feed = _Feed(missing(), shares_disk=scheduler.shares_disk, folder=folder)
    with (progress or no_display)(f"{count} runs") as display:
        meter = _Meter(count, folder, display)
        for key, answer in scheduler.run(FUNCTION, feed.next_task, display.warn, feed.needs()):
            if isinstance(answer, Lost):
                _log(folder, feed.names(key), answer.reason, again=feed.is_shared(key))
            for outcome in feed.outcomes(key, answer):
                journal.append(outcome)
                meter.add()
                if outcome.error and not isinstance(answer, Lost):
                    _log(folder, [outcome.name], outcome.error, again=False)
            meter.show(done)
            if stored is not None:
                stored()


def _log(folder: Path, names: Sequence[str], reason: str, *, again: bool) -> None:
    """Note failures of runs."""
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    path = folder / FAILURES
    with writing(path):
        for name in names:
            append_line(path, {"time": now, "run": name, "reason": " ".join(reason.split()), "again": again})


@final
class _Meter:
    """How many runs are done, and when all will be."""

    def __init__(self, count: int, folder: Path, display: ProgressDisplay) -> None:
        self._count, self._folder, self._display = count, folder, display
        self._began, self._made = clock.perf_counter(), 0

    def add(self) -> None:
        """Count a run that was made."""
        self._made += 1

    def show(self, before: int) -> None:
        """Show the progress; `before` runs were done before, as far as is known."""
        gone = self._made + before
        rate = self._made / max(clock.perf_counter() - self._began, 1e-9)
        remaining = (self._count - gone) / rate if rate else float("nan")
        self._display(
            Progress("running", gone / self._count, float(gone), rate, remaining, self._folder, unit="runs")
        )


@final
class _Feed:
    """Chunks of runs for a scheduler: large enough that handing over costs little, alone where they were lost.

    Args:
        tasks: to be made. shares_disk: of the scheduler. folder: for the folders of runs.
    """

    def __init__(self, tasks: Iterator[RunTask], *, shares_disk: bool, folder: Path) -> None:
        self._tasks, self._folder, self._shares_disk = tasks, folder, shares_disk
        self._waiting: deque[RunTask] = deque()
        self._alone: deque[RunTask] = deque()
        self._given: dict[int, Chunk] = {}
        self._key = 0
        self._wall = _CHUNK_WALL

    def needs(self) -> dict[str, str]:
        """Return what another computer must have for the first run; nothing where the runs stay on this one."""
        task = None if self._shares_disk else self._next()
        if task is None:
            return {}
        self._waiting.appendleft(task)
        try:
            return needs_of(load_task(task))
        except CorekitError:  # it is an outcome of the run
            return needs_of()

    def next_task(self) -> Task | None:
        """Return the next chunk; see `corekit_run.schedulers.NextTask`."""
        if self._alone:
            chunk = [self._alone.popleft()]
        else:
            chunk = self._next_chunk()
        if not chunk:
            return None
        self._key += 1
        self._given[self._key] = given = Chunk(tuple(chunk))
        return Task(self._key, given.as_bytes(self._folder if self._shares_disk else None))

    def _next_chunk(self) -> list[RunTask]:
        most = max(1, min(_LARGEST_CHUNK, int(_CHUNK_WALL / self._wall)))
        chunk: list[RunTask] = []
        while len(chunk) < most and (task := self._next()) is not None:
            if chunk and task.recipe is not chunk[0].recipe:
                self._waiting.appendleft(task)
                break
            chunk.append(task)
        return chunk

    def _next(self) -> RunTask | None:
        return self._waiting.popleft() if self._waiting else next(self._tasks, None)

    def names(self, key: int) -> list[str]:
        """Return the runs of a chunk."""
        return [task.name for task in self._given[key].tasks]

    def is_shared(self, key: int) -> bool:
        """Whether a chunk has several runs, so that one of them may have taken the others with it."""
        return len(self._given[key].tasks) > 1

    def outcomes(self, key: int, answer: bytes | Lost) -> list[Outcome]:
        """Return the outcomes of a chunk; runs that were lost with others are to be made again, each alone."""
        chunk = self._given.pop(key)
        if not isinstance(answer, Lost):
            found = chunk.outcomes(answer, self._folder)
            wall = sum(each.wall_s for each in found) / len(found)
            self._wall = max(0.5 * (self._wall + wall), 1e-6)
            return found
        if len(chunk.tasks) > 1:
            self._alone.extend(chunk.tasks)
            return []
        (task,) = chunk.tasks
        return [
            Outcome(
                name=task.name,
                digest=task.digest,
                error=answer.reason,
                completed=0.0,
                wall_s=0.0,
                duration=0.0,
            )
        ]
