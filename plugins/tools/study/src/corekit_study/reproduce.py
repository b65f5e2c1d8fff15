"""The papers' cases that are installed: listed from their light specs, run one by one, judged row by row."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from corekit.distributions import entry_points
from corekit.errors import CorekitError, PluginError, ResultsError
from corekit.files import read_regular, write_text_whole
from corekit.registry.first_party import is_ours
from corekit.registry.resolve import did_you_mean, load_target
from corekit.registry.spec import CASES, Case
from corekit_run.output_file import writing
from corekit_study.case_run import CaseRun, Row, Verdict
from corekit_study.progress_display import ShowProgress
from corekit_study.reference_data import reference_data_folder

__all__ = ["Report", "check_choices", "find_attempt", "find_case", "installed_cases", "reproduce"]


CASE = "CASE"
"""Name of the file in a case's folder that names the case."""


@frozen(kw_only=True)
class Report:
    """Result of a case.

    Args:
        case: of the report. rows: empty if it failed. error: why it failed, empty if it did not.
        folder: what it wrote. wall_s: how long it took [s].
        reference_data: the folder that it was offered for other people's files, empty if none.
    """

    case: Case
    rows: tuple[Row, ...] = ()
    error: str = ""
    folder: Path
    wall_s: float
    reference_data: str = field(factory=reference_data_folder)

    @property
    def verdict(self) -> str:
        """`passed`, `MISSED` a tolerance, `not judged` for want of data, or `failed` before its end.

        A picture without numbers leaves nothing to judge: it is reported, and the case may pass.
        """
        verdicts = {row.verdict for row in self.rows}
        if self.error:
            return "failed"
        if Verdict.MISSED in verdicts:
            return str(Verdict.MISSED)
        unread = any(row.verdict is Verdict.NOT_JUDGED and row.expected is not None for row in self.rows)
        return str(Verdict.NOT_JUDGED) if unread else "passed"

    @property
    def broken(self) -> bool:
        """Whether it failed or missed a tolerance, which the exit code says."""
        return self.verdict in ("failed", str(Verdict.MISSED))

    def as_data(self) -> dict[str, Any]:
        """Return the report as JSON can hold it."""
        case = self.case
        return {
            "case": case.path, "source": case.source, "shows": case.shows, "citation": case.citation,
            "verdict": self.verdict, "error": self.error, "folder": str(self.folder), "wall_s": self.wall_s,
            "reference_data": self.reference_data,
            "rows": [row.as_data() for row in self.rows],
        }  # fmt: skip


def installed_cases() -> tuple[list[Case], list[str]]:
    """List every case, sorted by its path, and a sentence for each entry point that is none.

    Of two of one path that of this project counts.
    """
    found: dict[str, Case] = {}
    troubles: list[str] = []
    for entry in sorted(entry_points(CASES), key=lambda each: not is_ours(each.distribution)):
        owner = f" of {entry.distribution} {entry.version}"
        try:
            case = entry.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's module may raise anything
            troubles.append(f"case {entry.name}{owner}: importing it failed: {type(error).__name__}: {error}")
            continue
        if not isinstance(case, Case):
            troubles.append(f"case {entry.name}{owner}: {entry.value} is a {type(case).__name__}, not a Case")
        elif case.path in found:
            troubles.append(f"case {entry.name}{owner}: there is another case {case.path}")
        else:
            found[case.path] = case
    return [found[path] for path in sorted(found)], troubles


def find_case(path: str, among: Sequence[Case]) -> Case:
    """Find the case `paper/name`.

    Raises:
        PluginError: there is none of that name.
    """
    for case in among:
        if case.path == path:
            return case
    paths = [case.path for case in among]
    if not paths:
        raise PluginError(f"no case {path!r}: none is installed: pip install corekit-scenarios")
    raise PluginError(f"unknown case {path!r}{did_you_mean(path, paths)}; installed are {', '.join(paths)}")


def check_choices(cases: Sequence[Case], only: Sequence[str]) -> None:
    """Raise PluginError if a word of `only` is no choice of any of the cases."""
    known = [choice for case in cases for choice in case.choices]
    for word in only:
        if word not in known:
            which = ", ".join(case.path for case in cases)
            offered = f"choose among {', '.join(known)}" if known else "it has no choices"
            raise PluginError(f"{which} has no part {word!r}{did_you_mean(word, known)}: {offered}")


def _claim(folder: Path, case: Case) -> None:
    """Mark a folder as that of a case, or find that it is; raise ResultsError if it is another's."""
    mark = folder / CASE
    with writing(mark):
        known = mark.read_text(encoding="utf-8").strip() if mark.is_file() else ""
        if not known and not any(folder.iterdir()):
            write_text_whole(mark, f"{case.path}\n")
        elif known != case.path:
            said = f"it is of {known}" if known else f"it holds no {CASE}"
            raise ResultsError(f"{folder} is not the folder of an earlier attempt at {case.path}: {said}")


def find_attempt(folder: Path, chosen: Sequence[Case], cases: Sequence[Case]) -> tuple[Case, Path]:
    """Find the case that a folder is of, and its folder: this one, or the only one in it.

    Args:
        folder: existing, as `--out` named it or the command printed it.
        chosen: the case that it must be of; none: whichever it is of.
        cases: all that are installed.
    Raises:
        ResultsError: it is of no case, or of several. PluginError: that case is not installed.
    """
    marks = [mark for mark in (folder / CASE, *sorted(folder.glob(f"*/{CASE}"))) if mark.is_file()][:2]
    if len(marks) == 2 and marks[0].parent == folder:
        del marks[1]
    elif len(marks) == 2 and chosen:
        marks = [folder / chosen[0].path.replace("/", "-") / CASE]
    if len(marks) != 1:
        if chosen and not marks:
            return chosen[0], folder
        said = "holds several" if marks else f"holds no {CASE}"
        raise ResultsError(f"{folder} is not the folder of an attempt at one case: it {said}")
    try:
        found = read_regular(marks[0]).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ResultsError(f"cannot read {marks[0]}: {error}") from error
    return chosen[0] if chosen else find_case(found, cases), marks[0].parent


def reproduce(
    case: Case,
    folder: Path,
    progress: ShowProgress | None = None,
    only: Sequence[str] = (),
    workers: int | None = None,
) -> Report:
    """Run a case; what fails inside it is in the report.

    Args:
        folder: existing, for what it writes; of an earlier attempt to go on with that.
        progress: shows each of its runs.
        only: which of its choices; none given: all. workers: processes for its runs; see `run_batch`.
    Raises:
        ResultsError: the folder holds something, and is none of this case.
    """
    _claim(folder, case)
    began = clock.perf_counter()
    rows: tuple[Row, ...] = ()
    error = ""
    try:
        rows = tuple(load_target(case.target)(CaseRun(folder, progress, only, workers)))
        if not rows:
            error = f"{case.target} returned no row"
    except Exception as raised:  # noqa: BLE001 - one case that breaks must not end the others
        error = str(raised) if isinstance(raised, CorekitError) else f"{type(raised).__name__}: {raised}"
    return Report(case=case, rows=rows, error=error, folder=folder, wall_s=clock.perf_counter() - began)
