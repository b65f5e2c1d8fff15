"""One contact solved exactly in its cone: the root of one monotone scalar equation.

With w = W·r + b of one contact, W symmetric positive semidefinite and (n, t) its normal and tangential parts:

    b_n ≥ 0                                     open     r = 0                                    (1)
    W·r = −b in the cone                        sticks                                            (2)
    w_n = 0,  w_t = −α·r_t,  |r_t| = μ·r_n      slides, α > 0                                     (3)

The first case that holds is a solution. Elimination of r_n by w_n = 0 leaves, in the axes of S,

    S = W_tt − W_tn·W_nt/W_nn,   c = b_t − W_tn·b_n/W_nn,   r_t(α) = −(S + α·I)⁻¹·c               (4)
    r_n(α) = −(b_n + W_nt·r_t(α))/W_nn                                                            (5)
    h(α) = μ·r_n(α) − |r_t(α)|                                                                    (6)

If b_n < 0, then h(∞) = −μ·b_n/W_nn > 0, and h(0) < 0 if the contact does not stick: a root exists. The function
h/|r_t| is nearly linear in α, so that Newton's method with a bracket needs few iterations. If S is singular and c is
not in its range, a steep contact may jam and have no solution; r is then that of a small α, and its residual shows it.

Source: Bonnefon, Daviet (2011), Quartic formulation of Coulomb 3D frictional contact, INRIA RT-0400.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled

__all__ = ["solve_contact", "solve_split_contact", "split_contact"]

_DEPENDENT = 1e-13
"""Eigenvalue of S, relative to W_tt, that is rounding."""
_JAMMED = 1e-6
"""α, relative to W, of a contact that jams."""
_MAX_STEPS = 100


@compiled
def _tangential(e1: float, e2: float, c1: float, c2: float, alpha: float) -> tuple[float, float]:
    """r_t(α) of (4) in the axes of S."""
    return -c1 / (e1 + alpha), -c2 / (e2 + alpha)


@compiled
def _slide(
    w_nn: float, n1: float, n2: float, e1: float, e2: float, b_n: float, c1: float, c2: float, mu: float
) -> tuple[float, float, float]:
    """r_n and r_t of (3) in the axes of S; n1, n2 are W_nt there."""
    low, high = 0.0, math.inf
    least = _DEPENDENT * (e1 + w_nn)
    # the α at which sliding friction balances c, exactly if W_nt = 0 and S has two equal eigenvalues
    alpha = math.hypot(c1, c2) * w_nn / (-b_n * mu)
    alpha = max(alpha - 0.5 * (e1 + e2), 0.1 * alpha)
    p1, p2 = 0.0, 0.0
    for _ in range(_MAX_STEPS):
        if alpha < least and e2 == 0.0:
            p1, p2 = _tangential(e1, e2, c1, c2, _JAMMED * (e1 + w_nn))
            break
        p1, p2 = _tangential(e1, e2, c1, c2, alpha)
        size = math.hypot(p1, p2)
        normal = -(b_n + n1 * p1 + n2 * p2) / w_nn
        value = mu * normal - size
        if value == 0.0:
            break
        if value < 0.0:
            low = alpha
        else:
            high = alpha
        d1, d2 = -p1 / (e1 + alpha), -p2 / (e2 + alpha)
        growth = (p1 * d1 + p2 * d2) / size
        slope = -mu * (n1 * d1 + n2 * d2) / w_nn - mu * normal * growth / size
        following = alpha - value / slope if slope > 0.0 else -1.0
        if not low < following < high:
            following = 0.5 * (low + high) if high < math.inf else 2.0 * alpha
        if abs(following - alpha) <= 1e-15 * alpha or following in (low, high):
            break
        alpha = following
    size = math.hypot(p1, p2)
    u1, u2 = p1 / size, p2 / size
    # w_n = 0 on the edge of the cone itself
    stiffness = w_nn + mu * (n1 * u1 + n2 * u2)
    normal = -b_n / stiffness if stiffness > _DEPENDENT * w_nn else size / mu
    return normal, mu * normal * u1, mu * normal * u2


@compiled
def _half_angle(x: float, y: float, size: float) -> tuple[float, float]:
    """Cosine and sine of half the angle of (x, y), whose size is given: without cancellation, and without an angle."""
    if size == 0.0:
        return 1.0, 0.0
    if x >= 0.0:
        cosine = math.sqrt(0.5 * (1.0 + x / size))
        return cosine, 0.5 * y / (size * cosine)
    sine = math.copysign(math.sqrt(0.5 * (1.0 - x / size)), y)
    return 0.5 * y / (size * sine), sine


@compiled
def split_contact(
    w_nn: float, w_n1: float, w_n2: float, w_11: float, w_12: float, w_22: float
) -> tuple[float, float, float, float, float, float]:
    """Return the axes of S as cosine and sine, its eigenvalues, and W_nt along the axes.

    Without a second tangent W_22 = 1 and its other entries are 0.
    """
    if w_nn <= 0.0:
        return 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
    s11, s12, s22 = w_11 - w_n1 * w_n1 / w_nn, w_12 - w_n1 * w_n2 / w_nn, w_22 - w_n2 * w_n2 / w_nn
    mean, half = 0.5 * (s11 + s22), 0.5 * (s11 - s22)
    radius = math.hypot(half, s12)
    cosine, sine = _half_angle(half, s12, radius)
    e1, e2 = mean + radius, mean - radius
    floor = _DEPENDENT * (w_11 + w_22)
    e1, e2 = (e1 if e1 > floor else 0.0), (e2 if e2 > floor else 0.0)
    return cosine, sine, e1, e2, cosine * w_n1 + sine * w_n2, cosine * w_n2 - sine * w_n1


@compiled
def solve_split_contact(
    w_nn: float, cosine: float, sine: float, e1: float, e2: float, n1: float, n2: float,
    b_n: float, b_1: float, b_2: float, mu: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Solve (1)–(3) with what `split_contact` returned, and return r_n, r_1, r_2 [N·s]."""
    if b_n >= 0.0 or w_nn <= 0.0:
        return 0.0, 0.0, 0.0
    alone = -b_n / w_nn
    if mu <= 0.0:
        return alone, 0.0, 0.0
    c1, c2 = cosine * b_1 + sine * b_2 + n1 * alone, cosine * b_2 - sine * b_1 + n2 * alone
    # what is rounding in a direction without mobility must not become an impulse
    noise = _DEPENDENT * (abs(b_n) + abs(b_1) + abs(b_2))
    c1, c2 = (c1 if e1 > 0.0 or abs(c1) > noise else 0.0), (c2 if e2 > 0.0 or abs(c2) > noise else 0.0)
    if c1 == 0.0 and c2 == 0.0:
        return alone, 0.0, 0.0
    if (e1 > 0.0 or c1 == 0.0) and (e2 > 0.0 or c2 == 0.0):
        p1, p2 = (-c1 / e1 if e1 > 0.0 else 0.0), (-c2 / e2 if e2 > 0.0 else 0.0)
        normal = alone - (n1 * p1 + n2 * p2) / w_nn
        if normal >= 0.0 and p1 * p1 + p2 * p2 <= mu * mu * normal * normal:
            return normal, cosine * p1 - sine * p2, sine * p1 + cosine * p2
    normal, p1, p2 = _slide(w_nn, n1, n2, e1, e2, b_n, c1, c2, mu)
    return normal, cosine * p1 - sine * p2, sine * p1 + cosine * p2


@compiled
def solve_contact(
    w_nn: float, w_n1: float, w_n2: float, w_11: float, w_12: float, w_22: float,
    b_n: float, b_1: float, b_2: float, mu: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Solve (1)–(3) and return r_n, r_1, r_2 [N·s]; without a second tangent as in `split_contact`."""
    cosine, sine, e1, e2, n1, n2 = split_contact(w_nn, w_n1, w_n2, w_11, w_12, w_22)
    return solve_split_contact(w_nn, cosine, sine, e1, e2, n1, n2, b_n, b_1, b_2, mu)
