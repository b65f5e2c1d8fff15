"""The friction pyramid: its directions, and what it makes of a tangential impulse and of a tangential velocity.

The variables (λ_n, β₁…β_r, γ) of a contact in an `LCPProblem` say more than its impulse: many β ≥ 0 give the
same λ_t = D·β. What poses the problem and what solves it contact by contact must choose alike:

    β = argmin eᵀβ  subject to  D·β = λ_t, β ≥ 0,        γ = max(0, −min_k d_k·w_t)        (1)

The directions of Coulomb's law are unit vectors. Those of any other law are points of the edge of its set F over μ, its
largest friction (`corekit.roles.friction_edge`), so that μ·λ_n·d_k are the corners of a polygon in λ_n·F and (1) stays
as it is. They are the unit vectors stretched along both axes as F is: an ellipse has the image of the regular polygon,
and a box its corners with eight.

**Turned pyramids.** A pyramid is exact in its directions alone. Midway between two its friction is too small by
cos(π/r), and elsewhere it turns what slides, by 5° with eight. Coulomb's law λ_t = P(λ_t − ρ·w_t), P the projection on
the disk of radius μ·λ_n, names the direction that a contact needs, at the loads λ with which the step begins and the
velocities w = W·λ + w₀ that they would leave, whether it slides or sticks:

    d₁ = t/|t|,    t = λ_t − ρ·w_t,                 1/ρ_c = Σ_j |W_cj|                                 (2)
                   t = −(w₀,t − W_tn·w₀,n/W_nn)     where a contact without load is struck straight    (3)

At first this is −w₀,t. What slides on in the direction in which it slid has the friction of the cone, and so has what
sticks until it slips. Where slip turns, (2) follows it by a share ρ·s/(μ·λ_n + ρ·s) in each step, s = |w_t|, and
slowly at the verge of sticking: there the whole friction of a body would turn its slip over within a step, and back in
the next one, if it jumped. That is why ρ is that of all contacts which push alike, by rows of W. (3) is the slip that
the impact of a contact alone would leave without friction: that of a tilted rod which falls straight. Where λ is not
what stops the contacts now, as where a face passes on to the next tile, W·λ turns bodies that do not turn: there w₀,t
takes the place of w_t of all that slides faster than friction stops in a step. Where slip is rounding too, as for a
ball, d₁ is the first tangent, and so it is where |t| is within cos(π/r)·μ·λ_n: there a contact sticks with every
pyramid, and rounding turns nothing. All this turns with the world and is mirrored with it.

In another law than Coulomb's P projects on λ_n·F. Where t is beyond it, the point of λ_n·F next to t has the direction
d₁, a corner of F too: what slides on has its friction there. A contact sticks with every pyramid where t is within
cos(π/r)·λ_n·F.

Derivatives of steps ask what a covector of the directions is of the problem: `pull_turned_directions`. In Coulomb's law
all corners of a contact turn by the same angle α, that of t, and with the covector ā of α

    t̄ = ā·(−t_y, t_x)/|t|²,    λ̄_t = t̄,    w̄_t = −ρ·t̄,    ρ̄ = −t̄·w_t,    W̄_cj = −ρ²·ρ̄·sgn W_cj              (4)

of which ρ counts in the row of W that bounds it, and w̄ by (3) where a contact is struck straight.

Functions beside `pyramid_directions` and `pull_turned_directions` are compiled, and kernels may call them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.friction_edge import edge_radius, nearest_direction

if TYPE_CHECKING:
    from corekit.roles.contact import StepProblem

__all__ = [
    "DirectionCovector",
    "pull_turned_directions",
    "pyramid_coefficients",
    "pyramid_directions",
    "sliding_speed",
    "turn_directions",
]

_STRUCK = 1e-2
"""Slip of a contact that is struck straight, relative to its approach."""
_BALANCED = 0.1
"""Normal velocity that loads of the last step may leave, relative to the one without them."""
_BEYOND = 2.0
"""Slip that friction does not stop in a step, relative to what it stops."""
_AT_REST = 1e-9
"""Slip without a direction, relative to the velocity of the contact."""


class DirectionCovector(NamedTuple):
    """What a covector of the directions of pyramids is of the problem that they follow.

    Args:
        velocity: of w = W·λ + w₀ at the λ with which the step begins, shape (R,).
        free: of w₀ where w is held, shape (R,). matrix: of W likewise, shape (R, R). start: of λ likewise, shape (R,).
    """

    velocity: Array
    free: Array
    matrix: Array
    start: Array


def pyramid_directions(width: int, count: int) -> Array:
    """D: unit columns in the order of their angle, each with its exact opposite, shape (width − 1, r).

    Args:
        width: rows per contact, 2 in a plane, else 3.
        count: r, even; in a plane there are only two directions, whatever `count` says.
    """
    if width == 2:
        return np.array([[1.0, -1.0]])
    angle = 2.0 * np.pi * np.arange(count // 2) / count
    half = np.array([np.cos(angle), np.sin(angle)])
    return np.ascontiguousarray(np.hstack([half, -half]))


@compiled
def pyramid_coefficients(directions: Array, tangential: Array, share: Array) -> None:
    """Write the β of (1): at most two neighbouring directions carry.

    Args:
        directions: D, columns in the order of their angle, corners of a convex polygon, shape (width − 1, r).
        tangential: λ_t, shape (width − 1,) [N·s].
        share: β, shape (r,), written [N·s].
    """
    count = share.size
    share[:] = 0.0
    if count == 0:
        return
    if tangential.size == 1:
        for k in range(count):
            share[k] = max(tangential[0] / directions[0, k], 0.0)
        return
    x, y = tangential[0], tangential[1]
    if x == 0.0 and y == 0.0:
        return
    best, chosen, one, two = -np.inf, 0, 0.0, 0.0
    for k in range(count):
        j = k + 1 if k + 1 < count else 0
        area = directions[0, k] * directions[1, j] - directions[1, k] * directions[0, j]
        here = (x * directions[1, j] - y * directions[0, j]) / area
        after = (directions[0, k] * y - directions[1, k] * x) / area
        if min(here, after) > best:
            best, chosen, one, two = min(here, after), k, here, after
    share[chosen] = max(one, 0.0)
    share[(chosen + 1) % count] = max(two, 0.0)


@compiled
def sliding_speed(directions: Array, velocity: Array) -> float:
    """The γ of (1): the sliding speed as the pyramid sees it [m/s].

    Args:
        directions: D, shape (width − 1, r).
        velocity: w_t, shape (width − 1,) [m/s].
    """
    slack = 0.0
    for k in range(directions.shape[1]):
        speed = 0.0
        for a in range(directions.shape[0]):
            speed += directions[a, k] * velocity[a]
        slack = max(slack, -speed)
    return slack


@compiled
def _write_velocity(delassus: Array, free: Array, carried: Array, velocity: Array) -> bool:
    """Write w of the contacts, shape (3·m,); whether λ stops them all to a tenth."""
    is_balanced = True
    for i in range(len(velocity)):
        total = free[i]
        for j in range(min(len(delassus), len(carried))):
            total += delassus[i, j] * carried[j]
        velocity[i] = total
        if i % 3 == 0 and (total < 0.0 or carried[i] > 0.0):
            is_balanced = is_balanced and abs(total) <= _BALANCED * abs(free[i])
    return is_balanced


@compiled
def _bound_rho(row: int, contact_rows: int, delassus: Array) -> tuple[float, int]:
    """The ρ of the contact that begins at a row [kg], and the row of W that bounds it."""
    largest, bound = 0.0, row + 1
    for a in range(1, 3):
        size = 0.0
        for j in range(contact_rows):
            size += abs(delassus[row + a, j]) if j % 3 > 0 else 0.0
        if size > largest:
            largest, bound = size, row + a
    return (1.0 / largest if largest > 0.0 else 0.0), bound


@compiled
def _slip_of_impact(row: int, delassus: Array, velocity: Array) -> bool:
    """Write the slip of (3) in the place of w, of a contact that begins at a row, if it is struck straight."""
    normal, x, y = velocity
    if normal < 0.0 and x * x + y * y <= (_STRUCK * normal) ** 2 and delassus[row, row] > 0.0:
        for a in range(1, 3):
            velocity[a] -= normal * delassus[row + a, row] / delassus[row, row]
        return True
    return False


@compiled
def _wanted_slip(
    row: int, friction: float, delassus: Array, softness: float, free: Array, carried: Array, w: Array,
    is_balanced: bool, velocity: Array,
) -> tuple[float, int, bool, bool]:  # fmt: skip
    """Write the velocity of (2) or (3) of the contact that begins at a row.

    Returns:
        ρ, the row of W that bounds it, whether the velocity is w and not w₀, and whether it is that of (3).
    """
    rho, bound = _bound_rho(row, len(w), delassus) if len(delassus) else (softness, row + 1)
    slip = math.sqrt(free[row + 1] ** 2 + free[row + 2] ** 2)
    takes_all = is_balanced or rho * slip <= _BEYOND * friction * carried[row]
    velocity[:] = w[row : row + 3] if takes_all else free[row : row + 3]
    is_struck = len(delassus) > 0 and carried[row] <= 0.0 and _slip_of_impact(row, delassus, velocity)
    return rho, bound, takes_all, is_struck


@compiled
def _unstretched(
    first: IntArray, angle: Array, radius: Array, table: int, along: float, across: float
) -> tuple[float, float]:  # fmt: skip
    """The unit vector that `_stretch` brings into a direction."""
    x = along / edge_radius(first, angle, radius, table, 1.0 if along > 0.0 else -1.0, 0.0)
    y = across / edge_radius(first, angle, radius, table, 0.0, 1.0 if across > 0.0 else -1.0)
    size = math.sqrt(x * x + y * y)
    return x / size, y / size


@compiled
def _stretch(first: IntArray, angle: Array, radius: Array, table: int, direction: Array) -> None:
    """Stretch a unit vector along the axes as F is, and move it to the edge of F/μ."""
    direction[0] *= edge_radius(first, angle, radius, table, 1.0 if direction[0] > 0.0 else -1.0, 0.0)
    across = 0.0
    if len(direction) == 2:
        direction[1] *= edge_radius(first, angle, radius, table, 0.0, 1.0 if direction[1] > 0.0 else -1.0)
        across = direction[1]
    size = math.sqrt(direction[0] ** 2 + across**2)
    direction *= edge_radius(first, angle, radius, table, direction[0], across) / size


@compiled
def turn_directions(
    unit: Array, friction: Array, edge: IntArray, first: IntArray, angle: Array, radius: Array, delassus: Array,
    softness: float, free: Array, carried: Array, aligned: bool, directions: Array, guess: Array,
) -> None:  # fmt: skip
    """Write the directions of every contact, turned by (2) and (3) or not, and turn friction at its bound with them.

    Args:
        unit: columns of `pyramid_directions`, shape (width − 1, r).
        friction: μ, shape (m,). edge, first, angle, radius: `EdgeTables` of the law.
        delassus: W, shape (R, R), or (0, 0) where it is not known: then w is `free`, and ρ is `softness` [kg].
        free: w₀, shape (≥ m·width,).
        carried: λ with which the step begins, shape (R,), or of the contacts alone.
        aligned: whether to turn; in a plane nothing turns.
        directions: D, shape (m, width − 1, r), written.
        guess: of λ, shape (≥ m·width,). Friction that is at its bound, of a contact that slides, becomes μ·λ_n·d₁.
    """
    along, count = unit.shape
    width, contacts, inscribed = along + 1, len(directions), math.cos(math.pi / max(count, 1))
    w, velocity, is_balanced, turns = np.empty(contacts * width), np.empty(3), True, aligned and along == 2
    if turns:
        is_balanced = _write_velocity(delassus, free, carried, w)
    for c in range(contacts):
        row, cosine, sine, own, slides = c * width, 1.0, 0.0, directions[c], False
        most, table = friction[c] * carried[row], edge[c] if len(edge) else -1
        if turns and friction[c] > 0.0:
            rho, _, _, _ = _wanted_slip(
                row, friction[c], delassus, softness, free, carried, w, is_balanced, velocity
            )
            x, y = carried[row + 1] - rho * velocity[1], carried[row + 2] - rho * velocity[2]
            size, least = math.sqrt(x * x + y * y), _AT_REST * rho * abs(velocity[0])
            needed = size / edge_radius(first, angle, radius, table, x, y)
            if max(inscribed * most, least) < needed < math.inf:
                slides = needed > most
                if table >= 0 and slides:
                    cosine, sine = nearest_direction(first, angle, radius, table, most, x, y)
                else:
                    cosine, sine = x / size, y / size
                if table >= 0:
                    cosine, sine = _unstretched(first, angle, radius, table, cosine, sine)
        for k in range(count):
            own[0, k] = cosine * unit[0, k] - sine * (unit[1, k] if along == 2 else 0.0)
            if along == 2:
                own[1, k] = sine * unit[0, k] + cosine * unit[1, k]
            if table >= 0:
                _stretch(first, angle, radius, table, own[:, k])
        bound = friction[c] * guess[row]
        if slides and bound > 0.0:
            held = guess[row + 1] ** 2 + guess[row + 2] ** 2
            if held >= (inscribed * bound) ** 2 * (own[0, 0] ** 2 + own[1, 0] ** 2):
                guess[row + 1], guess[row + 2] = bound * own[0, 0], bound * own[1, 0]


@compiled
def _pull_turns(
    friction: Array, delassus: Array, free: Array, carried: Array, directions: Array, covector: Array,
    of_velocity: Array, of_free: Array, of_matrix: Array, of_start: Array,
) -> None:  # fmt: skip
    """Add (4) of every contact to the covectors of w, w₀, W and λ."""
    contacts, count = len(directions), directions.shape[2]
    inscribed, w, velocity = math.cos(math.pi / count), np.empty(3 * contacts), np.empty(3)
    is_balanced = _write_velocity(delassus, free, carried, w)
    for c in range(contacts):
        row, of_angle = 3 * c, 0.0
        for k in range(count):
            of_angle += covector[c, 1, k] * directions[c, 0, k] - covector[c, 0, k] * directions[c, 1, k]
        if of_angle == 0.0 or friction[c] <= 0.0:
            continue
        rho, bound, takes_all, is_struck = _wanted_slip(
            row, friction[c], delassus, 0.0, free, carried, w, is_balanced, velocity
        )
        x, y = carried[row + 1] - rho * velocity[1], carried[row + 2] - rho * velocity[2]
        size, least = math.sqrt(x * x + y * y), _AT_REST * rho * abs(velocity[0])
        if not max(inscribed * friction[c] * carried[row], least) < size < math.inf:
            continue
        of_x, of_y = -of_angle * y / size**2, of_angle * x / size**2
        of_start[row + 1] += of_x
        of_start[row + 2] += of_y
        out = of_velocity if takes_all else of_free
        for a in range(1, 3):
            own = -rho * (of_x if a == 1 else of_y)
            out[row + a] += own
            if is_struck:
                share, per = delassus[row + a, row] / delassus[row, row], velocity[0] / delassus[row, row]
                out[row] -= own * share
                of_matrix[row + a, row] -= own * per
                of_matrix[row, row] += own * per * share
        if carried[row + 1] != 0.0 or carried[row + 2] != 0.0:  # else t is −ρ·w_t, whose angle knows no ρ
            of_rho = -(of_x * velocity[1] + of_y * velocity[2])
            for j in range(3 * contacts):
                if j % 3 > 0:
                    of_matrix[bound, j] -= of_rho * rho**2 * np.sign(delassus[bound, j])


def pull_turned_directions(problem: StepProblem, directions: Array, covector: Array) -> DirectionCovector:
    """(4) of a problem with Coulomb's law, its directions and their covector, both of shape (m, 2, r)."""
    rows = 3 * len(directions)
    out = DirectionCovector(np.zeros(rows), np.zeros(rows), np.zeros((rows, rows)), np.zeros(rows))
    _pull_turns(
        problem.friction, np.ascontiguousarray(problem.delassus()), problem.free_velocity, problem.start_impulse,
        directions, covector, *out,
    )  # fmt: skip
    return out
