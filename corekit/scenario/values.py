"""Reading one value of a file by a field's annotation: leaves, lists, tables, unions, signals."""

from __future__ import annotations

import enum
import math
import typing
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

import attrs
from attrs import define

from corekit.data.signal_base import is_number
from corekit.data.signals import SIGNALS, Constant, Signal, Vector
from corekit.errors import Mistake
from corekit.roles.code import absolute_name
from corekit.roles.options import ComponentRef
from corekit.scenario.error_text import NOTHING_FOUND, expected, hint_for, join, members, shown

__all__ = ["FAILED", "ValueReader"]

FAILED: Final[Any] = object()
"""Stands for a value with a mistake."""

_LEAVES = (bool, int, float, str, Path)


@define
class ValueReader(ABC):
    """Reads values by annotation; a wrong value is added to `mistakes`, and `FAILED` is returned.

    Attributes:
        mistakes: collected so far.
        directory: what relative file paths are relative to; as they are if None.
    """

    mistakes: list[Mistake]
    directory: Path | None = None

    @abstractmethod
    def instance(self, cls: type, table: object, path: str) -> Any:
        """Make an attrs instance from a table."""

    @abstractmethod
    def component(self, use: ComponentRef, role: str, path: str, name_path: str) -> Any:
        """Return the same `ComponentRef` with the options checked against a component of this role."""

    def value(self, annotation: Any, found: Any, path: str, metadata: Mapping[str, Any]) -> Any:
        """Return `found` as a value of the annotation; an unknown annotation returns it unchanged.

        A list of components may be given as one of them; so may any list whose `metadata` say `single`,
        and that one is returned bare.
        """
        choices = members(annotation)
        if found is None and type(None) in get_args(annotation):
            return None
        if len(choices) != 1:
            return self._union(choices, found, path, metadata)
        kind = choices[0]
        if kind in _LEAVES:
            return self._leaf(kind, found, path, metadata)
        origin = get_origin(kind)
        if origin is Literal:
            return self._choice({each: each for each in get_args(kind)}, kind, found, path, metadata)
        container = origin or kind
        if not isinstance(container, type):
            return found
        if issubclass(container, enum.Enum):
            return self._choice({each.value: each for each in container}, kind, found, path, metadata)
        if issubclass(container, ComponentRef):
            return self._component(found, path, metadata)
        if issubclass(container, Signal):
            return self._signal(found, path, metadata)
        if attrs.has(container):
            return self.instance(container, found, path)
        if issubclass(container, Mapping):
            return self._mapping(kind, found, path, metadata)
        if issubclass(container, Iterable) and container.__module__ in {"builtins", "collections.abc"}:
            return self._sequence(container, kind, found, path, metadata)
        return found

    def wrong(
        self, annotation: Any, found: Any, path: str, metadata: Mapping[str, Any], hint: str = ""
    ) -> Any:
        """Add the mistake that `found` is not of the right type."""
        self.mistakes.append(Mistake(path, shown(found), expected(annotation, metadata), hint))
        return FAILED

    def _leaf(self, kind: type, found: Any, path: str, metadata: Mapping[str, Any]) -> Any:
        if isinstance(found, bool) or kind is bool:
            fits = isinstance(found, bool) and kind is bool
        elif kind is float:
            # a whole number beyond the range of floats does not fit, nor does nan
            fits = isinstance(found, (int, float)) and (abs(found) < 2**1023 or abs(found) == math.inf)
        elif kind is int:
            fits = isinstance(found, int) and abs(found) < 2**63
        else:
            fits = isinstance(found, (str, Path) if kind is Path else kind)
        if not fits:
            return self._not_a_leaf(kind, found, path, metadata)
        if kind is Path:
            return Path(found) if self.directory is None else self.directory / found
        if kind is str and self.directory is not None:
            return absolute_name(found, self.directory)
        return float(found) if kind is float else found

    def _not_a_leaf(self, kind: type, found: Any, path: str, metadata: Mapping[str, Any]) -> Any:
        hint = ""
        if kind in {int, float} and isinstance(found, str) and is_number(found):
            hint = "write it without quotes"
        elif kind in {int, float} and isinstance(found, (int, float)) and abs(found) >= 2**63:
            hint = "it is too large"
        elif kind is int and isinstance(found, float) and found.is_integer():
            hint = f"write {int(found)}"
        elif kind is bool and isinstance(found, str) and found.lower() in {"true", "false"}:
            hint = f"write {found.lower()} without quotes"
        elif kind is bool and not isinstance(found, bool) and found in (0, 1):
            hint = f"write {'true' if found else 'false'}"
        elif kind is str and isinstance(found, (int, float)):
            hint = "put it in quotes"
        return self.wrong(kind, found, path, metadata, hint)

    def _choice(
        self, choices: Mapping[Any, Any], kind: Any, found: Any, path: str, metadata: Mapping[str, Any]
    ) -> Any:
        for word, value in choices.items():
            if type(word) is type(found) and word == found:
                return value
        words = [word for word in choices if isinstance(word, str)]
        return self.wrong(kind, found, path, metadata, hint_for(found, words))

    def _union(self, choices: tuple[Any, ...], found: Any, path: str, metadata: Mapping[str, Any]) -> Any:
        """Return the first alternative that fits; if only one has the right form, its own mistakes are reported."""
        alike = [each for each in choices if _same_form(each, found)]
        collected, trials = self.mistakes, []
        for each in alike:
            self.mistakes = []
            value = self.value(each, found, path, metadata)
            trials.append(self.mistakes)
            self.mistakes = collected
            if value is not FAILED:
                return value
        if len(trials) == 1 and isinstance(found, (Mapping, list, tuple)):
            collected.extend(trials[0])
            return FAILED
        union = typing.Union[choices]  # noqa: UP007 # pyrefly: ignore[not-a-type] - built from a tuple
        return self.wrong(union, found, path, metadata)

    def _sequence(
        self, container: type, kind: Any, found: Any, path: str, metadata: Mapping[str, Any]
    ) -> Any:
        arguments = get_args(kind) or (Any, ...)
        of_components = metadata.get("role") is not None
        if not isinstance(found, (list, tuple)):
            if not of_components and not metadata.get("single"):
                return self.wrong(kind, found, path, metadata)
            alone = self.value(arguments[0], found, path, metadata)
            return (alone,) if of_components and alone is not FAILED else alone
        fixed = container is tuple and arguments[-1] is not Ellipsis
        if fixed and len(found) != len(arguments):
            return self.wrong(kind, found, path, metadata)
        kinds = arguments if fixed else (arguments[0],) * len(found)
        inner = metadata if of_components else {key: metadata.get(key, "") for key in ("unit", "allowed")}
        values = [
            self.value(each, entry, f"{path}[{i}]", inner)
            for i, (each, entry) in enumerate(zip(kinds, found, strict=True))
        ]
        if any(value is FAILED for value in values):
            return FAILED
        made = container if container in {list, set, frozenset} else tuple
        try:
            return made(values)
        except TypeError:  # tables as entries of a set
            return self.wrong(kind, found, path, metadata)

    def _mapping(self, kind: Any, found: Any, path: str, metadata: Mapping[str, Any]) -> Any:
        if not isinstance(found, Mapping):
            return self.wrong(kind, found, path, metadata)
        arguments = get_args(kind)
        entry_kind = arguments[1] if len(arguments) == 2 else Any
        inner = {key: metadata.get(key, "") for key in ("unit", "allowed")}
        values = {key: self.value(entry_kind, entry, join(path, key), inner) for key, entry in found.items()}
        return FAILED if any(value is FAILED for value in values.values()) else values

    def _component(self, found: Any, path: str, metadata: Mapping[str, Any]) -> Any:
        name_path = path
        if isinstance(found, str):
            found = ComponentRef(found)
        elif isinstance(found, Mapping):
            name_path = join(path, "use")
            found = self.instance(ComponentRef, found, path)
        elif not isinstance(found, ComponentRef):
            return self.wrong(ComponentRef, found, path, metadata)
        role = metadata.get("role")
        return found if found is FAILED or role is None else self.component(found, role, path, name_path)

    def _signal(self, found: Any, path: str, metadata: Mapping[str, Any]) -> Any:
        if isinstance(found, Signal):
            return found
        if isinstance(found, Mapping):
            kind = found.get("kind", NOTHING_FOUND)
            if not isinstance(kind, str) or kind not in SIGNALS:
                allowed = "must be one of " + ", ".join(repr(word) for word in SIGNALS)
                found_kind = kind if kind is NOTHING_FOUND else shown(kind)
                self.mistakes.append(
                    Mistake(join(path, "kind"), found_kind, allowed, hint_for(kind, SIGNALS))
                )
                return FAILED
            rest = {key: entry for key, entry in found.items() if key != "kind"}
            return self.instance(SIGNALS[kind], rest, path)
        if not isinstance(found, (int, float, list, tuple)) or isinstance(found, bool):
            return self.wrong(Signal, found, path, metadata)
        numbers = self.value(Vector, found, path, {"unit": metadata.get("unit", "")})
        if numbers is FAILED:
            return FAILED
        try:
            return Constant(numbers)
        except ValueError:
            return self.wrong(Signal, found, path, metadata)


def _same_form(annotation: Any, found: Any) -> bool:
    """Whether a value of this form (table, list, single) could be meant for the annotation."""
    container = get_origin(annotation) or annotation
    if container is Any or container is Literal or not isinstance(container, type):
        return not isinstance(found, (Mapping, list, tuple)) or container is Any
    if issubclass(container, (ComponentRef, Signal)):
        return True
    is_table = attrs.has(container) or issubclass(container, Mapping)
    is_list = not is_table and container is not str and issubclass(container, Iterable)
    if isinstance(found, (list, tuple)):
        return is_list
    if isinstance(found, Mapping):
        return is_table
    return isinstance(found, container) if is_table else not is_list or issubclass(container, enum.Enum)
