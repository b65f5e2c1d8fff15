"""Matter that flows through a tube while it grows: the lengths of its links, and the force of what flows.

The wall of a tube that everts at its tip rests along the tube, the tail inside moves at twice the speed of the tip and
the gas at that speed. With L = Σ ℓ_j and the place S_j of pin j along the tube, matter that moves at n·L̇ passes a link,
which is rigid, at the pin with

    w = n·L̇ − Ṡ_j,     and is accelerated by     x_ηtt + 2·w·ω·b + ẇ·a                           (1)

where x_η moves with the body of the pin, as M knows. The rest, summed over the parts μ_n of the mass per length μ and
the half m = ½·μ·ℓ of the link, leaves for the bodies A and B = A + 1 of link j

    F_A = −2·m·w̄_j·ω·b − W_j·a,     F_B = −2·m·w̄_j+1·ω·b + W_j+1·a                                  (2)
    w̄ = Σ (μ_n/μ)·w,   W = Σ μ_n·w²,   W_N = 2·μ_tail·L̇²

at their centres. W turns the flow at a pin from the axis of one body to that of the next; together they are the
Coriolis and the centrifugal force of a pipe, 2·μ·w̄·∂²x/∂s∂t + W·∂²x/∂s². At the tip the tail arrives with L̇ and leaves
as wall with −L̇. What it lacks to become the wall is laid there with the wall's velocity. At the base matter comes
from rest: the sum of all forces is the rate of the momentum of all matter, and the moment about a free base that of its
angular momentum, so that a straight arm without torque turns as ω ∝ 1/L³. ẇ·a is not in (2): it acts while the rate of
growth changes.

The rates in (2) are those that are asked for, see `growth`. Where a load can slow growth, they are between what is
asked for and nothing, as the velocities say. What shakes a robot is no growth.

Where a step ends, lengths are what q says, and the centres of the bodies are put where their matter is:

    ℓ = 2·d + a·(r_B − r_A),   δ = ¼·ℓ − d,   r_A += δ·a_A, v_A += δ·ω_A·b_A,   r_B −= δ·a_B, v_B −= δ·ω_B·b_B   (3)

Nothing moves: pins, angles and the velocities of the bodies' points stay. Lengths, and the q and v of which (2) is
computed, are those at the start of a step, so that of growth all schemes are of order one, and of a tube that does not
grow of their own order.

On a base that moves with the angular velocity Ω the axes turn with Ω + ω·e₁ × e₂, and F_A and F_B also act on the base.

Sources: Benjamin (1961), Dynamics of a system of articulated pipes conveying fluid, Proc. R. Soc. A 261; McIver (1973),
Hamilton's principle for systems of changing mass, J. Eng. Math. 7. Both without eversion.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import add, add_scaled, cross, dot, scaled
from corekit_vine.chain import (
    COMPLIANCE,
    LEAST_LENGTH,
    LINE_MASS,
    MAX_FORCE,
    MEAN_FLOW,
    SQUARE_FLOW,
    STEP_SIZE,
    TIP_FLOW,
    half_length,
)
from corekit_vine.growth import asked_rate, growing_link, tip_rate

__all__ = ["add_matter", "keep_motion", "update_growth"]

_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
"""Of a length that is computed from coordinates, relative to them: a robot at rest is not to creep by it."""


@compiled
def _update_lengths(lengths: Array, q: Array, v: Array) -> bool:
    """Apply (3) to links whose length changed by more than rounding; return whether any did."""
    changed = False
    for j in range(len(lengths)):
        i, d = 6 * j, half_length(lengths, j)
        ax, ay = math.cos(q[i + 2]), math.sin(q[i + 2])
        length = 2.0 * d + ax * (q[i + 3] - q[i]) + ay * (q[i + 4] - q[i + 1])
        size = lengths[j] + abs(q[i]) + abs(q[i + 1]) + abs(q[i + 3]) + abs(q[i + 4])
        # a link turned inside out has no length
        if abs(length - lengths[j]) <= _ROUNDING * size or not length > 0.0:
            continue
        changed = True
        lengths[j] = length
        shift = 0.25 * length - d
        bx, by = math.cos(q[i + 5]), math.sin(q[i + 5])
        q[i] += shift * ax
        q[i + 1] += shift * ay
        v[i] -= shift * v[i + 2] * ay
        v[i + 1] += shift * v[i + 2] * ax
        q[i + 3] -= shift * bx
        q[i + 4] -= shift * by
        v[i + 3] += shift * v[i + 5] * by
        v[i + 4] -= shift * v[i + 5] * bx
    return changed


@compiled
def update_growth(aux: Array, q: Array, v: Array) -> bool:
    """Apply (3) to the robot's q and v, and write its lengths into `aux`, shape (N, …); return whether any changed."""
    return _update_lengths(aux[: len(q) // 6], q, v)


@compiled
def keep_motion(q: Array, v: Array, out: Array) -> bool:
    """Write q and v, one after the other; return whether a number changed."""
    changed, n = False, len(q)
    for i in range(n):
        changed |= out[i] != q[i]
        out[i] = q[i]
    for i in range(len(v)):
        changed |= out[n + i] != v[i]
        out[n + i] = v[i]
    return changed


@compiled
def _measured_rate(q: Array, v: Array, j: int) -> float:
    """Return the rate of the length of link j [m/s]."""
    i = 6 * j
    ax, ay = math.cos(q[i + 2]), math.sin(q[i + 2])
    lateral = ax * (q[i + 4] - q[i + 1]) - ay * (q[i + 3] - q[i])
    return ax * (v[i + 3] - v[i]) + ay * (v[i + 4] - v[i + 1]) + lateral * v[i + 2]


@compiled
def _flow_rates(
    scalars: Array, lengths: Array, links: int, q: Array, v: Array, inputs: Array, out: Array
) -> None:
    """Write the rates of the links' lengths of which matter flows [m/s], shape (N,)."""
    rate, h = tip_rate(scalars, inputs), scalars[STEP_SIZE]
    growing = growing_link(scalars, lengths, links, rate)
    can_slow = scalars[COMPLIANCE] > 0.0 or scalars[MAX_FORCE] < math.inf
    for j in range(links):
        asked = asked_rate(scalars, inputs, links, rate, growing, j)
        if asked < 0.0:
            asked = max(asked, min((scalars[LEAST_LENGTH] - lengths[j]) / h, 0.0))
        if can_slow:
            found = _measured_rate(q, v, j)
            asked = min(max(found, min(asked, 0.0)), max(asked, 0.0))
        out[j] = asked


@compiled
def add_matter(
    scalars: Array, lengths: Array, rotation: Array, spin: Array, q: Array, v: Array, inputs: Array, scratch: Array,
    out: Array,
) -> None:  # fmt: skip
    """Add (2) to the force in the velocities of the robot, and of its base before them.

    Args:
        rotation, spin: of a base that moves, (3, 3) and (3,) in world axes; else `spin` is empty.
        q, v: of the robot at the start of the step, shape (3n,).
        scratch: shape (N,).
    """
    mounted, total, links = len(spin) > 0, 0.0, len(q) // 6
    _flow_rates(scalars, lengths, links, q, v, inputs, scratch)
    for j in range(links):
        total += scratch[j]
    first = (rotation[0, 0], rotation[1, 0], rotation[2, 0])
    second = (rotation[0, 2], rotation[1, 2], rotation[2, 2])
    own = out[len(out) - len(q) :]
    place, last = 0.0, 2 * links - 1
    for body in range(2 * links):
        j, i = body // 2, 3 * body
        far = body % 2 == 1
        if far:
            place += scratch[j]
        mean = scalars[MEAN_FLOW] * total - place
        square = (scalars[SQUARE_FLOW] * total - 2.0 * scalars[MEAN_FLOW] * place) * total + place * place
        if body == last:
            square = scalars[TIP_FLOW] * total * total
        side = -scalars[LINE_MASS] * lengths[j] * mean
        along = scalars[LINE_MASS] * (square if far else -square)
        c, s, spins = math.cos(q[i + 2]), math.sin(q[i + 2]), v[i + 2]
        fx, fy = along * c - side * spins * s, along * s + side * spins * c
        if mounted:
            axis = add_scaled(scaled(first, c), s, second)
            base = cross((spin[0], spin[1], spin[2]), axis)
            across = add_scaled(scaled(first, -s), c, second)
            force = add(scaled(axis, along), scaled(add_scaled(base, spins, across), side))
            fx, fy = dot(first, force), dot(second, force)
            turn = cross(add_scaled(scaled(first, q[i]), q[i + 1], second), force)
            for k in range(3):
                out[k] += force[k]
                out[k + 3] += turn[k]
        own[i] += fx
        own[i + 1] += fy
