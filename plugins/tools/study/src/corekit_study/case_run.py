"""Input and output of a case's function: runs of scenarios, and rows of ours and what they are held against."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias, final

from attrs import field, frozen

from corekit.errors import StepFailed
from corekit.scenario.load import load
from corekit_record.results import Results
from corekit_run.running import run
from corekit_study.batch import Job, run_batch
from corekit_study.progress_display import ProgressDisplay, ShowProgress, no_display
from corekit_study.reference import PRINTED, Kind, Reference
from corekit_study.run_task import Outcome

__all__ = ["CaseRun", "Difference", "Job", "Outcome", "Row", "Value", "Verdict"]

Value: TypeAlias = float | int | str | None
"""A number in the row's unit, a word, or None where there is none."""


def _value(value: Any) -> Value:
    """Return a plain number or word; NumPy's numbers become Python's."""
    value = value.item() if hasattr(value, "item") else value
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _verdict(passed: Any) -> bool | None:
    return None if passed is None else bool(passed)


class Verdict(StrEnum):
    """What is said of a row."""

    KEPT = "kept"
    DIFFERS = "differs"
    MISSED = "MISSED"
    NOT_JUDGED = "not judged"
    TOLD = "told"


@frozen
class Difference:
    """Why ours is not what a paper prints, and what must hold in the same run if that is why.

    Args:
        reason: in words. predicts: what follows from it, with its bound. holds: whether this run keeps that.
    """

    reason: str
    predicts: str
    holds: bool = field(converter=bool)


@frozen(kw_only=True)
class Row:
    """One quantity of a case.

    Args:
        quantity: what it is. unit: its SI unit or a multiple, empty if it has none.
        against: what it is held against.
        expected: the reference's value. ours: what came out.
        tolerance: what ours must keep, in words; empty without a requirement.
        passed: whether it does; None without a requirement, which no number of a paper may be.
        difference: why ours differs from what a paper prints, if it does: no fault of ours while its prediction holds.
        reason: why nothing could be judged.
        note: what else a reader needs.
    """

    quantity: str
    against: Reference
    ours: Value = field(converter=_value)
    expected: Value = field(default=None, converter=_value)
    unit: str = ""
    tolerance: str = ""
    passed: bool | None = field(default=None, converter=_verdict)
    difference: Difference | None = None
    reason: str = ""
    note: str = ""

    def __attrs_post_init__(self) -> None:
        if self.reason and self.passed is not None:
            raise ValueError(f"{self.quantity}: what is judged has no reason why it is not")
        if self.difference is not None and self.against.kind not in PRINTED:
            raise ValueError(f"{self.quantity}: only from what a paper prints may ours differ for a reason")
        if self.against.kind is Kind.PAPER and self.passed is None and not self.reason:
            raise ValueError(f"{self.quantity}: what a paper says is judged, or a reason says why it is not")

    @property
    def verdict(self) -> Verdict:
        """What is said of it: a difference whose reason's prediction holds is none that is missed."""
        if self.passed is None:
            return Verdict.NOT_JUDGED if self.reason else Verdict.TOLD
        if self.passed:
            return Verdict.KEPT
        return Verdict.DIFFERS if self.difference is not None and self.difference.holds else Verdict.MISSED

    @property
    def why(self) -> str:
        """Why it is not judged, or why it differs and what of that was checked; empty if it is kept."""
        if self.passed is None or self.passed or self.difference is None:
            return self.reason
        held = "which holds" if self.difference.holds else "which does NOT hold"
        return f"{self.difference.reason}; that predicts {self.difference.predicts}, {held}"

    def as_data(self) -> dict[str, Any]:
        """Return the row as JSON can hold it."""
        return {
            "quantity": self.quantity, "unit": self.unit, "kind": str(self.against.kind),
            "source": self.against.source, "expected": self.expected, "ours": self.ours,
            "tolerance": self.tolerance, "verdict": str(self.verdict), "reason": self.why, "note": self.note,
        }  # fmt: skip


@final
class CaseRun:
    """Runs scenarios for a case.

    Args:
        folder: existing, for everything that the case writes.
        progress: shows each run.
        only: which of the case's `choices` to run; none given: all.
        workers: processes for runs at once; see `run_batch`.

    Attributes:
        folder, only: the same.
    """

    def __init__(
        self,
        folder: Path,
        progress: ShowProgress | None = None,
        only: Sequence[str] = (),
        workers: int | None = None,
    ) -> None:
        self.folder = folder
        self._workers = workers
        self.only = tuple(only)
        self._new_display = progress or no_display

    def show(self, name: str) -> AbstractContextManager[ProgressDisplay]:
        """Show that a part of the case is at work, if it is no run of a scenario."""
        return self._new_display(name)

    def run(self, scenario: str | Path, overrides: Sequence[str] = (), name: str = "") -> Results:
        """Run a scenario, by the name of a shipped one or by its file, into a folder of its own.

        Args:
            overrides: as in `--set`. name: of the folder; the scenario's if empty.
        """
        loaded = load(scenario, overrides)
        name = name or loaded.name
        with self._new_display(name) as display:
            return run(loaded, directory=self.folder / name, progress=display, warn=display.warn)

    def run_all(self, jobs: Sequence[Job]) -> dict[str, Outcome]:
        """Run many scenarios at once; those whose outcome the folder holds are not repeated."""
        return run_batch(jobs, self.folder, self._new_display, self._workers)

    def finished(self, jobs: Sequence[Job]) -> dict[str, Results]:
        """Run many scenarios at once that must all finish, and return what they recorded, by name.

        Raises:
            StepFailed: one of them did not.
        """
        outcomes = self.run_all(jobs)
        for outcome in outcomes.values():
            if outcome.error:
                raise StepFailed(f"the run {outcome.name}: {outcome.error}")
        return {name: Results(self.folder / name) for name in outcomes}
