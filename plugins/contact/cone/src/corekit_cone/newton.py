"""Semismooth Newton's method on the equations of Alart and Curnier.

    y_n = λ_n − ρ_n·w_n,   y_t = λ_t − ρ_t·w_t,   κ = μ·max(y_n, 0)
    F_n = λ_n − max(y_n, 0)                                                                       (1)
    F_t = λ_t − y_t if |y_t| ≤ κ (sticks),  λ_t − κ·d with d = y_t/|y_t| else (slides)            (2)
    F_b = λ_b − clip(λ_b − ρ·w_b, lower, upper)                                                   (3)

F = 0 is Coulomb's law with non-penetration. The generalised Jacobian gives Δ: open contacts and rows at a bound have
no unknown, since Δ = −λ or Δ = bound − λ. The other equations are, divided by ρ,

    w + W·Δ = 0                        normal, sticking and free bounded rows                     (4)
    [Δ_t − μ·d·Δ_n − G·(Δ_t − ρ_t·(W·Δ)_t)]/ρ_t = −(λ_t − μ·d·λ_n)/ρ_t,   G = κ/|y_t|·(I − d·dᵀ)  (5)

where (4) of the normal row is used in (5). If contacts are redundant, W is singular: W + ε·diag W replaces it in
(4) and (5), after Levenberg and Marquardt. `search` adapts ε, and later iterations remove its effect.

Source: Alart, Curnier (1991), A mixed formulation for frictional contact problems prone to Newton like solution
methods, Comput. Methods Appl. Mech. Engrg. 92.
"""

from __future__ import annotations

import math

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["assemble_newton", "factorise_linear", "merit", "substitute_linear"]


@compiled
def merit(
    delassus: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array, reference: Array,
    impulse: Array, velocity: Array,
) -> float:  # fmt: skip
    """The squared norm of (1)–(3), each as a velocity relative to its reference."""
    contacts, total = len(friction), 0.0
    for c in range(contacts):
        n = c * width
        mobility, lateral = _mobilities(delassus, n, width)
        y_n = max(impulse[n] - velocity[n] / mobility, 0.0)
        sum_, size = ((impulse[n] - y_n) * mobility) ** 2, 0.0
        for a in range(n + 1, n + width):
            size += (impulse[a] - velocity[a] / lateral) ** 2
        size, radius = math.sqrt(size), friction[c] * y_n
        factor = radius / size if size > radius else 1.0
        for a in range(n + 1, n + width):
            sum_ += ((impulse[a] - factor * (impulse[a] - velocity[a] / lateral)) * lateral) ** 2
        total += sum_ / reference[c] ** 2
    for b in range(len(lower)):
        i, k = contacts * width + b, contacts + b
        moved = min(max(impulse[i] - rho[k] * velocity[i], lower[b]), upper[b])
        total += ((impulse[i] - moved) / rho[k] / reference[k]) ** 2
    return float(total) if total < math.inf else math.inf


@compiled
def _mobilities(delassus: Array, n: int, width: int) -> tuple[float, float]:
    """1/ρ_n and 1/ρ_t of a contact."""
    lateral = 0.0
    for a in range(n + 1, n + width):
        lateral += delassus[a, a] / (width - 1)
    normal = delassus[n, n]
    lateral = lateral if lateral > 0.0 else (normal if normal > 0.0 else 1.0)
    return normal if normal > 0.0 else lateral, lateral


@compiled
def _choose_unknowns(
    delassus: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array, impulse: Array,
    velocity: Array, index: IntArray, step: Array,
) -> int:  # fmt: skip
    """Write the rows with unknowns to `index` and the Δ of the others; return the number of unknowns."""
    contacts, count = len(friction), 0
    for c in range(contacts):
        n = c * width
        mobility, _ = _mobilities(delassus, n, width)
        is_open = impulse[n] - velocity[n] / mobility <= 0.0
        for i in range(n, n + width):
            step[i] = 0.0
            if is_open or (i > n and friction[c] <= 0.0):
                step[i] = -impulse[i]
            else:
                index[count] = i
                count += 1
    for b in range(len(lower)):
        i = contacts * width + b
        moved, step[i] = impulse[i] - rho[contacts + b] * velocity[i], 0.0
        if moved <= lower[b]:
            step[i] = lower[b] - impulse[i]
        elif moved >= upper[b]:
            step[i] = upper[b] - impulse[i]
        else:
            index[count] = i
            count += 1
    return count


@compiled
def assemble_newton(
    delassus: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array, impulse: Array,
    velocity: Array, shift: float, index: IntArray, step: Array, shifted: Array, matrix: Array, rhs: Array,
) -> int:  # fmt: skip
    """Write (4) and (5) as matrix·Δ = rhs for the rows of `index`; return their number.

    Args:
        shift: ε.
        step: Δ of the rows without unknown, shape (R,), written.
        shifted: w + W·Δ of these, shape (R,), written.
        matrix, rhs: shapes (R, R) and (R,), their beginnings written.
    """
    contacts = len(friction)
    count = _choose_unknowns(delassus, width, friction, lower, upper, rho, impulse, velocity, index, step)
    for i in range(len(velocity)):
        shifted[i] = velocity[i]
    for j in range(len(step)):
        if step[j] != 0.0:
            column, factor = delassus[j], step[j]
            for i in range(len(velocity)):
                shifted[i] += column[i] * factor
    k = 0
    while k < count:
        n = index[k]
        if n >= contacts * width or friction[n // width] <= 0.0:
            _write_rest(delassus, n, index, count, k, shift, shifted, matrix, rhs)
            k += 1
            continue
        mu = friction[n // width]
        mobility, lateral = _mobilities(delassus, n, width)
        _write_rest(delassus, n, index, count, k, shift, shifted, matrix, rhs)
        radius, size = mu * (impulse[n] - velocity[n] / mobility), 0.0
        for a in range(n + 1, n + width):
            size += (impulse[a] - velocity[a] / lateral) ** 2
        size = math.sqrt(size)
        for a in range(1, width):
            if size <= radius:
                _write_rest(delassus, n + a, index, count, k + a, shift, shifted, matrix, rhs)
                continue
            row = matrix[k + a]
            along_a = (impulse[n + a] - velocity[n + a] / lateral) / size
            for j in range(count):
                row[j] = 0.0
            row[k] -= mu * along_a * lateral
            row[k + a] += lateral
            rhs[k + a] = -(impulse[n + a] - mu * along_a * impulse[n]) * lateral
            for b in range(1, width):
                along_b = (impulse[n + b] - velocity[n + b] / lateral) / size
                part = radius / size * ((1.0 if a == b else 0.0) - along_a * along_b)
                row[k + b] -= part * lateral
                source = delassus[n + b]
                for j in range(count):
                    row[j] += part * source[index[j]]
                row[k + b] += part * shift * source[n + b]
                rhs[k + a] -= part * (shifted[n + b] - velocity[n + b])
        k += width
    return count


@compiled
def _write_rest(
    delassus: Array, row: int, index: IntArray, count: int, k: int, shift: float, shifted: Array, matrix: Array,
    rhs: Array,
) -> None:  # fmt: skip
    """Write (4) of a row, the k-th unknown."""
    source, target = delassus[row], matrix[k]
    for j in range(count):
        target[j] = source[index[j]]
    target[k] += shift * source[row]
    rhs[k] = -shifted[row]


@compiled
def factorise_linear(matrix: Array, order: IntArray, count: int) -> bool:
    """Factorise the first `count` rows and columns in place with row pivoting; False if they are singular.

    Args:
        order: the row that each pivot came from, shape (R,), written.
    """
    for k in range(count):
        if k & 63 == 63:
            check_signals()
        best, pivot = 0.0, -1
        for i in range(k, count):
            if abs(matrix[i, k]) > best:
                best, pivot = abs(matrix[i, k]), i
        if pivot < 0 or not best < math.inf:
            return False
        order[k] = pivot
        if pivot != k:
            for j in range(count):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
        source, inverse = matrix[k], 1.0 / matrix[k, k]
        for i in range(k + 1, count):
            target = matrix[i]
            if target[k] != 0.0:
                factor = target[k] * inverse
                target[k] = factor
                for j in range(k + 1, count):
                    target[j] -= factor * source[j]
    return True


@compiled
def substitute_linear(matrix: Array, order: IntArray, rhs: Array, count: int) -> None:
    """Solve with the result of `factorise_linear`, in place."""
    for k in range(count):
        rhs[k], rhs[order[k]] = rhs[order[k]], rhs[k]
    for k in range(count):
        row, total = matrix[k], rhs[k]
        for j in range(k):
            total -= row[j] * rhs[j]
        rhs[k] = total
    for k in range(count - 1, -1, -1):
        row, total = matrix[k], rhs[k]
        for j in range(k + 1, count):
            total -= row[j] * rhs[j]
        rhs[k] = total / row[k]
