"""A scenario as a table that a TOML file can hold, with every default filled in."""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import attrs

from corekit.data.signals import Constant, Signal
from corekit.errors import ConfigError, Mistake
from corekit.scenario.error_text import join, shown, table_keys
from corekit.scenario.schema import ScenarioTables

__all__ = ["plain", "resolved_document"]


def resolved_document(scenario: ScenarioTables) -> dict[str, Any]:
    """Return the table of a scenario, of which `from_document` makes an equal one. File paths are absolute."""
    mistakes: list[Mistake] = []
    document = plain(scenario, "", mistakes)
    if mistakes:
        raise ConfigError(mistakes, f"scenario {scenario.name!r}")
    return document


def plain(value: Any, path: str, mistakes: list[Mistake]) -> Any:
    """Return a value as a TOML file can hold it: dict, list, str, int, float, bool and date; None entries are left out.

    Args:
        value: an instance, as the structurer makes them, or what a user put together in Python.
        path: of the value in the file, for mistakes.
        mistakes: what cannot be written to a TOML file is added here.
    """
    if isinstance(value, (str, bool)) or type(value) in {int, float}:
        return value
    if isinstance(value, Mapping):
        return _table(value, path, mistakes)
    if isinstance(value, (list, tuple, AbstractSet)):
        entries = sorted(value, key=repr) if isinstance(value, AbstractSet) else value
        return [plain(entry, f"{path}[{i}]", mistakes) for i, entry in enumerate(entries)]
    if isinstance(value, (dt.date, dt.time)):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, enum.Enum):
        return plain(value.value, path, mistakes)
    if isinstance(value, Constant):
        return plain(value.numbers, path, mistakes)
    if attrs.has(type(value)):
        kind = {"kind": value.kind} if isinstance(value, Signal) else {}
        fields = {key: getattr(value, each.name) for key, each in table_keys(type(value)).items()}
        return _table({**kind, **fields}, path, mistakes)
    if hasattr(value, "tolist"):  # arrays and numbers of numpy, which is not imported here
        return plain(value.tolist(), path, mistakes)
    mistakes.append(
        Mistake(
            path, shown(value), "must be something a TOML file can hold: text, number, boolean, list, table"
        )
    )
    return None


def _table(table: Mapping[Any, Any], path: str, mistakes: list[Mistake]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in table.items():
        where = join(path, key)
        if not isinstance(key, str):
            mistakes.append(Mistake(where, shown(key), "keys of a table must be text"))
        elif value is not None:
            out[key] = plain(value, where, mistakes)
    return out
