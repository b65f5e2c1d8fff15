"""`corekit list`: what is installed and what could be, as text or JSON; light, because it is called often."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from corekit.cli.terminal import make_console, print_json
from corekit.distributions import distributions
from corekit.registry.discover import Installed, discover
from corekit.registry.first_party import FirstParty
from corekit.registry.spec import ROLES
from corekit.version import __version__
from corekit_inspect.absent import not_installed

__all__ = ["list_components"]

_COLUMNS = ("role", "name", "distribution", "version", "status")
_COLOURS = {"ambiguous": "yellow", "unusable": "red"}


def list_components(*, json: bool = False, all: bool = False, scenarios: bool = False) -> None:
    """What is installed, and what could be.

    Reads metadata only: nothing is imported, a broken plugin is a row with its reason. A line on the error stream tells
    of each distribution whose files are damaged.

    Parameters
    ----------
    json
        Print JSON instead of a table.
    all
        Show the reference components too; they are small, slow and meant for tests.
    scenarios
        Show the scenarios and plans that are installed instead: `corekit run` and `plan` know them by name.
    """
    if scenarios:
        _print_scenarios(as_json=json)
        return
    installed = [row for row in discover() if all or not row.reference]
    absent = not_installed(installed)
    if json:
        _print_json(installed, absent)
    else:
        _print_tables(installed, absent)


def _print_scenarios(*, as_json: bool) -> None:
    from corekit.scenario.load import shipped_scenarios

    about = {}
    for name, file in shipped_scenarios().items():
        first = file.read_text(encoding="utf-8").partition("\n")[0]
        about[name] = first.removeprefix("# ") if first.startswith("# ") else ""
    if as_json:
        print_json(about, indent=2)
        return
    width = max(map(len, about), default=0)
    for name, words in about.items():
        print(f"  {name:{width}}  {words}".rstrip())
    if not about:
        print("No scenarios are installed: pip install corekit-scenarios")


def _print_json(installed: Sequence[Installed], absent: Sequence[FirstParty]) -> None:
    data = {
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
        "damaged": [
            {"distribution": each.name, "version": each.version, "reason": each.damage}
            for each in distributions()
            if each.damage
        ],
        "not_installed": [{**known._asdict(), "install": known.install_line} for known in absent],
    }
    print_json(data, indent=2)


def _print_tables(installed: Sequence[Installed], absent: Sequence[FirstParty]) -> None:
    if installed:
        rows = [
            (ROLES.get(row.role, row.role), row.name, row.distribution, row.version, row.status)
            for row in installed
        ]
        widths = [max(map(len, column)) for column in zip(_COLUMNS, *rows, strict=True)]
        print("  " + _aligned(_COLUMNS, widths))
        print("  " + "  ".join("─" * width for width in widths))
        for row, cells in zip(installed, rows, strict=True):
            _print_coloured("  " + _aligned(cells, widths), row.status)
        print()
    else:
        print(f"corekit-kernel {__version__}: no plugin is installed.")
    for row in installed:
        if row.remark:
            _print_coloured(f"{row.role}.{row.name} of {row.distribution}: {row.remark}", row.status)
    if absent:
        print("Not installed:")
        for known in absent:
            print(f"  {ROLES[known.role]} {known.name}: {known.install_line}")


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _print_coloured(line: str, status: str) -> None:
    colour = _COLOURS.get(status, "")
    if not (colour and sys.stdout.isatty()):
        print(line)  # rich takes its time to import
        return
    from rich.text import Text

    make_console(soft_wrap=True).print(Text(line, style=colour))
