"""Derivatives by central differences whose step looks after itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from corekit.data.arrays import Array
from corekit_testing.conformance.check import CheckFailed, expect_close

__all__ = ["BEYOND", "expect_slope", "slope"]

BEYOND = "where the displacement is beyond what the model allows: --spread 0.1"
"""What to do about a function that has no slope, or no value, at a displaced state."""

_LEVELS = 7
_ENOUGH = 1e-10
"""Estimated error, relative to the slope, from which on smaller steps are not asked for."""
_CLOSER = 64
"""By how much steps are shortened once: the longest is then the shortest of before."""


def slope(function: Callable[[float], Array], step: float = 0.1) -> tuple[Array, float]:
    """d/ds function(s) at s = 0 and an estimate of its error, by Ridders' extrapolation.

        D(s) = (function(s) − function(−s)) / 2s,     s = step, step/2, step/4, …            (1)

    extrapolated in s²; the entry of the tableau with the least estimated error counts. Smaller steps end where it is
    `_ENOUGH`: rounding only grows with them.

    Source: Ridders (1982), "Accurate computation of F'(x) and F'(x)F''(x)", Adv. Eng. Software 4(2).
    """
    best, error = np.zeros(0), np.inf
    before: list[Array] = []
    for level in range(_LEVELS):
        s = step / 2**level
        row = [(np.asarray(function(s)) - np.asarray(function(-s))) / (2 * s)]
        for j in range(len(before)):
            factor = 4.0 ** (j + 1)
            row.append((factor * row[j] - before[j]) / (factor - 1.0))
            moved = max(_size(row[j + 1] - row[j]), _size(row[j + 1] - before[j]))
            if moved < error:
                best, error = row[j + 1], moved
        if not before:
            best = row[0]
        elif error <= _ENOUGH * _size(best):
            break
        before = row
    return best, error


def _size(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def expect_slope(
    what: str,
    found: Array,
    function: Callable[[float], Array],
    step: float = 0.1,
    relative: float = 1e-6,
    terms: float = 0.0,
) -> None:
    """Raise `CheckFailed` unless `found` is the slope of `function` at 0, to `relative` of its largest entry.

    A function whose differences do not settle is no better than a wrong derivative, and said so. Where the steps fail
    they are taken once more, `_CLOSER` times shorter, which a kink beside the place, as where a cable becomes slack,
    does not reach. A wrong derivative, noise and a kink at the place itself fail again.

    Args:
        terms: size of what the function sums up, where that is known to cancel.
    """
    rounding = 1e-11 * max(_size(np.asarray(function(0.0))), terms) / step
    try:
        _compare(what, found, slope(function, step), relative, rounding, rounding)
    except CheckFailed:
        _compare(what, found, slope(function, step / _CLOSER), relative, rounding, _CLOSER * rounding)


def _compare(
    what: str, found: Array, differences: tuple[Array, float], relative: float, noise: float, rounding: float
) -> None:
    """Raise unless `found` is what differences give; `noise` bounds how far these may move, beside their size."""
    wanted, error = differences
    size = max(_size(wanted), _size(found))
    if not error <= 1e-4 * size + 1e3 * noise:
        moved = f"differences do not settle (they move by {error:.2g} of {size:.2g})"
        raise CheckFailed(f"{what}: {moved}; {BEYOND}")
    expect_close(what, found, wanted, relative * size + 10.0 * error + rounding)
