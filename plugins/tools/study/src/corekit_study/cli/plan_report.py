"""How a plan is printed: what was solved, what it is worth, where its simulations end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corekit.cli.terminal import make_console

if TYPE_CHECKING:
    from corekit_study.plan import PlanResult

__all__ = ["print_plan", "print_starts"]


def print_starts(name: str, rows: Sequence[Mapping[str, Any]], best: str, folder: Path) -> None:
    """Print the searches of a plan from several starts, the best one named."""
    from rich.table import Table
    from rich.text import Text

    console = make_console(soft_wrap=True)
    table = Table("start", "with", "cost", "solved", "how it ended", box=None)
    for row in rows:
        values = ", ".join(f"{path.rpartition('.')[2]} {value}" for path, value in row["values"].items())
        cells = (row["start"], values, _cell(row["cost"]), "yes" if row["solved"] else "no", row["reason"])
        table.add_row(*(Text(str(cell)) for cell in cells))
    console.print(table)
    console.print(f"{name}: the best is {best}, whose results are in {folder}", markup=False)


def print_plan(made: PlanResult, drawn: Sequence[str]) -> None:
    """Print a plan as tables."""
    from rich.table import Table

    console = make_console(soft_wrap=True)
    searched = Table("stage", "iterations", "seconds", "cost", "complementarity", "how it ended", box=None)
    for entry in made.plan.solve_log:
        searched.add_row(*(_cell(entry.get(key)) for key in ("stage", "iterations", "seconds", "cost")),
                         _cell(entry.get("complementarity")), _cell(entry.get("said")))  # fmt: skip
    console.print(searched)
    console.print(_certificate(made.plan.certificate))
    for rollout in made.rollouts:
        for name, errors in rollout.objects.items():
            console.print(
                f"{rollout.name}: {name} ends {math.degrees(errors['angle_from_target']):.3g}° and "
                f"{1e3 * errors['distance_from_target']:.3g} mm from the target; in contact "
                f"{100 * rollout.in_contact:.0f} % of the steps; {'arrived' if rollout.arrived else 'not arrived'}"
            )
    for line in (*made.plan.notes, *drawn):
        console.print(line)
    console.print(_waited(made.seconds))
    for reason in made.verdict.reasons:
        console.print(f"not certified: {reason}", markup=False)
    if "largest_gap_m" in made.verdict.figures:
        gap, bound = (1e3 * made.verdict.figures[name] for name in ("largest_gap_m", "its_bound_m"))
        console.print(
            f"the scenario's own model ends at most {gap:.3g} mm from the plan after an interval, "
            f"of {bound:.3g} mm by which schemes may differ"
        )
    verdict = "certified" if made.verdict.certified else "not certified"
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


def _certificate(certificate: Mapping[str, Any]) -> Any:
    from rich.table import Table

    table = Table("certificate", "residual", "tolerance", "unit", box=None)
    for group in ("equations", "complementarity"):
        for name, entry in certificate.get(group, {}).items():
            unit = entry.get("unit", " or ".join(entry.get("units", ())))
            table.add_row(name, _cell(entry.get("residual")), _cell(entry.get("tolerance")), unit)
    for name, entry in certificate.items():
        if isinstance(entry, (int, float, str)) and name != "status":
            table.add_row(name.replace("_", " "), _cell(entry), "", "")
    return table


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)
