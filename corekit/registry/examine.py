"""Importing one plugin in a process of its own: `python -m corekit.registry.examine component ROLE NAME`.

The last line on the standard output, after whatever the plugin prints, is `MARK` and a JSON object with
`problem`, empty if all is well, and `missing`, ability → why it is not available here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

__all__ = ["MARK", "main"]

MARK = "corekit-examined "


def main(arguments: Sequence[str]) -> None:
    """Import what the arguments name: `component ROLE NAME`, or `GROUP VALUE` of another entry point."""
    from corekit.errors import PluginError
    from corekit.registry.resolve import load_target, missing_abilities, resolve

    missing: dict[str, str] = {}
    problem = ""
    try:
        if arguments[0] == "component":
            spec = resolve(arguments[1], arguments[2])
            missing = dict(missing_abilities(spec))
            for target in (spec.target, spec.config, *([spec.initial] if spec.initial else [])):
                load_target(target)
        else:
            problem = _entry_problem(*arguments)
    except PluginError as error:
        problem = str(error)
    sys.stdout.write(f"\n{MARK}{json.dumps({'problem': problem, 'missing': missing})}\n")
    sys.stdout.flush()


def _entry_problem(group: str, value: str) -> str:
    """Why an entry point gives nothing of use, or nothing."""
    from corekit.registry.case import CASES, SCENARIOS, Case

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
