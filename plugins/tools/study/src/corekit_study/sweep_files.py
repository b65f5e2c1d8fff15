"""What a sweep's folder holds of all runs: outcomes, and the table and the dataset that are made of them."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import final, overload

from corekit_run.output_file import writing
from corekit_study.journal import Journal
from corekit_study.sweep_dataset import DATASET, Done, write_dataset
from corekit_study.sweep_runs import SweepRuns
from corekit_study.sweep_table import Point, column_names, point_of, write_table

__all__ = ["Points", "SweepFiles"]

_EVERY = 5.0
"""Wall time between two writings of the dataset [s], longer where it takes long: it may take 2 % of the time."""
_SHARE = 0.02


@final
class Points(Sequence[Point]):
    """Runs of a sweep, read from the stored outcomes one by one.

    Args:
        folder: of the sweep. runs: of it; own: which of them.
        journal: of the outcomes. metrics: columns.
    """

    def __init__(
        self, folder: Path, runs: SweepRuns, own: Sequence[int], journal: Journal, metrics: Sequence[str]
    ) -> None:
        self._folder, self._runs, self._own = folder, runs, own
        self._journal, self._metrics = journal, metrics

    def __len__(self) -> int:
        return len(self._own)

    @overload
    def __getitem__(self, k: int) -> Point: ...
    @overload
    def __getitem__(self, k: slice) -> list[Point]: ...
    def __getitem__(self, k: int | slice) -> Point | list[Point]:
        if isinstance(k, slice):
            return [self[each] for each in range(*k.indices(len(self)))]
        number = self._own[k]
        outcome = self._journal.read(self._runs.names[number])
        return point_of(self._folder, self._runs.variants[number], outcome, self._metrics)


@final
class SweepFiles:
    """Table and dataset of a sweep, or of one of its parts.

    Args:
        folder: of the sweep. part: `2-of-8` of one of its parts; empty: of the whole.
        runs: of the whole sweep; own: which of them.
        journal: of the outcomes. metrics: columns. title: of the scenario.
    """

    def __init__(
        self,
        folder: Path,
        part: str,
        runs: SweepRuns,
        own: Sequence[int],
        journal: Journal,
        metrics: Sequence[str],
        title: str,
    ) -> None:
        self._folder, self._suffix, self._runs, self._own = folder, part and f"-{part}", runs, own
        self._journal, self._metrics, self._title = journal, metrics, title
        self._next = clock.monotonic() + _EVERY

    @property
    def points(self) -> Points:
        """The runs; all must have been made."""
        return Points(self._folder, self._runs, self._own, self._journal, self._metrics)

    def publish_if_due(self) -> None:
        """Write the dataset of what there is, if the last one is old."""
        if clock.monotonic() < self._next:
            return
        began = clock.monotonic()
        self._publish()
        ended = clock.monotonic()
        self._next = ended + max(_EVERY, (ended - began) / _SHARE)

    def write(self, go_on: str) -> None:
        """Write the table and the dataset of all runs; `go_on` is the command that does so again."""
        points = self.points
        with writing(self._folder, f"All outcomes are stored; the table is written by {go_on}."):
            table = self._folder / f"sweep{self._suffix}.csv"
            write_table(table, points, column_names(points), self._metrics)
        self._publish()

    def _publish(self) -> None:
        path = self._folder / DATASET.replace(".", f"{self._suffix}.")
        with writing(path):
            write_dataset(path, self._runs.variants, self._metrics, self._outcomes, self._title)

    def _outcomes(self) -> Iterator[Done]:
        for k in self._own:
            name = self._runs.names[k]
            if self._journal.holds(name, self._runs.digest(k)):
                yield k, self._journal.read(name)
