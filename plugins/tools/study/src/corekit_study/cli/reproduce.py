"""`corekit reproduce`: the papers' figures and tables, listed, or redone and set beside what they report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from corekit.cli import FAILED, MISUSE, print_error
from corekit.cli.terminal import make_console
from corekit_run.output_file import check_output, write_json
from corekit_run.schedulers import PROCESSES, check_scheduler, open_scheduler
from corekit_study.new_folder import new_folder

if TYPE_CHECKING:
    from corekit.registry.spec import Case
    from corekit_study.case_run import Value
    from corekit_study.reproduce_series import Series

__all__ = ["reproduce"]

_STYLES = {"MISSED": "red", "failed": "red", "differs": "yellow", "not judged": "yellow"}


def reproduce(
    *case: str,
    everything: Annotated[bool, Parameter(name="--all", negative="")] = False,
    json_file: Annotated[Path | None, Parameter(name="--json")] = None,
    out: Path | None = None,
    resume: Path | None = None,
    only: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    scheduler: str = "processes",
    jobs: int | None = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
) -> int | None:
    """List the papers' cases, or run some and set ours beside what it is held against.

    That is the paper, another code, an analytic answer, or a finer or other solution of our own; a difference from a
    paper is shown with its reason. Several cases share a folder, with one page about all in summary.md. Exit code 1 if
    ours misses a stated tolerance.

    Parameters
    ----------
    case
        `paper/case`, or a paper for all of its cases; may be several. All are listed without any.
    everything
        Run every case.
    json_file
        Write the same as JSON.
    out
        The folder for what the cases write, instead of one with name and time stamp.
    resume
        The folder of a case or of several that was stopped, to go on with it: what it stores is not repeated. It
        knows its cases.
    only
        A part of a case, for example one LCP solver of cusp/ablation; may be given several times.
    scheduler
        Where several cases run: `processes` of this computer, as without it; with corekit-dask also `local`,
        `tcp://HOST:PORT` and `slurm`.
    jobs
        How many cases run at once, one without it; those that measure time run alone and here, at the end.
    quiet
        Show no progress.
    """
    from corekit_study import reproduce as study
    from corekit_study import reproduce_series

    check_output(json_file, "--json")
    if jobs is not None and jobs < 1:
        print_error(f"--jobs is {jobs}: at least one case must run at a time")
        return MISUSE
    check_scheduler(scheduler)
    cases, troubles = study.installed_cases()
    for trouble in troubles:
        print_error(trouble)
    chosen = list(cases) if everything else reproduce_series.choose(case, cases)
    study.check_choices(chosen, only if chosen else ())
    if resume is not None:
        several = (resume / reproduce_series.SERIES).is_file()
        if not resume.is_dir() or out is not None or (several and only) or (not several and len(chosen) > 1):
            print_error(
                "--resume goes on in a folder that is there, without --out: give the folder of one case, or that of "
                "several without --only"
            )
            return MISUSE
        if not several:
            one, folder = study.find_attempt(resume, chosen, cases)
            study.check_choices([one], only)
            return _run_one(one, folder, json_file, only, quiet=quiet)
        series = reproduce_series.Series.resume(resume, cases, chosen)
        return _run_series(series, json_file, scheduler, jobs, quiet=quiet)
    if only and not chosen:
        print_error("--only is a part of a case: name the case, too")
        return MISUSE
    if not chosen:
        _print_list(cases)
        write_json(json_file, {"cases": [_listed(each) for each in cases]})
        return None
    if len(chosen) == 1 and not everything:
        return _run_one(
            chosen[0], _folder(chosen[0].path.replace("/", "-"), out), json_file, only, quiet=quiet
        )
    folder = new_folder("reproduce", Path("runs"), out)
    return _run_series(reproduce_series.Series(folder, chosen, only), json_file, scheduler, jobs, quiet=quiet)


def _folder(name: str, out: Path | None) -> Path:
    return new_folder(f"reproduce-{name}", Path("runs"), None if out is None else out / name)


def _run_one(
    case: Case, folder: Path, json_file: Path | None, only: Sequence[str], *, quiet: bool
) -> int | None:
    from corekit_study.progress_display import progress_line
    from corekit_study.reproduce import reproduce as run

    try:
        report = run(case, folder, None if quiet else progress_line, only)
    except KeyboardInterrupt as stop:
        stop.add_note(f"To go on: corekit reproduce {case.path} --resume {folder}")
        raise
    _print_report(report.as_data())
    write_json(json_file, {"cases": [report.as_data()]})
    return FAILED if report.broken else None


def _run_series(
    series: Series, json_file: Path | None, scheduler: str, jobs: int | None, *, quiet: bool
) -> int | None:
    from corekit_study.progress_display import progress_line, run_names

    at_once = scheduler != PROCESSES or (jobs or 1) > 1
    opened = open_scheduler(scheduler, jobs, fresh=True) if at_once else nullcontext()
    try:
        with opened as place:
            for data, is_new in series.run(None if quiet else run_names if at_once else progress_line, place):
                if is_new:
                    _print_report(data)
                else:
                    print(f"{data['case']}: done before; {data['folder']}")
    except KeyboardInterrupt as stop:
        stop.add_note(f"To go on: corekit reproduce --resume {series.folder}")
        raise
    done = series.done
    _print_summary(done, series.folder)
    write_json(json_file, {"cases": done})
    return FAILED if any(data["verdict"] in ("failed", "MISSED") for data in done) else None


def _listed(case: Case) -> dict[str, Any]:
    return {
        "case": case.path, "source": case.source, "shows": case.shows, "minutes": case.minutes,
        "citation": case.citation, "choices": list(case.choices),
    }  # fmt: skip


def _print_list(cases: Sequence[Case]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if not cases:
        print("no case is installed: pip install corekit-scenarios")
        return
    console = make_console()
    if not console.is_terminal:
        console.width = 160
    table = Table(box=SIMPLE_HEAD)
    for name in ("case", "source", "shows"):
        table.add_column(name, overflow="fold")
    table.add_column("minutes", justify="right")
    for case in cases:
        table.add_row(case.path, case.source, case.shows, f"{case.minutes:g}")
    console.print(table)
    quickest = min(cases, key=lambda case: case.minutes)
    print(
        f"run one: corekit reproduce {quickest.path}; a paper's: corekit reproduce {quickest.paper}; "
        f"all, about {sum(case.minutes for case in cases):.0f} minutes: corekit reproduce --all"
    )


def _print_summary(done: Sequence[dict[str, Any]], folder: Path) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from corekit_study.reproduce_summary import HEADER, summary_rows

    console = make_console()
    if not console.is_terminal:
        console.width = 180
    table = Table(box=SIMPLE_HEAD)
    for name in HEADER:
        table.add_column(name, overflow="fold", justify="right" if name == "minutes" else "left")
    for data, row in zip(done, summary_rows(done), strict=True):
        table.add_row(*(Text(cell, style=_STYLES.get(data["verdict"], "")) for cell in row))
    console.print(table)
    passed = sum(data["verdict"] == "passed" for data in done)
    console.print(f"{passed} of {len(done)} cases passed; {folder / 'summary.md'}", soft_wrap=True)


def _print_report(report: Mapping[str, Any]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    console = make_console()
    if not console.is_terminal:
        console.width = 180
    title = f"{report['case']} ({report['source']}): {report['shows']}"
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left")
    for name in ("quantity", "against", "expected", "ours", "tolerance", "verdict", "note"):
        table.add_column(name, overflow="fold")
    for row in report["rows"]:
        unit = f" [{row['unit']}]" if row["unit"] else ""
        against = f"{row['kind']}: {row['source']}" if row["source"] else row["kind"]
        cells = (
            row["quantity"] + unit, against, _shown(row["expected"]), _shown(row["ours"]),
            row["tolerance"] or "none", row["verdict"], "; ".join(filter(None, (row["reason"], row["note"]))),
        )  # fmt: skip
        table.add_row(*(Text(cell, style=_STYLES.get(row["verdict"], "")) for cell in cells))
    console.print(table)
    if report["error"]:
        print_error(f"{report['case']} failed: {report['error']}")
    console.print(
        Text(f"{report['case']}: {report['verdict']} in {report['wall_s']:.3g} s; {report['folder']}"),
        soft_wrap=True,
    )


def _shown(value: Value) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
