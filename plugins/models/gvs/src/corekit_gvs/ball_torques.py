"""Damping and drives of the turns of spherical and free joints, which no choice of coordinates changes.

The torque is τ − d·ω about the link's axes, with the input τ. By ω = T₃(k)ᵀ·k̇ of `exponential` the force conjugate to
k is

    f = T₃·τ − T₃·u,   u = d·ω,   D = T₃·d·T₃ᵀ,   K = ∂(T₃·u)/∂k − ∂(T₃·τ)/∂k                         (1)

With ε a sign, X′ = dX/ds and X one of the A, B, C there, the matrices T₃(ε·k)·x change by

    ∂/∂k_j = 2·k_j·(A′·x + ε·B′·k × x + C′·k·(k·x)) + ε·B·e_j × x + C·(e_j·(k·x) + k·x_j)         (2)
"""

from __future__ import annotations

from corekit.data.arrays import Array, IntArray
from corekit_gvs.exponential import stumpff
from corekit_gvs.tables import BALLS, SCRATCH, real, work
from corekit_gvs.vectors import Vector, add, combine, cross, dot, get, inner

__all__ = ["add_ball_torque_slopes", "add_ball_torques", "blend", "slope", "unit"]


@inner
def unit(j: int) -> Vector:
    """e_j."""
    return (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)


@inner
def blend(a: float, b: float, c: float, k: Vector, x: Vector) -> Vector:
    """a·x + b·k × x + c·k·(k·x)."""
    return combine(1.0, combine(a, x, b, cross(k, x)), c * dot(k, x), k)


@inner
def slope(c: Array, sign: float, k: Vector, x: Vector, j: int) -> Vector:
    """Column j of (2)."""
    e = unit(j)
    of_factors = blend(0.5 * (c[3] - c[2]), sign * 0.5 * (2.0 * c[4] - c[3]), 0.5 * (3.0 * c[5] - c[4]), k, x)
    of_k = combine(sign * c[2], cross(e, x), c[3], combine(dot(k, x), e, dot(e, x), k))
    return combine(2.0 * dot(e, k), of_factors, 1.0, of_k)


@inner
def _times(d: Vector, x: Vector) -> Vector:
    return (d[0] * x[0], d[1] * x[1], d[2] * x[2])


@inner
def add_ball_torques(
    ints: IntArray, reals: Array, buffer: Array, q: Array, v: Array, inputs: Array, damped: float, driven: float,
    force: Array,
) -> None:  # fmt: skip
    """Add f of (1), a share of what damps and one of what drives."""
    balls, c = real(ints, reals, BALLS, 6), work(ints, buffer, SCRATCH)[200:210]
    for i in range(len(balls)):
        first, d = int(balls[i, 0]), get(balls[i], 1)
        k, rate = get(q, first), get(v, first)
        stumpff(dot(k, k), c)
        f = blend(c[1], c[2], c[3], k, _times(d, blend(c[1], -c[2], c[3], k, rate)))
        for r in range(3):
            force[first + r] -= damped * f[r]
        if balls[i, 4] >= 0.0:
            f = blend(c[1], c[2], c[3], k, get(inputs, int(balls[i, 4])))
            for r in range(3):
                force[first + r] += driven * f[r]


@inner
def add_ball_torque_slopes(
    ints: IntArray,
    reals: Array,
    buffer: Array,
    q: Array,
    v: Array,
    inputs: Array,
    stiffness: Array,
    damping: Array,
) -> None:
    """Add K and D of (1)."""
    balls, c = real(ints, reals, BALLS, 6), work(ints, buffer, SCRATCH)[200:210]
    for i in range(len(balls)):
        first, d = int(balls[i, 0]), get(balls[i], 1)
        k, rate = get(q, first), get(v, first)
        stumpff(dot(k, k), c)
        u = _times(d, blend(c[1], -c[2], c[3], k, rate))
        if balls[i, 4] >= 0.0:
            held = combine(1.0, u, -1.0, get(inputs, int(balls[i, 4])))
        else:
            held = u
        for j in range(3):
            e = unit(j)
            by_rate = blend(c[1], c[2], c[3], k, _times(d, blend(c[1], -c[2], c[3], k, e)))
            through = blend(c[1], c[2], c[3], k, _times(d, slope(c, -1.0, k, rate, j)))
            by_place = add(slope(c, 1.0, k, held, j), through)
            for r in range(3):
                stiffness[first + r, first + j] += by_place[r]
                damping[first + r, first + j] += by_rate[r]
