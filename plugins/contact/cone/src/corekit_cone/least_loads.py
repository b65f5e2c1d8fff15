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
tolerance, as the first solution shows. Where a pivot and e are rounding beside a row's own mobility, nothing says which
rows depend: the loads of the connected part of W stay as they are, and those of other parts are chosen.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.contact_laws import relative_velocity
from corekit_cone.connected_parts import gather_part, is_connected, is_first_of_part, select_part
from corekit_cone.gauss_seidel import project_impulses
from corekit_cone.iteration import copy_values, iterate_newton
from corekit_cone.residuals import measure_error
from corekit_cone.rest_rows import factorise_soft, orthogonal_part, rows_at_rest, write_compliance
from corekit_cone.search import search

__all__ = ["MANY", "search_least", "share_loads"]

MANY = 24
"""Contacts from which loads are not shared."""

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
def _begin(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, scales: Array,
    tolerance: float, index: IntArray, order: IntArray, work: Array, matrix: Array, impulse: Array,
) -> tuple[int, bool, bool, bool]:  # fmt: skip
    """Write w to work[6], e to work[13], the parts of rows to `order`, S to `index` and its factor to `matrix`.

    Returns:
        Size of S, whether no contact slides, whether rows may depend on others, and whether rounding hides which.
    """
    velocity, compliance = work[6], work[13]
    relative_velocity(delassus, free, impulse, velocity)
    count, sticks = rows_at_rest(
        width, friction, lower, upper, scales[1], tolerance, impulse, velocity, index
    )
    write_compliance(delassus, width, scales[0], len(friction), order, compliance)
    depends, is_lost = factorise_soft(delassus, compliance, index, count, matrix)
    return count, sticks, depends, is_lost


@compiled
def _choose(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, scales: Array,
    tolerance: float, limit: int, count: int, sticks: bool, index: IntArray, order: IntArray, work: Array,
    matrix: Array, soft: Array, impulse: Array,
) -> tuple[bool, int]:  # fmt: skip
    """Do what `share_loads` does in a connected part with rows that depend, behind `_begin`."""
    rho, reference, velocity, cleaned, centre = scales[0], scales[1], work[6], work[9], work[10]
    now, kept, compliance, part = work[11], work[12], work[13], work[14]
    copy_values(free, cleaned)
    orthogonal_part(matrix, compliance, index, count, velocity, part)
    for k in range(count):
        cleaned[index[k]] -= part[k]
    copy_values(impulse, now)
    orthogonal_part(matrix, compliance, index, count, impulse, part)
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
def share_loads(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, scales: Array,
    tolerance: float, limit: int, index: IntArray, order: IntArray, work: Array, matrix: Array, soft: Array,
    impulse: Array,
) -> tuple[bool, int]:  # fmt: skip
    """Replace a solution by that of (2); return whether it is that, and the number of iterations.

    What W does not connect is shared apart: where rounding or the limit leaves a part, others have (2).

    Args:
        scales: as `search` leaves them. tolerance: of the solution, relative to V.
        limit: largest number of iterations.
        index, order, work, matrix, soft: workspace, shapes (R,), (R,), (WORK_ROWS, R), (R, R), (R, R).
        impulse: λ of any solution, shape (R,); stays in parts where (2) is not found.
    """
    count, sticks, depends, is_lost = _begin(
        delassus, free, width, friction, lower, upper, scales, tolerance, index, order, work, matrix, impulse
    )
    if not (depends or is_lost):
        return True, 0
    if is_connected(order):
        if is_lost:
            return False, 0
        return _choose(
            delassus, free, width, friction, lower, upper, scales, tolerance, limit, count, sticks, index, order,
            work, matrix, soft, impulse,
        )  # fmt: skip
    is_all, steps = True, 0
    for first in range(len(free)):
        if not is_first_of_part(order, first):
            continue
        rows, units = select_part(order, order[first], width, len(friction))
        own, own_free, own_friction, own_lower, own_upper, own_scales, own_impulse = gather_part(
            delassus, free, friction, lower, upper, scales, impulse, rows, units
        )
        size = len(rows)
        own_index, own_order, own_work = np.empty_like(rows), np.empty_like(rows), np.empty((len(work), size))
        own_matrix, own_soft = np.empty((size, size)), np.empty((size, size))
        count, sticks, depends, is_lost = _begin(
            own, own_free, width, own_friction, own_lower, own_upper, own_scales, tolerance, own_index, own_order,
            own_work, own_matrix, own_impulse,
        )  # fmt: skip
        is_found = not is_lost
        if depends and not is_lost:
            is_found, more = _choose(
                own, own_free, width, own_friction, own_lower, own_upper, own_scales, tolerance, limit - steps, count,
                sticks, own_index, own_order, own_work, own_matrix, own_soft, own_impulse,
            )  # fmt: skip
            steps += more
        is_all = is_all and is_found
        for k in range(size):
            impulse[rows[k]] = own_impulse[k]
    return is_all, steps


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
