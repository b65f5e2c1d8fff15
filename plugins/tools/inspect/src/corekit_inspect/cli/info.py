"""`corekit info`: a component, what it can do here and its options; keys or bodies of a scenario; or a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import attrs
from cyclopts import Parameter

from corekit.cli import MISUSE, print_error
from corekit.cli.terminal import make_console, print_json
from corekit.errors import PluginError
from corekit.files import is_there
from corekit.registry.discover import Installed, discover
from corekit.registry.first_party import FIRST_PARTY
from corekit.registry.resolve import did_you_mean, find, load_spec, load_target, missing_abilities
from corekit.registry.spec import ABILITIES, ROLES
from corekit.scenario.schema import ScenarioTables
from corekit_inspect.cli.options_print import print_options
from corekit_inspect.cli.signal_sheet import show_signals
from corekit_inspect.interface_sheet import default_interface, interface_lines, model_interface
from corekit_inspect.option_table import describe_options
from corekit_run.cli.run_report import run_report

__all__ = ["info"]


def info(
    name: str,
    /,
    *,
    step: int | None = None,
    at: float | None = None,
    everything: Annotated[bool, Parameter(name="--all", negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int | None:
    """A component: what it is, what it can, which inputs, frames and options it has; a scenario's bodies; or a run.

    Parameters
    ----------
    name
        Its name, `role.name` if several roles use the name, `distribution:name` if several distributions do;
        `scenario`, for the keys of a scenario file; `signal`, for the kinds of signals; a scenario's file or name,
        whose bodies are described as they are built; or the folder of a run.
    step
        Of a run: the solver of this step, its residuals, and the contacts with their forces; counted from 0.
    at
        The same of the step at this instant, in seconds.
    everything
        Every name of a component or a scenario's bodies, however many there are; JSON always has all.
    as_json
        Print JSON instead of tables.
    """
    of_a_step = step is not None or at is not None
    path = Path(name)
    # what reads records is imported only for something that may be a run
    if is_there(path) and (report := run_report()).recognises(path):
        if step is not None and at is not None:
            print_error("give --step or --at, not both")
            return MISUSE
        run = report(path)
        run.show_step(step, at, as_json=as_json) if of_a_step else run.show(as_json=as_json)
        return None
    if of_a_step:
        print_error(f"--step and --at ask of a run, and {name} is no folder of one")
        return MISUSE
    if name.endswith(".toml") or "/" in name:
        if is_there(path) and path.is_dir():
            raise _no_run(name)
        _show_bodies(name, as_json=as_json, whole=everything)
        return None
    if name == "signal":
        show_signals(as_json=as_json)
        return None
    if name == "scenario":
        keys = [attrs.asdict(option) for option in describe_options(ScenarioTables)]
        if as_json:
            print_json(keys, indent=2)
        else:
            print_options("keys of a scenario file", keys)
        return None
    sheets = [_sheet(row) for row in _rows_named(name)]
    if as_json:
        print_json(sheets, indent=2)
    else:
        for sheet in sheets:
            _print_sheet(sheet, whole=everything)
    return None


def _no_run(name: str) -> PluginError:
    return PluginError(f"{name} is a folder without a run in it, and no component: give a run's own folder")


def _show_bodies(name: str, *, as_json: bool, whole: bool) -> None:
    """Print coordinates, inputs and frames of every body of a scenario, and what else has a name."""
    from corekit.scenario.load import load

    simulation = load(name).compose()
    sheets = {body.name: model_interface(body.description) for body in simulation.bodies}
    if as_json:
        print_json(sheets, indent=2)
        return
    from rich.text import Text

    console = make_console(soft_wrap=True)
    for body, sheet in sheets.items():
        console.print(Text(f"body {body}", style="bold"))
        for line in interface_lines(sheet, body, whole=whole):
            console.print(Text(line))
    for kind in ("obstacles", "joints"):
        if names := simulation.names()[kind]:
            console.print(Text(f"{kind}: {', '.join(names)}"))


def _rows_named(name: str) -> list[Installed]:
    """Find the rows of a name: one in each role that has it."""
    installed = discover()
    role, _, rest = name.partition(".")
    if role in ROLES and rest:
        return [find(role, rest, installed)]
    bare = name.rpartition(":")[2]
    roles = sorted({row.role for row in installed if row.name == bare and row.role in ROLES})
    if roles:
        return [find(role, name, installed) for role in roles]
    for known in FIRST_PARTY:
        if known.name == bare:
            raise PluginError(f"{ROLES[known.role]} {bare!r} is not installed: {known.install_line}")
    if name and is_there(Path(name)) and Path(name).is_dir():
        raise _no_run(name)
    if rest and (hint := did_you_mean(role, ROLES)):
        raise PluginError(f"unknown role {role!r}{hint}; roles are {', '.join(ROLES)}")
    names = sorted({row.name for row in installed})
    listing = f"installed are {', '.join(names)}" if names else "no plugin is installed"
    hint = did_you_mean(bare, [*names, *(known.name for known in FIRST_PARTY)])
    raise PluginError(f"unknown component {bare!r}{hint}; {listing}")


def _sheet(row: Installed) -> dict[str, Any]:
    spec = load_spec(row)
    return {
        "role": spec.role,
        "name": spec.name,
        "summary": spec.summary,
        "distribution": row.distribution,
        "version": row.version,
        "api": spec.api,
        "target": spec.target,
        "config": spec.config,
        "provides": {ability: ABILITIES.get(ability, "") for ability in sorted(spec.provides)},
        "missing": dict(missing_abilities(spec)),
        "requires": {role: sorted(needed) for role, needed in spec.requires.items()},
        "citation": spec.citation,
        "symbols": dict(spec.symbols),
        "interface": default_interface(spec) if spec.role == "models" else None,
        "options": _options(spec.config),
        "initial": _options(spec.initial) if spec.initial else [],
    }


def _options(config: str) -> list[dict[str, str]]:
    cls = load_target(config)
    if not (isinstance(cls, type) and attrs.has(cls)):
        raise PluginError(f"{config} is not an attrs class")
    return [attrs.asdict(option) for option in describe_options(cls)]


def _print_sheet(sheet: Mapping[str, Any], *, whole: bool) -> None:
    from rich.text import Text

    console = make_console()
    console.print(Text(f"{sheet['name']}", style="bold"), Text(f"{ROLES[sheet['role']]}: {sheet['summary']}"))
    console.print(Text(f"  from {sheet['distribution']} {sheet['version']}, kernel API {sheet['api']}"))
    console.print(Text(f"  class {sheet['target']}, options {sheet['config']}"), soft_wrap=True)
    for ability, meaning in sheet["provides"].items():
        console.print(Text(f"  can {ability}{f' ({meaning})' if meaning else ''}"), soft_wrap=True)
    for ability, reason in sheet["missing"].items():
        console.print(Text(f"  cannot {ability} here: {reason}", style="yellow"), soft_wrap=True)
    for role, needed in sheet["requires"].items():
        wanted = f" that can {', '.join(needed)}" if needed else ""
        console.print(Text(f"  needs beside it: {ROLES.get(role, role)}{wanted}"), soft_wrap=True)
    if sheet["citation"]:
        console.print(Text(f"  cite: {sheet['citation']}"), soft_wrap=True)
    if sheet["interface"] is not None:
        console.print("\nwith default options (those of a robot of your own: corekit info FILE.toml)")
        for line in interface_lines(sheet["interface"], whole=whole):
            console.print(Text(line), soft_wrap=True)
    if sheet["symbols"]:
        console.print("\naxes, and symbols in options")
        for symbol, meaning in sheet["symbols"].items():
            console.print(Text.assemble("  ", (symbol, "bold"), f"  {meaning}"), soft_wrap=True)
    print_options("options", sheet["options"])
    print_options("initial state", sheet["initial"])
