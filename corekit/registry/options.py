"""What an attrs configuration class accepts, as rows a person or a program can read."""

from __future__ import annotations

import re
from typing import Any, get_args

import attrs
from attrs import frozen

__all__ = ["Option", "describe_options"]


@frozen(kw_only=True)
class Option:
    """One option of a configuration class.

    Args:
        name: its key; nested tables are dotted, `sections[].length` is a key of each entry of a list.
        type: as annotated.
        default: as written in Python; `required` if there is none.
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
    """Rows of an attrs class in the order of its fields, nested attrs classes after their own row."""
    try:
        attrs.resolve_types(config)
    except Exception:  # noqa: BLE001 - an annotation that cannot be evaluated is shown as it is written
        annotations_resolved = False
    else:
        annotations_resolved = True
    rows: list[Option] = []
    for each in attrs.fields(config):
        if not each.init:
            continue
        name = prefix + (each.alias or each.name)
        rows.append(
            Option(
                name=name,
                type=_type_name(each.type),
                default=_default(each.default),
                unit=str(each.metadata.get("unit", "")),
                allowed=str(each.metadata.get("allowed", "")),
                help=str(each.metadata.get("help", "")),
            )
        )
        nested = _nested(each.type) if annotations_resolved else None
        if nested is not None:
            inner, separator = nested
            rows.extend(describe_options(inner, name + separator))
    return tuple(rows)


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
    if isinstance(default, attrs.Factory):  # pyright: ignore[reportArgumentType]
        return "computed" if default.takes_self else repr(default.factory())
    return repr(default)


def _nested(annotation: Any) -> tuple[type, str] | None:
    """The attrs class inside an annotation and how its keys attach, or None."""
    if isinstance(annotation, type) and attrs.has(annotation):
        return annotation, "."
    for argument in get_args(annotation):
        if isinstance(argument, type) and attrs.has(argument):
            is_list = getattr(annotation, "__origin__", None) in {tuple, list}
            return argument, "[]." if is_list else "."
    return None
