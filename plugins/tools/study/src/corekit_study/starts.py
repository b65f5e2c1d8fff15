"""One search from several starts at once: each in a folder of its own, the best one's results in the folder of all.

A fit has as many starts as its estimator's option `starts` says; each task searches from one of them (`only_start`).
A plan has a start for every combination of values of its file that are varied. Of those that were solved the one of
the least cost is the best. The files that they read are found under the same path wherever tasks are made.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from corekit.errors import CorekitError, ResultsError
from corekit_run.output_file import write_text, writing
from corekit_run.schedulers import Lost, Task, open_scheduler
from corekit_study.files_as_data import pack, unpack
from corekit_study.needs import needs_of
from corekit_study.progress_display import ShowProgress, no_display

__all__ = ["FIT", "PLAN", "STARTS", "Start", "best_start", "make_fit_start", "make_plan_start", "make_starts"]

FIT = "corekit_study.starts:make_fit_start"
PLAN = "corekit_study.starts:make_plan_start"
STARTS = "starts.json"
"""What came of every start, in the folder of all."""


@frozen
class Start:
    """What came of a start.

    Args:
        name: of its folder. cost: of its search, nan if it failed. solved: whether it was.
        reason: how it ended. report: as `report.json` has it, empty if it failed.
    """

    name: str
    cost: float
    solved: bool
    reason: str
    report: dict[str, Any]


def make_starts(
    function: str,
    asked: Sequence[Mapping[str, Any]],
    folder: Path,
    scheduler: str,
    jobs: int | None,
    show: ShowProgress | None = None,
) -> list[Start]:
    """Search from every start, and put the best one's results into the folder.

    Args:
        function: `FIT` or `PLAN`. asked: argument of each.
        folder: existing. scheduler, jobs: as for `open_scheduler`.
        show: shows how many are done.
    Raises:
        ResultsError: an answer is none, or a file cannot be written.
    """
    names = [f"start-{k}" for k in range(1, len(asked) + 1)]
    found: dict[int, Start] = {}
    opened = open_scheduler(scheduler, jobs, most=len(asked))
    with opened as place, (show or no_display)(f"{len(asked)} starts") as display:
        tasks = (
            Task(
                k,
                json.dumps(
                    {**each, "folder": str(folder / names[k]) if place.shares_disk else None}
                ).encode(),
            )
            for k, each in enumerate(asked)
        )
        needs = {} if place.shares_disk else needs_of()
        for k, answer in place.run(function, lambda: next(tasks, None), display.warn, needs):
            found[k] = _start(names[k], answer, folder)
    starts = [found[k] for k in range(len(asked))]
    listed = [
        {"name": each.name, "cost": each.cost if math.isfinite(each.cost) else None, "solved": each.solved,
         "reason": each.reason, **dict(asked[k])} for k, each in enumerate(starts)
    ]  # fmt: skip
    write_text(folder / STARTS, json.dumps(listed, indent=2, ensure_ascii=False) + "\n")
    best = best_start(starts)
    if best.report:
        with writing(folder):
            shutil.copytree(folder / best.name, folder, dirs_exist_ok=True)
    return starts


def best_start(starts: Sequence[Start]) -> Start:
    """Return the best of some starts: a solved one if there is any, of the least cost."""
    return min(starts, key=lambda each: (not each.report, not each.solved, _or_infinite(each.cost)))


def _or_infinite(cost: float) -> float:
    return cost if math.isfinite(cost) else math.inf


def _start(name: str, answer: bytes | Lost, folder: Path) -> Start:
    if isinstance(answer, Lost):
        return Start(name, math.nan, False, answer.reason, {})
    try:
        data = json.loads(answer)
        cost = math.nan if data["cost"] is None else float(data["cost"])
        made = Start(name, cost, bool(data["solved"]), str(data["reason"]), dict(data["report"]))
        if data["files"]:
            unpack(data["files"], folder / name)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ResultsError(f"whoever made {name} answered with no result of it: {error}") from error
    return made


def make_fit_start(argument: bytes) -> bytes:
    """Fit from one start: `file`, `allow_code`, and `only_start`, its number."""
    from corekit_study.fit import fit
    from corekit_study.fit_file import load_fit

    asked = json.loads(argument)

    def make(folder: Path) -> dict[str, Any]:
        wanted = load_fit(asked["file"], allow_code=asked["allow_code"])
        wanted = attrs.evolve(wanted, options={**wanted.options, "only_start": asked["only_start"]})
        made = fit(wanted, folder)
        report = made.as_data()
        cost = report["figures"].get("objective")
        return {"cost": cost, "solved": made.info.status.solved, "reason": report["reason"], "report": report}

    return _in_folder(asked["folder"], make)


def make_plan_start(argument: bytes) -> bytes:
    """Plan with one combination: `file`, `overrides`, `allow_code`, and whether to `replay`."""
    from corekit_study.plan import make_plan, simulate, write_report
    from corekit_study.plan_file import load_plan_file

    asked = json.loads(argument)

    def make(folder: Path) -> dict[str, Any]:
        wanted = load_plan_file(asked["file"], asked["overrides"], allow_code=asked["allow_code"])
        made = make_plan(wanted, folder)
        made = simulate(made) if asked["replay"] else made
        write_report(made)
        cost = made.plan.certificate.get("cost")
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        return {"cost": cost, "solved": made.solved, "reason": report["reason"], "report": report}

    return _in_folder(asked["folder"], make)


def _in_folder(named: str | None, make: Any) -> bytes:
    """Call `make` with a folder, and return what it says; with the files that it wrote if no disk is shared."""
    with tempfile.TemporaryDirectory(prefix="corekit-start-") as made:
        folder = Path(made) / "start" if named is None else Path(named)
        try:
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
            said = make(folder)
        except CorekitError as error:
            if isinstance(error, ResultsError):
                raise
            said = {"cost": None, "solved": False, "reason": str(error), "report": {}}
        files = pack(folder) if named is None else {}
        return json.dumps({**said, "files": files}, default=str).encode()
