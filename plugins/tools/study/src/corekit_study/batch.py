"""Many runs of scenarios, on every core, each stored as soon as it is done, so that a stopped batch can be resumed.

A batch's folder holds one folder a run, and `outcomes.jsonl`: one line a finished or failed run. A line is
kept while the resolved scenario is still the same, by its digest; what has no line is run, anew. Parts of a batch that
run elsewhere, or at the same time, write `outcomes-….jsonl` of their own; those of all parts are read.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import time as clock
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from attrs import asdict, field, frozen
from attrs.validators import instance_of

from corekit.errors import CorekitError, ResultsError, StepFailed
from corekit.scenario.load import load, loads
from corekit_record.results import Results
from corekit_run.json_file import append_line, end_last_line, read_lines
from corekit_run.output_file import writing
from corekit_run.processes import process_count, work, worker_pool
from corekit_run.progress import Progress
from corekit_run.running import run
from corekit_study.progress_display import ShowProgress, no_display

__all__ = ["END", "OUTCOMES", "Job", "Outcome", "Prepared", "prepare", "run_batch", "run_prepared"]

OUTCOMES = "outcomes.jsonl"
"""Name of the file of stored outcomes."""
_KILLED = "the process of a run was killed: the system may have run out of memory"
END = ("energy_J", "tip_frame", "tip_x_m", "tip_y_m", "tip_z_m")
"""Statistics of the end of a run: energy of all bodies, position of the last frame; without what there is none of."""


@frozen(kw_only=True)
class Job:
    """One run of a batch.

    Args:
        name: of the run and of its folder, unique in the batch.
        scenario: name of a shipped one, or a file. overrides: as in `--set`.
        allow_code: as for `corekit.load`.
        keep: whether its folder stays if it finishes.
    """

    name: str
    scenario: str
    overrides: tuple[str, ...] = ()
    allow_code: bool = False
    keep: bool = True


@frozen(kw_only=True)
class Outcome:
    """Outcome of a run, as it is stored.

    Args:
        name: of the job. digest: of the resolved scenario.
        error: why it failed, empty if it finished.
        completed: share of the duration that was simulated, 0 to 1.
        wall_s: how long it took [s]. duration: simulated time of the scenario [s].
        statistics: counters over every step, as `Results.statistics`, and `END`.
    Raises:
        TypeError: something is of another kind, which only a file can bring about.
    """

    name: str = field(validator=instance_of(str))
    digest: str = field(validator=instance_of(str))
    error: str = field(default="", validator=instance_of(str))
    completed: float = field(validator=instance_of((int, float)))
    wall_s: float = field(validator=instance_of((int, float)))
    duration: float = field(validator=instance_of((int, float)))
    statistics: dict[str, Any] = field(factory=dict, validator=instance_of(dict))


@frozen(kw_only=True)
class Prepared:
    """A job whose scenario is read.

    Args:
        text: of the resolved scenario. duration: of it [s].
    """

    job: Job
    text: str
    duration: float

    @property
    def digest(self) -> str:
        """Of the resolved scenario."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


def prepare(jobs: Sequence[Job]) -> list[Prepared]:
    """Read the scenarios of jobs.

    Raises:
        ConfigError: one that cannot be loaded. ValueError: two jobs of one name.
    """
    if len({job.name for job in jobs}) < len(jobs):
        raise ValueError("two jobs of a batch have the same name")
    found = []
    for job in jobs:
        scenario = load(job.scenario, job.overrides, allow_code=job.allow_code)
        found.append(Prepared(job=job, text=scenario.resolved_text(), duration=scenario.time.duration))
    return found


def run_batch(
    jobs: Sequence[Job], folder: Path, progress: ShowProgress | None = None, workers: int | None = None
) -> dict[str, Outcome]:
    """Run every job that `folder` stores no outcome of; the outcomes of all, by name, in the order of the jobs.

    A run that fails is an outcome too. Processes are started afresh, never more than jobs.

    Args:
        folder: existing; of an earlier batch to go on with it.
        progress: shows how much is done.
        workers: processes; None: as many as a command may use, of which this one is the only one where that is one;
            0: none, the runs follow one another in this process.
    Raises:
        ConfigError: a scenario that cannot be loaded; nothing is run then.
        ValueError: two jobs of one name.
    """
    return run_prepared(prepare(jobs), folder, progress, workers)


def run_prepared(
    prepared: Sequence[Prepared],
    folder: Path,
    progress: ShowProgress | None = None,
    workers: int | None = None,
    outcomes: str = OUTCOMES,
) -> dict[str, Outcome]:
    """Run jobs that are read, as `run_batch` does; `outcomes` is the file of the folder that new ones are stored in."""
    digests = {each.job.name: each.digest for each in prepared}
    stored = {name: kept for name, kept in _read_outcomes(folder).items() if digests.get(name) == kept.digest}
    end_last_line(folder / outcomes)
    tasks = [(each, folder) for each in prepared if each.job.name not in stored]
    if workers is None:
        workers = process_count() if process_count() > 1 else 0
    total = sum(each.duration for each in prepared)
    began, before = clock.perf_counter(), sum(kept.duration for kept in stored.values())
    with (progress or no_display)(f"{len(tasks)} of {len(prepared)} runs to make") as display:

        def store(outcome: Outcome) -> None:
            _append(folder / outcomes, outcome)
            stored[outcome.name] = outcome
            gone = sum(kept.duration for kept in stored.values())
            rate = (gone - before) / max(clock.perf_counter() - began, 1e-9)
            display(Progress("running", gone / total, gone, rate, (total - gone) / rate, folder))

        if workers == 0 or len(tasks) < 2:
            for task in tasks:
                store(_run(*task))
        else:
            _run_in_processes(tasks, min(workers, len(tasks)), store, display.warn)
    return {each.job.name: stored[each.job.name] for each in prepared}


def _run_in_processes(
    tasks: Sequence[tuple[Prepared, Path]],
    workers: int,
    store: Callable[[Outcome], None],
    warn: Callable[[str], object],
) -> None:
    """Run tasks in processes; what was under way when one of these was killed is tried again, in half as many.

    Most often the system killed it for want of memory, and no error tells which run wanted it. One that is killed with
    no other beside it has failed.
    """
    left = list(tasks)
    while left:
        futures: dict[Future[Outcome], tuple[Prepared, Path]] = {}
        with worker_pool(workers) as pool:
            # the first process may be killed while the last run is handed over
            with _without_the_caller_s_script(), suppress(BrokenProcessPool):
                for task in left:
                    futures[pool.submit(work, _run, *task)] = task
            for future in as_completed(futures):
                # whatever is done is stored, in whatever order it is found
                if not isinstance(future.exception(), BrokenProcessPool):
                    store(future.result())
                    left.remove(futures[future])
        if left and workers > 1:
            workers = min(workers // 2, len(left))
            warn(f"{_KILLED}; it is tried again, and the {len(left)} left are made {workers} at once")
        elif left:
            store(_killed(left.pop(0)[0]))  # they are begun in order


def _killed(prepared: Prepared) -> Outcome:
    said = f"{_KILLED}, with no other run beside it"
    return Outcome(
        name=prepared.job.name, digest=prepared.digest, error=said, completed=0.0, wall_s=0.0,
        duration=prepared.duration,
    )  # fmt: skip


@contextmanager
def _without_the_caller_s_script() -> Iterator[None]:
    """Within the block, new processes do not import `__main__`, which would run a script without a guard once more."""
    script, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def _run(prepared: Prepared, folder: Path) -> Outcome:
    """Run one scenario in its own folder; the files of an earlier attempt are removed."""
    job, duration = prepared.job, prepared.duration
    own = folder / job.name
    if own.exists():
        shutil.rmtree(own)
    scenario = loads(prepared.text, allow_code=job.allow_code)
    began = clock.perf_counter()
    error, completed = "", 1.0
    try:
        run(scenario, directory=own, warn=_silent)
    except StepFailed as failed:
        error, completed = str(failed), failed.time / duration
    except ResultsError:  # of the disk, not of the scenario: it is no outcome, and ends the batch
        raise
    except CorekitError as refused:
        error, completed = str(refused), 0.0
    except KeyboardInterrupt as stop:
        stop.__notes__ = []  # which say how to go on with this run: a batch begins it anew
        raise
    statistics: dict[str, Any] = {}
    if (own / "results.nc").exists():
        results = Results(own)
        statistics = {**results.statistics, **({} if error else _end(results))}
    wall = clock.perf_counter() - began
    if not job.keep and not error:
        shutil.rmtree(own)
    return Outcome(
        name=job.name, digest=prepared.digest, error=error, completed=completed, wall_s=wall,
        duration=duration, statistics=statistics,
    )  # fmt: skip


def _end(results: Results) -> dict[str, float | str]:
    """Return `END`, what of it is finite; see `Results.tip`."""
    energy, place, found = END[0], END[2:], dict[str, float | str]()
    numbers = {} if "energies" in results.left_out else {energy: results.energy.total[-1]}
    if "frames" not in results.left_out and (tip := results.tip) is not None:
        found["tip_frame"] = results.frames[tip]
        numbers |= dict(zip(place, results.frame_position[-1, tip], strict=True))
    return found | {name: float(value) for name, value in numbers.items() if np.isfinite(value)}


def _silent(_sentence: str) -> None:
    """Ignore a warning: those of one among many runs are in its own log."""


def _append(path: Path, outcome: Outcome) -> None:
    with writing(path):
        append_line(path, asdict(outcome))


def _read_outcomes(folder: Path) -> dict[str, Outcome]:
    """Read the stored outcomes by name, the last of each; a line that a kill cut short counts as none."""
    found: dict[str, Outcome] = {}
    stem, ending = OUTCOMES.split(".")
    for path in sorted(folder.glob(f"{stem}*.{ending}")):
        for line in read_lines(path):
            with suppress(TypeError):
                outcome = Outcome(**line)
                found[outcome.name] = outcome
    return found
