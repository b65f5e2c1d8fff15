"""A file of ours as a TOML table with the scenario that it names, or the one error that says why not."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corekit.errors import ConfigError, Mistake
from corekit.files import is_there, read_regular
from corekit.scenario.load import load, syntax_mistake, unreadable
from corekit.scenario.scenario import Scenario

__all__ = ["named_scenario", "toml_table"]

_OURS = {"corekit-scenario", "corekit-plan", "corekit-fit", "corekit-task", "corekit-optimise"}


def toml_table(path: Path, kind: str, format: str) -> tuple[str, dict[str, Any]]:
    """Read the text and the table.

    Args:
        path: the file. kind: what it is, for the message: `fit file`. format: how it must begin.
    Raises:
        ConfigError: it cannot be read, is no TOML, or is another file of ours.
    """
    try:
        text = read_regular(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([unreadable(path, error, kind)], kind) from error
    try:
        table = tomllib.loads(text)
    except (RecursionError, ValueError) as error:
        raise ConfigError([syntax_mistake(text, error)], str(path)) from error
    given = table.get("format")
    if isinstance(given, str) and given.partition("/")[0] in _OURS - {format.partition("/")[0]}:
        raise ConfigError([Mistake("format", given, f"must be {format!r}: this is no {kind}")], str(path))
    return text, table


def named_scenario(
    document: Mapping[str, Any], directory: Path, mistakes: list[Mistake], *, allow_code: bool
) -> Scenario | None:
    """Load the scenario that a table names; its mistakes are added, with `scenario:` before their path.

    Args:
        document: with the keys `scenario` and `set`. directory: to which a path is relative.
    """
    named, overrides = document.get("scenario"), document.get("set", [])
    if not isinstance(named, str) or not isinstance(overrides, list):
        return None
    beside = directory / named
    try:
        file, changes = beside if is_there(beside) else named, [str(each) for each in overrides]
        return load(file, changes, allow_code=allow_code)
    except ConfigError as error:
        mistakes.extend(
            Mistake(f"scenario: {each.path}", each.found, each.allowed, each.hint) for each in error.mistakes
        )
    return None
