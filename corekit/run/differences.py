"""What two scenarios, or two sets of versions, do not have in common, for a reader."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["scenario_differences", "version_differences"]

_ABSENT = object()
_LONGEST = 60


def scenario_differences(then: str, now: str) -> list[str]:
    """`path: was …, is …` for every entry in which two scenarios, given as TOML, differ."""
    return [
        f"{path}: was {_shown(before)}, is {_shown(after)}"
        for path, before, after in _compare("", tomllib.loads(then), tomllib.loads(now))
    ]


def version_differences(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """`name: was …, is …` for every version that differs."""
    return [
        f"{name}: was {then.get(name, 'absent')}, is {now.get(name, 'absent')}"
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    ]


def _compare(path: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            inner = f"{path}.{key}" if path else key
            yield from _compare(inner, before.get(key, _ABSENT), after.get(key, _ABSENT))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _compare(f"{path}[{i}]", old, new)
    elif type(before) is not type(after) or before != after:
        yield path, before, after


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "absent"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
