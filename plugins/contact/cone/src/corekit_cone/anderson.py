"""Acceleration of sweeps after Anderson, by the last changes of λ.

With x the impulses before some sweeps and c(x) their change, of the last differences ΔX and ΔC the combination

    x + c − (ΔX + ΔC)·γ,    γ = argmin |c − ΔC·γ|                                              (1)

would leave the smallest change if c were linear. It is, as long as no contact changes its mode.

Source: Walker, Ni (2011), Anderson acceleration for fixed-point iterations, SIAM J. Numer. Anal. 49.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np

from corekit.data.arrays import Array

__all__ = ["AndersonHistory"]

_HISTORY: Final = 12
_REGULARISATION: Final = 1e-12
"""Of the normal equations, relative to their trace."""


@final
class AndersonHistory:
    """The last differences, in a ring.

    Args:
        rows: length of λ.
    """

    def __init__(self, rows: int) -> None:
        self._ends, self._changes = np.zeros((2, _HISTORY, rows))
        self._gram = np.zeros((_HISTORY, _HISTORY))
        self._count = self._next = 0
        self._before: tuple[Array, Array] | None = None

    def step(self, after: Array, change: Array) -> Array | None:
        """Keep λ after sweeps and their change; return the step of (1) from there, None the first time."""
        before, self._before = self._before, (after, change)
        if before is None:
            return None
        k = self._next
        np.subtract(after, before[0], out=self._ends[k])
        np.subtract(change, before[1], out=self._changes[k])
        self._count, self._next = max(self._count, k + 1), (k + 1) % _HISTORY
        changes = self._changes[: self._count]
        self._gram[k, : self._count] = self._gram[: self._count, k] = changes @ changes[k]
        gram = self._gram[: self._count, : self._count].copy()
        gram[np.diag_indices_from(gram)] += _REGULARISATION * np.trace(gram) + 1e-300
        weight = np.linalg.solve(gram, changes @ change)
        return -(weight @ self._ends[: self._count])
