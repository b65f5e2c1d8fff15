"""Included files, templates and repeated entries of a scenario's table, written out before it is checked.

    include = ["parts/finger.toml"]    # tables of other files, in the folder of this one or below
    [templates.finger]                 # any table, or a part of one
    [[bodies]]                         # or any other entry of a list, or any other table
    use_template = "finger"            # its keys, where this table has none of its own; inner tables are joined
    name = "finger-{n}"                # {n} counts copies from 1
    repeat = { count = 3, circle = {}, each = { friction = [0.3, 0.4, 0.5] } }

A copy's place is the entry's own one, moved on k times by `line`, or turned by k·2π/count about the axis of `circle`.
Places are `base` of bodies, `position` with `rotation_rpy`, `start` and `end`. Every table remembers where its entries
were written, so that a mistake names file, template and key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from corekit.errors import Mistake
from corekit.scenario.error_text import Described, hint_for, shown
from corekit.scenario.provenance import Origin, Table, join_tables, located, numbered
from corekit.scenario.repetition import copies_of, copy_count

__all__ = ["TEMPLATES", "include_files", "write_out"]

INCLUDE: Final = "include"
TEMPLATES: Final = "templates"
_USE, _REPEAT = "use_template", "repeat"
_MOST_FILES, _MOST_TABLES = 100, 100_000


def include_files(
    document: dict[str, Any],
    folder: Path,
    read: Callable[[Path, list[Mistake]], Mapping[str, Any] | None],
    mistakes: list[Mistake],
) -> dict[str, Any]:
    """Return a table with what the files that it includes hold; its own entries win, named entries of lists are joined.

    Args:
        document: the table of a scenario.
        folder: of its file; no file outside of it is read.
        read: returns the table of a file, or None after a mistake.
        mistakes: references that cannot be followed are added here.
    """
    if INCLUDE not in document:
        return document
    return _Includes(folder.resolve(), read, mistakes).joined(document, folder.resolve(), "", ())


class _Includes:
    def __init__(self, root: Path, read: Callable[..., Any], mistakes: list[Mistake]) -> None:
        self._root, self._read, self._mistakes = root, read, mistakes
        self._count = 0

    def joined(
        self, document: Mapping[str, Any], folder: Path, called: str, within: tuple[Path, ...]
    ) -> Table:
        own = located({key: value for key, value in document.items() if key != INCLUDE}, Origin("", called))
        names = document.get(INCLUDE, [])
        whole = Table(Origin("", called))
        for i, name in enumerate(names if isinstance(names, list) else [names]):
            place = Origin(f"{INCLUDE}[{i}]" if isinstance(names, list) else INCLUDE, called)
            file = self._file(name, folder, place, within)
            table = None if file is None else self._read(file, self._mistakes)
            if file is not None and table is not None:
                shown_name = file.relative_to(self._root).as_posix()
                whole = join_tables(whole, self.joined(table, file.parent, shown_name, (*within, file)), "")
        return join_tables(whole, own, "")

    def _file(self, name: Any, folder: Path, place: Origin, within: tuple[Path, ...]) -> Path | None:
        self._count += 1
        file = (folder / name).resolve() if isinstance(name, str) and "\0" not in name else None
        if file is None:
            problem = "must be the name of a TOML file, in quotes, or a list of such names"
        elif not file.is_relative_to(self._root):
            problem = f"must lie in {self._root} or below: nothing outside of a scenario's folder is included"
        elif file in within:
            problem = "includes itself"
        elif self._count > _MOST_FILES:
            problem = f"is one of more than {_MOST_FILES} included files"
        else:
            return file
        self._mistakes.append(Mistake(str(place), shown(name), problem))
        return None


def write_out(document: dict[str, Any], mistakes: list[Mistake]) -> dict[str, Any]:
    """Return a table without templates: their keys stand where they were used, and copies where one was repeated.

    Args:
        document: stays as it is, and is returned if there is nothing to write out.
        mistakes: unknown templates and wrong repetitions are added here.
    """
    if TEMPLATES not in document and not _has_any(document):
        return document
    return _Writer(document, mistakes).whole()


def _has_any(value: Any) -> bool:
    if isinstance(value, Mapping):
        return _USE in value or _REPEAT in value or any(map(_has_any, value.values()))
    return isinstance(value, list) and any(map(_has_any, value))


class _Writer:
    def __init__(self, document: Mapping[str, Any], mistakes: list[Mistake]) -> None:
        self._document, self._mistakes = document, mistakes
        self._templates = document.get(TEMPLATES, {})
        self._within: list[str] = []
        self._written: dict[str, Table] = {}
        self._tables = 0

    def whole(self) -> dict[str, Any]:
        table = located(self._document, Origin(""))
        if not isinstance(self._templates, Mapping):
            self._wrong(table.origins[TEMPLATES], self._templates, "must be a table of templates by name")
            self._templates = {}
        self._templates = located(self._templates, Origin(TEMPLATES))
        table.pop(TEMPLATES, None)
        return self._table(table, table.origin)

    def _wrong(self, origin: Origin, found: Any, allowed: str, hint: str = "") -> None:
        self._mistakes.append(Mistake(str(origin), shown(found), allowed, hint))

    def _value(self, value: Any, origin: Origin) -> Any:
        if isinstance(value, Table):
            made = self._table(value, origin)
            if _REPEAT in made:
                said = "must stand in an entry of a list, `[[…]]`: only those are repeated"
                self._wrong(made.origins[_REPEAT], made.pop(_REPEAT), said)
            return made
        if isinstance(value, list) and any(isinstance(entry, (Table, list)) for entry in value):
            return self._list(value, origin)
        return value

    def _table(self, table: Table, origin: Origin) -> Table:
        made = Table(table.origin)
        for key, value in table.items():
            at = table.origins.get(key, origin.entry(key))
            if key != _USE:
                made.put(key, self._value(value, at), at)
        if _USE not in table:
            return made
        template = self._template(table[_USE], table.origins.get(_USE, origin.entry(_USE)))
        return made if template is None else join_tables(template, made)

    def _template(self, name: Any, origin: Origin) -> Table | None:
        known = ", ".join(self._templates) or "none: there is no table [templates.NAME]"
        found = self._templates.get(name) if isinstance(name, str) else None
        if not isinstance(found, Table):
            said = f"must be the name of a template: {known}"
            self._wrong(origin, name, said, hint_for(name, self._templates))
            return None
        if name in self._within:
            self._wrong(origin, name, f"must not be used by itself: {' → '.join([*self._within, name])}")
            return None
        if name not in self._written:
            self._within.append(name)
            self._written[name] = self._table(found, found.origin)
            self._within.pop()
        made = self._written[name]
        return numbered(made, None) if self._has_room(1, made, origin) else None

    def _has_room(self, count: int, entry: Table, origin: Origin) -> bool:
        before, self._tables = self._tables, self._tables + count * _size(entry)
        if before <= _MOST_TABLES < self._tables:
            said = f"templates and repetitions must make at most {_MOST_TABLES} tables"
            self._wrong(origin, Described("more"), said)
        return self._tables <= _MOST_TABLES

    def _list(self, entries: Sequence[Any], origin: Origin) -> list[Any]:
        out: list[Any] = []
        for i, entry in enumerate(entries):
            if not isinstance(entry, Table):
                out.append(self._value(entry, origin.item(i)))
                continue
            made = self._table(entry, entry.origin)
            given, at = made.get(_REPEAT), made.origins.get(_REPEAT)
            if at is None:
                out.append(made)
            else:
                del made[_REPEAT]
                found = copy_count(given, at, self._mistakes)
                if found is not None and self._has_room(found[1], made, at):
                    out += copies_of(made, *found, at, origin.path, self._mistakes)
        return out


def _size(value: Any) -> int:
    """Count tables."""
    if isinstance(value, Table):
        return 1 + sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list) else 0
