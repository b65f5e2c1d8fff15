"""The options of a configuration class, read from its fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_origin

import attrs
from attrs import frozen

from corekit.data.signals import Constant
from corekit.roles.options import ComponentRef

__all__ = ["Option", "describe_options"]

_EMPTY = "{ }"
"""A table of defaults alone."""


@frozen(kw_only=True)
class Option:
    """One option of a configuration class.

    Args:
        name: its key: field metadata `key`, else the field's name. Nested tables are dotted;
            `sections[].length` is a key of each entry of a list.
        type: as annotated.
        default: as a file holds it; `required` if there is none, `see below` for a table of defaults.
        unit: SI unit, empty if it has none. Field metadata `unit`.
        allowed: range or choices, in words. Field metadata `allowed`.
        help: what it means. Field metadata `help`.
    """

    name: str
    type: str
    default: str
    unit: str = ""
    allowed: str = ""
    help: str = ""


def describe_options(config: type, prefix: str = "") -> tuple[Option, ...]:
    """List the options of an attrs class in the order of its fields, nested attrs classes after their own row.

    Fields with metadata `hidden` are no keys of a file.
    """
    try:
        attrs.resolve_types(config)
    except Exception:  # noqa: BLE001 - an annotation that cannot be evaluated is shown as it is written
        return tuple(_option(each, prefix) for each in attrs.fields(config) if _is_key(each))
    rows: list[Option] = []
    for each in attrs.fields(config):
        if _is_key(each):
            row = _option(each, prefix)
            rows.append(row)
            for inner, attachment in _nested(each.type):
                rows.extend(describe_options(inner, row.name + attachment))
    return tuple(rows)


def _is_key(each: attrs.Attribute[Any]) -> bool:
    return each.init and not each.metadata.get("hidden")


def _option(each: attrs.Attribute[Any], prefix: str) -> Option:
    return Option(
        name=prefix + str(each.metadata.get("key", each.alias or each.name)),
        type=_type_name(each.type),
        default="see below" if (written := _default(each.default)) == _EMPTY else written,
        unit=str(each.metadata.get("unit", "")),
        allowed=str(each.metadata.get("allowed", "")),
        help=str(each.metadata.get("help", "")),
    )


def _type_name(annotation: Any) -> str:
    if annotation is None:
        return "any"
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__name__
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", str(annotation))


def _default(default: Any) -> str:
    if default is attrs.NOTHING:
        return "required"
    if isinstance(default, attrs.Factory):  # pyrefly: ignore[invalid-argument] - a class, typed as its overloads
        return "computed" if default.takes_self else _default(default.factory())
    if isinstance(default, ComponentRef):
        return repr(default.use)
    if isinstance(default, (tuple, list)):
        return f"[{', '.join(_default(entry) for entry in default)}]"
    if isinstance(default, Constant):
        return _default(default.numbers)
    return _entries(default) if attrs.has(type(default)) else repr(default)


def _entries(table: Any) -> str:
    """Write those entries of a table that differ from their own defaults, which have rows of their own."""
    given = [
        f"{each.alias or each.name} = {value}"
        for each in attrs.fields(type(table))
        if each.init and (value := _default(getattr(table, each.name))) != _default(each.default)
    ]
    return f"{{ {', '.join(given)} }}" if given else _EMPTY


def _nested(annotation: Any) -> Iterator[tuple[type, str]]:
    """Find the attrs classes inside an annotation, and how their keys attach; `ComponentRef` is another component."""
    if isinstance(annotation, type):
        if attrs.has(annotation) and annotation is not ComponentRef:
            yield annotation, "."
        return
    is_list = get_origin(annotation) in {tuple, list, Sequence}
    for argument in get_args(annotation):
        for inner, attachment in _nested(argument):
            yield inner, "[]" + attachment if is_list else attachment
