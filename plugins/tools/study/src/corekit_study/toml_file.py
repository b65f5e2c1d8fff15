"""A file of ours as a TOML table, or the one error that says why not."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from corekit.errors import ConfigError, Mistake
from corekit.files import read_regular
from corekit.scenario.load import syntax_mistake, unreadable

__all__ = ["toml_table"]

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
