"""Points of a sweep that a file lists: a CSV with a path of the scenario at the head of each column, a run a line."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from corekit.errors import ConfigError, Mistake
from corekit.files import read_regular
from corekit.scenario.load import unreadable
from corekit_study.variants import MOST_RUNS, Variant

__all__ = ["read_points", "variants_of"]


def read_points(path: Path) -> tuple[tuple[str, ...], ...]:
    """Return the lines of a file of points, the paths first.

    Raises:
        ConfigError: it cannot be read, or every line that is none.
    """
    try:
        text = read_regular(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([unreadable(path, error, "file of points")], "--points") from error
    rows = [tuple(cell.strip() for cell in row) for row in csv.reader(io.StringIO(text))]
    lines = [(number, row) for number, row in enumerate(rows, start=1) if any(row)]
    if len(lines) < 2:
        said = "must have the paths in its first line, then a line a run: contact.friction,time.step"
        raise ConfigError([Mistake(str(path), f"{len(lines)} lines", said)], "--points")
    paths = lines[0][1]
    mistakes = [
        Mistake(f"{path}, line {lines[0][0]}", name, "must be a path in the scenario, each once")
        for k, name in enumerate(paths)
        if not name or name in paths[:k]
    ]
    for number, row in lines[1:]:
        if len(row) != len(paths) or not all(row):
            said = f"must have a value for each of {', '.join(paths)}"
            mistakes.append(Mistake(f"{path}, line {number}", ",".join(row), said))
    if len(lines) - 1 > MOST_RUNS:
        mistakes.append(Mistake(str(path), len(lines) - 1, f"must have at most {MOST_RUNS} runs"))
    if mistakes:
        raise ConfigError(mistakes, "--points")
    return tuple(row for _, row in lines)


def variants_of(points: Sequence[Sequence[str]]) -> list[Variant]:
    """Return the runs that lines as of `read_points` list."""
    paths, *rows = points
    return [Variant(tuple(zip(paths, row, strict=True))) for row in rows]
