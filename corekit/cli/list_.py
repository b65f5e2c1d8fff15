"""`corekit list`: what is installed, without importing any of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from corekit import __version__
from corekit.registry.discover import Installed, discover
from corekit.registry.first_party import FirstParty, not_installed
from corekit.registry.spec import ROLES

__all__ = ["list_components"]


def list_components(
    *,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    everything: Annotated[bool, Parameter(name="--all", negative="")] = False,
) -> None:
    """What is installed, and what could be.

    Reads metadata only: nothing is imported, a broken plugin is a row with its reason.

    Parameters
    ----------
    as_json
        Print JSON instead of a table.
    everything
        Show the kernel's reference plugins too; they are small, slow and meant for tests.
    """
    installed = [row for row in discover() if everything or not row.reference]
    absent = not_installed(installed)
    if as_json:
        print(json.dumps(_as_data(installed, absent), indent=2))
    else:
        _print_tables(installed, absent)


def _as_data(installed: Sequence[Installed], absent: Sequence[FirstParty]) -> dict[str, object]:
    return {
        "kernel": __version__,
        "components": [
            {
                "role": row.role,
                "name": row.name,
                "distribution": row.distribution,
                "version": row.version,
                "status": row.status,
                "reason": row.remark,
            }
            for row in installed
        ],
        "not_installed": [{**known._asdict(), "install": known.install_line} for known in absent],
    }


def _print_tables(installed: Sequence[Installed], absent: Sequence[FirstParty]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console.width = 160
    table = Table(box=SIMPLE_HEAD)
    for column in ("role", "name", "distribution", "version", "status"):
        table.add_column(column, overflow="fold")
    for row in installed:
        style = "" if row.status == "ok" else "yellow" if row.status == "ambiguous" else "red"
        cells = (ROLES.get(row.role, row.role), row.name, row.distribution, row.version, row.status)
        table.add_row(*(Text(cell, style=style) for cell in cells))
    if installed:
        console.print(table)
    else:
        console.print(f"corekit-kernel {__version__}: no plugin is installed.")
    for row in installed:
        if row.remark:
            line = f"{row.role}.{row.name} of {row.distribution}: {row.remark}"
            console.print(Text(line, style="red" if row.reason else "yellow"), soft_wrap=True)
    if absent:
        console.print("Not installed:")
        for known in absent:
            console.print(Text(f"  {ROLES[known.role]} {known.name}: {known.install_line}"), soft_wrap=True)
