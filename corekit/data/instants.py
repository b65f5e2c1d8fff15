"""How far apart instants are the same, and how far a breakpoint is no instant of its own."""

from __future__ import annotations

import sys

__all__ = ["beside_grid", "same_instant"]

_ROUNDING, _LEAST = 1e-12, sys.float_info.min
"""Relative to t, and at the start of all time [s]."""
_CLOSE = 1e-9
"""Of h."""


def same_instant(time: float) -> float:
    """How far apart from an instant another one is the same but for rounding [s], in any unit of time."""
    return _ROUNDING * abs(time) + _LEAST


def beside_grid(time: float, step: float) -> float:
    """How far from a grid point a breakpoint lies beside it, so that no step of h is between them [s].

    Late in a run, from t = 1000·h on, that is what rounding leaves of t.
    """
    return max(_CLOSE * step, same_instant(time))
