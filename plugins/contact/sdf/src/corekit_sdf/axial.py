"""Signed distance among cylinders, disks and segments, the shapes with an axis.

With p and u centre and axis of the first in the frame of the second, whose axis is e_z, half heights h₁, h₂
and radii R₁, R₂ (0: a segment, the core of a capsule),

    f(n) = n·p − h₁|u·n| − h₂|n_z| − R₁·‖n × u‖ − R₂·‖n × e_z‖,   φ = max f over ‖n‖ = 1.            (1)

f has creases where u·n = 0 and n_z = 0 and points at the axes, so its maximiser is one of
- n = ±u, ±e_z (a cap) and ±u × e_z (side–side; for parallel axes the direction between them);      (2)
- circle u·n = 0 or n_z = 0: the side of one against a rim of the other, a point and half an ellipse
  (`rim_edge`);                                                                                     (3)
- open cells: with m between the ends s₁, s₂ = ±1 in question, f = n·m − R₁‖n × u‖ − R₂‖n × e_z‖: an end or
  rim against an end or rim. Two ends: n ∝ m. An end and a rim: the distance of a point from a circle.  (4)

Two rims: an extremum has n perpendicular to both tangents. At azimuth θ of the first, a(θ) = m − R₁ρ(θ), the
points of the second rim with that property are ±R₂·a⊥/‖a⊥‖. A scalar equation remains,

    H(θ) = (a ∓ R₂·a⊥/‖a⊥‖)·t(θ) = 0,   t = u × ρ,                                                 (5)

of eight roots at most. Newton's iteration for n starts at the sign changes of H around either rim and where
it nearly vanishes, from the way between both points or, where that is short or the axes nearly parallel, from the
perpendicular to both tangents. It ends at rounding. (f is homogeneous: its Hessian on the sphere is −(g·1 + Σ
(R/ρ)·t·tᵀ), g = f.)

Where the rims overlap by much less than their radii, one azimuth step may contain three roots. The search is
therefore finer in steps in which H comes near zero.

φ is the largest value of f over all of these; none can exceed it. Apart the maximum of the open cells is the
only one. The search for (5) is left out where `axial_proof` shows that it cannot find more.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

from corekit.compiled import compiled
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, norm, scaled, sign_of
from corekit_sdf.axial_proof import direction_between, is_proven
from corekit_sdf.rim_edge import half_ellipse_normal

__all__ = ["Axial", "axial_gap", "axial_value"]

Axial: TypeAlias = tuple[Vector, Vector, float, float, float, float]
"""p [m] and u of the first, h₁, R₁, h₂, R₂ [m]."""

Rims: TypeAlias = tuple[Vector, Vector, float, Vector, float]
"""Two axes in the plane of the rim of azimuth θ and its radius; the other's axis and radius [m]."""

_AZIMUTHS: Final = 24
_PARTS: Final = 24
_ROUNDS: Final = 6
_AXIS: Final = (0.0, 0.0, 1.0)


@compiled
def axial_value(pair: Axial, n: Vector) -> float:
    """Return f(n) of (1) [m]."""
    p, u, h, R, k, S = pair
    rim = S * math.hypot(n[0], n[1]) if S > 0.0 else 0.0
    if R > 0.0:
        rim += R * norm(cross(n, u))
    return dot(n, p) - h * abs(dot(u, n)) - k * abs(n[2]) - rim


@compiled
def _better(pair: Axial, best: float, best_n: Vector, n: Vector, tiny: float) -> tuple[float, Vector]:
    f = axial_value(pair, n)
    if f > best + tiny:
        return f, n
    return best, best_n


@compiled
def _side_rim_direction(q: Vector, e: Vector, axis: Vector, R: float) -> tuple[bool, Vector]:
    """Return the direction (3): n ⊥ e for the side along e, against the rim about `axis` with n·axis > 0 outside.

    Args:
        q: the rim's centre from the side's line, signed as in (1) [m].
    """
    w = add_scaled(axis, -dot(axis, e), e)
    sine = norm(w)
    if not sine > 1e-14:
        return False, e
    w = scaled(w, 1.0 / sine)
    w = add_scaled(w, -dot(w, e), e)  # what rounding left along e, divided by the sine
    w = scaled(w, 1.0 / norm(w))
    v = cross(e, w)
    q_w, q_v = dot(q, w), dot(q, v)
    if R > 0.0:
        exists, n_w, n_v = half_ellipse_normal(q_w, q_v, R, R * abs(dot(axis, e)), (R * sine) ** 2)
        return exists, add_scaled(scaled(w, n_w), n_v, v)
    length = math.hypot(q_w, q_v)
    if not length > 0.0:
        return False, e
    return True, add_scaled(scaled(w, q_w / length), q_v / length, v)


@compiled
def _point_rim_direction(m: Vector, axis: Vector, R: float) -> tuple[bool, Vector]:
    """Return the direction (4) of a point from a circle of radius R about an axis, from outside it."""
    height = dot(m, axis)
    level = add_scaled(m, -height, axis)
    distance = norm(level)
    beyond = distance - R
    length = math.hypot(beyond, height)
    if not (beyond >= 0.0 and length > 0.0):
        return False, axis
    if R == 0.0:
        return True, scaled(m, 1.0 / length)
    return True, add_scaled(scaled(axis, height / length), beyond / (length * distance), level)


@compiled
def _rims_value(m: Vector, u: Vector, R: float, S: float, n: Vector) -> float:
    """Return n·m − R‖n × u‖ − S‖n × e_z‖ [m]."""
    return dot(n, m) - R * norm(cross(n, u)) - S * math.hypot(n[0], n[1])


@compiled
def _newton_direction(m: Vector, u: Vector, R: float, S: float, n: Vector) -> Vector:
    """Maximise n·m − R‖n × u‖ − S‖n × e_z‖ near n by Newton's iteration.

    Near an axis the function is a cone, across whose tip an increment leads far astray: it is shortened until the value
    does not fall.
    """
    value, tiny = _rims_value(m, u, R, S, n), 1e-15 * (norm(m) + R + S)
    for _ in range(12):
        t, s = cross(u, n), (-n[1], n[0], 0.0)
        r, q = norm(t), norm(s)
        if not (r > 1e-9 and q > 1e-9):
            break
        t, s = scaled(t, 1.0 / r), scaled(s, 1.0 / q)
        # rims' points along n: u × t is −(component of n perpendicular to u)/‖n × u‖
        w = add_scaled(add_scaled(m, R, cross(u, t)), S, cross(_AXIS, s))
        g = dot(n, w)
        x = scaled(cross(n, t), 1.0)
        a, b = R / r, S / q
        # t ⊥ n: (t, x) is a basis of the tangent plane
        st, sx = dot(s, t), dot(s, x)
        h_tt, h_tx, h_xx = g + a + b * st * st, b * st * sx, g + b * sx * sx
        det = h_tt * h_xx - h_tx * h_tx
        if not (det > 0.0 and h_tt > 0.0):
            break
        g_t, g_x = dot(w, t), dot(w, x)
        d = add_scaled(scaled(t, (g_t * h_xx - g_x * h_tx) / det), (g_x * h_tt - g_t * h_tx) / det, x)
        length = norm(d)
        fraction = min(1.0, 0.3 / length) if length > 0.0 else 1.0
        risen = False
        for _ in range(4):
            trial = add_scaled(n, fraction, d)
            trial = scaled(trial, 1.0 / norm(trial))
            ahead = _rims_value(m, u, R, S, trial)
            if ahead >= value - tiny:
                n, value, risen = trial, ahead, True
                break
            fraction *= 0.25
        if not risen or length < 1e-10:
            break
    return n


@compiled
def _rim_points(
    m: Vector, rims: Rims, azimuth: float, branch: float
) -> tuple[Vector, Vector, Vector, Vector]:
    """Return ρ and t of a rim at an azimuth, the other's tangent at its point of (5), and the way between, d [m]."""
    x, y, R, v, S = rims
    c, s = math.cos(azimuth), math.sin(azimuth)
    rho, t = add_scaled(scaled(x, c), s, y), add_scaled(scaled(y, c), -s, x)
    a = add_scaled(m, -R, rho)
    level = add_scaled(a, -dot(a, v), v)
    distance = norm(level)
    if not distance > 0.0:
        return rho, t, level, a
    level = scaled(level, branch / distance)
    return rho, t, cross(v, level), add_scaled(a, -S, level)


@compiled
def _rim_residual(m: Vector, rims: Rims, azimuth: float, branch: float) -> float:
    """Return H of (5) at an azimuth of a rim."""
    _, t, _, d = _rim_points(m, rims, azimuth, branch)
    return dot(d, t)


@compiled
def _rim_direction(m: Vector, rims: Rims, azimuth: float, branch: float) -> Vector:
    """Return n near a root of H, towards the outside of the rim: along d, or perpendicular to both tangents.

    An error δ of the azimuth turns d by R·δ/‖d‖ and the perpendicular by δ over the sine between the tangents: the
    first fails where rims touch, the second where they run side by side.
    """
    rho, t, s, d = _rim_points(m, rims, azimuth, branch)
    length, both = norm(d), cross(t, s)
    sine = norm(both)
    if sine * (rims[2] + rims[4]) > length:
        d, length = both, sine
    if not length > 0.0:
        return rho
    return scaled(d, sign_of(dot(d, rho)) / length)


@compiled
def _bracketed_root(
    m: Vector, rims: Rims, branch: float, low: float, f_low: float, high: float, f_high: float,
) -> Vector:  # fmt: skip
    """Return n near a root of H between azimuths of different sign, by Illinois' regula falsi; Newton refines it."""
    middle, tiny = low, 1e-14 * (rims[2] + rims[4])
    for _ in range(16):
        middle = (low * f_high - high * f_low) / (f_high - f_low) if f_high != f_low else low
        f = _rim_residual(m, rims, middle, branch)
        if f * f_high < 0.0:
            low, f_low = high, f_high
        else:
            f_low *= 0.5
        high, f_high = middle, f
        if abs(high - low) < 1e-14 or abs(f) < tiny:
            break
    return _rim_direction(m, rims, middle, branch)


@compiled
def _minimise_between(
    m: Vector, rims: Rims, branch: float, low: float, high: float, sign: float
) -> tuple[float, float]:
    """Return azimuth and H where sign·H is least between two azimuths, or at the first point beyond a root."""
    a, b = low + 0.381966 * (high - low), low + 0.618034 * (high - low)
    f_a, f_b = _rim_residual(m, rims, a, branch), _rim_residual(m, rims, b, branch)
    for _ in range(16):
        if sign * f_a < 0.0:
            return a, f_a
        if sign * f_b < 0.0:
            return b, f_b
        if sign * f_a < sign * f_b:
            high, b, f_b = b, a, f_a
            a = low + 0.381966 * (high - low)
            f_a = _rim_residual(m, rims, a, branch)
        else:
            low, a, f_a = a, b, f_b
            b = low + 0.618034 * (high - low)
            f_b = _rim_residual(m, rims, b, branch)
    return a, f_a


@compiled
def _better_rim_direction(
    pair: Axial, m: Vector, s1: float, s2: float, n: Vector, best: float, best_n: Vector, tiny: float
) -> tuple[float, Vector]:
    """Return the maximum near n if it is better; skip it if n is far from the cell or its value far from the best."""
    _, u, _, R, _, S = pair
    if s1 * dot(n, u) > -0.05 and s2 * n[2] > -0.05 and axial_value(pair, n) > best - 0.05 * (R + S):
        best, best_n = _better(pair, best, best_n, n, tiny)
        return _better(pair, best, best_n, _newton_direction(m, u, R, S, n), tiny)
    return best, best_n


@compiled
def _search_rim(
    pair: Axial, m: Vector, s1: float, s2: float, rims: Rims, best: float, best_n: Vector, tiny: float
) -> tuple[float, Vector]:
    """Return the given direction or a better maximum of two rims, by a search around one of them."""
    R, S = rims[2], rims[4]
    step = 2.0 * math.pi / _AZIMUTHS
    for choice in range(2):
        branch = -1.0 if choice else 1.0
        h_before = _rim_residual(m, rims, -step, branch)
        h_at = _rim_residual(m, rims, 0.0, branch)
        for k in range(_AZIMUTHS):
            theta = step * k
            h_ahead = _rim_residual(m, rims, theta + step, branch)
            if min(abs(h_at), abs(h_ahead)) < 0.1 * (R + S) or h_at * h_ahead <= 0.0:
                # the roots of rims that overlap by little are as close to each other as the overlap is small
                last, f_last = theta, h_at
                for part in range(1, _PARTS + 1):
                    azimuth = theta + step * part / _PARTS
                    f = _rim_residual(m, rims, azimuth, branch)
                    if f * f_last <= 0.0:
                        n_root = _bracketed_root(m, rims, branch, last, f_last, azimuth, f)
                        best, best_n = _better_rim_direction(pair, m, s1, s2, n_root, best, best_n, tiny)
                    last, f_last = azimuth, f
            if (
                h_before * h_at > 0.0
                and h_at * h_ahead > 0.0
                and abs(h_at) < abs(h_before)
                and abs(h_at) < abs(h_ahead)
            ):
                # two roots may lie undetected between the neighbours
                azimuth, low = _minimise_between(m, rims, branch, theta - step, theta + step, sign_of(h_at))
                n_dip = _rim_direction(m, rims, azimuth, branch)
                best, best_n = _better_rim_direction(pair, m, s1, s2, n_dip, best, best_n, tiny)
                if low * h_at < 0.0:
                    n_root = _bracketed_root(m, rims, branch, theta - step, h_before, azimuth, low)
                    best, best_n = _better_rim_direction(pair, m, s1, s2, n_root, best, best_n, tiny)
                    n_root = _bracketed_root(m, rims, branch, azimuth, low, theta + step, h_ahead)
                    best, best_n = _better_rim_direction(pair, m, s1, s2, n_root, best, best_n, tiny)
            h_before, h_at = h_at, h_ahead
    return best, best_n


@compiled
def _best_rims(
    pair: Axial, m: Vector, s1: float, s2: float, best: float, best_n: Vector, tiny: float
) -> tuple[float, Vector]:
    """Return the given direction or a better maximum of two rims.

    Where one rim passes close to the other's axis, H turns very fast. Roots then lie undetected between
    azimuths of this rim, but not of the other.
    """
    _, u, _, R, _, S = pair
    x = cross(u, (1.0, 0.0, 0.0) if abs(u[0]) < 0.6 else (0.0, 1.0, 0.0))
    x = scaled(x, 1.0 / norm(x))
    best, best_n = _search_rim(pair, m, s1, s2, (x, cross(u, x), R, _AXIS, S), best, best_n, tiny)
    rims = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), S, u, R)
    return _search_rim(pair, m, s1, s2, rims, best, best_n, tiny)


@compiled
def _best_cell(
    pair: Axial, s1: float, s2: float, best: float, best_n: Vector, tiny: float
) -> tuple[float, Vector]:
    """Return the given direction or a better one of (4), (5) for the ends s₁, s₂."""
    p, u, h, R, k, S = pair
    m = add_scaled(p, -s1 * h, u)
    m = (m[0], m[1], m[2] - s2 * k)
    if R > 0.0 and S > 0.0:
        if norm(cross(u, _AXIS)) > 1e-14:
            return _best_rims(pair, m, s1, s2, best, best_n, tiny)
        exists, n = _point_rim_direction(m, _AXIS, R + S)  # parallel: the rims' radii add
    elif S > 0.0:
        exists, n = _point_rim_direction(m, _AXIS, S)
    else:
        exists, n = _point_rim_direction(m, u, R)
    if exists:
        return _better(pair, best, best_n, n, tiny)
    return best, best_n


@compiled
def _proven_rims(pair: Axial, best: float, best_n: Vector, tiny: float) -> tuple[float, Vector, bool]:
    """Return the given direction or that of rims that are apart, and whether no other is better."""
    p, u, h, R, k, S = pair
    first, second = (p, u, h, R), ((0.0, 0.0, 0.0), _AXIS, k, S)
    proven = is_proven(first, second, best_n, best, tiny)
    x, apart = second[0], True
    for _ in range(_ROUNDS):
        if proven or not apart:
            break
        apart, n, x = direction_between(first, second, x)
        if apart:
            m = add_scaled(add_scaled(p, -h * sign_of(dot(n, u)), u), -k * sign_of(n[2]), _AXIS)
            best, best_n = _better(pair, best, best_n, _newton_direction(m, u, R, S, n), tiny)
            proven = is_proven(first, second, best_n, best, tiny)
    return best, best_n, proven


@compiled
def axial_gap(pair: Axial) -> tuple[float, Vector]:
    """Return φ of (1) [m] and its normal, from the second into the first."""
    p, u, h, R, k, S = pair
    tiny = 1e-14 * (norm(p) + h + R + k + S)
    best_n = (0.0, 0.0, sign_of(p[2]))
    best = axial_value(pair, best_n)
    best, best_n = _better(pair, best, best_n, scaled(u, sign_of(dot(u, p))), tiny)
    between = cross(u, _AXIS)
    if not norm(between) > 1e-12:
        between = add_scaled(p, -p[2], _AXIS)
        if not norm(between) > tiny:
            between = (1.0, 0.0, 0.0)
    between = scaled(between, sign_of(dot(between, p)) / norm(between))
    best, best_n = _better(pair, best, best_n, between, tiny)
    for end in range(2):
        s = -1.0 if end else 1.0
        exists, n = _side_rim_direction((p[0], p[1], p[2] - s * k), u, (0.0, 0.0, s), S)
        if exists:
            best, best_n = _better(pair, best, best_n, n, tiny)
        exists, n = _side_rim_direction(add_scaled(p, -s * h, u), _AXIS, scaled(u, s), R)
        if exists:
            best, best_n = _better(pair, best, best_n, n, tiny)
    if R > 0.0 and S > 0.0:
        best, best_n, proven = _proven_rims(pair, best, best_n, tiny)
        if proven:
            return best, best_n
    for choice in range(4):
        s1, s2 = -1.0 if choice & 1 else 1.0, -1.0 if choice & 2 else 1.0
        best, best_n = _best_cell(pair, s1, s2, best, best_n, tiny)
    return best, best_n
