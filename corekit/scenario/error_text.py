"""How mistakes in a scenario speak: paths, found values and expected types in words."""

from __future__ import annotations

import enum
import re
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import attrs

from corekit.data.signals import SIGNALS, Constant, Signal
from corekit.registry.resolve import did_you_mean
from corekit.registry.spec import ROLES
from corekit.roles.options import ComponentRef

__all__ = ["NOTHING_FOUND", "Described", "expected", "hint_for", "join", "members", "shown", "table_keys"]

_LONGEST = 80
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LEAF_WORDS: Mapping[Any, tuple[str, str]] = {
    bool: ("true or false", "booleans"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    str: ("a text in quotes", "texts"),
    Path: ("the path of a file, in quotes", "file paths"),
    Any: ("any value", "values"),
}


class Described(str):
    """A found thing described in words, printed without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


NOTHING_FOUND = Described("nothing")


def join(path: str, key: object) -> str:
    """Return the path of an entry of a table: `path.key`; keys that are not bare words are quoted."""
    word = str(key)
    word = word if _BARE_KEY.fullmatch(word) else repr(word)
    return f"{path}.{word}" if path else word


def shown(value: object) -> object:
    """Return a found value as a mistake may show it: itself if it is short, else a description."""
    if isinstance(value, Mapping):
        keys = ", ".join(str(key) for key in list(value)[:6])
        more = ", …" if len(value) > 6 else ""
        return Described(f"a table with {keys}{more}" if value else "an empty table")
    if isinstance(value, int) and abs(value) >= 2**63:
        return Described(f"an integer of {value.bit_length()} bits")
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"
    if isinstance(value, (list, tuple)):
        entries = [shown(entry) for entry in value[:9]]
        return (
            entries
            if len(value) <= 9 and len(repr(entries)) <= _LONGEST
            else Described(f"a list of {len(value)}")
        )
    if isinstance(value, Constant):
        return shown(value.numbers)
    return Described(f"a value of type {type(value).__name__}")


def hint_for(word: object, choices: Iterable[str]) -> str:
    """Return `did you mean 'x'?` for the closest choice, or nothing."""
    return did_you_mean(word, choices).removeprefix(", ") if isinstance(word, str) else ""


def table_keys(cls: type) -> dict[str, attrs.Attribute[Any]]:
    """Return the keys that a table of an attrs class may hold, with the field of each.

    A field's key is its metadata `key`, else its alias; fields with metadata `hidden` have none.
    """
    return {
        each.metadata.get("key") or each.alias or each.name: each
        for each in attrs.fields(cls)
        if each.init and not each.metadata.get("hidden")
    }


def members(annotation: Any) -> tuple[Any, ...]:
    """Return the alternatives of a union without None; any other annotation alone."""
    if get_origin(annotation) is Annotated:
        return members(get_args(annotation)[0])
    if get_origin(annotation) in {Union, types.UnionType}:
        return tuple(each for each in get_args(annotation) if each is not type(None))
    return (annotation,)


def expected(annotation: Any, metadata: Mapping[str, Any]) -> str:
    """Describe the values of a field: type, unit and allowed range."""
    role = metadata.get("role")
    if role is not None:
        return (
            f"must be the name of an installed {ROLES.get(role, role)}, or {{ use = NAME, options = {{…}} }}"
        )
    words = " or ".join(dict.fromkeys(_type_words(each) for each in members(annotation)))
    unit = f" [{metadata['unit']}]" if metadata.get("unit") else ""
    allowed = f", {metadata['allowed']}" if metadata.get("allowed") else ""
    return f"must be {words}{unit}{allowed.replace(', must be', ',', 1)}"


def _type_words(annotation: Any) -> str:
    if annotation in _LEAF_WORDS:
        return _LEAF_WORDS[annotation][0]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return "one of " + ", ".join(repr(choice) for choice in arguments)
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        same = arguments[0] if len(set(arguments)) == 1 else Any
        return f"a list of {len(arguments)} {_plural(same)}"
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return "one of " + ", ".join(repr(each.value) for each in annotation)
    if isinstance(annotation, type) and issubclass(annotation, Signal):
        return f"numbers, or a signal {{ kind = …, … }} of kind {', '.join(SIGNALS)}"
    if isinstance(annotation, type) and issubclass(annotation, ComponentRef):
        return "a name, or { use = NAME, options = {…} }"
    if isinstance(annotation, type) and attrs.has(annotation):
        return f"a table with {', '.join(table_keys(annotation))}"
    container = origin or annotation
    if isinstance(container, type) and issubclass(container, Mapping):
        return "a table"
    if isinstance(container, type) and issubclass(container, Iterable):
        return f"a list of {_plural(arguments[0] if arguments else Any)}"
    return str(getattr(annotation, "__name__", annotation))


def _plural(annotation: Any) -> str:
    if annotation in _LEAF_WORDS:
        return _LEAF_WORDS[annotation][1]
    if isinstance(annotation, type) and issubclass(annotation, ComponentRef):
        return "names"
    if isinstance(annotation, type) and attrs.has(annotation):
        return f"tables with {', '.join(table_keys(annotation))}"
    return "lists" if get_origin(annotation) in {tuple, list} else "values"
