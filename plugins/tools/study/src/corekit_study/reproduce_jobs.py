"""Several cases at once, each in a process of its own; those that measure time alone, after the others.

The longest begin first, so that no core waits at the end. The cores are shared out: the runs of one case take
cores // jobs of them. Reports come in the order in which cases end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from multiprocessing import get_context
from pathlib import Path

from attrs import frozen

from corekit.registry.spec import Case
from corekit_study.batch import end_with_parent
from corekit_study.reproduce import Report, reproduce
from corekit_study.shown import Shown, ShowProgress

__all__ = ["Order", "run_at_once"]


@frozen
class Order:
    """What is asked of a process.

    Args:
        case: which. folder: existing. only: choices among its parts.
    """

    case: Case
    folder: Path
    only: tuple[str, ...] = ()


def run_at_once(orders: Sequence[Order], jobs: int, progress: ShowProgress | None = None) -> Iterator[Report]:
    """Run cases, `jobs` of them at a time.

    A process that ends abruptly takes the cases with it that are not done; their reports say so.

    Args:
        progress: shows each run, under the name of its case; a function of a module, which processes can find.
    """
    longest_first = sorted(orders, key=lambda order: -order.case.minutes)
    beside = [order for order in longest_first if not order.case.alone]
    workers = (os.cpu_count() or 1) // jobs
    with ProcessPoolExecutor(jobs, get_context("spawn"), end_with_parent, max_tasks_per_child=1) as pool:
        futures = {pool.submit(_run, order, progress, max(1, workers)): order for order in beside}
        try:
            for future in as_completed(futures):
                yield _report(future, futures[future])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for order in longest_first:
        if order.case.alone:
            yield _run(order, progress)


def _run(order: Order, progress: ShowProgress | None, workers: int | None = None) -> Report:
    shown = None if progress is None else _Named(progress, order.case.path)
    return reproduce(order.case, order.folder, shown, order.only, workers)


def _report(future: Future[Report], order: Order) -> Report:
    try:
        return future.result()
    except BrokenProcessPool:
        error = "the process that ran it, or one beside it, ended abruptly"
        return Report(case=order.case, error=error, folder=order.folder, wall_s=0.0)


@frozen
class _Named:
    """Shows the runs of one of several cases under its name."""

    show: ShowProgress
    case: str

    def __call__(self, name: str) -> AbstractContextManager[Shown]:
        return self.show(f"{self.case}: {name}")
