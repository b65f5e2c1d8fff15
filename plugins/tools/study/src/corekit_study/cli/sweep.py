"""`corekit sweep`: a scenario over ranges of its options, on every core, as a table and a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from corekit.cli import FAILED, MISUSE, print_error
from corekit.cli.terminal import make_console
from corekit.errors import ConfigError, Mistake

if TYPE_CHECKING:
    from corekit_study.sweep import Sweep

__all__ = ["sweep"]

MOST_ROWS = 50
"""So many runs are printed; the table in the folder has all."""


def sweep(
    file: Path | None = None,
    /,
    *,
    vary: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    overrides: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    samples: int | None = None,
    seed: int | None = None,
    shard: str = "",
    keep: str | None = None,
    jobs: int | None = None,
    out: Path | None = None,
    resume: Path | None = None,
    allow_code: Annotated[bool, Parameter(negative="")] = False,
    json_file: Annotated[Path | None, Parameter(name="--json")] = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
) -> int | None:
    """Run every combination of what is varied, or random points, in processes, and write one line a run into sweep.csv.

    A run that fails keeps its line with the reason. To see a few runs beside each other: corekit compare.

    Parameters
    ----------
    file
        The scenario file, or the name of one that is shipped.
    vary
        `contact.friction=0.2,0.4` or `contact.friction=0.1:0.9:5`, five values from 0.1 to 0.9; `1e-4:1e-2:5:log` by
        equal factors; given several times, all combinations are run. With --samples also a range to draw from:
        `contact.friction=0.1:0.9`, or `1e-4:1e-2:log`.
    overrides
        `time.step=1e-4`: another value for an entry, in every run; may be given several times.
    samples
        So many random points (a Latin hypercube) in place of all combinations.
    seed
        Of the random points: the same seed gives the same ones; 0 without it.
    shard
        `2/8`: the second of eight parts alone, for a cluster; with the same --out on a shared disk, or with the parts'
        folders copied into one, --resume writes the table of all.
    keep
        `table`: of a run that finishes keep its line alone, not its folder; `runs` as without it: both.
    jobs
        How many runs at once; one a core without it.
    out
        The folder for the runs and the table, instead of one with name and time stamp.
    resume
        The folder of a sweep that was stopped, to go on with it; it knows its runs.
    allow_code
        Allow the scenario to import Python functions that it names, `file.py:function`: only if you trust it.
    json_file
        Write the table as JSON, too.
    quiet
        Show no progress.
    """
    from corekit_run.output_file import check_output, write_json
    from corekit_study import sweep as study
    from corekit_study.progress_display import progress_line

    if jobs is not None and jobs < 1:
        print_error(f"--jobs is {jobs}: at least one run must go at a time")
        return MISUSE
    check_output(json_file, "--json")
    show, workers = None if quiet else progress_line, 0 if jobs == 1 else jobs
    if resume is not None:
        if (
            file is not None
            or vary
            or overrides
            or any(each is not None for each in (out, samples, seed, keep))
        ):
            print_error(
                "--resume goes on with what the folder asks for: give --shard and --jobs alone beside it"
            )
            return MISUSE
        found = study.resume(resume, show, workers, shard=_part(shard), allow_code=allow_code)
    elif seed is not None and samples is None:
        print_error("--seed is of random points: give --samples COUNT beside it, or leave it out")
        return MISUSE
    elif file is None or not vary:
        print_error("give a scenario and what to vary: corekit sweep FILE --vary contact.friction=0.1:0.9:5")
        return MISUSE
    else:
        found = study.sweep(
            file, vary, overrides, out, show, workers,
            samples=samples, seed=seed or 0, keep=keep or "runs", shard=_part(shard), allow_code=allow_code,
        )  # fmt: skip
    _print_table(found)
    write_json(json_file, found.as_data())
    return None if any(not point.reason for point in found.points) else FAILED


def _part(shard: str) -> tuple[int, int] | None:
    """Read `2/8`."""
    if not shard:
        return None
    first, _, parts = shard.partition("/")
    if not (first.isdecimal() and parts.isdecimal()):
        said = "must be K/N, the K-th of N parts, for example 2/8"
        raise ConfigError([Mistake("--shard", shard, said)], "the sweep")
    return int(first), int(parts)


def _print_table(found: Sweep) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from corekit_study.cli.compare import short_names

    console = make_console()
    if not console.is_terminal:
        console.width = 180
    table = Table(box=SIMPLE_HEAD, title=found.title, title_justify="left")
    for name in short_names([path for path, _ in found.points[0].variant.values]):
        table.add_column(name, overflow="fold", style="bold")
    for name in ("tip at the end [m]", "energy [J]", "penetration [mm]", "steps solved", "wall [s]"):
        table.add_column(Text(name), justify="right")
    for point in found.points[:MOST_ROWS]:
        values = [value for _, value in point.variant.values]
        cells = (Text(f"failed: {point.reason}", style="red"),) if point.reason else _cells(point.metrics)
        table.add_row(*values, *cells)
    console.print(table)
    tips = dict.fromkeys(point.metrics["tip_frame"] for point in found.points)
    if names := ", ".join(name for name in tips if name):
        console.print(Text(f"tip: {names}"))
    if (more := len(found.points) - MOST_ROWS) > 0:
        failed = sum(1 for point in found.points if point.reason)
        console.print(f"and {more} more; {failed} of all failed")
    console.print(Text(f"runs and sweep.csv: {found.folder}"), soft_wrap=True)


def _cells(metrics: dict[str, Any]) -> tuple[str, ...]:
    tip = [metrics[f"tip_{axis}_m"] for axis in "xyz"]
    steps, unsolved, deepest = metrics["steps"], metrics["unsolved_steps"], metrics["deepest_penetration_m"]
    return (
        "–" if None in tip else ", ".join(f"{each:.4f}" for each in tip),
        "–" if metrics["energy_J"] is None else f"{metrics['energy_J']:.5g}",
        "–" if deepest is None else f"{1e3 * deepest:.3g}",
        f"{steps - unsolved} of {steps}" if steps is not None and unsolved is not None else "–",
        f"{metrics['wall_s']:.2f}",
    )
