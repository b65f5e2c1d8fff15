"""Lemke's complementary pivoting as a compiled kernel in revised form.

An artificial variable z₀ ≥ 0 and a covering vector d > 0 extend the problem,

    w = A·z + d·z₀ + b,                                                                    (1)

for which z = 0, z₀ = max(−b/d) is feasible. Pivots follow the path of *almost* complementary basic solutions,
z_i·w_i = 0 for all i: the complement of the leaving variable enters the basis next. The path ends when z₀
leaves (solved) or when nothing blocks the entering variable (a secondary ray).

Of the n basic variables few are z: k, the number of active conditions. With C the basic z (z₀ among them) and
R the rows whose w is nonbasic, the solver stores only the small inverse

    K = [A d]_RC⁻¹,     z_C = −K·b_R,     w_i = b_i + [A d]_iC·z_C                          (2)

so that a pivot costs n·k + k², not n². If z_e enters, z_C moves along −K·[A d]_Re; if w_e enters, along K's
column of e. One of four rank-one formulas (`update_inverse`) updates K. K is recomputed from A at regular
intervals to limit rounding.

Ties are common if contacts touch symmetrically. The rule that breaks them replaces b by b + (ε, ε², …, εⁿ):
of the tied variables the one leaves whose coefficients of ε in (2), over its descent, are lexicographically
smallest. This excludes cycling in exact arithmetic. By rounding, many redundant contacts lead into a cycle now and then
all the same: a path that comes back to a basis never ends. Brent's method finds that within three rounds, and the
path ends with LIMIT.

Source: Cottle, Pang, Stone (2009), "The Linear Complementarity Problem", sections 4.4 and 4.9.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.vectors import copy_vector
from corekit_complementarity.small_inverse import invert_basis, update_inverse

__all__ = ["LIMIT", "RAY", "SOLVED", "lemke_path"]

SOLVED, RAY, LIMIT = 0, 1, 2
"""Outcomes of a path."""

REFRESH_INTERVAL = 40
"""Number of pivots between recomputations of K, z and w from A."""


@compiled
def compute_direction(
    transposed: Array, inverse: Array, count: int, column: IntArray, row: IntArray, entering_z: int,
    entering_row: int, dx: Array, dw: Array,
) -> None:  # fmt: skip
    """Compute the change of z_C and w per unit of the entering variable.

    Args:
        transposed: [A d]ᵀ, shape (n + 1, n); only rows that are or were basic are valid.
        inverse, count, column, row: K, k, C, R of (2).
        entering_z: index of the entering z, or −1.
        entering_row: position in R of the entering w if entering_z = −1.
        dx, dw: shapes (k,) and (n,), out; dw of a nonbasic w is rounding only.
    """
    n = dw.size
    if entering_z >= 0:
        entering_column = transposed[entering_z]
        for q in range(count):
            dw[q] = entering_column[row[q]]
        # four rows at a time, because each addition of a single sum waits for the previous one
        unrolled = count - count % 4
        for p in range(0, unrolled, 4):
            one, two, three, four = inverse[p], inverse[p + 1], inverse[p + 2], inverse[p + 3]
            t1, t2, t3, t4 = 0.0, 0.0, 0.0, 0.0
            for q in range(count):
                t1 -= one[q] * dw[q]
                t2 -= two[q] * dw[q]
                t3 -= three[q] * dw[q]
                t4 -= four[q] * dw[q]
            dx[p], dx[p + 1], dx[p + 2], dx[p + 3] = t1, t2, t3, t4
        for p in range(unrolled, count):
            total = 0.0
            for q in range(count):
                total -= inverse[p, q] * dw[q]
            dx[p] = total
        for i in range(n):
            dw[i] = entering_column[i]
    else:
        for p in range(count):
            dx[p] = inverse[p, entering_row]
        for i in range(n):
            dw[i] = 0.0
    unrolled = count - count % 4  # four columns at a time: a quarter of the reads and writes of dw
    for p in range(0, unrolled, 4):
        first, second = transposed[column[p]], transposed[column[p + 1]]
        third, fourth = transposed[column[p + 2]], transposed[column[p + 3]]
        c1, c2, c3, c4 = dx[p], dx[p + 1], dx[p + 2], dx[p + 3]
        for i in range(n):
            dw[i] += c1 * first[i] + c2 * second[i] + c3 * third[i] + c4 * fourth[i]
    for p in range(unrolled, count):
        change, basic_column = dx[p], transposed[column[p]]
        for i in range(n):
            dw[i] += change * basic_column[i]


@compiled
def compute_perturbation(
    transposed: Array, inverse: Array, count: int, column: IntArray, row: IntArray, candidate: int,
    descent: Array, out: Array,
) -> float:  # fmt: skip
    """Compute the coefficients of ε, ε², … in a basic variable, over its descent; return the largest.

    Args:
        candidate: i < n for w_i, n + p for the z at position p of C.
        descent: rate at which the basic variables descend, shape (≥ n + k,).
        out: shape (n,).
    """
    n, pivot = out.size, descent[candidate]
    out[:] = 0.0
    if candidate >= n:
        for q in range(count):
            out[row[q]] = -inverse[candidate - n, q]
    else:
        for p in range(count):
            factor = transposed[column[p], candidate]
            for q in range(count):
                out[row[q]] -= factor * inverse[p, q]
    for q in range(count):
        out[row[q]] /= pivot
    if candidate < n:
        out[candidate] = 1.0 / pivot
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(out[i]))
    return largest


@compiled
def select_leaving(
    transposed: Array, inverse: Array, count: int, column: IntArray, row: IntArray, descent: Array,
    tied: IntArray, ties: int, least: float, one: Array, two: Array,
) -> int:  # fmt: skip
    """Return the tied variable that leaves by the lexicographic rule; skip pivots below `least`."""
    leaving, size_one = -1, 0.0
    for t in range(ties):
        candidate = tied[t]
        if not descent[candidate] > least:
            continue
        if leaving < 0:
            leaving = candidate
            if ties > 1:
                size_one = compute_perturbation(
                    transposed, inverse, count, column, row, candidate, descent, one
                )
            continue
        size_two = compute_perturbation(transposed, inverse, count, column, row, candidate, descent, two)
        rounding = 1e-12 * max(size_one, size_two)
        for i in range(one.size):
            if abs(one[i] - two[i]) > rounding:
                if two[i] < one[i]:
                    leaving, size_one = candidate, size_two
                    copy_vector(two, one)
                break
    return leaving


@compiled
def find_blocking(
    value: Array, descent: Array, basic_count: int, artificial: int, magnitude: float, pivot_tolerance: float,
    tie_tolerance: float, tied: IntArray,
) -> tuple[int, float, float]:  # fmt: skip
    """Find the basic variables that reach zero first as the entering one grows.

    A variable blocks if it descends faster than pivot_tolerance·max|descent|. Variables whose ratio exceeds
    the smallest by no more than rounding are tied; z₀, at index `artificial`, leaves if it is among them.

    Args:
        value, descent: of the basic variables, 0 for others, shape (basic_count,).
        magnitude: max |b|, the scale of rounding in the values.
        tied: shape (basic_count,), out.
    Returns:
        Number of tied variables (0 on a ray), the largest pivot among them, the ratio.
    """
    steepest = 0.0
    for i in range(basic_count):
        steepest = max(steepest, abs(descent[i]))
    least = pivot_tolerance * steepest
    ratio = np.inf
    for i in range(basic_count):
        if descent[i] > least and value[i] < ratio * descent[i]:
            ratio = max(value[i], 0.0) / descent[i]
    if not ratio < np.inf:
        return 0, 0.0, ratio
    count, largest = 0, 0.0
    for i in range(basic_count):
        if descent[i] > least:
            excess = value[i] - ratio * descent[i]
            if excess <= tie_tolerance * (magnitude + abs(value[i])):
                if i == artificial:
                    tied[0] = i
                    return 1, descent[i], ratio
                tied[count] = i
                count += 1
                largest = max(largest, descent[i])
    return count, largest, ratio


@compiled
def evaluate_basis(
    transposed: Array, vector: Array, inverse: Array, count: int, column: IntArray, row: IntArray,
    w_position: IntArray, value: Array,
) -> None:  # fmt: skip
    """Write z_C and w of (2) into `value`: w_i at i, the z at position p of C at n + p."""
    n = vector.size
    for i in range(n):
        value[i] = vector[i]
    for p in range(count):
        total = 0.0
        for q in range(count):
            total -= inverse[p, q] * vector[row[q]]
        value[n + p] = total
        basic_column = transposed[column[p]]
        for i in range(n):
            value[i] += total * basic_column[i]
    for i in range(n):
        if w_position[i] >= 0:
            value[i] = 0.0


@compiled
def find_start_row(vector: Array, covering: Array) -> tuple[int, float]:
    """Return the row whose w leaves for z₀ at the start, −1 if z = 0 is the solution; and max |b|."""
    magnitude, row = 0.0, -1
    for i in range(vector.size):
        magnitude = max(magnitude, abs(vector[i]))
        # among equally negative entries the last is the lexicographically smallest
        if row < 0 or vector[i] * covering[row] <= vector[row] * covering[i]:
            row = i
    if row >= 0 and vector[row] >= 0.0:
        row = -1
    return row, magnitude


@compiled
def _mix(variable: int) -> int:
    """An irregular number of 31 bits for a variable; those of a basis, joined by xor, distinguish bases."""
    x = ((variable + 1) * 2654435761) & 0x7FFFFFFF
    x = ((x ^ (x >> 15)) * 2246822519) & 0x7FFFFFFF
    return x ^ (x >> 13)


@compiled
def _comes_back(trace: IntArray, exchange: int) -> bool:
    """Follow the bases by Brent's method; True if this one was marked before.

    Args:
        trace: the number of this basis, that of the marked one, and how many pivots ago it was marked; the next mark is
            set after 2ᵏ pivots, k its last entry. Changed; zeros at first.
        exchange: of the variable that entered and that which left.
    """
    trace[0] ^= exchange
    trace[2] += 1
    if trace[0] == trace[1]:
        return True
    if trace[2] >> trace[3]:
        trace[1], trace[2] = trace[0], 0
        trace[3] += 1
    return False


@compiled
def lemke_path(
    matrix: Array, vector: Array, covering: Array, transposed: Array, inverse: Array, workspace: Array,
    floats: Array, integers: IntArray, max_pivots: int, pivot_tolerance: float, tie_tolerance: float,
    z: Array,
) -> tuple[int, int, int]:  # fmt: skip
    """Follow Lemke's path from z = 0.

    Args:
        matrix, vector: A (n, n) and b (n,).
        covering: d > 0, shape (n,).
        transposed, inverse, workspace: workspaces, shapes (n + 1, n), (n + 1, n + 1), (2n² + 2n,).
        floats, integers: workspaces, lengths ≥ 9n + 4 and ≥ 7n + 4; the basic z are the first entries of
            `integers`.
        max_pivots: largest number of pivots.
        pivot_tolerance, tie_tolerance: see `find_blocking`.
        z: the z of the last basic solution, shape (n,), out.
    Returns:
        Outcome (SOLVED, RAY or LIMIT), the number of pivots, and the number of basic z (z₀ is index n).
    """
    n = vector.size
    value, descent = floats[: 2 * n + 1], floats[2 * n + 1 : 4 * n + 2]
    dx, dw = floats[4 * n + 2 : 5 * n + 3], floats[5 * n + 3 : 6 * n + 3]
    one, two, side = floats[6 * n + 3 : 7 * n + 3], floats[7 * n + 3 : 8 * n + 3], floats[8 * n + 3 :]
    column, row = integers[: n + 1], integers[n + 1 : 2 * n + 2]
    z_position, w_position = integers[2 * n + 2 : 3 * n + 3], integers[3 * n + 3 : 4 * n + 3]
    is_loaded, tied = integers[4 * n + 3 : 5 * n + 3], integers[5 * n + 3 :]

    z[:] = 0.0
    start, magnitude = find_start_row(vector, covering)
    if start < 0:
        return SOLVED, 0, 0
    for i in range(n):
        transposed[n, i] = covering[i]
    is_loaded[:] = 0
    z_position[:] = -1
    w_position[:] = -1
    count = min(n, 1)  # not the literal 1, for which numba would compile the functions below once more
    column[0], row[0] = n, start
    z_position[n], w_position[start] = 0, 0
    inverse[0, 0] = 1.0 / covering[start]
    evaluate_basis(transposed, vector, inverse, count, column, row, w_position, value)

    outcome, pivots = LIMIT, 1
    left_variable = start  # w_i as i, z_i as n + i
    trace = np.zeros(4, dtype=np.int64)
    while pivots < max_pivots:
        check_signals()
        entering_z = left_variable if left_variable < n else -1
        entering_row = -1 if left_variable < n else int(w_position[left_variable - n])
        if (
            left_variable < n and is_loaded[left_variable] == 0
        ):  # load columns of A on demand: few of them enter
            for i in range(n):
                transposed[left_variable, i] = matrix[i, left_variable]
            is_loaded[left_variable] = 1
        compute_direction(transposed, inverse, count, column, row, entering_z, entering_row, dx, dw)
        for i in range(n):
            descent[i] = -dw[i]
        for p in range(count):
            descent[row[p]], descent[n + p] = 0.0, -dx[p]
        ties, largest, ratio = find_blocking(
            value, descent, n + count, n + z_position[n], magnitude, pivot_tolerance, tie_tolerance, tied
        )
        if ties == 0:
            outcome = RAY
            break
        leaving = select_leaving(
            transposed, inverse, count, column, row, descent, tied, ties, 1e-5 * largest, one, two
        )
        pivots += 1
        ratio = max(value[leaving], 0.0) / descent[leaving]
        for i in range(n + count):
            value[i] -= ratio * descent[i]
        entered = (left_variable + n) % (2 * n)  # the complement of what left before
        left_variable = leaving if leaving < n else n + int(column[leaving - n])
        count = update_inverse(
            transposed, inverse, count, column, row, z_position, w_position,
            entering_z, entering_row, leaving, ratio, dx, dw, side, value,
        )  # fmt: skip
        if left_variable == 2 * n or _comes_back(trace, _mix(entered) ^ _mix(left_variable)):
            outcome = SOLVED if left_variable == 2 * n else LIMIT
            break
        if pivots % REFRESH_INTERVAL == 0 and invert_basis(
            transposed, column, row, count, workspace, inverse
        ):
            evaluate_basis(transposed, vector, inverse, count, column, row, w_position, value)
    for p in range(count):
        if column[p] < n:
            z[column[p]] = max(value[n + p], 0.0)
    return outcome, pivots, count
