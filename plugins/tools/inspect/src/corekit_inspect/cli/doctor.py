"""`corekit doctor`: whether everything installed works, what is missing, and the lines that install it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

from cyclopts import Parameter

from corekit.cli import FAILED
from corekit.cli.terminal import make_console, print_json
from corekit.registry.discover import discover
from corekit.registry.first_party import FirstParty
from corekit.registry.spec import ROLES
from corekit.simulation.arguments import PERIOD, check_arguments
from corekit_inspect.absent import not_installed
from corekit_inspect.checkup import ITSELF, Finding, check_up
from corekit_run.versions import versions_of

__all__ = ["doctor"]


def doctor(
    *,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    limit: float = 60.0,
) -> int | None:
    """Import every plugin, each in a process of its own, and say what is broken or missing.

    Exit code 1 if something that belongs to this project is broken; what is not installed is no fault.

    Parameters
    ----------
    as_json
        Print JSON instead of a table.
    limit
        Time that one plugin's import may take [s].
    """
    check_arguments("corekit doctor", limit=(limit, PERIOD))
    versions = versions_of(())
    with _progress(silent=as_json) as report:
        findings = check_up(limit, report)
    absent = not_installed(discover())
    sound = not any(finding.problem and finding.first_party for finding in findings)
    if as_json:
        print_json(_as_data(sound, versions, findings, absent), indent=2)
    else:
        _print(versions, findings, absent)
    return None if sound else FAILED


@contextmanager
def _progress(*, silent: bool) -> Iterator[Callable[[Finding], None]]:
    """Show which plugin was tried last, on a terminal only."""
    console = make_console(stderr=True, quiet=silent)
    if silent or not console.is_terminal:
        yield lambda _finding: None
        return
    with console.status("importing every plugin…") as status:
        yield lambda finding: status.update(f"imported {finding.kind}.{finding.name}")


def _as_data(
    sound: bool, versions: dict[str, Any], findings: Sequence[Finding], absent: Sequence[FirstParty]
) -> dict[str, Any]:
    return {
        "sound": sound,
        "versions": versions,
        "plugins": [
            {
                "kind": each.kind, "name": each.name, "distribution": each.distribution, "version": each.version,
                "problem": each.problem, "missing": dict(each.missing), "import_s": each.wall_s,
                "first_party": each.first_party,
            }
            for each in findings
        ],
        "not_installed": [{**known._asdict(), "install": known.install_line} for known in absent],
    }  # fmt: skip


def _print(versions: dict[str, Any], findings: Sequence[Finding], absent: Sequence[FirstParty]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    console = make_console()
    if not console.is_terminal:
        console.width = 160
    machine = f"{versions['implementation']} {versions['python']}, {versions['platform']}"
    console.print(Text(f"corekit-kernel {versions['corekit']} on {machine}"), soft_wrap=True)
    libraries = ", ".join(f"{name} {version}" for name, version in versions["libraries"].items())
    console.print(Text(f"with {libraries}"), soft_wrap=True)
    table = Table(box=SIMPLE_HEAD)
    for column in ("plugin", "distribution", "import", "state"):
        table.add_column(column, overflow="fold")
    for each in findings:
        state = "broken" if each.problem else "ok"
        if ITSELF in each.missing:
            state = "not installed"
        elif each.missing:
            state += f", without {', '.join(each.missing)}"
        style = "red" if each.problem else "yellow" if each.missing else ""
        kind = ROLES.get(each.kind, each.kind)
        cells = (f"{kind} {each.name}", f"{each.distribution} {each.version}", f"{each.wall_s:.1f} s", state)
        table.add_row(*(Text(cell, style=style) for cell in cells))
    console.print(table)
    for each in findings:
        lacking = (why if name == ITSELF else f"{name}: {why}" for name, why in each.missing.items())
        for reason in filter(None, (each.problem, *lacking)):
            console.print(Text(f"{each.kind}.{each.name} of {each.distribution}: {reason}"), soft_wrap=True)
    for line in dict.fromkeys(known.install_line for known in absent):
        names = ", ".join(known.name for known in absent if known.install_line == line)
        console.print(Text(f"not installed: {names}: {line}"), soft_wrap=True)
    broken = sum(bool(each.problem) for each in findings)
    console.print(f"{len(findings)} plugins, {broken or 'none'} broken")
