"""The slip speeds with which the relaxed program satisfies Coulomb's law: an accelerated fixed-point iteration.

    σ_k+1 = γ(σ_k),   γ the slip speeds of the solution with the shifts σ                         (1)

For one contact, (1) contracts by μ²/(1 + μ²). Anderson's method combines the last iterates with the weights that
minimise their combined residual γ(σ) − σ, so that several contacts need few more iterations.

Where contacts nearly duplicate each other, σ crosses intervals on which γ(σ) − σ hardly changes, and secants are
useless. After `_PATIENCE` iterations the search therefore repeats (1) alone from the best σ, with steps that double
while γ(σ) − σ stays the same, and halve where it turns round.

From points of this sequence Newton's steps are tried (`slip_newton`). They go on while each halves γ(σ) − σ, and end at
the solution if they end on its linear piece. Else the sequence continues as if they had not been tried, and the next
trial comes later.

Source: Anderson (1965), Iterative procedures for nonlinear integral equations, J. ACM 12.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

import numpy as np

from corekit.data.arrays import Array, IntArray

__all__ = ["Newton", "SlipSearch", "SlipWarmStart"]

_DEPTH = 5
"""Iterates that Anderson's method combines."""
_PATIENCE = 20
_SAME = 0.25
"""Relative change below which γ(σ) − σ stays the same."""
_MAX_STEP = 64.0
_GAIN, _MAX_PAUSE = 0.5, 4
"""Part of γ(σ) − σ that Newton's step leaves at most, and most iterations without a trial after it left more."""
_FIRST_TRIAL = 2
_NO_ID: IntArray = np.zeros(0, dtype=np.int64)

Newton: TypeAlias = Callable[[Array], Array]
"""From σ to the zero of γ(σ) − σ on its linear piece."""


@final
class SlipSearch:
    """Proposes the next σ from the shifts tried and the slip speeds that they gave."""

    def __init__(self) -> None:
        self._shifts: list[Array] = []
        self._slips: list[Array] = []
        self._count, self._step = 0, 1.0
        self._best: tuple[Array, Array] | None = None
        self._next: Array | None = None  # with which the sequence goes on after a trial
        self._size, self._pause, self._wait = 0.0, 0, 1

    def propose(self, shift: Array, slip: Array, newton: Newton | None = None) -> Array:
        """Propose the next σ ≥ 0, shape (m,), after a shift that gave the slip speeds `slip`.

        Args:
            newton: Newton's step from there, if the program has one.
        """
        size = float(np.abs(slip - shift).max())
        if self._next is not None and newton is not None:
            if size < _GAIN * self._size:
                self._size = size
                return newton(shift)
            following, self._next = self._next, None
            self._pause, self._wait = self._wait, min(2 * self._wait, _MAX_PAUSE)
            return following
        following = self._continue(shift, slip)
        if newton is None or self._count < _FIRST_TRIAL or self._pause > 0:
            self._pause = max(self._pause - 1, 0)
            return following
        self._next, self._size = following, size
        return newton(shift)

    def _continue(self, shift: Array, slip: Array) -> Array:
        """The next σ of the sequence."""
        self._shifts.append(shift.copy())
        self._slips.append(slip.copy())
        del self._shifts[:-_DEPTH], self._slips[:-_DEPTH]
        self._count += 1
        # an improvement within rounding must not replace the best
        if (
            self._best is None
            or np.abs(slip - shift).max() < 0.99 * np.abs(self._best[1] - self._best[0]).max()
        ):
            self._best = shift.copy(), slip.copy()
        if self._count > _PATIENCE:
            return self._repeat()
        if self._count == 1:
            return slip.copy()
        x, g = np.array(self._shifts).T, np.array(self._slips).T
        residual = g - x
        differences = residual[:, 1:] - residual[:, :-1]
        weights = np.linalg.lstsq(differences, residual[:, -1], rcond=1e-10)[0]
        return np.maximum(g[:, -1] - (g[:, 1:] - g[:, :-1]) @ weights, 0.0)

    def _repeat(self) -> Array:
        """Apply (1) with a step factor, at first from the best σ."""
        if self._best is not None and self._count == _PATIENCE + 1:
            return self._best[1]
        residual, previous = self._slips[-1] - self._shifts[-1], self._slips[-2] - self._shifts[-2]
        if np.abs(residual - previous).max() <= _SAME * np.abs(residual).max():
            self._step = min(2.0 * self._step, _MAX_STEP)
        elif residual @ previous < 0.0:
            self._step = max(0.5 * min(self._step, 2.0), 1.0 / _MAX_STEP)
        else:
            self._step = min(1.5 * self._step, 1.0)
        return np.maximum(self._shifts[-1] + self._step * residual, 0.0)


@final
class SlipWarmStart:
    """Slip speeds of the last solution, by contact.

    Attributes:
        id, speed: shape (m,) [m/s].
    """

    def __init__(self) -> None:
        self.id: IntArray = _NO_ID
        self.speed: Array = np.zeros(0)

    def match(self, ids: IntArray) -> Array:
        """The slip speeds of contacts, zero for new ones; a new array."""
        if len(ids) == len(self.id) and not np.count_nonzero(ids != self.id):
            return self.speed.copy()
        known = dict(zip(self.id.tolist(), self.speed.tolist(), strict=True))
        return np.array([known.get(each, 0.0) for each in ids.tolist()], dtype=np.float64)

    def store(self, ids: IntArray, speed: Array) -> None:
        """Store the slip speeds of a solution."""
        self.id, self.speed = ids.copy(), speed.copy()
