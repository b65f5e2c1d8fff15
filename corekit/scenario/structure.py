"""Tables of a file as attrs instances, with all mistakes collected.

A field's annotation is its type; its metadata (`corekit.roles.options`) are unit, meaning and allowed values; its
converter and validator check a value of the right type. Nothing is guessed: a text is not a number, a boolean is
not a number, a whole number is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import attrs
from attrs import NOTHING, define

from corekit.errors import ConfigError, Mistake, PluginError
from corekit.registry.discover import Installed, discover
from corekit.registry.first_party import FIRST_PARTY_KEYS
from corekit.registry.resolve import load_target, resolve
from corekit.registry.spec import ROLES
from corekit.roles.options import ComponentRef
from corekit.scenario.dump import plain
from corekit.scenario.error_text import NOTHING_FOUND, Described, expected, hint_for, join, shown, table_keys
from corekit.scenario.values import FAILED, ValueReader

__all__ = ["structure"]

T = TypeVar("T")
_MOST_UNKNOWN = 20
"""Unknown keys of one table that are reported one by one: each is compared with all that are known."""


def structure(
    cls: type[T],
    table: object,
    path: str,
    mistakes: list[Mistake],
    *,
    directory: Path | None = None,
    components: bool = False,
) -> T | None:
    """Make an instance of an attrs class from a table; None if the table has mistakes.

    Args:
        cls: attrs class; nested classes, lists, tuples, unions, `ComponentRef` and signals are followed.
        table: what the file holds.
        path: where it stands, dotted, for example `bodies[0].options`; empty for the whole file.
        mistakes: every mistake found is added here.
        directory: what relative file paths are relative to; left as they are if None.
        components: whether the components that the table names must be installed, their options are checked and every
            default of these is filled in. Only specs and option classes are imported.
    """
    made = Structurer(mistakes, directory, components).instance(cls, table, path)
    return None if made is FAILED else cast("T", made)


@define
class Structurer(ValueReader):
    """Reads tables; `components` says whether it checks every component that they name."""

    components: bool = False

    @cached_property
    def _installed(self) -> tuple[Installed, ...]:
        """What is installed, looked up once a document."""
        return discover()

    def instance(self, cls: type, table: object, path: str) -> Any:
        if isinstance(table, cls):
            return table
        if not isinstance(table, Mapping):
            return self.wrong(cls, table, path, {})
        before = len(self.mistakes)
        try:
            attrs.resolve_types(cls)
        except Exception as error:  # noqa: BLE001 - an author's annotation may raise anything
            said = f"its annotations cannot be read ({error}); tell its author"
            self.mistakes.append(Mistake(path, cls.__name__, said))
            return FAILED
        keys = table_keys(cls)
        meant = self._unknown_keys(table, keys, path)
        values = self._fields(table, keys, meant, path)
        self._component_table(keys, values, path)
        absent = [key for key in keys if key not in table]
        self._validate(keys, self._stand_in(keys, absent, values, path), path)
        if len(self.mistakes) > before:
            return FAILED
        arguments = {keys[key].alias or keys[key].name: value for key, value in values.items()}
        try:
            return cls(**arguments)
        except ConfigError as error:
            self.mistakes.extend(
                Mistake(f"{path}.{each.path}" if path else each.path, each.found, each.allowed, each.hint)
                for each in error.mistakes
            )
        except Exception as error:  # noqa: BLE001 - a class's own check may raise anything
            self.mistakes.append(Mistake(path, shown(table), str(error) or type(error).__name__))
        return FAILED

    def component(self, use: ComponentRef, role: str, path: str, name_path: str) -> Any:
        if not self.components:
            return use
        complete = self._complete(role, use.use, {"options": use.options}, path, name_path)
        return FAILED if complete is None else ComponentRef(use.use, **complete)

    def _complete(
        self, role: str, name: str, given: Mapping[str, Any], path: str, name_path: str
    ) -> dict[str, Any] | None:
        """Check the tables `options` and `initial` of a component and fill in their defaults; None after a mistake."""
        try:
            spec = resolve(role, name, self._installed)
        except PluginError as error:
            rows = [
                row for row in self._installed if row.name == name and row.role in ROLES and row.role != role
            ]
            others = ", ".join(sorted({ROLES[row.role] for row in rows}))
            hint = f"{error}; {name!r} is the name of another role: {others}" if others else str(error)
            self.mistakes.append(Mistake(name_path, shown(name), f"must be an installed {ROLES[role]}", hint))
            return None
        classes = {"options": spec.config, "initial": spec.initial}
        complete: dict[str, Any] = {}
        for key, table in given.items():
            where, target = join(path, key), classes[key]
            if target is not None:
                complete[key] = self._filled(target, table, where)
                continue
            said = f"must be absent: {ROLES[role]} {name!r} has no initial options"
            self.mistakes.append(Mistake(where, shown(table), said))
            return None
        return None if any(table is FAILED for table in complete.values()) else complete

    def _filled(self, target: str, table: Mapping[str, Any], path: str) -> Any:
        """Check a table against the attrs class that `target` names, and fill in its defaults."""
        try:
            cls = load_target(target)
        except PluginError as error:
            self.mistakes.append(Mistake(path, shown(table), str(error)))
            return FAILED
        if not (isinstance(cls, type) and attrs.has(cls)):
            self.mistakes.append(Mistake(path, target, "must be an attrs class; tell the plugin's author"))
            return FAILED
        made, before = self.instance(cls, table, path), len(self.mistakes)
        filled = FAILED if made is FAILED else plain(made, path, self.mistakes)
        return filled if len(self.mistakes) == before else FAILED

    def _unknown_keys(
        self, table: Mapping[Any, Any], keys: Mapping[str, attrs.Attribute[Any]], path: str
    ) -> frozenset[str]:
        """Report keys that no field has, and return the keys that they were probably meant to be."""
        absent = [key for key in keys if key not in table]
        meant: set[str] = set()
        unknown = [key for key in table if key not in keys]
        for key in unknown[:_MOST_UNKNOWN]:
            found = table[key]
            hint = FIRST_PARTY_KEYS.get(key) or hint_for(key, absent) or hint_for(key, keys)
            meant.update(word for word in absent if f"'{word}'" in hint)
            known = (
                f"unknown key; known here: {', '.join(keys)}" if keys else "unknown key; there are none here"
            )
            self.mistakes.append(Mistake(join(path, key), shown(found), known, hint))
        if (more := len(unknown) - _MOST_UNKNOWN) > 0:
            allowed = f"are unknown too, after the {_MOST_UNKNOWN} that are listed"
            self.mistakes.append(Mistake(path or "scenario", Described(f"{more} more keys"), allowed))
        return frozenset(meant)

    def _fields(
        self,
        table: Mapping[Any, Any],
        keys: Mapping[str, attrs.Attribute[Any]],
        meant: frozenset[str],
        path: str,
    ) -> dict[str, Any]:
        """Return key → value of the right type, for the given keys and for components that have a default."""
        values: dict[str, Any] = {}
        for key, each in keys.items():
            where = join(path, key)
            if key in table:
                found = table[key]
            elif each.default is NOTHING:
                if key not in meant:
                    self.mistakes.append(_missing(each, where))
                continue
            elif each.metadata.get("role") is not None and isinstance(each.default, (ComponentRef, tuple)):
                found = each.default
            else:
                continue
            # a field with a converter may allow one entry for a list: `disks = 6` where each section has a number
            single = {"single": True} if each.converter is not None else {}
            value = self.value(each.type, found, where, {**each.metadata, **single})
            if value is not FAILED:
                values[key] = value
        return values

    def _component_table(
        self, keys: Mapping[str, attrs.Attribute[Any]], values: dict[str, Any], path: str
    ) -> None:
        """Check `options` and `initial` of a table that is itself a component (a body)."""
        role = keys["use"].metadata.get("role") if "use" in keys else None
        if role is None or not self.components or "use" not in values:
            return
        given = {"options": values.get("options", {}), "initial": values.get("initial")}
        given = {key: table for key, table in given.items() if table is not None}
        values |= self._complete(role, values["use"], given, path, join(path, "use")) or {}

    def _stand_in(
        self,
        keys: Mapping[str, attrs.Attribute[Any]],
        absent: Iterable[str],
        values: dict[str, Any],
        path: str,
    ) -> SimpleNamespace:
        """Return converted values and defaults that the instance would hold, as far as they are known."""
        stand_in = SimpleNamespace()
        for key in absent:
            default: Any = keys[key].default
            if isinstance(default, attrs.Factory) and not default.takes_self:  # pyrefly: ignore[invalid-argument]
                setattr(stand_in, keys[key].name, default.factory())
            elif default is not NOTHING:
                setattr(stand_in, keys[key].name, default)
        for key, value in values.items():
            each = keys[key]
            try:
                converted = each.converter(value) if callable(each.converter) else value
            except Exception as error:  # noqa: BLE001 - a field's own converter may raise anything
                self.mistakes.append(_refused(each, value, error, join(path, key)))
            else:
                setattr(stand_in, each.name, converted)
        return stand_in

    def _validate(
        self, keys: Mapping[str, attrs.Attribute[Any]], stand_in: SimpleNamespace, path: str
    ) -> None:
        """Run every field's validator, so that one wrong field does not hide the next.

        A validator that reads other fields finds them in the stand-in; a missing one is a mistake already, so its
        AttributeError is ignored.
        """
        for key, each in keys.items():
            if each.validator is None or not hasattr(stand_in, each.name):
                continue
            value = getattr(stand_in, each.name)
            try:
                each.validator(stand_in, each, value)
            except AttributeError:
                continue
            except Exception as error:  # noqa: BLE001 - a field's own validator may raise anything
                self.mistakes.append(_refused(each, value, error, join(path, key)))


def _missing(field: attrs.Attribute[Any], path: str) -> Mistake:
    meaning = f" ({field.metadata['help']})" if field.metadata.get("help") else ""
    return Mistake(path, NOTHING_FOUND, f"must be given{meaning}: {expected(field.type, field.metadata)}")


def _refused(field: attrs.Attribute[Any], found: Any, error: Exception, path: str) -> Mistake:
    """Mistake that a field's own converter or validator found, without the field's name and value in front."""
    said = str(error.args[0]) if error.args else type(error).__name__
    said = said.removeprefix(f"{field.name} = {found!r}: ")
    unit = f" [{field.metadata['unit']}]" if field.metadata.get("unit") else ""
    return Mistake(path, shown(found), f"{said}{unit}", hint_for(found, re.findall(r"'([^']*)'", said)))
