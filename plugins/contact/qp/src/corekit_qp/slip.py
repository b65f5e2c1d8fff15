"""The slip speeds at which the relaxed program gives Coulomb's answer: a fixed point, found with memory.

    σ_k+1 = γ(σ_k),   γ the slip speeds of the program's answer with the shifts σ                 (1)

For one contact (1) contracts by μ²/(1 + μ²). Anderson's method mixes the last few iterates so that several contacts
take few rounds more: the σ whose combined residuals γ(σ) − σ are least.

Source: Anderson (1965), Iterative procedures for nonlinear integral equations, J. ACM 12.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray

__all__ = ["SlipMemory", "SlipSearch"]

_DEPTH = 5
_NO_ID: IntArray = np.zeros(0, dtype=np.int64)


@final
class SlipSearch:
    """Proposes the next σ from those tried and what they gave."""

    def __init__(self) -> None:
        self._tried: list[Array] = []
        self._gave: list[Array] = []

    def next(self, tried: Array, gave: Array) -> Array:
        """The next σ ≥ 0, shape (m,) [m/s]."""
        self._tried.append(tried.copy())
        self._gave.append(gave.copy())
        del self._tried[:-_DEPTH], self._gave[:-_DEPTH]
        if len(self._tried) == 1:
            return gave.copy()
        x, g = np.array(self._tried).T, np.array(self._gave).T
        residual = g - x
        steps = residual[:, 1:] - residual[:, :-1]
        share = np.linalg.lstsq(steps, residual[:, -1], rcond=1e-10)[0]
        return np.maximum(g[:, -1] - (g[:, 1:] - g[:, :-1]) @ share, 0.0)


@final
class SlipMemory:
    """Slip speeds of the last answer, by contact.

    Attributes:
        id, slip: shape (m,) [m/s].
    """

    def __init__(self) -> None:
        self.id: IntArray = _NO_ID
        self.slip: Array = np.zeros(0)

    def of(self, ids: IntArray) -> Array:
        """Slip speeds of contacts, zero for new ones; a new array."""
        if len(ids) == len(self.id) and not np.count_nonzero(ids != self.id):
            return self.slip.copy()
        known = dict(zip(self.id.tolist(), self.slip.tolist(), strict=True))
        return np.array([known.get(each, 0.0) for each in ids.tolist()], dtype=np.float64)

    def keep(self, ids: IntArray, slip: Array) -> None:
        """Remember an answer."""
        self.id, self.slip = ids.copy(), slip.copy()
