"""Which relaxation to try next: a ladder that may go up again.

From the last success ε_s (none at first) and the last failure ε_f:

    success            ε ← max(final, ε·shrink)                                             (1)
    failure, near      ε ← √(ε_s·ε_f) while ε_s > 4·ε_f: a smaller stride from the last success
    failure, again     ε ← 10·ε_s: up, from where the failed attempt ended, to leave its neighbourhood; not past
                       the loosest, 10⁴·first
    failure at first   ε ← 10·ε; for a penalty ε ← ε/10, as a weak one may leave the program unbounded
    infeasible at first  ε ← 10⁴·first, the loosest; infeasible there as well, or under a penalty, ends it

It ends with a success at the final ε, when it had to go up twice and failed again, or when even the loosest program
is infeasible: then the constraints contradict each other whatever complementarity asks.
"""

from __future__ import annotations

from typing import final

__all__ = ["Ladder"]

_NEAR = 4.0
_LOOSEST = 1e4
_CLOSE = 1.0 + 1e-9
_CLIMBS = 2


@final
class Ladder:
    """The sequence of ε.

    Args:
        first, final: where it begins and where it wants to end.
        shrink: factor after a success.
        retreat: factor after a failure without any success yet.
    """

    def __init__(self, first: float, final: float, shrink: float = 1e-2, retreat: float = 10.0) -> None:
        self._first, self._final, self._shrink, self._retreat = max(first, final), final, shrink, retreat
        self._good: float | None = None
        self.epsilon: float | None = self._first
        self.restart = False
        self._climbs = 0

    def tell(self, *, success: bool, infeasible: bool = False) -> None:
        """Say how the attempt at `epsilon` went; then `epsilon` is the next one, or None where it ends.

        `restart` tells that the next attempt begins where the failed one ended, not at the last success.
        """
        now = self.epsilon
        if now is None:
            return
        self.restart = False
        if success:
            self._good = now
            below = now * self._shrink
            self.epsilon = (
                None if now <= self._final else below if below > self._final * _CLOSE else self._final
            )
        elif infeasible and self._good is None:
            loosest = _LOOSEST * self._first
            self.epsilon = loosest if now < loosest and self._retreat > 1.0 else None
        elif self._good is None:
            next_one = now * self._retreat
            self.epsilon = next_one if self._final <= next_one <= _LOOSEST * self._first else None
        elif self._good > _NEAR * now:
            self.epsilon = (self._good * now) ** 0.5
        else:
            self._climbs += 1
            above = self._good * 10.0
            self.epsilon = above if self._climbs <= _CLIMBS and above <= _LOOSEST * self._first else None
            self._good = None
            self.restart = True
