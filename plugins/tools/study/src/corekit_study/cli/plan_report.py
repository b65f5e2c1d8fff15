"""How a plan is printed: what was solved, what it is worth, where its simulations end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corekit_study.plan import Planned

__all__ = ["print_plan"]


def print_plan(made: Planned, drawn: Sequence[str]) -> None:
    """Print a plan as tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=True)
    searched = Table("stage", "iterations", "seconds", "cost", "complementarity", "how it ended", box=None)
    for entry in made.plan.solve_log:
        searched.add_row(*(_cell(entry.get(key)) for key in ("stage", "iterations", "seconds", "cost")),
                         _cell(entry.get("complementarity")), _cell(entry.get("said")))  # fmt: skip
    console.print(searched)
    console.print(_certificate(made.plan.certificate))
    for replay in made.replays:
        for name, told in replay.objects.items():
            console.print(
                f"{replay.name}: {name} ends {math.degrees(told['angle_from_target']):.3g}° and "
                f"{1e3 * told['distance_from_target']:.3g} mm from the target; in contact "
                f"{100 * replay.in_contact:.0f} % of the steps; {'arrived' if replay.arrived else 'not arrived'}"
            )
    for line in (*made.plan.notes, *drawn):
        console.print(line)
    console.print(_waited(made.seconds))
    verdict = "certified" if made.info.status.solved else "not certified"
    console.print(f"{made.file.name}: {verdict} in {made.wall:.1f} s. {made.info.status.value}")
    if made.folder is not None:
        console.print(str(made.folder))


def _waited(seconds: Mapping[str, float]) -> Any:
    """What the time went into."""
    from rich.table import Table

    table = Table("waited for", "seconds", box=None)
    for what, spent in seconds.items():
        table.add_row(what, f"{spent:.1f}")
    return table


def _certificate(told: Mapping[str, Any]) -> Any:
    from rich.table import Table

    table = Table("certificate", "residual", "tolerance", "unit", box=None)
    for group in ("equations", "complementarity"):
        for name, entry in told.get(group, {}).items():
            unit = entry.get("unit", " or ".join(entry.get("units", ())))
            table.add_row(name, _cell(entry["residual"]), _cell(entry["tolerance"]), unit)
    for name, entry in told.items():
        if isinstance(entry, (int, float, str)) and name != "status":
            table.add_row(name.replace("_", " "), _cell(entry), "", "")
    return table


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)
