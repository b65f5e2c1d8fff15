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
    points: Path | None = None,
    samples: int | None = None,
    sampling: str | None = None,
    seed: int | None = None,
    statics: Annotated[bool, Parameter(negative="")] = False,
    at: float | None = None,
    keep: str | None = None,
    scheduler: str = "processes",
    jobs: int | None = None,
    shard: str = "",
    out: Path | None = None,
    resume: Path | None = None,
    merge: Annotated[tuple[Path, ...], Parameter(negative="", consume_multiple=True)] = (),
    allow_code: Annotated[bool, Parameter(negative="")] = False,
    json_file: Annotated[Path | None, Parameter(name="--json")] = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
) -> int | None:
    """Run every combination of what is varied, or drawn points, at once, and write one line a run into sweep.csv.

    A run that fails keeps its line with the reason. The same, and what else is kept, is in sweep.nc, which can be
    read while the sweep goes on: xarray.open_dataset("sweep.nc"). To see a few runs beside each other: corekit
    compare.

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
    points
        A CSV file in place of --vary: a path at the head of each column, and a run a line.
    samples
        So many points drawn from the ranges, in place of all combinations.
    sampling
        How they are drawn: `latin`, a Latin hypercube, as without it; `random`, independent; `sobol`, best with 2, 4,
        8, … points, of which the first stay the same where more are drawn.
    seed
        Of the drawn points: the same seed gives the same ones; 0 without it.
    statics
        Find the equilibrium of each in place of a run, as corekit statics does.
    at
        With --statics: the time of inputs and obstacles [s]; the end of the scenario without it.
    keep
        Of what finishes: `all`, a folder a run with its records, as without it; `last`, the last state, in sweep.nc;
        `table`, the line in the table alone. The latter two are much faster where runs are short.
    scheduler
        Where the runs are made: `processes` on this computer, as without it. With corekit-dask also `local`, its
        cluster on this computer; `tcp://HOST:PORT`, a scheduler of Dask that runs already; `slurm`, jobs that it
        hands in.
    jobs
        How many runs at once; one a core without it.
    shard
        `2/8`: the second of eight parts alone, for a cluster; give all parts the same --out on a shared disk, or each
        its own, and --merge then.
    out
        The folder for the runs and the table, instead of one with name and time stamp.
    resume
        The folder of a sweep that was stopped, to go on with it; it knows its runs.
    merge
        The folder that shards shared, or the folders of all: write the table of all into the first. Nothing is run.
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
    asks = file is not None or vary or overrides or statics
    asks = asks or any(each is not None for each in (out, points, samples, sampling, seed, at, keep))
    if merge:
        if asks or resume is not None or shard or jobs is not None:
            print_error(
                "--merge joins what shards have run: give it their folders, and nothing to run beside it"
            )
            return MISUSE
        found = study.merge(merge[0], merge[1:], allow_code=allow_code)
    elif resume is not None:
        if asks:
            print_error(
                "--resume goes on with what the folder asks for: give --shard, --scheduler and --jobs alone beside it"
            )
            return MISUSE
        found = study.resume(
            resume, show, workers, shard=_part(shard), scheduler=scheduler, allow_code=allow_code
        )
    elif samples is None and (seed is not None or sampling is not None):
        word = "--seed" if sampling is None else "--sampling"
        print_error(f"{word} is of drawn points: give --samples COUNT beside it, or leave it out")
        return MISUSE
    elif samples is not None and points is not None:
        print_error(
            "--samples draws from the ranges of --vary, and --points lists its runs: give one of both"
        )
        return MISUSE
    elif file is None or not (vary or points):
        print_error("give a scenario and what to vary: corekit sweep FILE --vary contact.friction=0.1:0.9:5")
        return MISUSE
    else:
        found = study.sweep(
            file, vary, overrides, out, show, workers, points=points,
            samples=samples, seed=seed or 0, sampling=sampling or "latin", keep=keep or "all", statics=statics, at=at,
            shard=_part(shard), scheduler=scheduler, allow_code=allow_code,
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
    judged = "stability" if "stability" in found.points[0].metrics else "steps solved"
    for name in ("tip at the end [m]", "energy [J]", "penetration [mm]", judged, "wall [s]"):
        table.add_column(Text(name), justify="right")
    for point in found.points[:MOST_ROWS]:
        values = [value for _, value in point.variant.values]
        cells = (Text(f"failed: {point.reason}", style="red"),) if point.reason else _cells(point.metrics)
        table.add_row(*values, *cells)
    console.print(table)
    tips = dict.fromkeys(point.metrics["tip_frame"] for point in found.points[:MOST_ROWS])
    if names := ", ".join(name for name in tips if name):
        console.print(Text(f"tip: {names}"))
    if (more := len(found.points) - MOST_ROWS) > 0:
        failed = sum(1 for point in found.points if point.reason)
        console.print(f"and {more} more; {failed} of all failed")
    console.print(Text(f"sweep.csv, sweep.nc and runs: {found.folder}"), soft_wrap=True)


def _cells(metrics: dict[str, Any]) -> tuple[str, ...]:
    tip = [metrics[f"tip_{axis}_m"] for axis in "xyz"]
    steps, unsolved, deepest = (
        metrics["steps"],
        metrics.get("unsolved_steps"),
        metrics["deepest_penetration_m"],
    )
    solved = f"{steps - unsolved} of {steps}" if steps is not None and unsolved is not None else "–"
    return (
        "–" if None in tip else ", ".join(f"{each:.4f}" for each in tip),
        "–" if metrics["energy_J"] is None else f"{metrics['energy_J']:.5g}",
        "–" if deepest is None else f"{1e3 * deepest:.3g}",
        metrics.get("stability") or solved,
        f"{metrics['wall_s']:.2f}",
    )
