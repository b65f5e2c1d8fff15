"""Copies of an entry of a list, and where they stand: along a line, or turned about an axis."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.errors import Mistake
from corekit.geometry.frames import rotation_from_rpy
from corekit.roles.options import option
from corekit.scenario.error_text import Described, shown
from corekit.scenario.provenance import Origin, Table, join_tables, located_value, numbered
from corekit.scenario.schema_bodies import Triple, about
from corekit.scenario.structure import structure

__all__ = ["copies_of", "copy_count"]


@frozen(kw_only=True)
class Circle:
    """Copies turned about an axis, each by the same angle from the one before."""

    axis: Triple = option(
        (0.0, 0.0, 1.0),
        "that copies are turned about; its length does not count",
        check=lambda axis: None if any(axis) else "must not be zero",
    )
    centre: Triple = option((0.0, 0.0, 0.0), "a point of the axis", unit="m")
    angle: float | None = option(None, "from a copy to the next one; 2π/count if absent", unit="rad")


@frozen(kw_only=True)
class Repeat:
    """Copies of an entry of a list."""

    count: int | None = option(None, "of copies; that of `each` if absent", low=1, high=10_000)
    circle: Circle | None = field(default=None, metadata=about("turns copies about an axis"))
    line: Triple | None = option(None, "from a copy to the next one", unit="m")
    each: Mapping[str, Any] = field(
        factory=dict, metadata=about("keys as in the entry, with a list of a value for each copy")
    )


def copy_count(given: Any, at: Origin, mistakes: list[Mistake]) -> tuple[Repeat, int] | None:
    """Return how an entry is repeated, and how often; None after a mistake.

    Args:
        given: the table `repeat` of the entry.
        at: where that was written.
        mistakes: what is wrong with it is added here.
    """
    own: list[Mistake] = []
    repeat = structure(Repeat, given, at.path, own)
    within = f" in {at.file}" if at.file else ""
    mistakes += [Mistake(f"{each.path}{within}", each.found, each.allowed, each.hint) for each in own]
    if repeat is None:
        return None
    counts: dict[int, Origin] = {} if repeat.count is None else {repeat.count: at.entry("count")}
    if not _count_each(repeat.each, at.entry("each"), counts, mistakes):
        return None
    if len(counts) != 1:
        said = " and ".join(f"{count} by {place}" for count, place in counts.items())
        allowed = "must have one count of copies" if counts else "must have `count`, or lists in `each`"
        mistakes.append(Mistake(str(at), Described(said) if said else shown(given), allowed))
        return None
    return repeat, next(iter(counts))


def copies_of(
    entry: Table, repeat: Repeat, count: int, at: Origin, listed: str, mistakes: list[Mistake]
) -> list[Table]:
    """Return the copies of an entry.

    Args:
        entry: without `repeat`, which stands at `at`.
        listed: the list that holds the entry; of `bodies` the copies' places are those of their bases.
        mistakes: what cannot be placed is added here.
    """
    copies: list[Table] = []
    for k in range(count):
        copy = numbered(join_tables(entry, _chosen(repeat.each, k, at.entry("each"))), k + 1)
        copy.origin = entry.origin
        copies.append(copy)
        if (repeat.circle or repeat.line) and not _place(copy, repeat, k, count, listed, at, mistakes):
            return []
    return copies


def _count_each(
    each: Mapping[str, Any], at: Origin, counts: dict[int, Origin], mistakes: list[Mistake]
) -> bool:
    """Find how many copies the lists of `each` are for; False after a mistake."""
    fits = True
    for key, values in each.items():
        if isinstance(values, Mapping):
            fits &= _count_each(values, at.entry(key), counts, mistakes)
        elif isinstance(values, list) and values:
            counts.setdefault(len(values), at.entry(key))
        else:
            said = "must be a list with a value for each copy"
            mistakes.append(Mistake(str(at.entry(key)), shown(values), said))
            fits = False
    return fits


def _chosen(each: Mapping[str, Any], k: int, at: Origin) -> Table:
    """Return what is of the k-th copy alone."""
    made = Table(at)
    for key, values in each.items():
        inner = isinstance(values, Mapping)
        place = at.entry(key) if inner else at.entry(key).item(k)
        value = _chosen(values, k, place) if inner else located_value(values[k], place)
        made.put(key, value, place)
    return made


def _place(
    copy: Table, repeat: Repeat, k: int, count: int, listed: str, at: Origin, mistakes: list[Mistake]
) -> bool:
    """Move the k-th copy to its place; False after a mistake, which all copies share."""
    where: Any = copy
    if listed == "bodies":
        where = copy.setdefault("base", Table(copy.origin))
        if isinstance(where, Table):
            where.setdefault("position", [0.0, 0.0, 0.0])
    points = [key for key in ("position", "start", "end") if isinstance(where, Table) and key in where]
    if not points:
        said = "must stand in an entry with `position`, or with `start` and `end`: that is what it moves"
        mistakes.append(Mistake(str(at), Described("neither"), said))
    for key in points:
        given = _three_numbers(where, key, at, mistakes)
        if given is None:
            return False
        if repeat.circle is not None:
            centre = np.array(repeat.circle.centre)
            given = centre + _turned(given - centre, repeat.circle, k, count)
        if repeat.line is not None:
            given = given + k * np.array(repeat.line)
        where.put(key, (given + 0.0).tolist(), where.origins.get(key, at))
    if "position" in points and repeat.circle is not None:
        angles = _three_numbers(where, "rotation_rpy", at, mistakes)
        if angles is None:
            return False
        turned = _turned_angles(angles, repeat.circle, k, count)
        where.put("rotation_rpy", turned.tolist(), where.origins.get("rotation_rpy", at))
    return bool(points)


def _three_numbers(table: Table, key: str, at: Origin, mistakes: list[Mistake]) -> Array | None:
    given = table.get(key, [0.0, 0.0, 0.0])
    fits = isinstance(given, list) and len(given) == 3
    if fits and all(type(x) in {int, float} and math.isfinite(x) for x in given):
        return np.array(given, dtype=np.float64)
    said = "must be 3 numbers where copies are placed along a circle or a line"
    mistakes.append(Mistake(str(table.origins.get(key, at)), shown(given), said))
    return None


def _turn(circle: Circle, k: int, count: int) -> tuple[float, float, float]:
    """Return angle, cosine and sine of a copy's turn; quarters of a whole turn are exact."""
    if circle.angle is None and 4 * k % count == 0:
        quarter = 4 * k // count
        return 0.5 * math.pi * quarter, (1.0, 0.0, -1.0, 0.0)[quarter], (0.0, 1.0, 0.0, -1.0)[quarter]
    angle = 2.0 * math.pi * k / count if circle.angle is None else k * circle.angle
    return angle, math.cos(angle), math.sin(angle)


def _turned(vectors: Array, circle: Circle, k: int, count: int) -> Array:
    """Rodrigues' formula, v + sin·a × v + (1 − cos)·a × (a × v), which leaves what is along a as it is; (..., 3)."""
    _, cosine, sine = _turn(circle, k, count)
    a = np.array(circle.axis) / math.hypot(*circle.axis)
    once = np.cross(a, vectors)
    return vectors + sine * once + (1.0 - cosine) * np.cross(a, once)


def _turned_angles(rpy: Array, circle: Circle, k: int, count: int) -> Array:
    if not any(circle.axis[:2]):
        return rpy + np.array([0.0, 0.0, math.copysign(_turn(circle, k, count)[0], circle.axis[2])])
    rotation = _turned(rotation_from_rpy(rpy).T, circle, k, count).T
    flat = math.hypot(rotation[2, 1], rotation[2, 2])
    pitch = math.atan2(-rotation[2, 0], flat)
    if flat < 1e-9:  # roll and yaw turn about one axis
        return np.array([0.0, pitch, math.atan2(-rotation[0, 1], rotation[1, 1])])
    return np.array(
        [math.atan2(rotation[2, 1], rotation[2, 2]), pitch, math.atan2(rotation[1, 0], rotation[0, 0])]
    )
