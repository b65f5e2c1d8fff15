"""JSON of run folders: a value a file, or one a line, where a kill may have cut the last and a stranger written any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from corekit.files import open_to_append, read_regular

__all__ = ["append_line", "end_last_line", "read_json", "read_lines"]


def read_json(path: Path) -> Any:
    """Read the value in a file.

    Raises:
        OSError: it cannot be read. ValueError: it holds no JSON in UTF-8, or one of too many levels.
    """
    return _value(read_regular(path))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read the objects in the lines of a file; what is none counts for nothing.

    Raises:
        OSError: it cannot be read.
    """
    found: list[dict[str, Any]] = []
    for line in read_regular(path).splitlines():
        try:
            value = _value(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def append_line(path: Path, data: dict[str, Any]) -> None:
    """Write an object as a line at the end of a file.

    Raises:
        OSError: it cannot be written.
    """
    with open_to_append(path) as file:
        file.write(json.dumps(data, ensure_ascii=False) + "\n")


def end_last_line(path: Path) -> None:
    """End the last line of a file that a kill cut, so that nothing is written behind half a line.

    Raises:
        OSError: it cannot be read or written.
    """
    if path.exists() and not read_regular(path).endswith(b"\n"):
        with open_to_append(path) as file:
            file.write("\n")


def _value(text: bytes) -> Any:
    try:
        return json.loads(text.decode())
    except RecursionError as error:
        raise ValueError("it has too many levels") from error
