"""Several of the papers' cases, one after the other or some at once, in one folder that stores which are done.

A series' folder holds `series.json` (its cases and options), one folder a case with its `report.json`, and
`summary.md`: the page about all, written anew after each. A resumed series repeats only cases that did not
finish, or had no data to be judged by; a case of a batch of runs repeats only the runs that are missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, final

from corekit.errors import PluginError, ResultsError
from corekit.files import write_text_whole
from corekit.registry.resolve import did_you_mean
from corekit.registry.spec import Case
from corekit_run.json_file import read_json
from corekit_run.schedulers import Scheduler
from corekit_study.case_run import Verdict
from corekit_study.journal import OUTCOMES
from corekit_study.new_folder import new_folder
from corekit_study.progress_display import ShowProgress
from corekit_study.reference_data import reference_data_folder
from corekit_study.reproduce import find_case, reproduce
from corekit_study.reproduce_jobs import CaseJob, run_at_once
from corekit_study.reproduce_summary import page

__all__ = ["REPORT", "SERIES", "Series", "choose"]

SERIES = "series.json"
"""Name of the file that makes a folder one of a series."""
REPORT = "report.json"
"""Name of the file in a case's folder that says how it went."""


def choose(words: Sequence[str], among: Sequence[Case]) -> list[Case]:
    """Select the cases that words name, each once: `paper/case`, or a paper for all of its cases.

    Raises:
        PluginError: a word names none.
    """
    chosen: dict[str, Case] = {}
    papers = sorted({case.paper for case in among})
    for word in words:
        if word in papers:
            chosen |= {case.path: case for case in among if case.paper == word}
        elif "/" in word or not papers:
            chosen[word] = find_case(word, among)
        else:
            raise PluginError(
                f"unknown paper {word!r}{did_you_mean(word, papers)}; there are {', '.join(papers)}"
            )
    return list(chosen.values())


@final
class Series:
    """Cases to be run in one folder.

    Args:
        folder: existing.
        cases: in the order in which they are run.
        only: choices among their parts; each case uses those that are its own.

    Attributes:
        folder, cases, only: the same.
    """

    def __init__(self, folder: Path, cases: Sequence[Case], only: Sequence[str] = ()) -> None:
        self.folder, self.cases, self.only = folder, tuple(cases), tuple(only)
        self._done: dict[str, dict[str, Any]] = {}
        asked = {"cases": [case.path for case in cases], "only": list(only)}
        _write(folder / SERIES, json.dumps(asked, indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def resume(cls, folder: Path, among: Sequence[Case], further: Sequence[Case] = ()) -> Series:
        """Restore the series of a folder, with further cases after its own.

        Raises:
            ResultsError: its file cannot be read. PluginError: a case of it is not installed any more.
        """
        path = folder / SERIES
        try:
            asked = read_json(path)
            names, only = [str(each) for each in asked["cases"]], [str(each) for each in asked["only"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ResultsError(f"{path} does not say which cases were asked for: {error}") from error
        cases = [find_case(each, among) for each in names]
        return cls(folder, cases + [case for case in further if case not in cases], only)

    def run(
        self, progress: ShowProgress | None = None, scheduler: Scheduler | None = None
    ) -> Iterator[tuple[dict[str, Any], bool]]:
        """Yield each case's report as JSON can hold it, and whether the case was run now.

        A case whose stored report has no error is not run again, also where it missed a tolerance; one that was not
        judged is, if another folder of reference data is named by now.

        Args:
            scheduler: of cases at once, whose reports come as cases end; None: one after the other, here.
        """
        waiting: list[CaseJob] = []
        for case in self.cases:
            stored = self._stored(case)
            if stored is not None:
                self._update_summary(case, stored)
                yield stored, False
            elif scheduler is not None:
                waiting.append(self._new_job(case))
            else:
                job = self._new_job(case)
                yield self._store_report(reproduce(case, job.folder, progress, job.only).as_data()), True
        if waiting and scheduler is not None:
            for data in run_at_once(waiting, scheduler, progress):
                yield self._store_report(data), True

    def _new_job(self, case: Case) -> CaseJob:
        return CaseJob(case, self._folder_of(case), tuple(word for word in self.only if word in case.choices))

    def _store_report(self, data: dict[str, Any]) -> dict[str, Any]:
        """Store a report in its folder and in the summary."""
        case = next(case for case in self.cases if case.path == data["case"])
        _write(Path(data["folder"]) / REPORT, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
        self._update_summary(case, data)
        return data

    def _update_summary(self, case: Case, data: dict[str, Any]) -> None:
        self._done[case.path] = data
        _write(self.folder / "summary.md", page(self.done, self.only))

    @property
    def done(self) -> list[dict[str, Any]]:
        """Reports of the cases that are done, in the order of the cases."""
        return [self._done[case.path] for case in self.cases if case.path in self._done]

    def _attempts(self, case: Case) -> list[Path]:
        """List the folders of earlier attempts at a case, the latest last."""
        name = _name(case)
        numbered = [path for path in self.folder.glob(f"{name}-*") if path.name[len(name) + 1 :].isdigit()]
        first = [self.folder / name] if (self.folder / name).is_dir() else []
        return first + sorted(numbered, key=lambda path: int(path.name[len(name) + 1 :]))

    def _folder_of(self, case: Case) -> Path:
        """Return the folder in which an unfinished case continues: with its stored runs, or else a new one."""
        attempts = self._attempts(case)
        if attempts and (attempts[-1] / OUTCOMES).exists():
            return attempts[-1]
        return new_folder(_name(case), self.folder, self.folder / _name(case))

    def _stored(self, case: Case) -> dict[str, Any] | None:
        """Return the report of a finished case, or None."""
        for attempt in reversed(self._attempts(case)):
            try:
                kept = read_json(attempt / REPORT)
            except (OSError, ValueError):
                continue
            if isinstance(kept, dict) and kept.get("case") == case.path and kept.get("error") == "":
                return None if _may_be_judged_now(kept) else kept
        return None


def _may_be_judged_now(kept: dict[str, Any]) -> bool:
    """Whether a report left something unjudged, and another folder of reference data is named by now."""
    now = reference_data_folder()
    unread = any(
        row["verdict"] == str(Verdict.NOT_JUDGED) and row["expected"] is not None for row in kept["rows"]
    )
    return unread and now not in {"", kept.get("reference_data", "")}


def _name(case: Case) -> str:
    return case.path.replace("/", "-")


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    try:
        write_text_whole(path, text)
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror}") from error
