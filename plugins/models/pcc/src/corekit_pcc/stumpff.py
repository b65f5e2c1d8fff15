"""The entire functions behind sines, cosines and their quotients, and every derivative, without a division.

    S_n(u) = Σ_k (−u)ᵏ/(2k + n)!                                                          (1)
    S_0 = cos θ,  S_1 = sin θ/θ,  S_2 = (1 − cos θ)/θ²,  S_3 = (θ − sin θ)/θ³,   u = θ²

They are analytic in u everywhere, so that a straight section is a point like any other: nothing here checks
whether θ is small. The two highest are summed, the others and all derivatives follow from

    S_n = 1/n! − u·S_{n+2}                                                                (2)
    dS_n/du = ½·(n·S_{n+2} − S_{n+1})                                                     (3)

Beyond θ = 2 the argument is quartered (θ halved) until the sum is short, then doubled back:

    2ⁿ·S_n(4u) = Σ_{k=0}^{n−2} S_{n−k}(u)/k! + S_0·S_n + S_1·S_{n−1},   n ≥ 2             (4)
    S_1(4u) = S_0·S_1,   S_0(4u) = 1 − 4u·S_2(4u)

(4) is the addition theorem of the n-fold integrals G_n(t) = tⁿ·S_n(t²·u) of cos: G_n(2t) by Taylor's theorem
about t, the remainder being the n-fold integral of cos(t + τ).

Source: Stiefel and Scheifele (1971), "Linear and regular celestial mechanics" (S_n are Stumpff's
functions).
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["FUNCTIONS", "derivatives", "series_coefficients", "stumpff"]

FUNCTIONS = 9
"""S_0 … S_8 are kept: S_8 is what the third derivative of S_2 needs."""

_RADIUS = 4.0
_TERMS = 10


def series_coefficients(n: int, terms: int) -> Array:
    """Coefficients (−1)ᵏ/(2k + n)! of (1), k = 0 … terms − 1."""
    return np.array([(-1.0) ** k / math.factorial(2 * k + n) for k in range(terms)])


_LAST = series_coefficients(FUNCTIONS - 1, _TERMS)
_SECOND_LAST = series_coefficients(FUNCTIONS - 2, _TERMS)
_INVERSE_FACTORIAL = np.array([1.0 / math.factorial(n) for n in range(FUNCTIONS)])


@compiled
def stumpff(u: float, out: Array) -> None:
    """Write S_0(u) … S_8(u) into `out`, shape (9,); relative to 1 exact to 1e-14 for θ up to 4π and beyond."""
    doublings = 0
    while u > _RADIUS and doublings < 64:
        u *= 0.25
        doublings += 1
    last = _LAST[_TERMS - 1]
    second_last = _SECOND_LAST[_TERMS - 1]
    for k in range(_TERMS - 2, -1, -1):
        last = last * u + _LAST[k]
        second_last = second_last * u + _SECOND_LAST[k]
    out[FUNCTIONS - 1] = last
    out[FUNCTIONS - 2] = second_last
    for n in range(FUNCTIONS - 3, -1, -1):
        out[n] = _INVERSE_FACTORIAL[n] - u * out[n + 2]
    for _ in range(doublings):
        u *= 4.0
        _double(u, out)


@compiled
def _double(u: float, out: Array) -> None:
    """Equation (4) in place: S_n(u/4) → S_n(u)."""
    scale = 0.5 ** (FUNCTIONS - 1)
    for n in range(FUNCTIONS - 1, 1, -1):
        total = out[0] * out[n] + out[1] * out[n - 1]
        for k in range(n - 1):
            total += out[n - k] * _INVERSE_FACTORIAL[k]
        out[n] = scale * total
        scale *= 2.0
    out[1] *= out[0]
    out[0] = 1.0 - u * out[2]


@compiled
def derivatives(u: float, order: int, out: Array) -> None:
    """Write dᵐS_n/duᵐ into out[m, n] for m ≤ order ≤ 3, n ≤ 8 − 2m; `out` has shape (≥ order + 1, 9)."""
    stumpff(u, out[0])
    for m in range(1, order + 1):
        for n in range(FUNCTIONS - 2 * m):
            out[m, n] = 0.5 * (n * out[m - 1, n + 2] - out[m - 1, n + 1])
