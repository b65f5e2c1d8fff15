"""Several cases at once, each in a process of its own; those that measure time alone, after the others.

The longest begin first, so that no core waits at the end. The cores are shared out: the runs of one case take
cores // jobs of them. Reports come in the order in which cases end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from pathlib import Path

from attrs import frozen

from corekit.registry.spec import Case
from corekit_run.processes import process_count, work, worker_pool
from corekit_study.progress_display import ProgressDisplay, ShowProgress
from corekit_study.reproduce import Report, reproduce

__all__ = ["CaseJob", "run_at_once"]


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

    A process that ends abruptly ends its cases that are not done; their reports say so.

    Args:
        progress: shows each run, under the name of its case; a function of a module, which processes can find.
    """
    longest_first = sorted(case_jobs, key=lambda job: -job.case.minutes)
    beside = [job for job in longest_first if not job.case.alone]
    share = process_count() // jobs
    workers = share if share > 1 else 0
    with worker_pool(jobs, tasks_per_child=1) as pool:
        futures = {pool.submit(work, _run, job, progress, workers): job for job in beside}
        for future in as_completed(futures):
            yield _report(future, futures[future])
    for job in longest_first:
        if job.case.alone:
            yield _run(job, progress)


def _run(job: CaseJob, progress: ShowProgress | None, workers: int | None = None) -> Report:
    display = None if progress is None else _PrefixedDisplay(progress, job.case.path)
    return reproduce(job.case, job.folder, display, job.only, workers)


def _report(future: Future[Report], job: CaseJob) -> Report:
    try:
        return future.result()
    except BrokenProcessPool:
        error = "the process that ran it, or one beside it, ended abruptly"
        return Report(case=job.case, error=error, folder=job.folder, wall_s=0.0)


@frozen
class _PrefixedDisplay:
    """Display of the runs of one of several cases, under its name."""

    show: ShowProgress
    case: str

    def __call__(self, name: str) -> AbstractContextManager[ProgressDisplay]:
        return self.show(f"{self.case}: {name}")
