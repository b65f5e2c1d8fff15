"""Schedule of relaxations that may increase again.

From the last success ε_s (none at first) and the last failure ε_f:

    success            ε ← max(final, ε·shrink)                                             (1)
    failure            ε ← √(ε_s·ε_f) while ε_s > 4·ε_f: a smaller step from the last success
    repeated failure   ε ← 10·ε_s from the last point, to leave its neighbourhood; at most 10⁴·first
    first failure      ε ← 10·ε; for a penalty ε ← ε/10, because a small penalty may leave the program unbounded
    first infeasible   ε ← 10⁴·first, the largest; infeasible there too, or with a penalty, ends the schedule

It ends with a success at the final ε, with a failure after two increases, or if the program with the largest ε is
infeasible: then the constraints contradict each other even without complementarity.
"""

from __future__ import annotations

from typing import final

__all__ = ["RelaxationSchedule"]

_NEAR = 4.0
_MAX_FACTOR = 1e4
_ROUNDING = 1.0 + 1e-9
_MAX_INCREASES = 2


@final
class RelaxationSchedule:
    """Sequence of ε.

    Args:
        first, final: first and last ε.
        shrink: factor after a success.
        retreat: factor after a failure before any success.

    Attributes:
        epsilon: ε of the next attempt; None at the end.
        restart: whether the next attempt begins at the point of the failed one, not at the last success.
    """

    def __init__(self, first: float, final: float, shrink: float = 1e-2, retreat: float = 10.0) -> None:
        self._first, self._final, self._shrink, self._retreat = max(first, final), final, shrink, retreat
        self._last_success: float | None = None
        self.epsilon: float | None = self._first
        self.restart = False
        self._increases = 0

    def record_attempt(self, *, success: bool, infeasible: bool = False) -> None:
        """Record the outcome of the attempt at `epsilon` and set the next one."""
        epsilon = self.epsilon
        if epsilon is None:
            return
        self.restart = False
        if success:
            self._last_success = epsilon
            smaller = epsilon * self._shrink
            smaller = smaller if smaller > self._final * _ROUNDING else self._final
            self.epsilon = None if epsilon <= self._final else smaller
        elif infeasible and self._last_success is None:
            largest = _MAX_FACTOR * self._first
            self.epsilon = largest if epsilon < largest and self._retreat > 1.0 else None
        elif self._last_success is None:
            larger = epsilon * self._retreat
            self.epsilon = larger if self._final <= larger <= _MAX_FACTOR * self._first else None
        elif self._last_success > _NEAR * epsilon:
            self.epsilon = (self._last_success * epsilon) ** 0.5
        else:
            self._increases += 1
            larger = self._last_success * 10.0
            self.epsilon = (
                larger if self._increases <= _MAX_INCREASES and larger <= _MAX_FACTOR * self._first else None
            )
            self._last_success = None
            self.restart = True
