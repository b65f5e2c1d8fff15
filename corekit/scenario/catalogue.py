"""Components that a scenario names, checked against the light specs and option classes of their plugins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import attrs

from corekit.errors import Mistake, PluginError
from corekit.registry.discover import Installed, discover
from corekit.registry.resolve import load_target, resolve
from corekit.registry.spec import ROLES
from corekit.scenario.dump import plain
from corekit.scenario.error_text import join, shown
from corekit.scenario.structure import ComponentTables, Structurer
from corekit.scenario.values import FAILED

__all__ = ["Catalogue"]


class Catalogue:
    """Installed plugins, with which `structure` checks components. Only specs and option classes are imported."""

    @cached_property
    def installed(self) -> tuple[Installed, ...]:
        """What is installed, looked up once."""
        return discover()

    def complete(
        self, structurer: Structurer, role: str, given: ComponentTables, path: str, name_path: str
    ) -> ComponentTables | None:
        """Return the component with its options checked and every default filled in; None after a mistake."""
        mistakes = structurer.mistakes
        try:
            spec = resolve(role, given.name, self.installed)
        except PluginError as error:
            hint = f"{error}{self._other_role(role, given.name)}"
            mistakes.append(
                Mistake(name_path, shown(given.name), f"must be an installed {ROLES[role]}", hint)
            )
            return None
        options = _filled(structurer, spec.config, given.options, join(path, "options"))
        initial = None
        if given.initial is not None and spec.initial is None:
            said = f"must be absent: {ROLES[role]} {given.name!r} has no initial options"
            mistakes.append(Mistake(join(path, "initial"), shown(given.initial), said))
            return None
        if given.initial is not None and spec.initial is not None:
            initial = _filled(structurer, spec.initial, given.initial, join(path, "initial"))
            if initial is None:
                return None
        return None if options is None else ComponentTables(given.name, options, initial)

    def _other_role(self, role: str, name: str) -> str:
        rows = [row for row in self.installed if row.name == name and row.role in ROLES and row.role != role]
        others = sorted({ROLES[row.role] for row in rows})
        return f"; {name!r} is the name of another role: {', '.join(others)}" if others else ""


def _filled(
    structurer: Structurer, target: str, table: Mapping[str, Any], path: str
) -> Mapping[str, Any] | None:
    """Check a table against the attrs class that `target` names, and fill in its defaults."""
    try:
        cls = load_target(target)
    except PluginError as error:
        structurer.mistakes.append(Mistake(path, shown(table), str(error)))
        return None
    if not (isinstance(cls, type) and attrs.has(cls)):
        structurer.mistakes.append(Mistake(path, target, "must be an attrs class; tell the plugin's author"))
        return None
    made = structurer.instance(cls, table, path)
    if made is FAILED:
        return None
    before = len(structurer.mistakes)
    filled = plain(made, path, structurer.mistakes)
    return filled if len(structurer.mistakes) == before else None
