"""How kernels are compiled: cached on disk, and with IEEE division, so that a nan stays a nan to be seen."""

from __future__ import annotations

from numba import njit

__all__ = ["compiled"]

compiled = njit(cache=True, error_model="numpy")
