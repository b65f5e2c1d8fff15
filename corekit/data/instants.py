"""How far apart instants are the same, and what rounding and breakpoints make of a grid t₀ + n·h."""

from __future__ import annotations

import math
import sys

__all__ = ["beside_grid", "grid_rounding", "same_instant"]

_ROUNDING, _LEAST = 1e-12, sys.float_info.min
"""Relative to t, and at the start of all time [s]."""
_CLOSE = 1e-9
"""Of h."""
_LAST_PLACES = 4.0
"""Two roundings of either point, each by less than one last place in any rounding mode."""


def same_instant(time: float) -> float:
    """How far apart from an instant another one is the same but for rounding [s], in any unit of time."""
    return _ROUNDING * abs(time) + _LEAST


def beside_grid(time: float, step: float) -> float:
    """How far from a grid point t₀ + n·h a breakpoint lies beside it, so that no step is between them [s].

    It is 1e-9·h, and from t = 1000·h on rounding of t.
    """
    return max(_CLOSE * step, same_instant(time))


def grid_rounding(time: float, step: float) -> float:
    """By how much rounding puts a grid point and the next more or less than h apart [s]."""
    return _LAST_PLACES * math.ulp(abs(time) + step)
