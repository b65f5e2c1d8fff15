"""Several cases at once, each a task of a scheduler; those that measure time alone, after the others and here.

The longest begin first, so that nobody waits at the end. The cores of this computer are shared out: the runs of one
case take cores // jobs of them. Reports come in the order in which cases end. A case whose maker is lost, with no
other beside it, has failed.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from attrs import frozen

from corekit.errors import ResultsError
from corekit.registry.spec import Case
from corekit_run.processes import process_count
from corekit_run.schedulers import Lost, Scheduler, Task
from corekit_study.files_as_data import pack, unpack
from corekit_study.needs import needs_of
from corekit_study.progress_display import ProgressDisplay, ShowProgress, no_display, run_names
from corekit_study.reproduce import Report, find_case, installed_cases, reproduce

__all__ = ["CaseJob", "run_at_once", "run_case"]

_FUNCTION = "corekit_study.reproduce_jobs:run_case"


@frozen
class CaseJob:
    """A case to be run.

    Args:
        case: to run. folder: existing. only: choices among its parts.
    """

    case: Case
    folder: Path
    only: tuple[str, ...] = ()

    def as_bytes(self, *, shares_disk: bool, show: bool, workers: int) -> bytes:
        """Return the argument of `run_case`."""
        data = {
            "case": self.case.path, "only": list(self.only), "show": show, "workers": workers,
            "folder": str(self.folder) if shares_disk else None,
        }  # fmt: skip
        return json.dumps(data).encode()

    def report(self, answer: bytes | Lost) -> dict[str, Any]:
        """Return the report of an answer of `run_case`; files that came with it are written into the folder.

        Raises:
            ResultsError: it is of another case, or a file cannot be written.
        """
        if isinstance(answer, Lost):
            again = f"To try it again: corekit reproduce --resume {self.folder.parent}"
            error = f"{answer.reason}. {again}"
            return Report(case=self.case, error=error, folder=self.folder, wall_s=0.0).as_data()
        try:
            data = json.loads(answer)
            report: dict[str, Any] = data["report"]
            if report["case"] != self.case.path or not isinstance(report["rows"], list):
                raise ValueError("it is of another case")
            unpack(data["files"], self.folder)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ResultsError(
                f"whoever ran {self.case.path} answered with no report of it: {error}"
            ) from error
        return {**report, "folder": str(self.folder)}


def run_at_once(
    case_jobs: Sequence[CaseJob], scheduler: Scheduler, progress: ShowProgress | None = None
) -> Iterator[dict[str, Any]]:
    """Run cases, as many at a time as a scheduler does, and yield their reports as JSON can hold them.

    Args:
        progress: shows each run, under the name of its case.
    """
    longest_first = sorted(case_jobs, key=lambda job: -job.case.minutes)
    beside = [job for job in longest_first if not job.case.alone]
    share = process_count() // scheduler.size if scheduler.shares_disk else 0
    tasks = (
        Task(
            k,
            job.as_bytes(
                shares_disk=scheduler.shares_disk,
                show=progress is not None,
                workers=share if share > 1 else 0,
            ),
        )
        for k, job in enumerate(beside)
    )
    needs = {} if scheduler.shares_disk else needs_of()

    def warn(sentence: str) -> None:
        with (progress or no_display)("the cases") as display:
            display.warn(sentence)

    for key, answer in scheduler.run(_FUNCTION, lambda: next(tasks, None), warn, needs):
        yield beside[key].report(answer)
    for job in longest_first:
        if job.case.alone:
            display = None if progress is None else _PrefixedDisplay(progress, job.case.path)
            yield reproduce(job.case, job.folder, display, job.only).as_data()


def run_case(argument: bytes) -> bytes:
    """Run the case of `CaseJob.as_bytes`."""
    asked: Mapping[str, Any] = json.loads(argument)
    case = find_case(asked["case"], installed_cases()[0])
    display = _PrefixedDisplay(run_names, case.path) if asked["show"] else None

    def run(folder: Path) -> dict[str, Any]:
        return reproduce(case, folder, display, asked["only"], asked["workers"]).as_data()

    if asked["folder"] is not None:
        return json.dumps({"report": run(Path(asked["folder"])), "files": {}}).encode()
    with tempfile.TemporaryDirectory(prefix="corekit-case-") as made:
        report = run(Path(made))
        return json.dumps({"report": report, "files": pack(Path(made))}).encode()


@frozen
class _PrefixedDisplay:
    """Display of the runs of one of several cases, under its name."""

    show: ShowProgress
    case: str

    def __call__(self, name: str) -> AbstractContextManager[ProgressDisplay]:
        return self.show(f"{self.case}: {name}")
