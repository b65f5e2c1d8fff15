"""Options as an author's equations see them: numbers are symbols, so that planners and estimators may vary them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from types import SimpleNamespace
from typing import Any, Self, final

import attrs
import casadi as ca
import numpy as np

from corekit.roles.symbolic import SymbolicParameter

__all__ = ["OptionSymbols", "Options"]


@final
class Options(SimpleNamespace):
    """Options by name. A `float` is a symbol, a tuple of them a tuple of symbols; the rest is as it was given."""

    def __init__(self, path: str, numbers: Mapping[str, Any], read: set[str], **found: Any) -> None:
        super().__init__(**found)
        self._path, self._numbers, self._read = path, numbers, read
        self._asked: set[str] = set()

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name == "__dict__":  # all that there is, by `vars`
            found.get("_asked", set()).update(found.get("_numbers", ()))
        elif not name.startswith("_"):
            self._asked.add(name)
        return found

    def unasked(self) -> dict[str, Any]:
        """Options that nobody has asked for."""
        return {name: value for name, value in self._numbers.items() if name not in self._asked}

    def number(self, name: str) -> Any:
        """An option as the number or the numbers that were given, for sizes of shapes and counts."""
        self._asked.add(name)
        self._read.add(self._path + name)
        return self._numbers[name]


@final
class OptionSymbols:
    """The symbols made for a config.

    Attributes:
        found: what `define` is given.
        symbols: all symbols, a column. values: their numbers.
        parameters: path of the option → its unit and value, in the same order.
    """

    def __init__(self, config: Any) -> None:
        self._made: list[Any] = []
        self._read: set[str] = set()
        self._leaves = dict(_leaves(_read_options(config), ""))
        self.parameters: dict[str, SymbolicParameter] = {}
        fields = attrs.fields_dict(type(config)) if attrs.has(type(config)) else {}
        units = {name: each.metadata.get("unit", "") for name, each in fields.items()}
        self.found = self._options(_read_options(config), "", units)
        self.symbols = ca.vertcat(ca.SX(0, 1), *self._made)
        self.values = np.array([each.value for each in self.parameters.values()])

    def with_numbers(self, config: Any) -> Self | None:
        """The same symbols with the numbers of another config; None if that differs in what `define` saw of it."""
        leaves = dict(_leaves(_read_options(config), ""))
        if leaves.keys() != self._leaves.keys():
            return None
        for path, value in leaves.items():
            is_seen = not isinstance(value, float) or any(path.startswith(name) for name in self._read)
            if type(value) is not type(self._leaves[path]) or (is_seen and value != self._leaves[path]):
                return None
        other = copy(self)
        vars(other).update(_leaves=leaves)
        other.parameters = {
            path: SymbolicParameter(each.unit, leaves[path]) for path, each in self.parameters.items()
        }
        other.values = np.array([leaves[path] for path in self.parameters])
        return other

    def _options(self, given: Mapping[str, Any], path: str, units: Mapping[str, str]) -> Options:
        found = {name: self._symbol(value, path + name, units.get(name, "")) for name, value in given.items()}
        return Options(path, given, self._read, **found)

    def _symbol(self, value: Any, path: str, unit: str) -> Any:
        if isinstance(value, float):
            self.parameters[path] = SymbolicParameter(unit, value)
            self._made.append(ca.SX.sym(path))
            return self._made[-1]
        if isinstance(value, Mapping):
            return self._options(value, f"{path}.", {})
        if isinstance(value, (tuple, list)):
            return tuple(self._symbol(each, f"{path}[{i}]", unit) for i, each in enumerate(value))
        return value


def _read_options(config: Any) -> dict[str, Any]:
    """Options by name; a whole number of an option that allows any is a float as well."""
    given = {}
    for name, each in (attrs.fields_dict(type(config)) if attrs.has(type(config)) else {}).items():
        value = getattr(config, name)
        takes_any = each.type in (float, "float") and isinstance(value, int)
        given[name] = float(value) if takes_any else value
    return given


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """What stands in options, by path."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _leaves(each, f"{path}.{name}" if path else name)
    elif isinstance(value, (tuple, list)):
        for i, each in enumerate(value):
            yield from _leaves(each, f"{path}[{i}]")
        yield f"{path}[]", len(value)
    else:
        yield path, value
