"""Importing the plugins of one distribution in a process apart: `python -m corekit.registry.examine LIMIT PLUGINS`.

PLUGINS is a JSON list of `["component", ROLE, NAME]`, `["corekit.shapes", KIND]` or, of another entry point,
`[GROUP, VALUE]`. For each, in order, a line on the standard output, after whatever the plugin prints, is `MARK` and a
JSON object with `problem`, empty if all is well, `missing`, ability → why it is not available here, and `wall_s`. An
import longer than LIMIT [s] ends the process.
"""

from __future__ import annotations

import faulthandler
import json
import sys
import time
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

__all__ = ["MARK", "main"]

MARK = "corekit-examined "


def main(arguments: Sequence[str]) -> None:
    """Import every plugin named in the arguments, one after the other."""
    limit, plugins = float(arguments[0]), json.loads(arguments[1])
    for plugin in plugins:
        # also where it hangs in foreign code, which no exception would reach
        faulthandler.dump_traceback_later(limit, exit=True)
        began = time.perf_counter()
        problem, missing = _examined(plugin)
        verdict = {"problem": problem, "missing": missing, "wall_s": time.perf_counter() - began}
        faulthandler.cancel_dump_traceback_later()
        sys.stdout.write(f"\n{MARK}{json.dumps(verdict)}\n")
        sys.stdout.flush()


def _examined(arguments: Sequence[str]) -> tuple[str, dict[str, str]]:
    from corekit.errors import PluginError
    from corekit.geometry.shape_specs import GROUP as SHAPES
    from corekit.geometry.shape_specs import shape_spec
    from corekit.registry.contract import contract_problem
    from corekit.registry.resolve import load_target, missing_abilities, resolve

    missing: dict[str, str] = {}
    problem = ""
    try:
        if arguments[0] == "component":
            spec = resolve(arguments[1], arguments[2])
            missing = dict(missing_abilities(spec))
            for target in (spec.config, *([spec.initial] if spec.initial else [])):
                load_target(target)
            problem = contract_problem(load_target(spec.target), spec)
        elif arguments[0] == SHAPES:
            surface = shape_spec(arguments[1]).surface
            if surface:
                load_target(surface)
        else:
            problem = _entry_problem(*arguments)
    except PluginError as error:
        problem = str(error)
    return problem, missing


def _entry_problem(group: str, value: str) -> str:
    """Why an entry point gives nothing of use, or nothing."""
    from corekit.registry.spec import CASES, SCENARIOS, Case

    try:
        found = EntryPoint("examined", value, group).load()
        if group == SCENARIOS and not Path(found()).is_dir():
            return f"{value} names {found()}, which is not a folder"
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's code may raise anything
        return f"loading {value} failed with {type(error).__name__}: {error}"
    if group == CASES and not isinstance(found, Case):
        return f"{value} is a {type(found).__name__}, not a Case"
    return ""


if __name__ == "__main__":
    main(sys.argv[1:])
