"""Constraints of pins, telescoping joints and growth rates: five or six rows per link, in the order of the chain.

Pin j between the bodies A = 2j − 1 and B = 2j (pin 0: between the base and body 0), two rows:

    c = r_B − r_A − d_A·a_A − d_B·a_B = 0,   ∂c/∂t_A = −d_A·b_A,   ∂c/∂t_B = −d_B·b_B            (1)

Telescoping joint between A = 2j and B = 2j + 1, with h = r_B − r_A, two rows and the growth rate:

    c₁ = b_A·h = 0,   c₂ = t_B − t_A = 0                                                        (2)
    g = d(a_A·h)/dt = a_A·(ṙ_B − ṙ_A) + (b_A·h)·ω_A = u                                         (3)

(2) and (3) are regular for all h, also h = 0. The paper uses û = h/|h| and e = ṙ_B − ṙ_A instead:

    c₁ = b_A·h,   c₂ = b_B·h,   g = û·e,   Ḡ = g_v + Δt·g_q,   g_q = ±(e − (û·e)·û)/|h|          (4)

which lose rank as h → 0. Ḡ constrains the rate at the end of a semi-implicit step; other integrators do this
themselves and need (3). The length of a link is 2·d + |h|.

A compliance α = φ/(A_c·N) on (3) is the law of growth by pressure, for N links with one force F:

    Σ g_j = φ·(P − Y − F/A_c)   ⇔   g_j − φ·(P − Y)/N + α·F = 0                                 (5)

Of an everting robot one link grows, see `growth`, with α = φ/A_c and F at the tip; the rows of the others are rigid.

Sources: Jitosho et al. (2021), equations (2), (3), (6) and (14), the second row of its (2) with a sine;
Blumenschein, Okamura, Hawkes (2017), Modeling of bioinspired apical extension in a soft robot, for (5).
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.vectors import copy_vector
from corekit_vine.angle_cache import update_angle_cache
from corekit_vine.chain import (
    COMPLIANCE,
    LEAST_LENGTH,
    MAX_FORCE,
    PUBLISHED,
    ROWS_PER_LINK,
    STEP_SIZE,
    half_length,
)
from corekit_vine.growth import asked_rate, growing_link, tip_rate

__all__ = [
    "WIDTH",
    "compute_constraints",
    "compute_force_gradient",
    "constraint_dofs",
    "write_growth_limits",
]

WIDTH = 6
"""Largest count of velocities in a row."""


def constraint_dofs(links: int, rows_per_link: int) -> IntArray:
    """Return the velocity indices of every row, (N·rows_per_link, 6): three of A, then three of B."""
    dofs = np.zeros((links, rows_per_link, WIDTH), dtype=np.int64)
    for j in range(links):
        first = 6 * j
        dofs[j, :2, :3] = max(first - 3, 0) + np.arange(3)
        dofs[j, :2, 3:] = first + np.arange(3)
        dofs[j, 2:] = first + np.arange(6)
    return dofs.reshape(-1, WIDTH)


@compiled
def compute_constraints(
    scalars: Array,
    lengths: Array,
    q: Array,
    v: Array,
    angle_cache: Array,
    inputs: Array,
    values: Array,
    constraint: Array,
    target: Array,
) -> None:
    """Write J_b (nb, 6), c (nb,) [m or rad] and the target rates (nb,) [m/s].

    Constant entries (dofs, compliance, bounds) are not written.
    """
    per_link, links = int(scalars[ROWS_PER_LINK]), len(q) // 6
    published = scalars[PUBLISHED] > 0.0
    h = scalars[STEP_SIZE]
    asked = tip_rate(scalars, inputs)
    growing = growing_link(scalars, lengths, links, asked)
    # of the body before the pin: its centre, and its axis times d
    px, py, pa_x, pa_y = 0.0, 0.0, 0.0, 0.0
    update_angle_cache(q, angle_cache)
    for j in range(links):
        row, i = j * per_link, 6 * j
        d = half_length(lengths, j)
        ax, ay = angle_cache[2 * j, 1], angle_cache[2 * j, 2]
        hx, hy = q[i + 3] - q[i], q[i + 4] - q[i + 1]
        constraint[row] = q[i] - px - (pa_x + d * ax)
        constraint[row + 1] = q[i + 1] - py - (pa_y + d * ay)
        if j > 0:
            values[row, 0], values[row, 2] = -1.0, pa_y
            values[row + 1, 1], values[row + 1, 2] = -1.0, -pa_x
        values[row, 3], values[row, 5] = 1.0, d * ay
        values[row + 1, 4], values[row + 1, 5] = 1.0, -d * ax
        axial, lateral = ax * hx + ay * hy, ax * hy - ay * hx
        row += 2
        constraint[row] = lateral
        values[row, 0], values[row, 1], values[row, 2] = ay, -ax, -axial
        values[row, 3], values[row, 4] = -ay, ax
        px, py = q[i + 3], q[i + 4]
        bx, by = angle_cache[2 * j + 1, 1], angle_cache[2 * j + 1, 2]
        pa_x, pa_y = d * bx, d * by
        row += 1
        if published:
            constraint[row] = bx * hy - by * hx
            values[row, 0], values[row, 1] = by, -bx
            values[row, 3], values[row, 4], values[row, 5] = -by, bx, -(bx * hx + by * hy)
        else:
            constraint[row] = q[i + 5] - q[i + 2]
            values[row, 2], values[row, 5] = -1.0, 1.0
        row += 1
        rate = asked_rate(scalars, inputs, links, asked, growing, j)
        length = axial
        if published:
            length = math.hypot(hx, hy)
            ux, uy = hx / length, hy / length
            ex, ey = v[i + 3] - v[i], v[i + 4] - v[i + 1]
            speed = ux * ex + uy * ey
            gx, gy = ux + h * (ex - speed * ux) / length, uy + h * (ey - speed * uy) / length
            values[row, 0], values[row, 1], values[row, 3], values[row, 4] = -gx, -gy, gx, gy
        else:
            values[row, 0], values[row, 1], values[row, 2] = -ax, -ay, lateral
            values[row, 3], values[row, 4] = ax, ay
        if rate < 0.0:
            # do not retract a link below its shortest length, where its bodies overlap
            rate = max(rate, min((scalars[LEAST_LENGTH] - 2.0 * d - length) / h, 0.0))
        target[row] = rate
        if per_link > 5:
            copy_vector(values[row], values[row + 1])


@compiled
def write_growth_limits(
    scalars: Array, lengths: Array, inputs: Array, compliance: Array, lower: Array, upper: Array
) -> None:
    """Write compliance and force bounds of the growth rows of an everting robot, whose other links are rigid."""
    per_link, limit = int(scalars[ROWS_PER_LINK]), scalars[MAX_FORCE]
    links = len(compliance) // per_link
    growing = growing_link(scalars, lengths, links, tip_rate(scalars, inputs))
    for j in range(links):
        row, grows = j * per_link + 4, j == growing
        compliance[row] = scalars[COMPLIANCE] if grows else 0.0
        lower[row], upper[row] = (-limit, limit) if grows else (-math.inf, math.inf)
        if per_link > 5:
            upper[row + 1] = math.inf if grows else 0.0


@compiled
def _add(out: Array, i: int, k: int, value: float) -> None:
    """Add to entry (i, k) of a symmetric band, i ≥ k."""
    out[i - k, k] += value


@compiled
def compute_force_gradient(
    scalars: Array, lengths: Array, q: Array, v: Array, impulse: Array, out: Array
) -> None:
    """Write ∂(J_bᵀ·λ)/∂q as a lower band, shape (6, 3n)."""
    out[:] = 0.0
    per_link = int(scalars[ROWS_PER_LINK])
    published, step = scalars[PUBLISHED] > 0.0, scalars[STEP_SIZE]
    for j in range(len(q) // 6):
        row, i, d = j * per_link, 6 * j, half_length(lengths, j)
        ax, ay = math.cos(q[i + 2]), math.sin(q[i + 2])
        bx, by = math.cos(q[i + 5]), math.sin(q[i + 5])
        lx, ly = impulse[row], impulse[row + 1]
        out[0, i + 2] += d * (ax * lx + ay * ly)
        if j > 0:
            before = half_length(lengths, j - 1)
            out[0, i - 1] += before * (math.cos(q[i - 1]) * lx + math.sin(q[i - 1]) * ly)
        hx, hy = q[i + 3] - q[i], q[i + 4] - q[i + 1]
        # c₁ = b_A·h
        side_impulse = impulse[row + 2]
        out[0, i + 2] -= side_impulse * (ax * hy - ay * hx)
        _add(out, i + 2, i, side_impulse * ax)
        _add(out, i + 2, i + 1, side_impulse * ay)
        _add(out, i + 3, i + 2, -side_impulse * ax)
        _add(out, i + 4, i + 2, -side_impulse * ay)
        if published:
            side_impulse = impulse[row + 3]
            out[0, i + 5] -= side_impulse * (bx * hy - by * hx)
            _add(out, i + 5, i, side_impulse * bx)
            _add(out, i + 5, i + 1, side_impulse * by)
            _add(out, i + 5, i + 3, -side_impulse * bx)
            _add(out, i + 5, i + 4, -side_impulse * by)
        growth_impulse = impulse[row + 4] + (impulse[row + 5] if per_link > 5 else 0.0)
        if published:
            length = math.hypot(hx, hy)
            ux, uy = hx / length, hy / length
            ex, ey = v[i + 3] - v[i], v[i + 4] - v[i + 1]
            speed = ux * ex + uy * ey
            # t = û̇; the derivative of ∇²|h| along e is −(t·ûᵀ + û·tᵀ)/|h| − ∇²|h|·speed/|h|
            tx, ty = (ex - speed * ux) / length, (ey - speed * uy) / length
            factor = (1.0 - step * speed / length) / length
            xx = growth_impulse * (factor * (1.0 - ux * ux) - step * 2.0 * tx * ux / length)
            xy = growth_impulse * (-factor * ux * uy - step * (tx * uy + ux * ty) / length)
            yy = growth_impulse * (factor * (1.0 - uy * uy) - step * 2.0 * ty * uy / length)
            for a in range(2):
                out[0, i + 3 * a] += xx
                out[0, i + 3 * a + 1] += yy
                _add(out, i + 3 * a + 1, i + 3 * a, xy)
            _add(out, i + 3, i, -xx)
            _add(out, i + 4, i + 1, -yy)
            _add(out, i + 4, i, -xy)
            _add(out, i + 3, i + 1, -xy)
        else:
            out[0, i + 2] -= growth_impulse * (ax * hx + ay * hy)
            _add(out, i + 2, i, growth_impulse * ay)
            _add(out, i + 2, i + 1, -growth_impulse * ax)
            _add(out, i + 3, i + 2, -growth_impulse * ay)
            _add(out, i + 4, i + 2, growth_impulse * ax)
