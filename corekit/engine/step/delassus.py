"""How impulses change the velocities of a world: W, w₀, and the velocity that they lead to.

    W = J·G·Jᵀ,   w₀ = J·v_f + bias,   v⁺ = v_f + G·Jᵀ·λ                                                (1)

J stacks the contact rows (`rows_per_contact` each) and the bounded constraints. Where every body's A = L·Lᵀ is at
hand, half of G·Jᵀ is enough:

    Y = L⁻¹·Jᵀ,   W = Yᵀ·Y,   G·Jᵀ·λ = L⁻ᵀ·(Y·λ)                                                        (2)

Chains of rods have bands, and contacts that each move a few of their velocities: then W is summed over the entries of J
that are not zero, in its lower half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.cholesky import add_impulse_response, forward_substitute
from corekit.linalg.factorisation import BandFactorisation, BlockFactorisation

if TYPE_CHECKING:
    from corekit.engine.step.step_factorisation import StepFactorisation

__all__ = ["FEW", "DelassusOperator", "add_response", "reduce_rows", "write_square"]

FEW: Final = 12
"""Rows R, or velocities of any number of rows, up to which W costs less than BLAS: 3.0 against 4.7 µs for Y (9, 57)."""


@compiled
def write_square(half: Array, delassus: Array) -> None:
    """Write W = Yᵀ·Y for Y (nv, R)."""
    n, count = half.shape
    for i in range(count):
        for j in range(i + 1):
            delassus[i, j] = 0.0
    for k in range(n):
        for i in range(count):
            factor = half[k, i]
            for j in range(i + 1):
                delassus[i, j] += factor * half[k, j]
    for i in range(count):
        for j in range(i):
            delassus[j, i] = delassus[i, j]


@compiled
def reduce_rows(
    rows: Array, response: Array, velocity: Array, which: IntArray, free: Array, delassus: Array
) -> None:
    """Write W = J·(G·Jᵀ) and add J·v_f to `free` (R,); G·Jᵀ by rows, (R, nv), and J has at least R rows.

    `which` (nv,) is a work array.
    """
    count, n = response.shape
    for i in range(count):
        found, moved = 0, 0.0
        for k in range(n):
            if rows[i, k] != 0.0:
                which[found] = k
                found += 1
                moved += rows[i, k] * velocity[k]
        free[i] += moved
        for j in range(i + 1):
            total = 0.0
            for m in range(found):
                total += rows[i, which[m]] * response[j, which[m]]
            delassus[i, j] = total
            delassus[j, i] = total


@compiled
def add_response(response: Array, impulse: Array, velocity: Array) -> None:
    """Add G·Jᵀ·λ to velocities (nv,); G·Jᵀ by rows, (R, nv)."""
    for r in range(len(impulse)):
        strength = impulse[r]
        if strength != 0.0:
            for i in range(len(velocity)):
                velocity[i] += response[r, i] * strength


@compiled
def _reduce_one_body(
    lower: Array,
    prescribed: IntArray,
    rows: Array,
    velocity: Array,
    free: Array,
    half: Array,
    delassus: Array,
) -> None:
    """`forward_substitute` and `write_square` of a world of one body in one call."""
    forward_substitute(lower, prescribed, rows, 0, velocity, free, half)
    write_square(half, delassus)


@final
class DelassusOperator:
    """Hides how G is applied: by (2) where all bodies have small blocks, by rows of J where others have narrow bands.

    Else by the product G·Jᵀ.

    Args:
        factorisation: of A of all bodies.
    """

    def __init__(self, factorisation: StepFactorisation) -> None:
        self._factorisation = factorisation
        own = [(body.factor, where) for body, where in factorisation.bodies]
        blocks = [(factor, where) for factor, where in own if isinstance(factor, BlockFactorisation)]
        has_joints = any(each.elimination is not None for each in factorisation.clusters)
        self._blocks = blocks if len(blocks) == len(own) and not has_joints else []
        by_rows = [
            (factor, where)
            for factor, where in own
            if isinstance(factor, (BandFactorisation, BlockFactorisation))
        ]
        self._by_rows = by_rows if len(by_rows) == len(own) > len(blocks) and not has_joints else []
        self._response = np.zeros((0, 0))
        self._which: IntArray = np.zeros(
            sum(body.body.nv for body, _ in factorisation.bodies), dtype=np.int64
        )

    def assemble(self, rows: Array, velocity: Array, free: Array, delassus: Array) -> None:
        """Write W (R, R), and add J·v_f to `free` (R,).

        Args:
            rows: J, shape (R, nv).
            velocity: v_f, shape (nv,).
        """
        if self._by_rows:
            self._response = response = np.empty((len(free), len(velocity)))
            for factor, where in self._by_rows:
                factor.respond(rows, where.start, response)
            reduce_rows(rows, response, velocity, self._which, free, delassus)
            return
        if not self._blocks:
            self._response = response = np.array(rows.T, order="F")
            self._factorisation.solve_columns(response)
            free += rows @ velocity
            np.dot(rows, response, out=delassus)
            return
        self._response = half = np.empty((len(velocity), len(free)))
        is_small = len(free) <= FEW or len(velocity) <= FEW
        if is_small and len(self._blocks) == 1:
            factor = self._blocks[0][0]
            _reduce_one_body(factor.lower_factor, factor.prescribed, rows, velocity, free, half, delassus)
            return
        for factor, where in self._blocks:
            forward_substitute(
                factor.lower_factor, factor.prescribed, rows, where.start, velocity[where], free, half
            )
        if is_small:
            write_square(half, delassus)
        else:
            np.dot(half.T, half, out=delassus)

    def add_response(self, impulse: Array, velocity: Array) -> None:
        """Add G·Jᵀ·λ of the last J to `velocity`."""
        if self._by_rows:
            add_response(self._response, impulse, velocity)
        elif not self._blocks:
            velocity += self._response @ impulse
        for factor, where in self._blocks:
            add_impulse_response(
                factor.lower_factor, factor.prescribed, self._response, where.start, impulse, factor.scratch,
                velocity[where],
            )  # fmt: skip
