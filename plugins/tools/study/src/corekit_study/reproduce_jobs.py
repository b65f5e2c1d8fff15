"""Several cases at once, each in a process of its own; those that measure time alone, after the others.

The longest begin first, so that no core waits at the end. The cores are shared out: the runs of one case take
cores // jobs of them. Reports come in the order in which cases end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from attrs import frozen

from corekit.registry.spec import Case
from corekit_run.processes import process_count, work, worker_pool
from corekit_study.progress_display import ProgressDisplay, ShowProgress, no_display
from corekit_study.reproduce import Report, reproduce

__all__ = ["CaseJob", "run_at_once"]

_KILLED = "the process of a case was killed: the system may have run out of memory"


@frozen
class CaseJob:
    """A case for a process to run.

    Args:
        case: to run. folder: existing. only: choices among its parts.
    """

    case: Case
    folder: Path
    only: tuple[str, ...] = ()


def run_at_once(
    case_jobs: Sequence[CaseJob], jobs: int, progress: ShowProgress | None = None
) -> Iterator[Report]:
    """Run cases, `jobs` of them at a time.

    Most often a process that is killed was for want of memory, and no error tells which case wanted it: what was under
    way is tried again, one after the other. A case whose process is killed with no other beside it has failed.

    Args:
        progress: shows each run, under the name of its case; a function of a module, which processes can find.
    """
    longest_first = sorted(case_jobs, key=lambda job: -job.case.minutes)
    beside = [job for job in longest_first if not job.case.alone]
    while beside:
        share = process_count() // jobs
        workers = share if share > 1 else 0
        futures: dict[Future[Report], CaseJob] = {}
        with worker_pool(jobs, tasks_per_child=1) as pool:
            # the first process may be killed while the last case is handed over
            with suppress(BrokenProcessPool):
                for job in beside:
                    futures[pool.submit(work, _run, job, progress, workers)] = job
            for future in as_completed(futures):
                if not isinstance(future.exception(), BrokenProcessPool):
                    beside.remove(futures[future])
                    yield future.result()
        if beside and jobs > 1:
            jobs = 1
            with (progress or no_display)("the cases that are left") as display:
                display.warn(f"{_KILLED}; what was under way is tried again, one case after the other")
        elif beside:
            yield _killed(beside.pop(0))  # they are begun in order
    for job in longest_first:
        if job.case.alone:
            yield _run(job, progress)


def _run(job: CaseJob, progress: ShowProgress | None, workers: int | None = None) -> Report:
    display = None if progress is None else _PrefixedDisplay(progress, job.case.path)
    return reproduce(job.case, job.folder, display, job.only, workers)


def _killed(job: CaseJob) -> Report:
    error = (
        f"{_KILLED}, with no other beside it. To try it again: corekit reproduce --resume {job.folder.parent}"
    )
    return Report(case=job.case, error=error, folder=job.folder, wall_s=0.0)


@frozen
class _PrefixedDisplay:
    """Display of the runs of one of several cases, under its name."""

    show: ShowProgress
    case: str

    def __call__(self, name: str) -> AbstractContextManager[ProgressDisplay]:
        return self.show(f"{self.case}: {name}")
