"""How far apart instants are the same."""

from __future__ import annotations

import sys

__all__ = ["same_instant"]

_ROUNDING, _LEAST = 1e-12, sys.float_info.min
"""Relative to t, and at the start of all time [s]."""


def same_instant(time: float) -> float:
    """How far apart from an instant another one is the same but for rounding [s], in any unit of time."""
    return _ROUNDING * abs(time) + _LEAST
