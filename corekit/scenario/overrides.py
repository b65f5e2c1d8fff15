"""Overrides from the command line, `--set contact.solver.use=qp`, applied to a scenario's table.

    overrides = PATH "=" VALUE        PATH = KEY { "." KEY | "[" INDEX "]" }

VALUE is TOML; a bare word is a text. A list of named tables may be entered by name: `bodies.arm.options`.
An override that names another component drops the options of the one it replaces, which a sentence says. Whole tables
are set before their entries, and names of components before their options, so that the order of overrides of different
entries does not matter.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from corekit.errors import ConfigError, Mistake
from corekit.scenario.error_text import hint_for, join, shown

__all__ = ["apply_overrides", "path_steps"]

_PATH = re.compile(r"\s*[\w-]+(\.[\w-]+|\[\d+\])*\s*")
_STEP = re.compile(r"[\w-]+|\[\d+\]")
_BARE_WORD = re.compile(r"[\w./:~+@-]+")


_Steps = tuple[str | int, ...]
"""A path in keys, and whole numbers for indices."""


def apply_overrides(
    document: dict[str, Any], overrides: Iterable[str], mistakes: list[Mistake]
) -> tuple[str, ...]:
    """Write overrides into `document`; tables on the way are made, list entries must exist.

    Args:
        document: table of a scenario, changed in place; a wrong key shows when it is structured.
        overrides: `path=value` texts, or one of them.
        mistakes: what cannot be read or does not fit is added here.
    Returns:
        Which entries were dropped with a component that another one replaces, a sentence each.
    """
    dropped: list[str] = []
    read: list[tuple[_Steps, Any]] = []
    for text in (overrides,) if isinstance(overrides, str) else overrides:
        try:
            read.append(_read(text if isinstance(text, str) else repr(text)))
        except ConfigError as refused:
            mistakes += refused.mistakes
    for steps, value in sorted(read, key=lambda each: (len(each[0]), each[0][-1] != "use")):
        try:
            dropped += _apply(document, steps, value)
        except ConfigError as refused:
            mistakes += refused.mistakes
    return tuple(dropped)


def _refused(path: str, found: object, allowed: str, hint: str = "") -> ConfigError:
    return ConfigError([Mistake(path, shown(found), allowed, hint)])


def _read(text: str) -> tuple[_Steps, Any]:
    path, equals, value = text.partition("=")
    if not equals or not _PATH.fullmatch(path):
        said = "must be PATH=VALUE with a path such as contact.solver.use or bodies[0].options.sections"
        raise _refused(f"--set {path.strip()}", text, said)
    return path_steps(path), _toml_value(path.strip(), value.strip())


def path_steps(path: str) -> _Steps:
    """Return the keys and indices of a path."""
    return tuple(int(step[1:-1]) if step[0] == "[" else step for step in _STEP.findall(path))


def _toml_value(path: str, text: str) -> Any:
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        table = {}
    if list(table) == ["value"]:
        return table["value"]
    if _BARE_WORD.fullmatch(text):
        return text
    raise _refused(f"--set {path}", text, "must be a TOML value, or a word; quote other texts")


def _apply(document: dict[str, Any], steps: _Steps, value: Any) -> list[str]:
    """Write one value; return what was dropped for it."""
    place: Any = document
    path = ""
    for step, following in pairwise(steps):
        key, path = _enter(place, step, path)
        inner: Any = place.get(key) if isinstance(place, dict) else place[key]
        if inner is None:
            inner = {}
        elif isinstance(inner, str) and following in {"use", "options"}:
            inner = {"use": inner}  # the short form of a component
        place[key] = inner
        place = inner
    key, path = _enter(place, steps[-1], path)
    dropped: list[str] = []
    if key == "use" and isinstance(place, dict) and place.get("use") not in {None, value}:
        for table, words in (("options", "options"), ("initial", "initial state")):
            if held := place.pop(table, None):
                names = ", ".join(held) if isinstance(held, dict) else shown(held)
                dropped.append(f"{path} is {value!r} now, without the {words} of {place['use']!r}: {names}")
    place[key] = value
    return dropped


def _enter(place: Any, step: str | int, path: str) -> tuple[Any, str]:
    """Return the key or index in `place` for a part of a path, and the path of the entry."""
    if isinstance(place, dict) and isinstance(step, str):
        return step, join(path, step)
    if isinstance(place, list) and isinstance(step, int):
        if step < len(place):
            return step, f"{path}[{step}]"
        raise _refused(f"{path}[{step}]", place, f"there are {len(place)} entries, counted from 0")
    if isinstance(place, list):
        names = [entry.get("name") if isinstance(entry, dict) else None for entry in place]
        if step in names:
            return names.index(step), f"{path}[{names.index(step)}]"
        known = [name for name in names if isinstance(name, str)]
        said = f"must be an index, as in {path}[0]" + (f", or a name: {', '.join(known)}" if known else "")
        raise _refused(f"{path}.{step}", step, said, hint_for(step, known))
    where = path or "the scenario"
    said = f"{where} is not a {'list' if isinstance(step, int) else 'table'}, so nothing can be set inside it"
    raise _refused(where, place, said)
