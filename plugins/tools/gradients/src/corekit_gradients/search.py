"""Minima of a function with kinks, within bounds, from values and gradients: BFGS with a weak Wolfe line search.

A run in contact is smooth between changes of its contacts and has kinks where they change. BFGS goes on there if its
line search asks for no more than a kink can give, a weak Wolfe point

    f(x + t·d) ≤ f(x) + c₁·t·g·d,      g(x + t·d)·d ≥ c₂·g·d                                                (1)

found by halving and doubling (A. S. Lewis, M. L. Overton, "Nonsmooth optimization via quasi-Newton methods",
Mathematical Programming 141 (2013), 135–163). A minimum at a kink has no small gradient. There the shortest vector
among the convex combinations of gradients g_j met close by is small:

    s = min |Σ_j λ_j·g_j|,     λ_j ≥ 0,   Σ_j λ_j = 1                                                       (2)

Where −H·g leads upwards, −g is tried, and then the opposite of the shortest combination (2) of what was met on the way.
Variables stop at their bounds along the line, P(x + t·d) with P into the bounds, and stay there until their gradients
pull them back (D. P. Bertsekas, SIAM Journal on Control and Optimization 20 (1982), 221–246). A value that is not
finite is no step, and is met by halving, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, BoolArray

__all__ = ["Minimum", "minimise", "shortest_combination"]

Function = Callable[[Array], tuple[float, Array]]

_SUFFICIENT, _CURVATURE = 1e-4, 0.5
_HALVINGS: Final = 40
_STALLED: Final = 3
"""Iterations in a row that gain less than the tolerance, after which the search ends."""
_CLOSE: Final = 1e-4
"""Distance within which gradients count as of one place, in scales of the variables."""


@frozen
class Minimum:
    """Where a search ended.

    Args:
        x, value, gradient: there.
        iterations, calls: how many of each; a call is a value with its gradient.
        converged: whether the search ended by its tolerance. reason: why it ended, in a sentence.
        stationarity: (2) of the free variables there.
    """

    x: Array
    value: float
    gradient: Array
    iterations: int
    calls: int
    converged: bool
    reason: str
    stationarity: float


def minimise(
    function: Function,
    start: Array,
    low: Array,
    high: Array,
    *,
    iterations: int,
    tolerance: float,
    progress: Callable[[int, int, float, float, Array], object] | None = None,
) -> Minimum:
    """Search from a start, of which every variable has the size 1.

    Args:
        function: x → (value, gradient), each finite, or a value that is not: there is none at x.
        start: shape (n,). low, high: bounds, infinite where there are none.
        iterations: at most so many.
        tolerance: of the projected gradient, and of what an iteration gains, relative to the value at the start.
        progress: called after every iteration with its number, the calls, the value, the projected gradient, and x.
    """
    search = _Search(function, np.clip(start, low, high), low, high)
    if not np.isfinite(search.value):
        return search.end(0, "the start has no finite value")
    scale, stalled = max(abs(search.value), np.finfo(float).tiny), 0
    for k in range(iterations):
        if search.projected_gradient() <= tolerance * scale:
            return search.end(k, "the gradient vanishes up to the tolerance", converged=True)
        before = search.value
        if not search.advance():
            is_kink = search.stationarity() <= np.sqrt(tolerance) * scale
            said = (
                "a kink that no direction leaves downwards"
                if is_kink
                else "no lower value along the direction"
            )
            return search.end(k, said, converged=is_kink)
        if progress is not None:
            progress(k + 1, search.calls, search.value, search.projected_gradient(), search.x)
        stalled = stalled + 1 if before - search.value <= tolerance * scale else 0
        if stalled == _STALLED:
            return search.end(k + 1, f"{_STALLED} iterations gained less than the tolerance", converged=True)
    return search.end(iterations, f"{iterations} iterations were allowed")


def shortest_combination(gradients: Array) -> Array:
    """The vector of (2), shape (n,), of rows of gradients, shape (k, n)."""
    from scipy.optimize import nnls

    size = np.abs(gradients).max(initial=0.0)
    if size == 0.0:
        return np.zeros(gradients.shape[1])
    # Σλ = 1 as a row that outweighs the others; the combination is scaled to it afterwards
    rows = np.vstack([gradients.T / size, np.full(len(gradients), 1e3)])
    weights, _ = nnls(rows, np.concatenate([np.zeros(gradients.shape[1]), [1e3]]))
    return weights @ gradients / weights.sum()


class _Search:
    """A place, its gradient, and the inverse H of the curvature that was met on the way there."""

    def __init__(self, function: Function, start: Array, low: Array, high: Array) -> None:
        self._function, self._low, self._high = function, low, high
        self.calls = 0
        self.x = start.copy()
        self.value, self.gradient = self._call(self.x)
        self._inverse: Array | None = None
        self._met: deque[tuple[Array, Array]] = deque([(self.x, self.gradient)], maxlen=2 * len(start) + 2)

    def _call(self, x: Array) -> tuple[float, Array]:
        self.calls += 1
        return self._function(x)

    def _free(self) -> BoolArray:
        """The variables that no bound holds."""
        held = ((self.x <= self._low) & (self.gradient > 0.0)) | (
            (self.x >= self._high) & (self.gradient < 0.0)
        )
        return ~held

    def projected_gradient(self) -> float:
        """The largest |P(x − g) − x|, with P into the bounds."""
        return float(np.abs(np.clip(self.x - self.gradient, self._low, self._high) - self.x).max(initial=0.0))

    def stationarity(self) -> float:
        """(2) of the free variables."""
        return float(np.linalg.norm(self._shortest())) if np.isfinite(self.value) else np.inf

    def _shortest(self) -> Array:
        """The vector of (2), zero for variables that bounds hold."""
        free = self._free()
        close = [g for x, g in self._met if np.abs(x - self.x).max(initial=0.0) <= _CLOSE]
        return shortest_combination(np.where(free, np.array([self.gradient, *close]), 0.0))

    def advance(self) -> bool:
        """Go to a weak Wolfe point; whether there is one along −H·g, −g, or against the shortest combination."""
        free = self._free()
        if self._inverse is not None and self._search_along(self._direction(free)):
            return True
        self._inverse = None
        # at a kink −g may lead upwards at once; what its search met there says where down is
        return self._search_along(self._direction(free)) or self._search_along(-self._shortest())

    def _direction(self, free: BoolArray) -> Array:
        direction = np.zeros_like(self.x)
        if self._inverse is None:
            direction[free] = -self.gradient[free]
            return direction
        # of the free variables alone: what curvature couples to those at bounds is taken out
        inverse, held = self._inverse, ~free
        block = inverse[np.ix_(free, free)]
        if held.any():
            cross = inverse[np.ix_(free, held)]
            block = block - cross @ np.linalg.solve(inverse[np.ix_(held, held)], cross.T)
        direction[free] = -block @ self.gradient[free]
        return direction

    def _search_along(self, direction: Array) -> bool:
        """Search for a weak Wolfe point of the path P(x + t·d), on which variables stop at their bounds."""
        out = ((self.x <= self._low) & (direction < 0.0)) | ((self.x >= self._high) & (direction > 0.0))
        direction = np.where(out, 0.0, direction)
        slope = float(self.gradient @ direction)
        if not slope < 0.0:
            return False
        low, high, lowest = 0.0, np.inf, None
        step = 1.0 if self._inverse is not None else self._first_step(direction, slope)
        for _ in range(_HALVINGS):
            x = np.clip(self.x + step * direction, self._low, self._high)
            value, gradient = self._call(x)
            is_finite = bool(np.isfinite(value) and np.isfinite(gradient).all())
            if is_finite:
                self._met.append((x, gradient))
            gain = float(self.gradient @ (x - self.x))
            moving = np.where((x > self._low) & (x < self._high), direction, 0.0)
            ahead = float(self.gradient @ moving)
            if not (is_finite and gain < 0.0 and value <= self.value + _SUFFICIENT * gain):
                high = step
            elif ahead < 0.0 and float(gradient @ moving) < _CURVATURE * ahead:
                low, lowest = step, (x, value, gradient)
            else:
                self._accept(x, value, gradient)
                return True
            step = 0.5 * (low + high) if np.isfinite(high) else 2.0 * step
        if lowest is not None:  # lower, but for ever steeper: as far as was seen
            self._accept(*lowest)
        return lowest is not None

    def _first_step(self, direction: Array, slope: float) -> float:
        """Without known curvature: to the minimum of a parabola whose least value is 0, a sum of squares that vanishes.

        No variable moves by more than its size.
        """
        step = 1.0 / float(np.abs(direction).max())
        return min(step, 2.0 * abs(self.value) / -slope) if self.value else step

    def _accept(self, x: Array, value: float, gradient: Array) -> None:
        moved, turned = x - self.x, gradient - self.gradient
        curvature = float(moved @ turned)
        self.x, self.value, self.gradient = x, value, gradient
        if not curvature > np.finfo(float).eps * float(np.linalg.norm(moved) * np.linalg.norm(turned)):
            return
        if self._inverse is None:
            self._inverse = np.eye(len(x)) * (curvature / float(turned @ turned))
        product = self._inverse @ turned
        self._inverse += (1.0 + float(turned @ product) / curvature) / curvature * np.outer(moved, moved)
        self._inverse -= (np.outer(moved, product) + np.outer(product, moved)) / curvature

    def end(self, iterations: int, reason: str, *, converged: bool = False) -> Minimum:
        """The place as it is."""
        return Minimum(
            self.x, self.value, self.gradient, iterations, self.calls, converged, reason, self.stationarity()
        )
