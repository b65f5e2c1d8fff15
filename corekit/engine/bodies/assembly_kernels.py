"""A and r of one body by (2) of `linearisation`, in one compiled loop where the layouts of its matrices allow."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["assemble_bands", "assemble_blocks", "turn_right_side"]


@compiled
def assemble_blocks(
    mass: Array, damping: Array, stiffness: Array, force: Array, v: Array, p: Array, d: Array, s: Array,
    by_force: float, by_mass: float, c_v: float, c_q: float, symmetric: bool, matrix: Array, rhs: Array,
) -> bool:  # fmt: skip
    """Write A by its blocks (b, k, k) and r (b·k,); K and D are not read where their factors are 0.

    Returns whether a matrix that is not symmetric was replaced by its symmetric part.
    """
    k, lacks = mass.shape[1], False
    for row in range(len(v)):
        b, i = row // k, row % k
        total = by_force * force[row]
        for j in range(k):
            column, m = b * k + j, mass[b, i, j]
            total += m * (p[column] - v[column])
            entry = by_mass * m
            if c_v != 0.0:
                each = 0.5 * (damping[b, i, j] + damping[b, j, i]) if symmetric else damping[b, i, j]
                lacks |= each != damping[b, i, j]
                total += c_v * each * (d[column] - v[column])
                entry += c_v * each
            if c_q != 0.0:
                each = 0.5 * (stiffness[b, i, j] + stiffness[b, j, i]) if symmetric else stiffness[b, i, j]
                lacks |= each != stiffness[b, i, j]
                total += c_q * each * (s[column] - v[column])
                entry += c_q * each
            matrix[b, i, j] = entry
        rhs[row] = total
    return lacks


@compiled
def _add_band(
    band: Array, factor: float, by_product: float, v: Array, about: Array, matrix: Array, rhs: Array
) -> None:
    """Add factor·B to A and by_product·B·(about − v) to r for a symmetric band: entry (j + d, j) stands at [j, d]."""
    n, wide = band.shape
    for j in range(n):
        change = by_product * (about[j] - v[j])
        for d in range(min(wide, n - j)):
            entry = band[j, d]
            matrix[j, d] += factor * entry
            rhs[j + d] += entry * change
            if d:
                rhs[j] += by_product * entry * (about[j + d] - v[j + d])


@compiled
def assemble_bands(
    mass: Array, damping: Array, stiffness: Array, force: Array, v: Array, p: Array, d: Array, s: Array,
    by_force: float, by_mass: float, c_v: float, c_q: float, moving: bool, matrix: Array, rhs: Array,
) -> None:  # fmt: skip
    """The same for symmetric bands, shape (n, width + 1); `moving`: whether any of p, d, s differs from v."""
    n, masses, dampings, stiffnesses = len(v), mass.shape[1], damping.shape[1], stiffness.shape[1]
    if moving:
        for j in range(n):
            rhs[j] = by_force * force[j]
            for k in range(matrix.shape[1]):
                matrix[j, k] = 0.0
        _add_band(mass, by_mass, 1.0, v, p, matrix, rhs)
        if c_v != 0.0:
            _add_band(damping, c_v, c_v, v, d, matrix, rhs)
        if c_q != 0.0:
            _add_band(stiffness, c_q, c_q, v, s, matrix, rhs)
        return
    for j in range(n):
        rhs[j] = by_force * force[j]
        for k in range(matrix.shape[1]):
            entry = by_mass * mass[j, k] if k < masses else 0.0
            if c_v != 0.0 and k < dampings:
                entry += c_v * damping[j, k]
            if c_q != 0.0 and k < stiffnesses:
                entry += c_q * stiffness[j, k]
            matrix[j, k] = entry


@compiled
def _solve_by_gauss(full: Array) -> None:
    """Overwrite the last column of (A | b) by A⁻¹·b, with the largest pivot of each column."""
    k = full.shape[0]
    for i in range(k):
        largest = i
        for j in range(i + 1, k):
            if abs(full[j, i]) > abs(full[largest, i]):
                largest = j
        if largest != i:
            for j in range(i, k + 1):
                full[i, j], full[largest, j] = full[largest, j], full[i, j]
        for row in range(i + 1, k):
            multiple = full[row, i] / full[i, i]
            if multiple != 0.0:
                for j in range(i, k + 1):
                    full[row, j] -= multiple * full[i, j]
    for i in range(k - 1, -1, -1):
        for j in range(i + 1, k):
            full[i, k] -= full[i, j] * full[j, k]
        full[i, k] /= full[i, i]


@compiled
def turn_right_side(
    stiffness: Array, damping: Array, held: Array, is_held: bool, c_v: float, c_q: float, v: Array, s: Array,
    matrix: Array, prescribed: IntArray, fixed: Array, rest: Array, full: Array, rhs: Array,
) -> None:  # fmt: skip
    """Replace r, to which K lacks its rest, by r − T·Δ with (A + T)·Δ = r; see (1) of `body_terms`.

    Args:
        damping: D. held: D₀, read if `is_held`. All matrices by their blocks (b, k, k).
        v, s: r lacks c_q·(K − Kᵀ)/2·(s − v). prescribed, fixed: indices and Δ of prescribed velocities.
        rest, full: scratch (k, k) and (k, k + 1).
    """
    k = matrix.shape[1]
    for b in range(matrix.shape[0]):
        found = False
        for i in range(k):
            row = b * k + i
            for j in range(k):
                turned = 0.5 * c_q * (stiffness[b, i, j] - stiffness[b, j, i])
                rhs[row] += turned * (s[b * k + j] - v[b * k + j])
                without = held[b, i, j] if is_held else damping[b, j, i]
                rest[i, j] = turned + 0.5 * c_v * (damping[b, i, j] - without)
                found = found or rest[i, j] != 0.0
                full[i, j] = matrix[b, i, j] + rest[i, j]
            full[i, k] = rhs[row]
        if not found:
            continue
        for p in range(len(prescribed)):
            i = prescribed[p] - b * k
            if 0 <= i < k:
                full[i, :] = 0.0
                full[i, i], full[i, k] = 1.0, fixed[p]
        _solve_by_gauss(full)
        for i in range(k):
            for j in range(k):
                rhs[b * k + i] -= rest[i, j] * full[j, k]
