"""One section: its arc, and how every point of it moves with arc length and bending.

A section of arc length L with bending vector b, in the frame of its start (backbone along z), at normalised
arc position s: a = s·b, u = a·a, S_n = S_n(u) of `stumpff`,

    p = s·L·(S_2·a_x, S_2·a_y, S_1)                                                      (1)

        ⎡ 1 − S_2·a_x²    −S_2·a_x·a_y    S_1·a_x   ⎤
    R = ⎢ −S_2·a_x·a_y    1 − S_2·a_y²    S_1·a_y   ⎥                                    (2)
        ⎣ −S_1·a_x        −S_1·a_y        1 − S_2·u ⎦

R turns about the in-plane axis (−a_y, a_x, 0) by ‖a‖. With the arc parameters y = (L, b_x, b_y), columns are
P_y = ∂p/∂y and the turning rates W_y = vee((∂R/∂y)·Rᵀ), the latter from the left Jacobian of the rotation group:

    P_L = s·(S_2·a_x, S_2·a_y, S_1)                              W_L = 0
    P_bx = s²L·(S_2 + 2S_2′·a_x², 2S_2′·a_x·a_y, 2S_1′·a_x)      W_bx = s·(−S_3·a_x·a_y, 1 − S_3·a_y², −S_2·a_y)
    P_by = s²L·(2S_2′·a_x·a_y, S_2 + 2S_2′·a_y², 2S_1′·a_y)      W_by = s·(S_3·a_x² − 1, S_3·a_x·a_y, S_2·a_x)   (3)

Nothing is divided by θ or L: the straight section is regular to every derivative.

Source: Webster and Jones (2010), "Design and kinematic modeling of constant curvature continuum robots" for
(1) and (2) in polar form; (3) derived from them.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit_pcc.jets import compose, product, write
from corekit_pcc.stumpff import derivatives

__all__ = ["AXES", "COLUMNS", "POSITION", "SCALARS", "TURNS", "VECTORS"]
__all__ += ["second_points", "second_turns", "section_columns", "section_place"]
__all__ += ["section_points", "section_series", "section_turns"]

POSITION, COLUMNS, TURNS, AXES = 0, 1, 4, 7
"""Where this file writes vector jets: p; P_L, P_bx, P_by; W_L, W_bx, W_by; R·e_x, R·e_y, R·e_z."""
VECTORS = 10
"""How many vector jets that are."""

_L, _AX, _AY, _XX, _XY, _YY, _U = range(7)
_S1, _S2, _S3, _DS1, _DS2 = range(7, 12)
_S1X, _S1Y, _S2X, _S2Y, _S2XX, _S2XY, _S2YY = range(12, 19)
_LX, _LY, _LZ, _DS2XX, _DS2XY, _DS2YY, _DS1X, _DS1Y, _S3XX, _S3XY, _S3YY = range(19, 30)
SCALARS = 30
"""How many scalar jets are used: s·L, a_x, a_y and what follows from them (D for a derivative in u)."""


@compiled
def section_place(s: float, arc: Array, table: Array, vectors: Array) -> None:
    """Write p and R alone, order 0: equations (1) and (2).

    Args:
        s: normalised arc position.
        arc: (L, b_x, b_y) [m, rad, rad] in its first row.
        table: scratch for dᵐS_n/duᵐ, shape (4, 9).
        vectors: vector jets, rows as named above.
    """
    x, y, length = s * arc[0, 1], s * arc[0, 2], s * arc[0, 0]
    u = x * x + y * y
    derivatives(u, 0, table)
    s1, s2 = table[0, 1], table[0, 2]
    write(vectors, POSITION, 0, length * s2 * x, length * s2 * y, length * s1)
    write(vectors, AXES, 0, 1.0 - s2 * x * x, -s2 * x * y, -s1 * x)
    write(vectors, AXES + 1, 0, -s2 * x * y, 1.0 - s2 * y * y, -s1 * y)
    write(vectors, AXES + 2, 0, s1 * x, s1 * y, 1.0 - s2 * u)


@compiled
def section_columns(s: float, arc: Array, order: int, table: Array, scalars: Array, vectors: Array) -> None:
    """Write jets of p, R, P_y, W_y up to `order`: equations (1) to (3).

    Args:
        s: normalised arc position.
        arc: (L, b_x, b_y) and, read for order > 0, their rates; shape (2, 3).
        order: 0, 1 or 2.
        table: scratch for dᵐS_n/duᵐ, shape (4, 9), written for m ≤ order + 1.
        scalars: scratch of scalar jets, shape (SCALARS, ORDERS).
        vectors: vector jets, rows as named above.
    """
    section_points(s, arc, order, table, scalars, vectors)
    _write_turns(s, order, table, scalars, vectors)


@compiled
def section_points(s: float, arc: Array, order: int, table: Array, scalars: Array, vectors: Array) -> None:
    """Write jets of p and P_y alone, as `section_columns`."""
    _begin(s, arc, order, order + 1, table, scalars)
    _write_points(s, order, table, scalars, vectors)


@compiled
def section_turns(s: float, arc: Array, order: int, table: Array, scalars: Array, vectors: Array) -> None:
    """Write jets of R and W_y alone, as `section_columns`."""
    _begin(s, arc, order, max(order, 1), table, scalars)
    _write_turns(s, order, table, scalars, vectors)


@compiled
def _begin(s: float, arc: Array, order: int, derived: int, table: Array, scalars: Array) -> None:
    """Write jets of s·L, a and u, and dᵐS_n/duᵐ up to m = `derived`."""
    for k in range(order + 1):
        for row in range(3):
            value = s * arc[k, row] if k < 2 else 0.0
            scalars[_L + row, k] = value
    product(scalars, _AX, _AX, order, _XX)
    product(scalars, _AX, _AY, order, _XY)
    product(scalars, _AY, _AY, order, _YY)
    for k in range(order + 1):
        scalars[_U, k] = scalars[_XX, k] + scalars[_YY, k]
    derivatives(scalars[_U, 0], derived, table)
    compose(table, 0, 1, scalars, _U, order, _S1)
    compose(table, 0, 2, scalars, _U, order, _S2)
    product(scalars, _S2, _AX, order, _S2X)
    product(scalars, _S2, _AY, order, _S2Y)


@compiled
def _write_points(s: float, order: int, table: Array, scalars: Array, vectors: Array) -> None:
    """Write p and P_y."""
    compose(table, 1, 1, scalars, _U, order, _DS1)
    compose(table, 1, 2, scalars, _U, order, _DS2)
    product(scalars, _L, _S2X, order, _LX)
    product(scalars, _L, _S2Y, order, _LY)
    product(scalars, _L, _S1, order, _LZ)
    product(scalars, _DS2, _XX, order, _DS2XX)
    product(scalars, _DS2, _XY, order, _DS2XY)
    product(scalars, _DS2, _YY, order, _DS2YY)
    product(scalars, _DS1, _AX, order, _DS1X)
    product(scalars, _DS1, _AY, order, _DS1Y)
    for k in range(order + 1):
        write(vectors, POSITION, k, scalars[_LX, k], scalars[_LY, k], scalars[_LZ, k])
    _column_jets(s, order, scalars, vectors)


@compiled
def _write_turns(s: float, order: int, table: Array, scalars: Array, vectors: Array) -> None:
    """Write R and W_y."""
    compose(table, 0, 3, scalars, _U, order, _S3)
    product(scalars, _S1, _AX, order, _S1X)
    product(scalars, _S1, _AY, order, _S1Y)
    product(scalars, _S2, _XX, order, _S2XX)
    product(scalars, _S2, _XY, order, _S2XY)
    product(scalars, _S2, _YY, order, _S2YY)
    product(scalars, _S3, _XX, order, _S3XX)
    product(scalars, _S3, _XY, order, _S3XY)
    product(scalars, _S3, _YY, order, _S3YY)
    _axis_jets(order, scalars, vectors)
    _turn_jets(s, order, scalars, vectors)


@compiled
def _axis_jets(order: int, t: Array, vectors: Array) -> None:
    """R of equation (2)."""
    for k in range(order + 1):
        one = 1.0 if k == 0 else 0.0
        write(vectors, AXES, k, one - t[_S2XX, k], -t[_S2XY, k], -t[_S1X, k])
        write(vectors, AXES + 1, k, -t[_S2XY, k], one - t[_S2YY, k], -t[_S1Y, k])
        write(vectors, AXES + 2, k, t[_S1X, k], t[_S1Y, k], one - t[_S2XX, k] - t[_S2YY, k])


@compiled
def _column_jets(s: float, order: int, t: Array, vectors: Array) -> None:
    """P_y of equation (3)."""
    for k in range(order + 1):
        write(vectors, COLUMNS, k, s * t[_S2X, k], s * t[_S2Y, k], s * t[_S1, k])
        xx = xy = yy = zx = zy = 0.0
        for j in range(k + 1):
            i, length = k - j, s * t[_L, j]  # t[_L] is the jet of s·L
            xx += length * (t[_S2, i] + 2.0 * t[_DS2XX, i])
            xy += length * 2.0 * t[_DS2XY, i]
            yy += length * (t[_S2, i] + 2.0 * t[_DS2YY, i])
            zx += length * 2.0 * t[_DS1X, i]
            zy += length * 2.0 * t[_DS1Y, i]
        write(vectors, COLUMNS + 1, k, xx, xy, zx)
        write(vectors, COLUMNS + 2, k, xy, yy, zy)


@compiled
def _turn_jets(s: float, order: int, t: Array, vectors: Array) -> None:
    """W_y of equation (3)."""
    for k in range(order + 1):
        one = 1.0 if k == 0 else 0.0
        write(vectors, TURNS, k, 0.0, 0.0, 0.0)
        write(vectors, TURNS + 1, k, -s * t[_S3XY, k], s * (one - t[_S3YY, k]), -s * t[_S2Y, k])
        write(vectors, TURNS + 2, k, s * (t[_S3XX, k] - one), s * t[_S3XY, k], s * t[_S2X, k])


@compiled
def second_points(s: float, arc: Array, table: Array, second: Array) -> None:
    """Write ∂P_y/∂y′, order 0, by differentiating (3) once more.

    Args:
        s, arc: as for `section_columns`.
        table: dᵐS_n/duᵐ there for m ≤ 2, of `section_series`, or of `section_columns` for order 1 or more.
        second: ∂P_y/∂y′, shape (3, 3, 3), [y, y′, xyz].
    """
    a = (s * arc[0, 1], s * arc[0, 2])
    length = s * arc[0, 0]
    second[0, 0, 0] = second[0, 0, 1] = second[0, 0, 2] = 0.0
    for i in range(2):
        for axis in range(2):
            same = table[0, 2] if i == axis else 0.0
            second[0, i + 1, axis] = s * s * (same + 2.0 * table[1, 2] * a[i] * a[axis])
        second[0, i + 1, 2] = s * s * 2.0 * table[1, 1] * a[i]
        for axis in range(3):
            second[i + 1, 0, axis] = second[0, i + 1, axis]
        for j in range(2):
            equal = 1.0 if i == j else 0.0
            for axis in range(2):
                on_i = a[j] if axis == i else 0.0
                on_j = a[i] if axis == j else 0.0
                spread = 2.0 * table[1, 2] * (on_i + on_j + equal * a[axis])
                second[i + 1, j + 1, axis] = (
                    s * s * length * (spread + 4.0 * table[2, 2] * a[i] * a[j] * a[axis])
                )
            second[i + 1, j + 1, 2] = (
                s * s * length * (2.0 * table[1, 1] * equal + 4.0 * table[2, 1] * a[i] * a[j])
            )


@compiled
def second_turns(s: float, arc: Array, table: Array, turn: Array) -> None:
    """Write ∂W_y/∂y′, shape (3, 3, 3), [y, y′, xyz], as `second_points`."""
    for axis in range(3):
        for j in range(3):
            turn[0, j, axis] = turn[j, 0, axis] = 0.0
    x, y = s * arc[0, 1], s * arc[0, 2]
    s2, s2p, s3, s3p = table[0, 2], table[1, 2], table[0, 3], table[1, 3]
    square = s * s
    turn[1, 1, 0] = -square * (2.0 * s3p * x * x * y + s3 * y)
    turn[1, 2, 0] = -square * (2.0 * s3p * x * y * y + s3 * x)
    turn[1, 1, 1] = -square * 2.0 * s3p * x * y * y
    turn[1, 2, 1] = -square * (2.0 * s3p * y * y * y + 2.0 * s3 * y)
    turn[1, 1, 2] = -square * 2.0 * s2p * x * y
    turn[1, 2, 2] = -square * (s2 + 2.0 * s2p * y * y)
    turn[2, 1, 0] = square * (2.0 * s3p * x * x * x + 2.0 * s3 * x)
    turn[2, 2, 0] = square * 2.0 * s3p * x * x * y
    turn[2, 1, 1] = -turn[1, 1, 0]
    turn[2, 2, 1] = -turn[1, 2, 0]
    turn[2, 1, 2] = square * (s2 + 2.0 * s2p * x * x)
    turn[2, 2, 2] = square * 2.0 * s2p * x * y


@compiled
def section_series(s: float, arc: Array, table: Array) -> None:
    """Write dᵐS_n/duᵐ for m ≤ 2 at an arc position."""
    x, y = s * arc[0, 1], s * arc[0, 2]
    derivatives(x * x + y * y, 2, table)
