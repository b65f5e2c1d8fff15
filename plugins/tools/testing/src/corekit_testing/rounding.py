"""How far rounding alone may part two results, for tests that compare floating-point numbers.

Two ways to the same number, or one way on two machines, round differently: other instructions (a fused multiply-add),
another order of a sum, another library. A test says how many roundings a number passes through and how large the
numbers on the way are; what follows holds on every machine. Equality bit for bit is claimed of one way alone, taken
twice by the same process or after its state was saved.
"""

from __future__ import annotations

import math
import sys

__all__ = ["rounding"]


def rounding(operations: float, *scales: float) -> float:
    """Bound of the difference of two results that differ by rounding alone.

        |x̂ − ŷ| ≤ γ(n)·s₁·s₂·…,   γ(n) = n·ε / (1 − n·ε),   ε = 2⁻⁵²                        (1)

    ε is twice the unit roundoff, so that n counts the operations on one way and the other is free; a sum of m
    products counts m, sin, cos, exp and √ count one (libraries keep them within one unit in the last place).

    Args:
        operations: n, the most operations that a number passes one after the other.
        scales: what multiplies: the largest number on the way (in the unit of the result), norms, and the
            condition number where a system is solved. Without one the result itself is of order one.

    Source: Higham (2002), Accuracy and Stability of Numerical Algorithms, lemma 3.1.
    """
    done = operations * sys.float_info.epsilon
    return done / (1.0 - done) * math.prod(abs(float(scale)) for scale in scales)
