"""A rim against an edge, seen along the edge: a point and half an ellipse."""

from __future__ import annotations

import math

from corekit.compiled import compiled

__all__ = ["half_ellipse_normal"]


@compiled
def half_ellipse_normal(q_w: float, q_v: float, R: float, B: float, D: float) -> tuple[bool, float, float]:
    """Direction in which a point is locally furthest outside, or least deep inside, half an ellipse.

    Seen along an edge of direction e a rim of radius R is an ellipse of semi-axes B = R·|u·e| along w and R
    along v. For a point q from its centre, and directions n with n_w > 0 (the half on the outside of the
    cylinder), the local maximum of

        g(n) = n·q − √(B²·n_w² + R²·n_v²),   ‖n‖ = 1,                                      (1)

    is n ∝ (q_w/σ, q_v/(σ + D)), D = R² − B² ≥ 0, with σ a root of

        G(σ) = (B·q_w/σ)² + (R·q_v/(σ + D))² = 1:                                          (2)

    - q_w > 0: the one root σ > 0;
    - q_w < 0 (q beyond the major axis: only inside): the root in (−D, 0) next to 0, if it exists.
    There is at most one local maximum, since a half ellipse cut at its blunt ends has at most one foot point
    at which the distance is least. 1/√G is a power mean of linear functions of σ, hence concave. Newton's
    iteration on 1/√G = 1 therefore rises monotonically from the start below to that root.

    Returns:
        whether it exists, n_w, n_v.
    Source: (2) is Eberly, "Distance from a point to an ellipse"; the concave form is that of Moré and
    Sorensen (1983), "Computing a trust region step".
    """
    c_w = B * abs(q_w)
    c_v = R * abs(q_v)
    if c_w == 0.0:  # on the ellipse's minor or major axis, or the ellipse is flat
        if c_v > D:
            n_w, n_v = q_w / (c_v - D), q_v / c_v
        elif B > 0.0 and D > 0.0:
            n_v = q_v / D
            n_w = math.sqrt(max(1.0 - (R * n_v) ** 2, 0.0)) / B
        else:
            return False, 0.0, 0.0
        if not n_w > 0.0:
            return False, 0.0, 0.0
    else:
        # x = |σ|, its distance to the other pole is x + D or D − x
        outward = 1.0 if q_w > 0.0 else -1.0
        x = max(c_w, c_v - D) if q_w > 0.0 else c_w
        for _ in range(50):
            y = D + outward * x
            if not y > 0.0:
                return False, 0.0, 0.0
            r_w, r_v = c_w / x, c_v / y
            square = r_w * r_w + r_v * r_v
            slope = r_w * r_w / x + outward * r_v * r_v / y  # −½ dG/dx
            if square <= 1.0 + 4e-16:
                break
            if not slope > 0.0:
                return False, 0.0, 0.0
            # Newton on 1/√G: its value is 1/√G, its derivative slope/G^{3/2}
            change = square * (math.sqrt(square) - 1.0) / slope
            x += change
            if change <= 1e-15 * x:
                break
        y = D + outward * x
        if not y > 0.0:
            return False, 0.0, 0.0
        n_w, n_v = abs(q_w) / x, q_v / y
    length = math.hypot(n_w, n_v)
    return True, n_w / length, n_v / length
