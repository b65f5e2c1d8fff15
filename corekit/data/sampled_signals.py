"""Signals given at instants and interpolated between them: written in the scenario, or read from a file.

    signal = { kind = "table", times = [0.0, 1.0, 3.0], values = [[0, 0], [40, 0], [40, 20]] }
    signal = { kind = "csv", file = "pressures.csv", interpolation = "cubic" }

With knots tₖ and values xₖ, the interval that ends at tₖ₊₁ holds for tₖ < t ≤ tₖ₊₁, and there

    x(t) = c₀ + c₁·τ + c₂·τ² + c₃·τ³,   τ = t − tₖ                                          (1)
    linear:  c₀ = xₖ,  c₁ = (xₖ₊₁ − xₖ)/(tₖ₊₁ − tₖ),  c₂ = c₃ = 0                             (2)
    cubic:   the spline with continuous ẋ and ẍ through all knots, ẋ = 0 at both ends          (3)
    x(t) = x₀ before the first knot, the last value after the last                              (4)

Source of (3): de Boor (1978), "A Practical Guide to Splines", chapter IV, complete spline interpolation.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.data.signal_base import Signal, Vector, as_vector, field_metadata, is_number

__all__ = ["Csv", "Table"]

INTERPOLATIONS = ("linear", "cubic")


def _check_interpolation(_instance: object, _attribute: object, value: str) -> None:
    if value not in INTERPOLATIONS:
        raise ValueError(_KNOWN)


_KNOWN = "must be one of " + ", ".join(repr(word) for word in INTERPOLATIONS)


def _interpolation() -> Any:
    about = {**field_metadata("how values are joined between the instants"), "allowed": _KNOWN}
    return field(default="linear", validator=_check_interpolation, metadata=about)


@final
class Curve:
    """The piecewise polynomial (1) through knots.

    Args:
        times: of the knots [s], strictly increasing, shape (n,), n ≥ 2.
        values: there, shape (n, size).
        interpolation: one of `INTERPOLATIONS`.
    """

    def __init__(self, times: Sequence[float], values: Array, interpolation: str) -> None:
        self.times = tuple(times)
        self.values = values
        self._steps = np.diff(self.times)[:, None]
        if interpolation == "cubic":
            from scipy.interpolate import CubicSpline

            # scipy puts the highest power first
            cubic, square, slope, _ = CubicSpline(self.times, values, bc_type="clamped").c
            self._breakpoints = (self.times[0], self.times[-1])
        else:
            slope = np.diff(values, axis=0) / self._steps
            cubic = square = np.zeros_like(slope)
            # a knot on a straight line is none
            turns = (slope[1:] != slope[:-1]).any(axis=1).tolist()
            inner = [time for time, turn in zip(self.times[1:-1], turns, strict=True) if turn]
            ends = [bool(slope[0].any()), bool(slope[-1].any())]
            self._breakpoints = (*self.times[: ends[0]], *inner, *self.times[-1:] * ends[1])
        self.constant = not slope.any() and not square.any() and not cubic.any()
        self._of_value = (values[:-1], slope, square, cubic)
        self._of_rate = (slope, 2.0 * square, 3.0 * cubic)
        self._of_acceleration = (2.0 * square, 6.0 * cubic)

    def value(self, t: float, out: Array) -> None:
        """Write x(t)."""
        k = bisect_left(self.times, t)
        if k == 0 or k == len(self.times) or self.times[k] == t:
            out[:] = self.values[min(k, len(self.times) - 1)]
        else:
            self._horner(self._of_value, k - 1, t, out)

    def rate(self, t: float, out: Array) -> None:
        """Write ẋ(t)."""
        self._inside(self._of_rate, t, out)

    def acceleration(self, t: float, out: Array) -> None:
        """Write ẍ(t)."""
        self._inside(self._of_acceleration, t, out)

    def breakpoints(self, t0: float, t1: float) -> list[float]:
        """Knots t0 < t ≤ t1 where ẋ or ẍ jumps."""
        if self.constant:
            return []
        return list(
            self._breakpoints[bisect_right(self._breakpoints, t0) : bisect_right(self._breakpoints, t1)]
        )

    def _inside(self, coefficients: tuple[Array, ...], t: float, out: Array) -> None:
        k = bisect_left(self.times, t)
        if k == 0 or k == len(self.times):
            out.fill(0.0)
        else:
            self._horner(coefficients, k - 1, t, out)

    def _horner(self, coefficients: tuple[Array, ...], k: int, t: float, out: Array) -> None:
        tau = t - self.times[k]
        out[:] = coefficients[-1][k]
        for each in coefficients[-2::-1]:
            np.multiply(out, tau, out)
            np.add(out, each[k], out)


@frozen(kw_only=True)
class _Sampled(Signal):
    """A signal that follows a curve."""

    _curve: Curve = field(init=False, eq=False, repr=False)

    @property
    def size(self) -> int:
        return self._curve.values.shape[1]

    @property
    def constant(self) -> bool:
        return self._curve.constant

    def value(self, t: float, out: Array) -> None:
        self._curve.value(t, out)

    def rate(self, t: float, out: Array) -> None:
        self._curve.rate(t, out)

    def acceleration(self, t: float, out: Array) -> None:
        self._curve.acceleration(t, out)

    def breakpoints(self, t0: float, t1: float) -> list[float]:
        return self._curve.breakpoints(t0, t1)


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
        made = _curve(self.times, rows, self.interpolation, [f"entry {i}" for i in range(len(rows))])
        object.__setattr__(self, "_curve", made)


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
        made = _curve(times, [row[1:] for _, row in lines], self.interpolation, named)
        object.__setattr__(self, "_curve", made)


def _curve(
    times: Sequence[float], rows: Sequence[Sequence[float]], interpolation: str, named: Sequence[str]
) -> Curve:
    """The curve through rows of numbers, once they are sound.

    Args:
        named: what to call each row in an error.
    Raises:
        ValueError: the first row that is wrong, with its name.
    """
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
    values = np.array(rows, dtype=float)
    values.setflags(write=False)
    return Curve(times, values, interpolation)


def _read(path: Path) -> Iterator[tuple[int, tuple[float, ...]]]:
    """Line number and numbers of each row."""
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} must be a file: a folder, a pipe or a device is not read")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    first = True
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        separator = next((each for each in ";\t" if each in line), ",")
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]
        try:
            yield number, tuple(float(cell) for cell in cells)
        except ValueError:
            if not first or is_number(cells[0]):  # a header names the time
                wrong = next(cell for cell in cells if not is_number(cell))
                raise ValueError(f"{path.name}, line {number}: {wrong!r} is not a number") from None
        first = False
