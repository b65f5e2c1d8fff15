"""A primal-dual interior-point method for De Saxcé's formulation, from no guess at all.

In x = (μ·λ_n, λ_t) and y = (ŵ_n/μ, w_t), with ŵ_n = w_n + μ·|w_t|, the cones K and K* are both the Lorentz cone L:

    y = A·x + c + σ(y_t)·e,   L ∋ x ⊥ y ∈ L,   A = D⁻¹·W·D⁻¹,  c = D⁻¹·w₀,  D = diag(μ, 1, 1),  e = (1, 0, 0)  (1)

with σ = |y_t|. With given slips σ = |w_t| this is a convex program; otherwise the path is smooth by σ² = |y_t|² + ε²,
where ε² is the mean gap xᵀ·y of a cone and vanishes with it. Complementarity is x∘y = τ·e with τ → 0. With the scaling
Θ of Nesterov and Todd, Θ·x = y, a Newton step is

    dy = τ·x⁻¹ − y − Θ·dx                                                                         (2)
    [A + B·Θ]·dx = y − A·x − c − σ·e + B·(τ·x⁻¹ − y),   B = I − e·(0, y_t/σ)ᵀ                      (3)
    Θ = √(det y/det x)·(2·p·pᵀ − J),   p = (y/√det y + J·x/√det x)/(2·γ),   J = diag(1, −1, −1)      (4)

A is only semidefinite if contacts are redundant; B·Θ makes (3) regular. The step keeps x and y inside of L; τ follows
from a first solution of (3) with τ = 0 (Mehrotra). A contact without friction has L = { x ≥ 0 } and no tangents. A
bounded row has w = z_l − z_u, with (λ − lower)·z_l = τ and (upper − λ)·z_u = τ. Rows are scaled to W_ii = 1 on average.

Sources: Acary, Armand, Nguyen, Shpakovych (2023), Second-order cone programming for frictional contact mechanics using
interior point algorithm, Optim. Methods Softw.; Nesterov, Todd (1998), Primal-dual interior-point methods for
self-scaled cones, SIAM J. Optim. 8, for (4).
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_cone.newton import factorise_linear, substitute_linear

__all__ = ["begin_interior", "interior_step"]

_TO_EDGE = 0.99
"""Part of the way to the edge of the cones that a step goes."""
_LONGEST = 1.0 / _TO_EDGE
"""A step is never longer than Newton's."""


@compiled
def _determinant(x: Array) -> float:
    """x₀² − |x_t|², by factors."""
    size = 0.0
    for a in range(1, len(x)):
        size += x[a] * x[a]
    size = math.sqrt(size)
    return (x[0] - size) * (x[0] + size)


@compiled
def _longest(x: Array, d: Array) -> float:
    """The largest α ≤ 1/0.99 with x + α·d in L, for x inside of it."""
    quadratic, linear, constant = d[0] * d[0], x[0] * d[0], _determinant(x)
    for a in range(1, len(x)):
        quadratic -= d[a] * d[a]
        linear -= x[a] * d[a]
    alpha = _LONGEST
    if d[0] < 0.0:
        alpha = min(alpha, -x[0] / d[0])
    root = linear * linear - quadratic * constant
    if root >= 0.0:
        # the smallest positive root of quadratic·α² + 2·linear·α + constant
        q = -linear - math.copysign(math.sqrt(root), linear)
        for candidate in (q / quadratic if quadratic != 0.0 else -1.0, constant / q if q != 0.0 else -1.0):
            if candidate > 0.0:
                alpha = min(alpha, candidate)
    return alpha


@compiled
def _has_cone(friction: Array, width: int, row: int) -> bool:
    """Whether a row belongs to a contact with friction."""
    c = row // width
    return c < len(friction) and friction[c] > 0.0


@compiled
def begin_interior(
    free: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array, index: IntArray,
    factor: Array, x: Array, y: Array, z: Array,
) -> tuple[int, float]:  # fmt: skip
    """Write the unknown rows, their scales and the first x, y, z; return their number and the scale of energy.

    Args:
        factor: λ = factor·x of every row, shape (R,), written; w = energy·y/factor.
        x, y: shape (R,), written. z: z_u of bounded rows, whose z_l is y.
    """
    contacts, energy, count = len(friction), 0.0, 0
    begin = contacts * width
    for i in range(len(free)):
        k = i // width if i < begin else contacts + i - begin
        energy = max(energy, abs(free[i]) * math.sqrt(rho[k]))
    energy = energy if energy > 0.0 else 1.0
    for i in range(begin):
        c = i // width
        is_normal = i == c * width
        factor[i] = energy * math.sqrt(rho[c])
        x[i] = y[i] = 1.0 if is_normal else 0.0
        if friction[c] > 0.0 and is_normal:
            factor[i] /= friction[c]
        if friction[c] > 0.0 or is_normal:
            index[count] = i
            count += 1
        else:
            x[i] = 0.0
    for i in range(begin, len(free)):
        b = i - begin
        factor[i] = energy * math.sqrt(rho[contacts + b])
        low, high = lower[b] / factor[i], upper[b] / factor[i]
        x[i] = 0.0
        if low > -math.inf and high < math.inf:
            x[i] = 0.5 * (low + high)
        elif low > -math.inf:
            x[i] = low + 1.0
        elif high < math.inf:
            x[i] = high - 1.0
        y[i], z[i] = (1.0 if low > -math.inf else 0.0), (1.0 if high < math.inf else 0.0)
        if high > low:
            index[count] = i
            count += 1
        else:
            x[i] = low
            y[i] = z[i] = 0.0
    return count, energy


@compiled
def _write_scaling(x: Array, y: Array, theta: Array) -> None:
    """Write Θ of (4) to the beginning of `theta`."""
    d = len(x)
    root_x, root_y = math.sqrt(_determinant(x)), math.sqrt(_determinant(y))
    inner = 0.0
    for a in range(d):
        inner += x[a] * y[a]
    gamma = math.sqrt(0.5 * (1.0 + inner / (root_x * root_y)))
    beta = root_y / root_x
    for a in range(d):
        sign_a = 1.0 if a == 0 else -1.0
        p_a = (y[a] / root_y + sign_a * x[a] / root_x) / (2.0 * gamma)
        for b in range(d):
            sign_b = 1.0 if b == 0 else -1.0
            p_b = (y[b] / root_y + sign_b * x[b] / root_x) / (2.0 * gamma)
            theta[a, b] = beta * (2.0 * p_a * p_b - (sign_a if a == b else 0.0))


@compiled
def _assemble(
    delassus: Array, width: int, friction: Array, lower: Array, upper: Array, energy: float, factor: Array,
    index: IntArray, count: int, smoothing: float, x: Array, y: Array, z: Array, theta: Array, matrix: Array,
) -> None:  # fmt: skip
    """Write A + B·Θ for the unknown rows, and Θ of every contact, shape (3, R)."""
    scale = 1.0 / (energy * energy)
    for k in range(count):
        i, row = index[k], matrix[k]
        source, mine = delassus[i], scale * factor[i]
        for j in range(count):
            row[j] = mine * factor[index[j]] * source[index[j]]
    k, begin = 0, len(friction) * width
    while k < count:
        i = index[k]
        if not _has_cone(friction, width, i):
            if i < begin:
                matrix[k, k] += y[i] / x[i]
            else:
                low, high = lower[i - begin] / factor[i], upper[i - begin] / factor[i]
                if low > -math.inf:
                    matrix[k, k] += y[i] / (x[i] - low)
                if high < math.inf:
                    matrix[k, k] += z[i] / (high - x[i])
            k += 1
            continue
        block = theta[:, i : i + width]
        _write_scaling(x[i : i + width], y[i : i + width], block)
        slip = _slip(y[i : i + width], smoothing)
        for a in range(width):
            for b in range(width):
                matrix[k + a, k + b] += block[a, b]
                if a > 0 and slip > 0.0:
                    matrix[k, k + b] -= y[i + a] / slip * block[a, b]
        k += width


@compiled
def _slip(y: Array, smoothing: float) -> float:
    """σ of (1), with ε² = smoothing; 0 if the slip is given."""
    if smoothing < 0.0:
        return 0.0
    total = smoothing
    for a in range(1, len(y)):
        total += y[a] * y[a]
    return math.sqrt(total)


@compiled
def _write_rhs(
    width: int, friction: Array, lower: Array, upper: Array, factor: Array, index: IntArray, count: int, tau: float,
    smoothing: float, x: Array, y: Array, residual: Array, central: Array, rhs: Array,
) -> None:  # fmt: skip
    """Write the right side of (3) for a τ; `central` receives τ·x⁻¹ − y.

    Args:
        residual: A·x + c, shape (R,).
    """
    k, begin = 0, len(friction) * width
    while k < count:
        i = index[k]
        if not _has_cone(friction, width, i):
            rhs[k] = -residual[i]
            if i < begin:
                central[i] = tau / x[i] - y[i]
                rhs[k] += tau / x[i]
            else:
                low, high = lower[i - begin] / factor[i], upper[i - begin] / factor[i]
                if low > -math.inf:
                    rhs[k] += tau / (x[i] - low)
                if high < math.inf:
                    rhs[k] -= tau / (high - x[i])
            k += 1
            continue
        determinant, slip = _determinant(x[i : i + width]), _slip(y[i : i + width], smoothing)
        for a in range(width):
            sign = 1.0 if a == 0 else -1.0
            central[i + a] = tau * sign * x[i + a] / determinant - y[i + a]
            rhs[k + a] = y[i + a] - residual[i + a] + central[i + a]
        rhs[k] -= slip
        if slip > 0.0:
            for a in range(1, width):
                rhs[k] -= y[i + a] / slip * central[i + a]
        k += width


@compiled
def _room(value: float, change: float) -> float:
    """The longest α ≤ 1/0.99 that leaves value + α·change above 0."""
    return min(_LONGEST, -value / change) if change < 0.0 else _LONGEST


@compiled
def _bounded_direction(
    i: int, low: float, high: float, tau: float, x: Array, y: Array, z: Array, dx: Array, dy: Array, dz: Array
) -> float:
    """Write dz_l and dz_u of a bounded row from its dx, and return the longest α."""
    alpha = _LONGEST
    dy[i] = dz[i] = 0.0
    if low > -math.inf:
        room = x[i] - low
        dy[i] = tau / room - y[i] - y[i] / room * dx[i]
        alpha = min(alpha, _room(room, dx[i]), _room(y[i], dy[i]))
    if high < math.inf:
        room = high - x[i]
        dz[i] = tau / room - z[i] + z[i] / room * dx[i]
        alpha = min(alpha, _room(room, -dx[i]), _room(z[i], dz[i]))
    return alpha


@compiled
def _directions(
    width: int, friction: Array, lower: Array, upper: Array, factor: Array, index: IntArray, count: int, tau: float,
    x: Array, y: Array, z: Array, theta: Array, central: Array, solution: Array, dx: Array, dy: Array, dz: Array,
) -> float:  # fmt: skip
    """Write the steps from the solution of (3), by (2), and return the longest α ≤ 1/0.99 that stays in the cones."""
    alpha, k, begin = _LONGEST, 0, len(friction) * width
    while k < count:
        i = index[k]
        if i >= begin:
            dx[i] = solution[k]
            low, high = lower[i - begin] / factor[i], upper[i - begin] / factor[i]
            alpha = min(alpha, _bounded_direction(i, low, high, tau, x, y, z, dx, dy, dz))
            k += 1
            continue
        if not _has_cone(friction, width, i):
            dx[i] = solution[k]
            dy[i] = central[i] - y[i] / x[i] * dx[i]
            alpha = min(alpha, _room(x[i], dx[i]), _room(y[i], dy[i]))
            k += 1
            continue
        for a in range(width):
            dx[i + a] = solution[k + a]
        for a in range(width):
            dy[i + a] = central[i + a]
            for b in range(width):
                dy[i + a] -= theta[a, i + b] * dx[i + b]
        alpha = min(alpha, _longest(x[i : i + width], dx[i : i + width]))
        alpha = min(alpha, _longest(y[i : i + width], dy[i : i + width]))
        k += width
    return alpha


@compiled
def _gap(
    width: int, friction: Array, lower: Array, upper: Array, factor: Array, index: IntArray, count: int, alpha: float,
    x: Array, y: Array, z: Array, dx: Array, dy: Array, dz: Array,
) -> float:  # fmt: skip
    """The mean complementarity xᵀ·y of a cone after a step of length α."""
    total, cones, begin = 0.0, 0, len(friction) * width
    for k in range(count):
        i = index[k]
        if i < begin:
            total += (x[i] + alpha * dx[i]) * (y[i] + alpha * dy[i])
            cones += 1 if i % width == 0 else 0
            continue
        low, high = lower[i - begin] / factor[i], upper[i - begin] / factor[i]
        if low > -math.inf:
            total += (x[i] + alpha * dx[i] - low) * (y[i] + alpha * dy[i])
            cones += 1
        if high < math.inf:
            total += (high - x[i] - alpha * dx[i]) * (z[i] + alpha * dz[i])
            cones += 1
    return total / max(cones, 1)


@compiled
def interior_step(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, energy: float,
    slip: Array, index: IntArray, count: int, order: IntArray, work: Array, matrix: Array,
) -> tuple[float, float]:  # fmt: skip
    """Change x, y, z by one step; return its length α, 0 if (3) is singular, and the gap xᵀ·y before it.

    Args:
        slip: |w_t| of every contact if it is given, shape (m,) [m/s]; below 0 if it is unknown.
        order: workspace, shape (R,).
        work: factor, x, y, z, and workspace; shape (13, R).
    """
    factor, x, y, z, dx, dy, dz = work[0], work[1], work[2], work[3], work[4], work[5], work[6]
    residual, central, rhs, theta = work[7], work[8], work[9], work[10:13]
    rows = len(free)
    for i in range(rows):
        dx[i] = dy[i] = dz[i] = 0.0
        residual[i] = free[i]
    for c in range(len(friction)):
        residual[c * width] += friction[c] * max(slip[c], 0.0)
    for j in range(rows):
        impulse = factor[j] * x[j]
        if impulse != 0.0:
            column = delassus[j]
            for i in range(rows):
                residual[i] += column[i] * impulse
    for i in range(rows):
        residual[i] *= factor[i] / (energy * energy)
    gap = _gap(width, friction, lower, upper, factor, index, count, 0.0, x, y, z, dx, dy, dz)
    smoothing = gap * gap if slip[0] < 0.0 else -1.0
    _assemble(
        delassus, width, friction, lower, upper, energy, factor, index, count, smoothing, x, y, z, theta, matrix
    )  # fmt: skip
    if not factorise_linear(matrix, order, count):
        return 0.0, gap
    tau, alpha = 0.0, 0.0
    for _ in range(2):
        _write_rhs(
            width, friction, lower, upper, factor, index, count, tau, smoothing, x, y, residual, central, rhs
        )  # fmt: skip
        substitute_linear(matrix, order, rhs, count)
        alpha = _directions(
            width, friction, lower, upper, factor, index, count, tau, x, y, z, theta, central, rhs, dx, dy, dz
        )  # fmt: skip
        if tau > 0.0:
            break
        after = _gap(
            width, friction, lower, upper, factor, index, count, min(alpha, 1.0), x, y, z, dx, dy, dz
        )  # fmt: skip
        ratio = min(max(after / gap, 1e-2), 1.0) if gap > 0.0 else 1.0
        tau = max(ratio * ratio * ratio * gap, 1e-300)
    alpha *= _TO_EDGE
    for i in range(rows):
        x[i] += alpha * dx[i]
        y[i] += alpha * dy[i]
        z[i] += alpha * dz[i]
    return float(alpha), float(gap)
