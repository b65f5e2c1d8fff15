"""`corekit cite`: what to cite for a run, a scenario, or everything installed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from corekit.cli.terminal import print_json
from corekit.errors import PluginError
from corekit.registry.discover import discover
from corekit.registry.resolve import load_spec
from corekit.registry.spec import ROLES, ComponentSpec

__all__ = ["cite"]


def cite(
    what: Path | None = None,
    /,
    *,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """What to cite: of the components that a run or a scenario uses, or of all that are installed.

    Parameters
    ----------
    what
        The folder of a run, or a scenario: a file, or the name of one that is installed.
    as_json
        Print one JSON object instead of text.
    """
    specs = _installed() if what is None else _used(what)
    cited: dict[str, list[str]] = {}
    for spec in specs:
        who = f"{ROLES.get(spec.role, spec.role)} {spec.name}"
        if spec.citation and who not in cited.setdefault(spec.citation, []):
            cited[spec.citation].append(who)
    if as_json:
        rows = [{"citation": citation, "components": who} for citation, who in cited.items()]
        print_json({"of": None if what is None else str(what), "citations": rows})
        return
    for citation, who in cited.items():
        print(f"{', '.join(who)}\n    {citation}")
    if not cited:
        print("no component in it names a publication")


def _used(what: Path) -> Iterable[ComponentSpec]:
    from corekit.scenario.component_selection import select_components
    from corekit.scenario.load import load
    from corekit_run.cli.run_report import run_report

    return select_components(load(what / "resolved.toml" if run_report().recognises(what) else what)).everyone


def _installed() -> Iterable[ComponentSpec]:
    for row in discover():
        if row.usable and not row.reference:
            try:
                yield load_spec(row)
            except PluginError:  # which `corekit doctor` explains
                continue
