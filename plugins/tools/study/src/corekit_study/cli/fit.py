"""`corekit fit`: parameters or inputs of a scenario's body, from markers that were observed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from corekit.cli import FAILED, exit_code
from corekit.cli.terminal import make_console, print_json
from corekit.errors import CorekitError, PluginError

if TYPE_CHECKING:
    from corekit_study.fit_file import FitFile

__all__ = ["fit"]


def fit(
    file: Path,
    /,
    *,
    scheduler: str = "",
    jobs: int | None = None,
    out: Path | None = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
    allow_code: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int | None:
    """Fit a body of a scenario to observed markers, and say what the data determine and what not.

    The folder of results holds the report, residuals, pictures, and the scenario with what was found in it.
    Exit code 1 if the fit was not solved.

    Parameters
    ----------
    file
        The fit file: TOML that names a scenario, an estimator and its options, see `corekit info ipopt-fit`.
    scheduler
        Search from the starts of the file, `options.starts`, at once: `processes` of this computer; with corekit-dask
        also `local`, `tcp://HOST:PORT` and `slurm`. The folder has one for each start, and the results of the best.
    jobs
        How many starts at once, with --scheduler; one a core without it.
    out
        The folder for the results, instead of one with name and time stamp; if it holds something, a number is added.
    quiet
        Show nothing but errors.
    allow_code
        Allow the scenario to import Python functions that it names, `file.py:function`: only if you trust it.
    as_json
        Print one JSON object instead of a table.
    """
    from corekit_study.fit import fit as make
    from corekit_study.fit_file import load_fit
    from corekit_study.new_folder import folder_with_results

    try:
        wanted = load_fit(file, allow_code=allow_code)
        if scheduler or jobs is not None:
            return _fit_starts(
                wanted, file, scheduler, jobs, out, allow_code=allow_code, quiet=quiet, as_json=as_json
            )
        with (
            folder_with_results(f"fit-{wanted.name}", Path("runs"), out) as folder,
            make_console(stderr=True, quiet=quiet or as_json).status(f"{wanted.name}: fitting") as line,
        ):
            made = make(
                wanted, folder, lambda numbers: line.update(_words(wanted.name, numbers)),
                report=lambda sentence: line.console.print(f"warning: {sentence}", markup=False, soft_wrap=True),
            )  # fmt: skip
    except CorekitError as error:
        if not as_json:
            raise
        print_json({"status": "failed", "reason": str(error)})
        return exit_code(error)
    report = made.as_data()
    if as_json:
        print_json(report)
    elif not quiet:
        _print(report)
    return None if made.info.status.solved else FAILED


def _fit_starts(
    wanted: FitFile,
    file: Path,
    scheduler: str,
    jobs: int | None,
    out: Path | None,
    *,
    allow_code: bool,
    quiet: bool,
    as_json: bool,
) -> int | None:
    """Fit from every start where a scheduler makes them, and report the best."""
    from corekit.errors import ConfigError, Mistake
    from corekit_run.schedulers import check_scheduler
    from corekit_study.new_folder import folder_with_results
    from corekit_study.progress_display import progress_line
    from corekit_study.starts import FIT, best_start, make_starts

    count = wanted.options.get("starts", 1)
    if not scheduler or (jobs is not None and jobs < 1):
        said = "must be at least 1, with --scheduler beside it: so many starts at once"
        raise ConfigError([Mistake("--jobs", jobs or 0, said)], "the command line")
    if not isinstance(count, int) or count < 2:
        said = "must be 2 or more to be shared out by --scheduler: searches from so many starts"
        raise ConfigError([Mistake("options.starts", count, said)], str(file))
    check_scheduler(scheduler)
    silent = quiet or as_json
    with folder_with_results(f"fit-{wanted.name}", Path("runs"), out) as folder:
        asked = [
            {"file": str(file.resolve()), "allow_code": allow_code, "only_start": k}
            for k in range(1, count + 1)
        ]
        starts = make_starts(FIT, asked, folder, scheduler, jobs, None if silent else progress_line)
    best = best_start(starts)
    if not best.report:
        raise PluginError(f"none of {count} starts could be searched from; the first: {starts[0].reason}")
    near = best.cost + 1e-3 * (1.0 + abs(best.cost))
    at_best = sum(each.solved and each.cost <= near for each in starts)
    report = {
        **best.report, "folder": str(folder),
        "fitted": str(folder / "fitted.toml") if best.report.get("fitted") else None,
        "figures": {**best.report["figures"], "starts_that_end_at_the_best": float(at_best)},
        "starts": [{"name": each.name, "cost": each.cost, "solved": each.solved} for each in starts],
    }  # fmt: skip
    if as_json:
        print_json(report)
    elif not quiet:
        _print(report)
    return None if best.solved else FAILED


def _words(name: str, values: Mapping[str, float | str]) -> str:
    parts = (each if isinstance(each, str) else f"{what} {each:.6g}" for what, each in values.items())
    return f"{name}: {', '.join(parts)}"


def _print(report: Mapping[str, Any]) -> None:
    """The parameters with their intervals, then how near the fit is."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    console = make_console()
    if not console.is_terminal:
        console.width = 160
    if report["parameters"]:
        table = Table(box=SIMPLE_HEAD)
        for name in ("parameter", "value", "95 % from", "to", "unit", "verdict", "because"):
            table.add_column(name, overflow="fold")
        for each in report["parameters"]:
            numbers = [_shown(each[name]) for name in ("value", "low", "high")]
            table.add_row(
                *(
                    Text(cell)
                    for cell in (each["name"], *numbers, each["unit"], each["verdict"], each["note"])
                )
            )
        console.print(table)
    markers = report["markers"]
    seconds = f"{report['wall_s']:.3g} s in all"
    distances = ", ".join(
        f"{word} {_mm(markers[key])}"
        for word, key in (("mean", "mean_m"), ("root mean square", "rms_m"), ("largest", "largest_m"))
    )
    rows = [
        ("solve", f"{report['reason']} {report['iterations']} iterations by {report['solver']}, {seconds}"),
        *(("note", note) for note in report["notes"]),
        ("markers", f"{markers['seen']} seen; distance to the fit: {distances}"),
        *((name.replace("_", " "), _shown(value)) for name, value in report["figures"].items()),
        *(("input", f"{name}: {count} instants") for name, count in report["schedules"].items()),
        ("report", f"{report['folder']}/report.json"),
        *([("found", f"corekit run {report['fitted']}")] if report["fitted"] else []),
        *(("picture", path) for path in report["pictures"]),
    ]  # fmt: skip
    grid = Table(box=None, show_header=False, pad_edge=False)
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, Text(value))
    console.print(grid)


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _mm(value: float | None) -> str:
    return "–" if value is None else f"{1e3 * value:.3g} mm"
