"""`corekit optimise`: inputs or numbers of a scenario for a loss, by gradients through contact."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from corekit.cli import FAILED
from corekit.cli.terminal import make_console, print_json

if TYPE_CHECKING:
    from corekit_gradients.optimise import Optimised

__all__ = ["optimise"]

_EVERY = 10.0
"""Seconds between lines of progress where no line can move."""
_SHOWN = 20
"""Variables in the table; all are in variables.csv."""


def optimise(
    file: Path,
    /,
    *,
    replay: bool = True,
    out: Path | None = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
    allow_code: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int | None:
    """Search for inputs or numbers of a scenario that make a loss small, by gradients of runs through contact.

    The folder of results holds the scenario with what was found in it, its run, the search as a table and a picture.
    Exit code 1 if the search did not end by its tolerance.

    Parameters
    ----------
    file
        The optimisation file: TOML that names a scenario, variables and the terms of the loss.
    replay
        Run what was found into `replay` of the folder.
    out
        The folder for the results, instead of one with name and time stamp; if it holds something, a number is added.
    quiet
        Show nothing but errors.
    allow_code
        Allow Python functions that the file or its scenario names: only if you trust them.
    as_json
        Print one JSON object instead of a table.
    """
    from corekit_gradients.optimise import optimise as search
    from corekit_gradients.optimise_file import load_optimise
    from corekit_study.new_folder import folder_with_results

    wanted = load_optimise(file, allow_code=allow_code)
    console = make_console(stderr=True, quiet=quiet or as_json)
    with (
        folder_with_results(f"optimise-{wanted.name}", Path("runs"), out) as folder,
        console.status(f"{wanted.name}: the first run") as line,
    ):
        last = clock.monotonic()

        def show(numbers: Mapping[str, float]) -> None:
            nonlocal last
            words = (
                f"{wanted.name}: iteration {numbers['iteration']:.0f} of {wanted.iterations} at most, "
                f"{numbers['runs']:.0f} runs, loss {numbers['loss']:.6g}, gradient {numbers['gradient']:.3g}"
            )
            line.update(words)
            if not console.is_terminal and clock.monotonic() - last > _EVERY:
                last = clock.monotonic()
                console.print(words, markup=False, soft_wrap=True)

        made = search(wanted, folder, show, replay=replay)
    if as_json:
        print_json(made.as_data())
    elif not quiet:
        _print(made)
    return None if made.minimum.converged else FAILED


def _print(made: Optimised) -> None:
    """The variables, then how the search went."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    console, told = make_console(), made.as_data()
    table = Table(box=SIMPLE_HEAD)
    for name in ("variable", "start", "found"):
        table.add_column(name, overflow="fold")
    for name, each in list(told["variables"].items())[:_SHOWN]:
        table.add_row(Text(name), f"{each['start']:.6g}", f"{each['value']:.6g}")
    console.print(table)
    rest, folder = len(told["variables"]) - _SHOWN, made.folder
    rows = [
        *([("more", f"{rest} variables, all in {folder}/variables.csv")] if rest > 0 else []),
        ("loss", f"{made.first:.6g} at the start, {made.minimum.value:.6g} in the end"),
        ("search", f"{told['reason']}: {told['iterations']} iterations, {told['runs']} runs, {made.wall:.3g} s"),
        *([("failed", f"{made.failed} runs of the search failed and were gone round")] if made.failed else []),
        *([("kinks", f"{told['kinks']} steps of the last run are at kinks of contact, gradients of one side")]
          if told["kinks"] else []),
        *([("replay", f"ends at {made.replay[0]:.6g}, the search at {made.replay[1]:.6g}, of what counts at the end")]
          if made.replay else []),
        *([("found", f"corekit run {folder}/optimised.toml")] if folder else []),
        *([("picture", str(made.picture))] if made.picture else []),
        *(("note", note) for note in made.notes),
    ]  # fmt: skip
    grid = Table(box=None, show_header=False, pad_edge=False)
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, Text(value))
    console.print(grid)
