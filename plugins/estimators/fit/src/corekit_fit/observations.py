"""Markers over time, read from a file.

CSV: a header, then one row per observed marker and instant,

    time,marker,x,z              time [s]; marker: a name or a number; some of x, y, z in the world [m]
    0.0,tip,0.400,0.013

NetCDF: `time` (T,) and `position` (T, m, 3), nan without an observation; optional names in `marker` (m,). An attribute
`units` must be s and m.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit.files import check_regular

__all__ = ["Observations", "read_markers"]

_AXES = ("x", "y", "z")
_COLUMNS = ("time", "marker", *_AXES)
_UNITS = {"time": "s", "position": "m"}


@frozen(eq=False)
class Observations:
    """Observed markers.

    Args:
        names: names of the markers, in the order of the file.
        time: instants [s], increasing, shape (T,).
        position: positions [m], nan without an observation, shape (T, m, 3).
        other_order: the first instant whose rows have another order than `names` [s]; None if all have that.
    """

    names: tuple[str, ...]
    time: Array
    position: Array
    other_order: float | None = None


def read_markers(path: Path) -> Observations:
    """Read the markers of a file.

    Raises:
        ConfigError: an unreadable file or invalid contents, with the line.
    """
    try:
        check_regular(path)
        markers = _netcdf(path) if path.suffix in {".nc", ".h5", ".nc4"} else _csv(path)
    except OSError as error:
        raise _file_error(path, f"cannot be read ({error.strerror or error})") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise _file_error(path, f"is no table of text in UTF-8 ({error})") from error
    if not np.isfinite(markers.position).any():
        raise _file_error(path, "has no position of a marker")
    if markers.time[0] < 0.0:
        raise _file_error(
            path, f"begins at {markers.time[0]:g} s: times start with the scenario, so they must be ≥ 0"
        )
    return markers


def _file_error(path: Path, reason: str) -> ConfigError:
    return ConfigError([Mistake("markers.file", str(path), reason)], "the fit")


def _number(path: Path, line: int, name: str, text: str) -> float:
    if not text.strip():
        return math.nan
    try:
        return float(text)
    except ValueError:
        raise _file_error(path, f"line {line}: {name} = {text!r} is not a number") from None


def _csv(path: Path) -> Observations:
    with path.open(newline="", encoding="utf-8-sig") as file:  # tables of Excel begin with a mark
        lines = [(number, row) for number, row in enumerate(csv.reader(file), 1) if row and row[0][:1] != "#"]
    if not lines:
        raise _file_error(path, "is empty; give columns time, marker and some of x, y, z")
    header = [word.strip() for word in lines[0][1]]
    columns = {word: i for i, word in enumerate(header)}
    axes = [axis for axis in _AXES if axis in columns]
    missing = [word for word in ("time", "marker") if word not in columns]
    capital = any(word not in _COLUMNS and word.lower() in _COLUMNS for word in header)
    if missing or not axes or capital or len(columns) < len(header):
        raise _file_error(
            path, f"has the columns {', '.join(header)}; it needs time, marker and some of x, y, z, once each"
        )
    observed: dict[tuple[float, str], list[float]] = {}
    for line, row in lines[1:]:
        if len(row) != len(header):
            raise _file_error(path, f"line {line} has {len(row)} entries, the header {len(header)}")
        time, name = _number(path, line, "time", row[columns["time"]]), row[columns["marker"]].strip()
        if not math.isfinite(time):
            raise _file_error(path, f"line {line}: time must be a finite number")
        if (time, name) in observed:
            raise _file_error(path, f"line {line}: marker {name!r} appears twice at {time:g} s")
        entries = [
            _number(path, line, axis, row[columns[axis]]) if axis in columns else math.nan for axis in _AXES
        ]
        if any(math.isinf(entry) for entry in entries):
            raise _file_error(
                path, f"line {line}: a position must be finite, or empty without an observation"
            )
        observed[time, name] = entries
    times = sorted({time for time, _ in observed})
    names = tuple(dict.fromkeys(name for _, name in observed))
    position = np.full((len(times), len(names), 3), np.nan)
    row_of, column_of = {t: k for k, t in enumerate(times)}, {name: i for i, name in enumerate(names)}
    for (time, name), entries in observed.items():
        position[row_of[time], column_of[name]] = entries
    return Observations(names, np.array(times), position, _other_order(observed, column_of))


def _other_order(observed: Iterable[tuple[float, str]], place: Mapping[str, int]) -> float | None:
    """The first instant whose rows have another order of names, as where the first marker was hidden at first [s]."""
    last: dict[float, int] = {}
    found = []
    for time, name in observed:
        if place[name] < last.get(time, -1):
            found.append(time)
        last[time] = place[name]
    return min(found, default=None)


def _netcdf(path: Path) -> Observations:
    import h5netcdf

    with h5netcdf.File(path, "r") as file:
        variables: Any = file.variables
        missing = [name for name in ("time", "position") if name not in variables]
        if missing:
            raise _file_error(path, f"has no variable {' and no '.join(missing)}")
        for name, unit in _UNITS.items():
            if (found := variables[name].attrs.get("units", unit)) != unit:
                raise _file_error(path, f"{name} is in {found}; it must be in {unit}")
        time = np.array(variables["time"][:], dtype=float)
        position = np.array(variables["position"][:], dtype=float)
        names = [str(i) for i in range(position.shape[1] if position.ndim == 3 else 0)]
        if "marker" in variables:
            names = [
                each.decode() if isinstance(each, bytes) else str(each) for each in variables["marker"][:]
            ]
    if (
        position.ndim != 3
        or position.shape[0] != len(time)
        or position.shape[2] != 3
        or len(names) != position.shape[1]
    ):
        raise _file_error(path, f"position has the shape {position.shape}; it must be (time, marker, 3)")
    if not np.all(np.diff(time) > 0.0) or not np.isfinite(time).all():
        raise _file_error(path, "time must increase")
    if np.isinf(position).any():
        raise _file_error(path, "a position must be finite, or nan without an observation")
    return Observations(tuple(names), time, position)
