"""The linear equations of `block_newton` in the velocities of the bodies, by a block LU factorisation.

    (1 + Σ_c G·J_cᵀ·C_c·J_c)·x = b                                                                (1)

The pattern of the blocks is symmetric. With D_k the block of the k-th body in the order of `body_graph` and i, j
bodies that go later, elimination is

    U_kj ← D_k⁻¹·A_kj,    A_ij ← A_ij − L_ik·U_kj,    L_ik = A_ik                                 (2)

Bodies are not exchanged: (1) is the identity plus a product that is positive semidefinite for all but sliding
contacts. Rows within D_k are. U_k and L_kᵀ lie side by side for all later neighbours of k, so that (2) adds long rows.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple, final

import numpy as np

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.contact_blocks import ContactBlocks
from corekit_cone.body_graph import eliminate_bodies, position_of

__all__ = ["BodyEquations", "BodyPattern"]

_UNROLLED: Final = 6
"""Velocities of a rigid body, whose rows are added at once."""


class BodyPattern(NamedTuple):
    """Where the blocks of (2) lie.

    Attributes:
        size, velocity: of the body at each position: how many velocities it has and where they begin in x, shape (B,).
        begin, later: as `eliminate_bodies` returns them.
        offset: where the columns of each later neighbour begin in the rows of U_k and L_kᵀ.
        panel, square: where U_k and L_kᵀ, and D_k, begin, shape (B + 1,).
        position: of the body of every touch, shape (E,).
    """

    size: IntArray
    velocity: IntArray
    begin: IntArray
    later: IntArray
    offset: IntArray
    panel: IntArray
    square: IntArray
    position: IntArray


@compiled
def _assemble(
    blocks: ContactBlocks, width: int, slope: Array, pattern: BodyPattern, diagonal: Array, upper: Array,
    lower: Array,
) -> None:  # fmt: skip
    """Add the sum of (1) to the blocks."""
    largest = 0
    for e in range(len(blocks.size)):
        largest = max(largest, blocks.size[e])
    CJ = np.empty((3, largest))
    for c in range(len(blocks.first) - 1):
        C = slope[c]
        if C[0, 0] == 0.0:
            continue
        for f in range(blocks.first[c], blocks.first[c + 1]):
            there, k, column = blocks.place[f], blocks.size[f], pattern.position[f]
            for a in range(width):
                for j in range(k):
                    total = 0.0
                    for b in range(width):
                        total += C[a, b] * blocks.jacobian[there + b * k + j]
                    CJ[a, j] = total
            for e in range(blocks.first[c], blocks.first[c + 1]):
                here, n, row = blocks.place[e], blocks.size[e], pattern.position[e]
                if row == column:
                    target, at, down, right = diagonal, pattern.square[row], n, 1
                elif row < column:
                    p = position_of(pattern.later, pattern.begin[row], pattern.begin[row + 1], column)
                    at, down, right = pattern.panel[row] + pattern.offset[p], _length(pattern, row), 1
                    target = upper
                else:
                    p = position_of(pattern.later, pattern.begin[column], pattern.begin[column + 1], row)
                    at, down, right = pattern.panel[column] + pattern.offset[p], 1, _length(pattern, column)
                    target = lower
                for i in range(n):
                    g0, g1 = blocks.response[here + i], blocks.response[here + n + i]
                    g2 = blocks.response[here + 2 * n + i] if width == 3 else 0.0
                    for j in range(k):
                        total = g0 * CJ[0, j] + g1 * CJ[1, j]
                        if width == 3:
                            total += g2 * CJ[2, j]
                        target[at + i * down + j * right] += total


@compiled
def _length(pattern: BodyPattern, k: int) -> int:
    """Length of a row of U_k."""
    return int((pattern.panel[k + 1] - pattern.panel[k]) // pattern.size[k])


@compiled
def _invert(matrix: Array, inverse: Array, n: int) -> bool:
    """Write the inverse of D_k by Gauss and Jordan with row pivots, and destroy D_k; False if it is singular."""
    for i in range(n * n):
        inverse[i] = 0.0
    for i in range(n):
        inverse[i * n + i] = 1.0
    for k in range(n):
        pivot, best = k, 0.0
        for i in range(k, n):
            if abs(matrix[i * n + k]) > best:
                pivot, best = i, abs(matrix[i * n + k])
        if not 0.0 < best < math.inf:
            return False
        here, there = k * n, pivot * n
        factor = 1.0 / matrix[there + k]
        for j in range(n):
            matrix[here + j], matrix[there + j] = matrix[there + j], matrix[here + j]
            inverse[here + j], inverse[there + j] = inverse[there + j], inverse[here + j]
            matrix[here + j] *= factor
            inverse[here + j] *= factor
        for i in range(n):
            factor = matrix[i * n + k]
            if i != k and factor != 0.0:
                for j in range(n):
                    matrix[i * n + j] -= factor * matrix[here + j]
                    inverse[i * n + j] -= factor * inverse[here + j]
    return True


@compiled(fastmath={"reassoc", "contract"})
def _add_rows(left: Array, i: int, right: Array, n: int, length: int, begin: int, row: Array) -> None:
    """Write Σ_b left[b, i]·right[b, begin:] of panels with n rows."""
    if n == _UNROLLED:
        a0, a1, a2 = left[i], left[length + i], left[2 * length + i]
        a3, a4, a5 = left[3 * length + i], left[4 * length + i], left[5 * length + i]
        r0, r1, r2 = right[:length], right[length : 2 * length], right[2 * length : 3 * length]
        r3, r4, r5 = right[3 * length : 4 * length], right[4 * length : 5 * length], right[5 * length :]
        for j in range(begin, length):
            row[j] = a0 * r0[j] + a1 * r1[j] + a2 * r2[j] + a3 * r3[j] + a4 * r4[j] + a5 * r5[j]
        return
    for j in range(begin, length):
        row[j] = 0.0
    for b in range(n):
        factor, source = left[b * length + i], right[b * length : (b + 1) * length]
        for j in range(begin, length):
            row[j] += factor * source[j]


@compiled
def _subtract(
    pattern: BodyPattern, i: int, from_: int, end: int, row: Array, base: int, target: Array
) -> None:
    """Subtract the columns of the neighbours from_ ≤ p < end of one body from a row of the panel of body i."""
    q = pattern.begin[i]
    for p in range(from_, end):
        j = pattern.later[p]
        while pattern.later[q] != j:
            q += 1
        source, at = pattern.offset[p], base + pattern.offset[q]
        for a in range(pattern.size[j]):
            target[at + a] -= row[source + a]


@compiled
def _factorise(
    pattern: BodyPattern, diagonal: Array, inverse: Array, upper: Array, lower: Array, row: Array
) -> bool:
    """Apply (2) to every body, and write D_k⁻¹; False if one is singular."""
    for k in range(len(pattern.size)):
        if k & 63 == 63:
            check_signals()
        n, own = pattern.size[k], slice(pattern.square[k], pattern.square[k + 1])
        if not _invert(diagonal[own], inverse[own], n):
            return False
        begin, end = pattern.begin[k], pattern.begin[k + 1]
        if begin == end:
            continue
        length, panel = _length(pattern, k), slice(pattern.panel[k], pattern.panel[k + 1])
        L, U, D = lower[panel], upper[panel], inverse[own]
        for j in range(length):
            for a in range(n):
                total = 0.0
                for b in range(n):
                    total += D[a * n + b] * U[b * length + j]
                row[a] = total
            for a in range(n):
                U[a * length + j] = row[a]
        for p in range(begin, end):
            i, first = pattern.later[p], pattern.offset[p]
            size, square = pattern.size[i], pattern.square[i]
            next_, base = first + size, pattern.panel[i]
            for a in range(size):
                _add_rows(L, first + a, U, n, length, first, row)
                for b in range(size):
                    diagonal[square + a * size + b] -= row[first + b]
                _subtract(pattern, i, p + 1, end, row, base, upper)
                _add_rows(U, first + a, L, n, length, next_, row)
                _subtract(pattern, i, p + 1, end, row, base, lower)
                base += _length(pattern, i)
    return True


@compiled
def _substitute(
    pattern: BodyPattern, inverse: Array, upper: Array, lower: Array, x: Array, row: Array
) -> None:
    """Solve with the result of `_factorise`, in place."""
    bodies = len(pattern.size)
    for k in range(bodies):
        n, v, panel, length = pattern.size[k], pattern.velocity[k], pattern.panel[k], _length(pattern, k)
        for a in range(n):
            row[a] = 0.0
            for b in range(n):
                row[a] += inverse[pattern.square[k] + a * n + b] * x[v + b]
        for a in range(n):
            x[v + a] = row[a]
        for p in range(pattern.begin[k], pattern.begin[k + 1]):
            i = pattern.later[p]
            for a in range(n):
                for b in range(pattern.size[i]):
                    x[pattern.velocity[i] + b] -= lower[panel + a * length + pattern.offset[p] + b] * x[v + a]
    for k in range(bodies - 1, -1, -1):
        v, panel, length = pattern.velocity[k], pattern.panel[k], _length(pattern, k)
        for p in range(pattern.begin[k], pattern.begin[k + 1]):
            i = pattern.later[p]
            for a in range(pattern.size[k]):
                for b in range(pattern.size[i]):
                    x[v + a] -= upper[panel + a * length + pattern.offset[p] + b] * x[pattern.velocity[i] + b]


@final
class BodyEquations:
    """The equations (1) of one contact problem, for any C.

    Args:
        blocks: of W.
        width: rows per contact.
    """

    def __init__(self, blocks: ContactBlocks, width: int) -> None:
        self._blocks, self._width = blocks, width
        bodies = len(blocks.body_first) - 1
        body: IntArray = np.empty(len(blocks.contact), dtype=np.int64)
        body[blocks.body_touch] = np.repeat(np.arange(bodies), np.diff(blocks.body_first))
        order, begin, later = eliminate_bodies(blocks.first, body, bodies)
        position, size, velocity = np.empty((3, bodies), dtype=np.int64)
        position[order] = np.arange(bodies)
        size[position[body]], velocity[position[body]] = blocks.size, blocks.velocity
        columns: IntArray = np.cumsum([0, *size[later]], dtype=np.int64)
        lengths = np.diff(columns[begin])
        offset: IntArray = columns[:-1] - np.repeat(columns[begin[:-1]], np.diff(begin))
        panel: IntArray = np.cumsum([0, *(lengths * size)], dtype=np.int64)
        square: IntArray = np.cumsum([0, *size**2], dtype=np.int64)
        self._pattern = BodyPattern(size, velocity, begin, later, offset, panel, square, position[body])
        self._identity = np.zeros(square[-1])
        for at, n in zip(square.tolist(), size.tolist(), strict=False):
            self._identity[at : at + n * n : n + 1] = 1.0
        self._diagonal, self._inverse = np.empty((2, square[-1]))
        self._upper, self._lower = np.empty((2, panel[-1]))
        self._row = np.empty(max(int(lengths.max(initial=0)), int(size.max(initial=0))))

    def factorise(self, slope: Array) -> bool:
        """Factorise (1) with C, shape (m, width, width); return False if a block is singular."""
        self._diagonal[:] = self._identity
        self._upper[:] = self._lower[:] = 0.0
        _assemble(self._blocks, self._width, slope, self._pattern, self._diagonal, self._upper, self._lower)
        return _factorise(self._pattern, self._diagonal, self._inverse, self._upper, self._lower, self._row)

    def solve(self, rhs: Array) -> Array:
        """Return x of (1), shape (nv,)."""
        x = rhs.copy()
        _substitute(self._pattern, self._inverse, self._upper, self._lower, x, self._row)
        return x
