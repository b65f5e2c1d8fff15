"""`corekit reproduce`: the papers' figures and tables, listed, or redone and set beside what they report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from corekit.cli import FAILED, MISUSE, print_error

if TYPE_CHECKING:
    from corekit.registry.case import Case
    from corekit.study.case_run import Value
    from corekit.study.reproduce import Report

__all__ = ["reproduce"]


def reproduce(
    case: str = "",
    /,
    *,
    everything: Annotated[bool, Parameter(name="--all", negative="")] = False,
    json_file: Annotated[Path | None, Parameter(name="--json")] = None,
    out: Path | None = None,
    resume: Path | None = None,
    only: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    quiet: Annotated[bool, Parameter(negative="")] = False,
) -> int | None:
    """List the papers' cases, or run one and set paper, peer and ours beside each other.

    Exit code 1 if ours misses a stated tolerance.

    Parameters
    ----------
    case
        `paper/case`; all are listed without it.
    everything
        Run every case.
    json_file
        Write the same as JSON.
    out
        The folder for what the cases write, instead of one with name and time stamp.
    resume
        The folder of a case that was stopped, to go on with it: runs that it stores are not repeated.
    only
        A part of a case, for example one LCP solver of cusp/ablation; may be given several times.
    quiet
        Show no progress.
    """
    from corekit.cli.progress_line import shown
    from corekit.study import reproduce as study
    from corekit.study.new_folder import new_folder

    cases, troubles = study.installed_cases()
    for trouble in troubles:
        print_error(trouble)
    if not case and not everything:
        _print_list(cases)
        _write(json_file, [_listed(each) for each in cases])
        return None
    chosen = list(cases) if everything else [study.find_case(case, cases)]
    if resume is not None and (everything or out is not None or not resume.is_dir()):
        print_error(
            "--resume goes on with one case in its folder: give the case and a folder that is there, "
            "neither --all nor --out"
        )
        return MISUSE
    study.check_choices(chosen, only)
    reports: list[Report] = []
    for each in chosen:
        name = each.path.replace("/", "-")
        folder = resume or new_folder(f"reproduce-{name}", Path("runs"), None if out is None else out / name)
        try:
            report = study.reproduce(each, folder, None if quiet else shown, only)
        except KeyboardInterrupt as stop:
            stop.add_note(f"To go on: corekit reproduce {each.path} --resume {folder}")
            raise
        _print_report(report)
        reports.append(report)
    _write(json_file, [report.as_data() for report in reports])
    return None if all(report.passed for report in reports) else FAILED


def _write(path: Path | None, cases: list[dict[str, Any]]) -> None:
    if path is not None:
        text = json.dumps({"cases": cases}, indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")


def _listed(case: Case) -> dict[str, Any]:
    return {
        "case": case.path, "source": case.source, "shows": case.shows, "minutes": case.minutes,
        "citation": case.citation, "choices": list(case.choices),
    }  # fmt: skip


def _print_list(cases: Sequence[Case]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    if not cases:
        print("no case is installed: pip install corekit-scenarios")
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 160
    table = Table(box=SIMPLE_HEAD)
    for name in ("case", "source", "shows"):
        table.add_column(name, overflow="fold")
    table.add_column("minutes", justify="right")
    for case in cases:
        table.add_row(case.path, case.source, case.shows, f"{case.minutes:g}")
    console.print(table)
    print(f"run one: corekit reproduce {cases[0].path}")


def _print_report(report: Report) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 180
    case = report.case
    title = f"{case.path} ({case.source}): {case.shows}"
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left")
    for name in ("quantity", "paper", "peer", "ours", "tolerance", "", "note"):
        table.add_column(name, overflow="fold")
    for row in report.rows:
        unit = f" [{row.unit}]" if row.unit else ""
        verdict = {True: "ok", False: "MISSED", None: ""}[row.passed]
        style = "red" if row.passed is False else ""
        values = (_shown(row.paper), _shown(row.peer), _shown(row.ours))
        cells = (row.quantity + unit, *values, row.tolerance or "none", verdict, row.note)
        table.add_row(*(Text(cell, style=style) for cell in cells))
    console.print(table)
    if report.error:
        print_error(f"{case.path} failed: {report.error}")
    verdict = "passed" if report.passed else "not passed"
    console.print(Text(f"{case.path}: {verdict} in {report.wall_s:.3g} s; {report.folder}"), soft_wrap=True)


def _shown(value: Value) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
