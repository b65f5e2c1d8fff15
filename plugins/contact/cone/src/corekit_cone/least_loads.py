"""One answer where contacts are redundant: the loads of pads that are a little soft, as they become rigid.

Where a body touches at more points than it can move by, many λ solve Coulomb's law. Those of contacts that stick move
the bodies alike; where contacts slide, each λ has other friction and another motion. The law is no convex program, so
that “the least λ” says nothing before it is said among which. Pads decide: with a compliance e, alike at every contact,

    w + e·(λ − λ⁰),    w = W·λ + w₀,    λ⁰ = 0                                                    (1)

stands in the law for w. Let S be the rows at rest: normals of contacts that touch, tangents of those that stick, rows
inside of their bounds. There (1) vanishes, e·λ_S = −w_S: the compressions of the pads are a motion of the bodies, seen
at S. As e → 0 this motion vanishes as e does, and what is left is

    λ_S ∈ range(W_SS),    w_S = 0,    λ_t = −μ·λ_n·w_t/|w_t| where contacts slide                 (2)

(w_t and w_t + e·λ_t of what slides have one direction, so that its tangential compliance does nothing). What is
orthogonal to the range are loads that move nothing: λ_S has the least norm of all λ′_S with W_SS·λ′_S = W_SS·λ_S. That
is the set: loads of the same modes and with the same effect on what is at rest. Where nothing slides, these are all
solutions of these modes. Under a face that slides, (2) says that its normal loads are linear over it. Where a bound
holds back a load whose contact stays at rest (w_n = 0 and λ_n = 0, or w_t = 0 and |λ_t| = μ·λ_n), (1) itself says
which.

**Where nothing slides** the loads of any solution lose their part orthogonal to the range,

    λ_S ← λ_S − N·λ_S,    N = [e·(W_SS + e·1)⁻¹]^k                                                (3)

which leaves (e/σ)^k of others, σ the least eigenvalue of W_SS that is not zero. If the cones hold what is left, it is
(2), at the price of one Cholesky factorisation.

**Elsewhere** (1) is solved by Newton's method (`iteration`; W + e·1 is regular), if it must along a path from a large
e, and λ⁰ ← λ again and again removes e: in e·(λ − λ⁰)_S = −w_S λ stays in the range, whatever e is, and w_S vanishes
as (e/σ)^k (Rockafellar, 1976; here no convex program is behind it). Loads along σ ≪ e, which little more than rounding
tells apart, stay near the least norm unless the tolerance asks for them, which a smaller e answers then.

**Rounding.** Gaps of redundant contacts contradict each other by their rounding, over the step; (1) would make loads of
that, 1/e as large. Therefore w₀_S is replaced by w₀_S − N·w_S: what no motion has is left out. It is less than the
tolerance, as the first solution shows.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.contact_laws import relative_velocity
from corekit_cone.gauss_seidel import project_impulses
from corekit_cone.iteration import copy_values, iterate_newton
from corekit_cone.residuals import measure_error
from corekit_cone.search import search

__all__ = ["MANY", "search_least", "share_loads"]

MANY = 24
"""Contacts from which loads are not shared."""

_COMPLIANCE = 1e-4
"""e relative to the least mobility of the contacts that W connects; that of bounded rows relative to their own."""
_DEPENDENT, _POWER = 100.0, 8
"""Pivot of a row that may depend on others, relative to e; and k of (3)."""
_ROUNDING = 1e-12
"""Pivot and e, relative to the row's own mobility, below which rounding decides what depends."""
_SOFTEST, _FACTOR, _LEAST_FACTOR = 1e4, 0.1, 0.9
"""Of a path: e at first, relative to that at last, its factor, and the factor with which it is given up."""
_TOLERANCE, _GOOD = 1e-9, 1e-10
"""Of Newton's method, which goes on while it gains, and error of what counts as a solution of (1), relative to V."""
_NEWTON_STEPS, _PATH_STEPS = 20, 200
_REMOVALS, _SETTLED = 12, 1e-12
"""Largest number of removals, and the change of e·λ, relative to V, that ends them."""


_DECREASE, _LEAST = 1e-2, 1e-5
"""Factor of e where removals miss the tolerance, first from their λ and then from λ⁰ = 0; and where that ends."""


@compiled
def _rows_at_rest(
    width: int, friction: Array, lower: Array, upper: Array, reference: Array, tolerance: float, impulse: Array,
    velocity: Array, index: IntArray,
) -> tuple[int, bool]:  # fmt: skip
    """Write the rows of S; return their number, and whether no contact slides."""
    contacts, count, sticks = len(friction), 0, True
    for c in range(contacts):
        n, bound = c * width, tolerance * reference[c]
        # a load beside such a speed is within the tolerance of none
        if velocity[n] > bound:
            continue
        index[count] = n
        count += 1
        if friction[c] > 0.0:
            slip = 0.0
            for a in range(n + 1, n + width):
                slip += velocity[a] ** 2
            if math.sqrt(slip) > bound:
                sticks = False
                continue
            for a in range(n + 1, n + width):
                index[count] = a
                count += 1
    for b in range(len(lower)):
        i = contacts * width + b
        if lower[b] < impulse[i] < upper[b] and abs(velocity[i]) <= tolerance * reference[contacts + b]:
            index[count] = i
            count += 1
    return count, sticks


@compiled
def _write_compliance(
    delassus: Array, width: int, rho: Array, contacts: int, part: IntArray, compliance: Array
) -> None:
    """Write e of every row, and to `part` a number of the connected part of W that it belongs to.

    A heavy body elsewhere says nothing about a light one: beside the mobility of that its e would be rounding.
    """
    rows = len(compliance)
    for i in range(rows):
        part[i] = i // width if i < contacts * width else i
    for i in range(rows):
        for j in range(i):
            if part[i] != part[j] and delassus[i, j] != 0.0:
                old, new = part[i], part[j]
                for k in range(rows):
                    if part[k] == old:
                        part[k] = new
    for c in range(contacts):
        least = math.inf
        for other in range(contacts):
            if part[other * width] == part[c * width]:
                least = min(least, 1.0 / rho[other])
        for i in range(c * width, (c + 1) * width):
            compliance[i] = _COMPLIANCE * least
    for b in range(contacts, len(rho)):
        compliance[contacts * width + b - contacts] = _COMPLIANCE / rho[b]


@compiled
def _factorise_soft(
    delassus: Array, compliance: Array, index: IntArray, count: int, factor: Array
) -> tuple[bool, bool]:
    """Write the Cholesky factor of W_SS + e·1, its diagonal inverted.

    Returns:
        Whether rows may depend on others, and whether rounding leaves it open which.
    """
    depends, is_lost = False, False
    for i in range(count):
        row, own = factor[i], compliance[index[i]]
        for j in range(i):
            total, other = delassus[index[i], index[j]], factor[j]
            for k in range(j):
                total -= row[k] * other[k]
            row[j] = total * other[j]
        mobility = delassus[index[i], index[i]]
        total = mobility + own
        for k in range(i):
            total -= row[k] * row[k]
        depends = depends or total < _DEPENDENT * own
        is_lost = is_lost or max(total, own) < _ROUNDING * mobility
        # in exact arithmetic no pivot is smaller than e
        row[i] = 1.0 / math.sqrt(max(total, own))
    return depends, is_lost


@compiled
def _orthogonal_part(
    factor: Array, compliance: Array, index: IntArray, count: int, values: Array, part: Array
) -> None:
    """Write N·values_S to the beginning of `part`."""
    for i in range(count):
        part[i] = values[index[i]]
    for _ in range(_POWER):
        for i in range(count):
            total, row = part[i], factor[i]
            for k in range(i):
                total -= row[k] * part[k]
            part[i] = total * row[i]
        for i in range(count - 1, -1, -1):
            total = part[i]
            for k in range(i + 1, count):
                total -= factor[k, i] * part[k]
            part[i] = total * factor[i, i]
        for i in range(count):
            part[i] *= compliance[index[i]]


@compiled
def _solve_soft(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array,
    reference: Array, compliance: Array, times: float, limit: int, centre: Array, impulse: Array, index: IntArray,
    order: IntArray, work: Array, matrix: Array, soft: Array,
) -> tuple[bool, int]:  # fmt: skip
    """Write λ of (1) with e times a factor, from a guess; return whether it is one, and the number of iterations."""
    velocity, best, soft_free = work[6], work[7], work[8]
    for i in range(len(free)):
        copy_values(delassus[i], soft[i])
        own = times * compliance[i]
        soft[i, i] += own
        soft_free[i] = free[i] - own * centre[i]
    relative_velocity(soft, soft_free, impulse, velocity)
    copy_values(impulse, best)
    error = measure_error(width, friction, lower, upper, rho, reference, impulse, velocity)
    count, error = iterate_newton(
        soft, soft_free, width, friction, lower, upper, rho, reference, _TOLERANCE, min(_NEWTON_STEPS, limit), error,
        best, impulse, velocity, index, order, work, matrix,
    )  # fmt: skip
    copy_values(best, impulse)
    return error <= _GOOD, count


@compiled
def _follow_path(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array,
    reference: Array, compliance: Array, times: float, last: float, limit: int, nothing: Array, kept: Array,
    impulse: Array, index: IntArray, order: IntArray, work: Array, matrix: Array, soft: Array,
) -> tuple[bool, int]:  # fmt: skip
    """Write λ of (1) from a guess, or where that does not lead there, by way of larger e; return as `_solve_soft`.

    Args:
        times: of e. last: the larger one of which `kept` is the solution; infinite if none is known.
        limit: largest number of iterations.
    """
    own, factor, count = times, _FACTOR, 0
    while True:
        is_found, more = _solve_soft(
            delassus, free, width, friction, lower, upper, rho, reference, compliance, own, limit - count, nothing,
            impulse, index, order, work, matrix, soft,
        )  # fmt: skip
        count += more
        if is_found and own <= times:
            return True, count
        if count >= limit:
            return False, count
        if is_found:
            last = own
            copy_values(impulse, kept)
        elif factor > _LEAST_FACTOR or own >= _SOFTEST:
            return False, count
        elif last < math.inf:
            factor = math.sqrt(factor)
            copy_values(kept, impulse)
        own = max(factor * last, times) if last < math.inf else _SOFTEST


@compiled
def _remove_compliance(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array,
    reference: Array, compliance: Array, times: float, limit: int, centre: Array, impulse: Array, index: IntArray,
    order: IntArray, work: Array, matrix: Array, soft: Array,
) -> int:  # fmt: skip
    """Apply λ⁰ ← λ to λ of (1), with e times a factor, until that changes nothing; return the number of iterations."""
    count, before = 0, math.inf
    for _ in range(_REMOVALS):
        copy_values(impulse, centre)
        is_found, more = _solve_soft(
            delassus, free, width, friction, lower, upper, rho, reference, compliance, times, limit - count, centre,
            impulse, index, order, work, matrix, soft,
        )  # fmt: skip
        count += more
        change = 0.0
        for c in range(len(friction)):
            for i in range(c * width, (c + 1) * width):
                change = max(change, times * compliance[i] * abs(impulse[i] - centre[i]) / reference[c])
        for b in range(len(lower)):
            i = len(friction) * width + b
            moved = times * compliance[i] * abs(impulse[i] - centre[i])
            change = max(change, moved / reference[len(friction) + b])
        if count >= limit or not is_found or change <= _SETTLED or not change < before:
            break
        before = change
    return count


@compiled
def _holds(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, scales: Array,
    tolerance: float, found: Array, velocity: Array, impulse: Array,
) -> bool:  # fmt: skip
    """Write what was found to λ if it meets the tolerance, and return whether it does."""
    relative_velocity(delassus, free, found, velocity)
    error = measure_error(width, friction, lower, upper, scales[0], scales[1], found, velocity)
    if error <= tolerance:
        copy_values(found, impulse)
    return error <= tolerance


@compiled
def share_loads(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, scales: Array,
    tolerance: float, limit: int, index: IntArray, order: IntArray, work: Array, matrix: Array, soft: Array,
    impulse: Array,
) -> tuple[bool, int]:  # fmt: skip
    """Replace a solution by that of (2); return whether it is that, and the number of iterations.

    Args:
        scales: as `search` leaves them. tolerance: of the solution, relative to V.
        limit: largest number of iterations.
        index, order, work, matrix, soft: workspace, shapes (R,), (R,), (WORK_ROWS, R), (R, R), (R, R).
        impulse: λ of any solution, shape (R,); stays where (2) is not found.
    """
    rho, reference, velocity, cleaned, centre = scales[0], scales[1], work[6], work[9], work[10]
    now, kept, compliance, part = work[11], work[12], work[13], work[14]
    relative_velocity(delassus, free, impulse, velocity)
    count, sticks = _rows_at_rest(
        width, friction, lower, upper, reference, tolerance, impulse, velocity, index
    )
    _write_compliance(delassus, width, rho, len(friction), order, compliance)
    depends, is_lost = _factorise_soft(delassus, compliance, index, count, matrix)
    if is_lost or not depends:
        return not is_lost, 0
    copy_values(free, cleaned)
    _orthogonal_part(matrix, compliance, index, count, velocity, part)
    for k in range(count):
        cleaned[index[k]] -= part[k]
    copy_values(impulse, now)
    _orthogonal_part(matrix, compliance, index, count, impulse, part)
    for k in range(count):
        now[index[k]] -= part[k]
    # what is cut off from a load outside of its cone leaves an error
    project_impulses(width, friction, lower, upper, now)
    if sticks and _holds(
        delassus, free, width, friction, lower, upper, scales, tolerance, now, velocity, impulse
    ):
        return True, 0
    times, last, steps = 1.0, math.inf, 0
    while times > _LEAST and steps < limit:
        for i in range(len(free)):
            centre[i] = 0.0
        is_found, more = _follow_path(
            delassus, cleaned, width, friction, lower, upper, rho, reference, compliance, times, last,
            min(_PATH_STEPS, limit - steps), centre, kept, now, index, order, work, matrix, soft,
        )  # fmt: skip
        steps += more
        if not is_found:
            break
        copy_values(now, kept)
        own = times
        while own > _LEAST and steps < limit:
            steps += _remove_compliance(
                delassus, cleaned, width, friction, lower, upper, rho, reference, compliance, own, limit - steps,
                centre, now, index, order, work, matrix, soft,
            )  # fmt: skip
            if _holds(
                delassus, free, width, friction, lower, upper, scales, tolerance, now, velocity, impulse
            ):
                return True, steps
            own *= _DECREASE
        copy_values(kept, now)
        times, last = _DECREASE * times, times
    return False, steps


@compiled
def search_least(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, tolerance: float,
    limit: int, scales: Array, index: IntArray, work: Array, matrices: Array, impulse: Array,
) -> tuple[float, int, int, bool]:  # fmt: skip
    """Search a solution and share its loads; return what `search` does, and whether λ is that of (2).

    From `MANY` contacts any solution is the answer.

    Args:
        limit: of sweeps; what sharing takes and what the search took are together not more, else λ is not shared.
        index, work, matrices: workspace, shapes (2, R), (WORK_ROWS, R), (2, R, R); others as of `search`.
    """
    error, count, method = search(
        delassus, free, width, friction, lower, upper, tolerance, limit, scales, index[0], index[1], work, matrices[0],
        impulse,
    )  # fmt: skip
    is_least = True
    if error <= tolerance and len(friction) < MANY:
        is_least, more = share_loads(
            delassus, free, width, friction, lower, upper, scales, tolerance, max(limit - count, 0), index[0],
            index[1], work, matrices[0], matrices[1], impulse,
        )  # fmt: skip
        count += more
    return error, count, method, is_least
