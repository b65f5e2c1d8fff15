"""Options as an author's equations see them: numbers are symbols, so that planners and estimators may vary them."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, final

import attrs
import casadi as ca
import numpy as np

from corekit.roles.symbolic import SymbolicParameter

__all__ = ["OptionSymbols", "Options"]


@final
class Options(SimpleNamespace):
    """Options by name. A `float` is a symbol, a tuple of them a tuple of symbols; the rest is as it was given."""

    def __init__(self, numbers: Mapping[str, Any], **found: Any) -> None:
        super().__init__(**found)
        self._numbers = numbers

    def number(self, name: str) -> Any:
        """An option as the number or the numbers that were given, for sizes of shapes and counts."""
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
        self.parameters: dict[str, SymbolicParameter] = {}
        fields = attrs.fields_dict(type(config)) if attrs.has(type(config)) else {}
        given = {name: getattr(config, name) for name in fields}
        units = {name: each.metadata.get("unit", "") for name, each in fields.items()}
        kinds = {name: each.type in (float, "float") for name, each in fields.items()}
        self.found = self._options(given, "", units, kinds)
        self.symbols = ca.vertcat(ca.SX(0, 1), *self._made)
        self.values = np.array([each.value for each in self.parameters.values()])

    def _options(
        self, given: Mapping[str, Any], path: str, units: Mapping[str, str], kinds: Mapping[str, bool]
    ) -> Options:
        found = {
            name: self._symbol(
                float(value) if kinds.get(name) and isinstance(value, int) else value,
                path + name,
                units.get(name, ""),
            )
            for name, value in given.items()
        }
        return Options(given, **found)

    def _symbol(self, value: Any, path: str, unit: str) -> Any:
        if isinstance(value, float):
            self.parameters[path] = SymbolicParameter(unit, value)
            self._made.append(ca.SX.sym(path))
            return self._made[-1]
        if isinstance(value, Mapping):
            return self._options(value, f"{path}.", {}, {})
        if isinstance(value, (tuple, list)):
            return tuple(self._symbol(each, f"{path}[{i}]", unit) for i, each in enumerate(value))
        return value
