"""Signals given at instants and interpolated between them: written in the scenario, or read from a file.

signal = { kind = "table", times = [0.0, 1.0, 3.0], values = [[0, 0], [40, 0], [40, 20]] }
signal = { kind = "csv", file = "pressures.csv", interpolation = "cubic" }
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.data.signal_base import Signal, Vector, as_vector, field_metadata, is_number, set_derived
from corekit.files import read_regular

__all__ = ["Csv", "Table"]

INTERPOLATIONS = ("linear", "cubic")


def _check_interpolation(_instance: object, _attribute: object, value: str) -> None:
    if value not in INTERPOLATIONS:
        raise ValueError(_KNOWN)


_KNOWN = "must be one of " + ", ".join(repr(word) for word in INTERPOLATIONS)


def _interpolation() -> Any:
    about = {**field_metadata("how values are joined between the instants"), "allowed": _KNOWN}
    return field(default="linear", validator=_check_interpolation, metadata=about)


@frozen(kw_only=True)
class _Sampled(Signal):
    """A piecewise polynomial through knots.

    With knots tₖ and values xₖ, the interval that ends at tₖ₊₁ holds for tₖ < t ≤ tₖ₊₁, and there

    x(t) = c₀ + c₁·τ + c₂·τ² + c₃·τ³,   τ = t − tₖ                                          (1)
    linear:  c₀ = xₖ,  c₁ = (xₖ₊₁ − xₖ)/(tₖ₊₁ − tₖ),  c₂ = c₃ = 0                             (2)
    cubic:   the spline with continuous ẋ and ẍ through all knots, ẋ = 0 at both ends          (3)
    x(t) = x₀ before the first knot, the last value after the last                              (4)

    Source of (3): de Boor (1978), "A Practical Guide to Splines", chapter IV, complete spline interpolation.
    """

    _knots: tuple[float, ...] = field(init=False, eq=False, repr=False)
    _rows: Array = field(init=False, eq=False, repr=False)
    _jumps: tuple[float, ...] = field(init=False, eq=False, repr=False)
    _coefficients: tuple[tuple[Array, ...], ...] = field(init=False, eq=False, repr=False)

    def _set_knots(
        self,
        times: Sequence[float],
        rows: Sequence[Sequence[float]],
        interpolation: str,
        named: Sequence[str],
    ) -> None:
        """Lay the curve through rows of numbers, once they are sound.

        Args:
            times: of the knots [s].
            named: what to call each row in an error.
        Raises:
            ValueError: the first row that is wrong, with its name.
        """
        _check(times, rows, named)
        knots, values = tuple(times), np.array(rows, dtype=float)
        values.setflags(write=False)
        if interpolation == "cubic":
            from scipy.interpolate import CubicSpline

            # scipy puts the highest power first
            cubic, square, slope, _ = CubicSpline(knots, values, bc_type="clamped").c
            jumps = (knots[0], knots[-1]) if slope.any() or square.any() or cubic.any() else ()
        else:
            slope = np.diff(values, axis=0) / np.diff(knots)[:, None]
            cubic = square = np.zeros_like(slope)
            # a knot on a straight line is none
            turns = (slope[1:] != slope[:-1]).any(axis=1).tolist()
            inner = [time for time, turn in zip(knots[1:-1], turns, strict=True) if turn]
            ends = [bool(slope[0].any()), bool(slope[-1].any())]
            jumps = (*knots[: ends[0]], *inner, *knots[-1:] * ends[1])
        # of x, ẋ and ẍ
        coefficients = (
            (values[:-1], slope, square, cubic),
            (slope, 2.0 * square, 3.0 * cubic),
            (2.0 * square, 6.0 * cubic),
        )
        set_derived(self, _knots=knots, _rows=values, _jumps=jumps, _coefficients=coefficients)

    @property
    def size(self) -> int:
        return self._rows.shape[1]

    @property
    def constant(self) -> bool:
        return not self._jumps

    def value(self, t: float, out: Array) -> None:
        k = bisect_left(self._knots, t)
        if k == 0 or k == len(self._knots) or self._knots[k] == t:
            out[:] = self._rows[min(k, len(self._knots) - 1)]
        else:
            self._horner(0, k - 1, t, out)

    def rate(self, t: float, out: Array) -> None:
        self._differentiate(1, t, out)

    def acceleration(self, t: float, out: Array) -> None:
        self._differentiate(2, t, out)

    def breakpoints(self, t0: float, t1: float) -> list[float]:
        return list(self._jumps[bisect_right(self._jumps, t0) : bisect_right(self._jumps, t1)])

    def _differentiate(self, derivative: int, t: float, out: Array) -> None:
        k = bisect_left(self._knots, t)
        if k == 0 or k == len(self._knots):
            out.fill(0.0)
        else:
            self._horner(derivative, k - 1, t, out)

    def _horner(self, derivative: int, k: int, t: float, out: Array) -> None:
        tau, coefficients = t - self._knots[k], self._coefficients[derivative]
        out[:] = coefficients[-1][k]
        for each in coefficients[-2::-1]:
            np.multiply(out, tau, out)
            np.add(out, each[k], out)


def _numbers(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _rows(values: Sequence[float | Sequence[float]]) -> tuple[Vector, ...]:
    return tuple(as_vector(value) for value in values)


@final
@frozen(kw_only=True)
class Table(_Sampled):
    """Values at instants, equations (1) to (4)."""

    kind: ClassVar[str] = "table"
    times: tuple[float, ...] = field(
        converter=_numbers, metadata=field_metadata("instants, each later than the one before", unit="s")
    )
    values: tuple[Vector, ...] = field(
        converter=_rows, metadata=field_metadata("the value at each instant: a number or a list of numbers")
    )
    interpolation: str = _interpolation()

    def __attrs_post_init__(self) -> None:
        rows = [value if isinstance(value, tuple) else (value,) for value in self.values]
        if len(rows) != len(self.times):
            raise ValueError(f"`times` has {len(self.times)} entries and `values` {len(rows)}: one for each")
        self._set_knots(self.times, rows, self.interpolation, [f"entry {i}" for i in range(len(rows))])


@final
@frozen(kw_only=True)
class Csv(_Sampled):
    """Values read from a text file: the time [s] in the first column, one column for each entry after it.

    Columns are separated by commas, semicolons or tabs. A first row that is not numbers is a header and is
    skipped, as are empty lines and lines that begin with `#`. The file is read when the scenario is loaded.
    """

    kind: ClassVar[str] = "csv"
    file: Path = field(converter=Path, metadata=field_metadata("a text file, relative to the scenario"))
    interpolation: str = _interpolation()

    def __attrs_post_init__(self) -> None:
        lines = list(_read(self.file))
        times = tuple(row[0] for _, row in lines)
        named = [f"{self.file.name}, line {number}" for number, _ in lines]
        self._set_knots(times, [row[1:] for _, row in lines], self.interpolation, named)


def _check(times: Sequence[float], rows: Sequence[Sequence[float]], named: Sequence[str]) -> None:
    if len(rows) < 2:
        raise ValueError(f"must have at least two instants, has {len(rows)}")
    for k, (time, row, name) in enumerate(zip(times, rows, named, strict=True)):
        if not row:
            raise ValueError(f"{name}: must hold a time and at least one value")
        if len(row) != len(rows[0]):
            raise ValueError(f"{name}: has {len(row)} values, {named[0]} has {len(rows[0])}")
        if not all(math.isfinite(number) for number in (time, *row)):
            raise ValueError(f"{name}: must be finite")
        if k and time <= times[k - 1]:
            raise ValueError(f"{name}: its time {time:g} s must be later than {times[k - 1]:g} s before it")


def _read(path: Path) -> Iterator[tuple[int, tuple[float, ...]]]:
    """Line number and numbers of each row."""
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} must be a file: a folder, a pipe or a device is not read")
    try:
        text = read_regular(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    first = True
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        separator = next((each for each in ";\t" if each in line), ",")
        cells = [cell.strip().strip('"') for cell in line.split(separator)]
        try:
            yield number, tuple(float(cell) for cell in cells)
        except ValueError:
            if not first or is_number(cells[0]):  # a header names the time
                wrong = next(cell for cell in cells if not is_number(cell))
                raise ValueError(f"{path.name}, line {number}: {wrong!r} is not a number") from None
        first = False
