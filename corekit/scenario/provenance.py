"""Where the entries of a scenario's table were written, for mistakes that name file, template and key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from corekit.errors import Mistake
from corekit.scenario.error_text import join
from corekit.scenario.overrides import path_steps

__all__ = ["Origin", "Table", "join_tables", "located", "located_value", "name_origins", "numbered"]


_JOINED = ("bodies", "joints", "controllers", "world.obstacles", "world.friction", "contact.impact.pairs")
"""Lists to which an included file adds entries."""


class Origin(NamedTuple):
    """Where something was written; `file` is empty for the scenario's own."""

    path: str
    file: str = ""

    def entry(self, key: str) -> Origin:
        return Origin(join(self.path, key), self.file)

    def item(self, index: int) -> Origin:
        return Origin(f"{self.path}[{index}]", self.file)

    def __str__(self) -> str:
        return f"{self.path} in {self.file}" if self.file else self.path


class Table(dict[str, Any]):
    """A table whose entries know where they were written; what is set later was not written in a file."""

    def __init__(self, origin: Origin) -> None:
        super().__init__()
        self.origin = origin
        self.origins: dict[str, Origin] = {}

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self.origins.pop(key, None)

    def put(self, key: str, value: Any, origin: Origin) -> None:
        super().__setitem__(key, value)
        self.origins[key] = origin

    def __deepcopy__(self, memo: dict[int, Any]) -> Table:
        return numbered(self, None)


def name_origins(document: Mapping[str, Any], mistakes: Sequence[Mistake]) -> list[Mistake]:
    """Return mistakes with the places where their entries were written; one of all copies stands for them."""
    named: dict[tuple[str, str, str, str], Mistake] = {}
    for each in mistakes:
        origin = _origin_of(document, each.path)
        if origin is None or (origin.path == each.path and not origin.file):
            key, path = each.path, each.path
        else:
            key, path = str(origin), f"{each.path} (from {origin})"
        named.setdefault(
            (key, repr(each.found), each.allowed, each.hint),
            Mistake(path, each.found, each.allowed, each.hint),
        )
    return list(named.values())


def _origin_of(document: Mapping[str, Any], path: str) -> Origin | None:
    place: Any = document
    origin = document.origin if isinstance(document, Table) else None
    for step in path_steps(path):
        if isinstance(place, Table) and isinstance(step, str):
            origin = place.origins.get(step) or (None if step in place else place.origin.entry(step))
        elif origin is not None:
            origin = origin.item(step) if isinstance(step, int) else origin.entry(step)
        fits = isinstance(place, list) and isinstance(step, int) and step < len(place)
        place = place[step] if fits else place.get(step) if isinstance(place, Mapping) else None  # pyrefly: ignore
        if isinstance(place, Table) and isinstance(step, int):
            origin = place.origin
    return origin


def located(table: Mapping[str, Any], origin: Origin) -> Table:
    """Return a table, with all inner ones, that knows where it was written; one that does is left as it is."""
    if isinstance(table, Table):
        return table
    made = Table(origin)
    for key, value in table.items():
        made.put(key, located_value(value, origin.entry(key)), origin.entry(key))
    return made


def located_value(value: Any, origin: Origin) -> Any:
    """Return a value whose tables know where they were written."""
    if isinstance(value, Mapping):
        return located(value, origin)
    if isinstance(value, list) and any(isinstance(entry, (Mapping, list)) for entry in value):
        return [located_value(entry, origin.item(i)) for i, entry in enumerate(value)]
    return value


def join_tables(base: Table, over: Table, path: str | None = None) -> Table:
    """Return the entries of two tables, inner tables joined; with a path, lists of an included file, too."""
    made = Table(over.origin)
    for key in (*base, *(key for key in over if key not in base)):
        owner = over if key in over else base
        value = owner[key]
        where = None if path is None else join(path, key)
        if key in over and isinstance(base.get(key), Table) and isinstance(value, Table):
            value = join_tables(base[key], value, where)
        elif key in over and where in _JOINED and isinstance(base.get(key), list) and isinstance(value, list):
            value = _join_lists(base[key], value)
        made.put(key, value, owner.origins.get(key, owner.origin.entry(key)))
    return made


def _join_lists(base: list[Any], over: list[Any]) -> list[Any]:
    out = list(base)
    index = {entry["name"]: i for i, entry in enumerate(base) if isinstance(entry, Table) and "name" in entry}
    for entry in over:
        at = index.get(entry.get("name")) if isinstance(entry, Table) else None
        if at is None:
            out.append(entry)
        else:
            out[at] = join_tables(out[at], entry)
    return out


def numbered(value: Any, number: int | None) -> Any:
    """Return a copy of tables and lists, with the number in the place of {n} in texts."""
    if isinstance(value, str):
        return value if number is None else value.replace("{n}", str(number))
    if isinstance(value, Table):
        made = Table(value.origin)
        for key, entry in value.items():
            dict.__setitem__(made, key, numbered(entry, number))
        made.origins = dict(value.origins)
        return made
    return [numbered(entry, number) for entry in value] if isinstance(value, list) else value
