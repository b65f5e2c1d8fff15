"""Linear-quadratic tracking in discrete time: the Riccati recursion with offsets.

Errors e_k from a reference obey, with the change δu_k of its inputs,

    e_{k+1} = A_k·e_k + B_k·δu_k + c_k,    k = 0 … N−1                                      (1)

c_k is what the reference itself misses, 0 where it is a motion of the system. The cost

    ½·e_Nᵀ·Q_N·e_N + Σ_k ½·(e_kᵀ·Q·e_k + δu_kᵀ·R·δu_k)                                      (2)

from k on is ½·eᵀ·P_k·e + p_kᵀ·e + const. at its least. That holds at N with P_N = Q_N, p_N = 0. If it holds at k + 1,
the derivative by δu of (2) from k on vanishes where

    R·δu + Bᵀ·(P⁺·(A·e + B·δu + c) + p⁺) = 0,    so that δu = −K·e − s with
    S = R + Bᵀ·P⁺·B,    K = S⁻¹·Bᵀ·P⁺·A,    s = S⁻¹·Bᵀ·(P⁺·c + p⁺)                          (3)

and, put into (2), with the closed loop F = A − B·K,

    P = Q + Kᵀ·R·K + Fᵀ·P⁺·F,    p = Fᵀ·(P⁺·c + p⁺)                                          (4)

(4) is the form of Joseph: a sum of squares, so that P stays positive semidefinite to rounding. With A, B constant and
c = 0, P_k tends backwards to the solution of the algebraic Riccati equation.

Source: Anderson, Moore (1990), Optimal Control: Linear Quadratic Methods, chapters 2 and 4.
"""

from __future__ import annotations

import numpy as np
from attrs import frozen
from scipy.linalg import cho_factor, cho_solve

from corekit.data.arrays import Array

__all__ = ["TrackingGains", "solve_tracking"]


@frozen(eq=False)
class TrackingGains:
    """The law δu_k = −K_k·e_k − s_k.

    Args:
        feedback: K, shape (N, m, n).
        offset: s, shape (N, m).
        value: P_0 … P_N, shape (N + 1, n, n).
    """

    feedback: Array
    offset: Array
    value: Array


def solve_tracking(a: Array, b: Array, c: Array, q: Array, r: Array, q_end: Array) -> TrackingGains:
    """Return the least of (2) under (1), by (3) and (4).

    Args:
        a, b, c: A_k, B_k and c_k, shapes (N, n, n), (N, n, m), (N, n).
        q, r, q_end: Q, R and Q_N, symmetric, Q and Q_N positive semidefinite, R positive definite.
    Raises:
        numpy.linalg.LinAlgError: S is not positive definite, as of weights that are not.
    """
    count, n, m = b.shape
    feedback, offset = np.empty((count, m, n)), np.empty((count, m))
    value, slope = np.empty((count + 1, n, n)), np.zeros(n)
    value[count] = q_end
    for k in range(count - 1, -1, -1):
        ahead = value[k + 1]
        pushed = ahead @ b[k]
        factor = cho_factor(r + b[k].T @ pushed)
        feedback[k] = cho_solve(factor, pushed.T @ a[k])
        slope += ahead @ c[k]
        offset[k] = cho_solve(factor, b[k].T @ slope)
        closed = a[k] - b[k] @ feedback[k]
        whole = q + feedback[k].T @ r @ feedback[k] + closed.T @ ahead @ closed
        value[k] = 0.5 * (whole + whole.T)
        slope = closed.T @ slope
    return TrackingGains(feedback, offset, value)
