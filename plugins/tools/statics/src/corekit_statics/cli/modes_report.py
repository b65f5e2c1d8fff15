"""The table of modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from corekit.cli.terminal import make_console

__all__ = ["print_modes"]


def print_modes(report: Mapping[str, Any]) -> None:
    """Print what `ScenarioModes.as_data` gave, for a reader."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    console = make_console()
    if not console.is_terminal:
        console.width = 160
    table = Table(box=SIMPLE_HEAD)
    for head in ("mode", "frequency", "period", "moves most"):
        table.add_column(head, justify="left" if head == "moves most" else "right")
    for row in report["modes"]:
        frequency, growth = row["frequency_Hz"], row["growth_1_per_s"]
        grows = "" if growth is None else f"grows by e in {1 / growth:.4g} s"
        if frequency is None:
            said = (grows, "")
        elif frequency == 0:
            said = ("no stiffness", "")
        else:
            swings = f"{frequency:.6g} Hz"
            said = (f"{swings}, {grows}" if grows else swings, f"{1 / frequency:.4g} s")
        table.add_row(str(row["mode"]), *said, row["largest_in"])
    console.print(table)
    console.print(
        f"about the equilibrium of the loads at t = {report['time_s']:.6g} s: {report['stability']}"
    )
    if report["left_out"]:
        console.print(f"note: {report['left_out']}")
    for name in ("folder", "pictures"):
        values = report.get(name) or []
        for value in [values] if isinstance(values, str) else values:
            console.print(f"{name.removesuffix('s')}: {value}", soft_wrap=True)
