"""The table of an equilibrium, and of the path that led to it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from corekit.cli.terminal import make_console

__all__ = ["print_statics"]

_MOST = 8
"""Reactions listed one by one."""


def print_statics(report: Mapping[str, Any]) -> None:
    """Print what `EquilibriumPath.as_data` gave, for a reader."""
    from rich.table import Table
    from rich.text import Text

    console = make_console()
    if not console.is_terminal:
        console.width = 160
    path: Sequence[Mapping[str, Any]] = report["equilibria"]
    if len(path) > 1:
        _print_path(console, path)
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, value in _rows(report, path):
        table.add_row(name, Text(value))
    console.print(table)


def _rows(report: Mapping[str, Any], path: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    last = path[-1]
    forces = ", ".join(f"{value:.1e} {unit}" for unit, value in last["unbalanced"].items())
    iterations = sum(each["iterations"] for each in path)
    steps = f" for {len(path)} equilibria" if len(path) > 1 else ""
    contacts = last["contacts"]
    rows = [
        ("equilibrium", f"of the loads at t = {last['time_s']:.6g} s"),
        ("stability", last["stability"]["sentence"]),
        ("convergence", f"{iterations} iterations{steps}, {report['wall_s']:.3g} s in all"),
        ("unbalanced force", f"{forces} (the largest force term is {last['largest_force']:.3g})"),
        ("rows held to", f"{last['row_error_m']:.1e} m or rad"),
        ("contacts closed to", f"{last['gap_error_m']:.1e} m"),
        ("potential energy", "unknown" if last["energy_J"] is None else f"{last['energy_J']:.6g} J"),
        *((f"tip {name}", _tip(tip)) for name, tip in last["tips"].items()),
        ("contacts", f"{contacts['pressing']} press, together {_vector(contacts['force_N'])} N"),
        *_reactions(last["reactions"]),
        *((f"row forces of {body}", _range(forces)) for body, forces in last["row_forces"].items()),
    ]
    kept = [row for row in rows if not _idle(row[0], last)]
    if last["note"]:
        kept.append(("note", last["note"]))
    if report.get("results"):
        kept.append(("results", report["results"]))
    return [*kept, *(("picture", each) for each in report.get("pictures", ()))]


def _idle(name: str, last: Mapping[str, Any]) -> bool:
    """Whether a row would say nothing: there are no rows, or no contacts."""
    if name == "rows held to":
        return not last["row_forces"]
    return name in {"contacts", "contacts closed to"} and not last["contacts"]["near"]


def _tip(tip: Mapping[str, Any]) -> str:
    away = math.dist(tip["moved_m"], (0.0, 0.0, 0.0))
    return f"{_vector(tip['position_m'])} m, {1e3 * away:.4g} mm from where it began"


def _vector(values: Sequence[float]) -> str:
    # + 0 makes of −0 a 0
    return "(" + ", ".join(f"{round(value, 9) + 0.0:.5g}" for value in values) + ")"


def _reactions(reactions: Mapping[str, float]) -> list[tuple[str, str]]:
    listed = [(f"reaction at {name}", f"{value + 0.0:.6g} N or N·m") for name, value in reactions.items()]
    more = len(listed) - _MOST
    return listed[:_MOST] + ([("", f"and {more} more, see --json")] if more > 0 else [])


def _range(forces: Sequence[float]) -> str:
    if len(forces) <= _MOST:
        return ", ".join(f"{force:.5g}" for force in forces) + " N or N·m"
    return f"{len(forces)}, from {min(forces):.5g} to {max(forces):.5g} N or N·m"


def _print_path(console: Any, path: Sequence[Mapping[str, Any]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    for head in ("time", "load", "iterations", "unbalanced", "energy", "tip moved", "stability"):
        table.add_column(head, justify="left" if head == "stability" else "right")
    for each in path:
        moved = [math.dist(tip["moved_m"], (0.0, 0.0, 0.0)) for tip in each["tips"].values()]
        energy = each["energy_J"]
        table.add_row(
            f"{each['time_s']:.4g} s",
            f"{each['load']:.4g}",
            str(each["iterations"]),
            ", ".join(f"{value:.1e} {unit}" for unit, value in each["unbalanced"].items()),
            "unknown" if energy is None else f"{energy:.5g} J",
            f"{1e3 * moved[0]:.4g} mm" if moved else "",
            each["stability"]["word"],
        )
    console.print(table)
