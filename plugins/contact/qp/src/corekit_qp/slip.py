"""The slip speeds at which the relaxed program gives Coulomb's answer: a fixed point, found with memory.

    σ_k+1 = γ(σ_k),   γ the slip speeds of the program's answer with the shifts σ                 (1)

For one contact (1) contracts by μ²/(1 + μ²). Anderson's method mixes the last few iterates so that several contacts
take few rounds more: the σ whose combined residuals γ(σ) − σ are least.

Where contacts nearly repeat each other, σ passes through stretches on which γ(σ) − σ hardly changes, and its secants
say nothing. After `_PATIENCE` rounds (1) alone goes on from the best σ, in strides that double while γ(σ) − σ stays
the same.

Source: Anderson (1965), Iterative procedures for nonlinear integral equations, J. ACM 12.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray

__all__ = ["SlipMemory", "SlipSearch"]

_DEPTH = 5
_PATIENCE, _SAME, _LONGEST = 20, 0.25, 64.0
_NO_ID: IntArray = np.zeros(0, dtype=np.int64)


@final
class SlipSearch:
    """Proposes the next σ from those tried and what they gave."""

    def __init__(self) -> None:
        self._tried: list[Array] = []
        self._gave: list[Array] = []
        self._rounds, self._stride = 0, 1.0
        self._best: tuple[Array, Array] | None = None

    def next(self, tried: Array, gave: Array) -> Array:
        """The next σ ≥ 0, shape (m,) [m/s]."""
        self._tried.append(tried.copy())
        self._gave.append(gave.copy())
        del self._tried[:-_DEPTH], self._gave[:-_DEPTH]
        self._rounds += 1
        # a throw that is better by rounding alone is none
        if (
            self._best is None
            or np.abs(gave - tried).max() < 0.99 * np.abs(self._best[1] - self._best[0]).max()
        ):
            self._best = tried.copy(), gave.copy()
        if self._rounds > _PATIENCE:
            return self._creep()
        if self._rounds == 1:
            return gave.copy()
        x, g = np.array(self._tried).T, np.array(self._gave).T
        residual = g - x
        steps = residual[:, 1:] - residual[:, :-1]
        share = np.linalg.lstsq(steps, residual[:, -1], rcond=1e-10)[0]
        return np.maximum(g[:, -1] - (g[:, 1:] - g[:, :-1]) @ share, 0.0)

    def _creep(self) -> Array:
        """What (1) gives in strides, from the best σ at first."""
        if self._best is not None and self._rounds == _PATIENCE + 1:
            return self._best[1]
        now, before = self._gave[-1] - self._tried[-1], self._gave[-2] - self._tried[-2]
        same = np.abs(now - before).max() <= _SAME * np.abs(now).max()
        self._stride = min(2.0 * self._stride, _LONGEST) if same else 1.0
        return np.maximum(self._tried[-1] + self._stride * now, 0.0)


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
