"""How kernels are compiled: cached on disk, and with IEEE division, so that a nan stays a nan to be seen."""

from __future__ import annotations

from numba import njit

__all__ = ["compiled", "number"]

compiled = njit(cache=True, error_model="numpy")


@compiled
def number(value: int) -> int:
    """An integer that is not a literal to the compiler, which would compile callees anew for every literal."""
    return int(value)
