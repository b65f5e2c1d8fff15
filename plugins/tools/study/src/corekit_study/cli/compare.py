"""`corekit compare`: a scenario run with other parts or numbers in it, the runs in one table and one picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from corekit.cli import FAILED, MISUSE, print_error
from corekit.cli.terminal import make_console

if TYPE_CHECKING:
    from corekit_study.compare import Comparison, RunMetrics

__all__ = ["compare", "short_names"]


def compare(
    file: Path,
    /,
    *,
    vary: Annotated[tuple[str, ...], Parameter(negative="")],
    overrides: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    scheduler: str = "",
    jobs: int | None = None,
    out: Path | None = None,
    allow_code: Annotated[bool, Parameter(negative="")] = False,
    json_file: Annotated[Path | None, Parameter(name="--json")] = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
    error: Annotated[bool, Parameter(negative="")] = False,
) -> int | None:
    """Run every combination of what is varied, one after the other, and set the runs beside each other.

    A combination that cannot work, or whose run fails, keeps its row with the reason.

    Parameters
    ----------
    file
        The scenario file, or the name of one that is shipped.
    vary
        `contact.solver.options.lcp_solver=lemke,pgs`: the values of an entry; given several times, all
        combinations are run.
    overrides
        `time.step=1e-4`: another value for an entry, in every run; may be given several times.
    scheduler
        Make the runs at once: `processes` of this computer; with corekit-dask also `local`, `tcp://HOST:PORT` and
        `slurm`. Without it they follow one another, so that their times per step can be compared.
    jobs
        How many runs at once, with --scheduler; one a core without it.
    out
        The folder for the runs and the picture, instead of one with name and time stamp.
    allow_code
        Allow the scenario to import Python functions that it names, `file.py:function`: only if you trust it.
    json_file
        Write the table as JSON, too.
    quiet
        Show no progress.
    error
        Run each once more with half of its step, and say how far it is off because of it.
    """
    from corekit_run.output_file import check_output, write_json
    from corekit_study.compare import compare as run_all
    from corekit_study.progress_display import progress_line

    if jobs is not None and (jobs < 1 or not scheduler):
        print_error(
            f"--jobs is {jobs}: at least one run must go at a time" if jobs < 1
            else "--jobs says how many runs a scheduler makes at once: give --scheduler beside it"
        )  # fmt: skip
        return MISUSE
    check_output(json_file, "--json")
    show = None if quiet else progress_line
    comparison = run_all(
        file,
        vary,
        overrides,
        out,
        show,
        allow_code=allow_code,
        error=error,
        scheduler=scheduler,
        workers=jobs,
    )
    _print_table(comparison)
    if comparison.tips:
        print(f"tip: {', '.join(comparison.tips)}")
    picture = _draw(comparison)
    write_json(json_file, {**comparison.as_data(), "picture": None if picture is None else str(picture)})
    return None if any(row.status == "finished" for row in comparison.rows) else FAILED


def _draw(comparison: Comparison) -> Path | None:
    """The picture of all tips, or a sentence why there is none."""
    from corekit_record.cli.pictures import draw_chart

    chart = comparison.chart
    if chart is None:
        print("no picture: no run has a trajectory")
        return None
    path, why_not = draw_chart(chart, comparison.folder / "compare")
    print(f"picture: {path}" if path is not None else f"no picture: {why_not}")
    return path


def _print_table(comparison: Comparison) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from corekit_record.cli.run_report import watchdog_lines

    console = make_console()
    if not console.is_terminal:
        console.width = 200
    paths = [path for path, _ in comparison.rows[0].variant.values] if comparison.rows else []
    table = Table(box=SIMPLE_HEAD, title=comparison.title, title_justify="left")
    for name in short_names(paths):
        table.add_column(name, overflow="fold", style="bold")
    heads = (
        "time per step",
        "penetration",
        "energy at end",
        "Σ impulse",
        "tip differs",
        "steps solved",
        "worst residual",
        *(["error of the step"] if any(_has_error(row.metrics) for row in comparison.rows) else []),
    )
    for name in heads:
        table.add_column(name, justify="right")
    troubles: list[Text] = []
    for row in comparison.rows:
        values = [value for _, value in row.variant.values]
        if row.metrics is not None:
            table.add_row(*values, *_cells(row.metrics))
            found = watchdog_lines(row.metrics.watchdog)
            troubles += [Text(f"{row.variant.label}: {line}", style="yellow") for line in found]
            continue
        table.add_row(*values, Text(row.status, style="red"))
        troubles.append(Text(f"{row.variant.label}: {row.status}: {row.reason}", style="red"))
    console.print(table)
    for trouble in troubles:
        console.print(trouble, soft_wrap=True)
    console.print(Text(f"runs: {comparison.folder}"), soft_wrap=True)


def _has_error(metrics: RunMetrics | None) -> bool:
    return metrics is not None and metrics.step_error is not None


def short_names(paths: Sequence[str]) -> list[str]:
    """The last words of each path that distinguish it from the others."""
    for count in range(1, 9):
        names = [".".join(path.split(".")[-count:]) for path in paths]
        if len(set(names)) == len(names) and "use" not in names:
            return names
    return list(paths)


def _cells(metrics: RunMetrics) -> tuple[str, ...]:
    away = metrics.tip_difference
    return (
        "unknown" if metrics.step_s is None else f"{1e6 * metrics.step_s:.0f} µs",
        f"{1e3 * metrics.deepest_penetration:.3g} mm",
        "unknown" if metrics.final_energy != metrics.final_energy else f"{metrics.final_energy:.5g} J",
        f"{metrics.contact_impulse:.4g} N·s",
        "the first" if away is None else f"{away:.2e} m",
        f"{100 * metrics.solved:.4g} %",
        f"{metrics.worst_residual:.1e}",
        *([] if metrics.step_error is None else [metrics.step_error.short]),
    )
