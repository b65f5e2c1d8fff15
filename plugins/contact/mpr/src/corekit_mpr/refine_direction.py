"""Refinement of a direction near the best one to rounding, which removes the bias of portal refinement.

f of `support` (1) is smooth except at the normals of caps and on creases, where n is perpendicular to an edge
of A or B. An edge is that of a box or hull, a segment, or the side of a cylinder. The best direction near a
given one is therefore one of

- the normal of a cap, or the direction perpendicular to two edges;                           (1)
- on the circle of directions perpendicular to one edge e: Newton's iteration along it;       (2)
- where no crease is near: Newton's iteration on the sphere,
      (g·1 + Σ (R/ρ)·t·tᵀ)·δ = w − g·n,   g = n·w,   δ ⊥ n                                  (3)
  with w the support of D and R, ρ, t of `support.curvature`: f is homogeneous of degree one, so its Hessian
  on the sphere is −(g·1 + Σ (R/ρ)·t·tᵀ).

`refine_direction` evaluates all of them and returns the best: every direction is a lower bound of the gap, so
an unsuitable one merely loses. Edges of a hull are the differences of its vertices in the search's simplex.

At the best direction f is flat: an error ε of n changes f by only g·ε²/2, so f stops growing at ε ≈ √eps.
Newton's iteration therefore reduces the gradient

    r = w − g·n, less its component along e,                                                   (4)

until ‖r‖ is rounding. ‖r‖ is also the distance between the witness on A, moved by −g·n, and that on B. The
start comes last: where values differ by rounding, a refined direction is preferred to it.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import (
    Vector,
    add_scaled,
    cross,
    dot,
    norm,
    perpendicular,
    row,
    scaled,
    sign_of,
    unit,
)
from corekit_mpr.support import BOX, CYLINDER, HULL, SEGMENT, Pair, Solid, curvature, lowest_point

__all__ = ["MAX_EDGES", "refine_direction", "separation_along"]

MAX_EDGES: Final = 12
_NEAR: Final = 0.15
_SAME: Final = math.sqrt(1.0 - _NEAR * _NEAR)
"""Cosine of directions that are so close that every crease through one is near the other."""
_MAX_ITERATIONS: Final = 12


@compiled
def separation_along(pair: Pair, vertices: Array, n: Vector) -> float:
    """Return f(n) [m]."""
    w, _ = lowest_point(pair, vertices, n)
    return dot(w, n)


@compiled
def _better(
    pair: Pair, vertices: Array, best: float, best_n: Vector, n: Vector, tiny: float
) -> tuple[float, Vector]:
    """Return the better of the best direction and n."""
    f = separation_along(pair, vertices, n)
    if f > best + tiny:
        return f, n
    return best, best_n


@compiled
def _edges(
    solid: Solid, axes: tuple[Vector, Vector, Vector], n: Vector, edges: Array, count: int
) -> tuple[int, bool]:
    """Append the edges of a core nearly perpendicular to n; return the count, and whether n is nearly a cap normal."""
    kind = solid[0]
    if kind == BOX:
        for k in range(3):
            axis = axes[0] if k == 0 else (axes[1] if k == 1 else axes[2])
            if abs(dot(axis, n)) < _NEAR:
                edges[count, 0], edges[count, 1], edges[count, 2] = axis
                count += 1
    elif kind in (SEGMENT, CYLINDER):
        lean = abs(dot(axes[2], n))
        if lean < _NEAR:
            edges[count, 0], edges[count, 1], edges[count, 2] = axes[2]
            count += 1
        return count, kind == CYLINDER and lean > 1.0 - 0.5 * _NEAR * _NEAR
    return count, False


@compiled
def _hull_edges(simplex: Array, corners: int, column: int, tiny: float, edges: Array, count: int) -> int:
    """Append the differences of a hull's vertices among the first corners of the simplex, at most three."""
    for i in range(min(corners, 3)):
        for j in range(i):
            e = (
                simplex[i, column] - simplex[j, column],
                simplex[i, column + 1] - simplex[j, column + 1],
                simplex[i, column + 2] - simplex[j, column + 2],
            )
            length = norm(e)
            if length > tiny:
                for k in range(3):
                    edges[count, k] = e[k] / length
                count += 1
    return count


@compiled
def _newton_increment(pair: Pair, n: Vector, w: Vector, g: float, edge: Vector) -> Vector:
    """Return δ of (3), on the circle perpendicular to `edge` unless that is zero; zero where f has no such maximum."""
    c_a, t_a, c_b, t_b = curvature(pair, n)
    on_circle = dot(edge, edge) > 0.0
    x = unit(cross(edge, n)) if on_circle else perpendicular(n)
    gx = dot(w, x)
    ax, bx = dot(t_a, x), dot(t_b, x)
    hxx = g + c_a * ax * ax + c_b * bx * bx
    if on_circle:
        return scaled(x, gx / hxx) if hxx > 0.0 else (0.0, 0.0, 0.0)
    y = cross(n, x)
    gy = dot(w, y)
    ay, by = dot(t_a, y), dot(t_b, y)
    hyy = g + c_a * ay * ay + c_b * by * by
    hxy = c_a * ax * ay + c_b * bx * by
    det = hxx * hyy - hxy * hxy
    if not (det > 0.0 and hxx > 0.0):
        return (0.0, 0.0, 0.0)
    return add_scaled(scaled(x, (gx * hyy - gy * hxy) / det), (gy * hxx - gx * hxy) / det, y)


@compiled
def _gradient_norm(n: Vector, w: Vector, g: float, edge: Vector) -> float:
    """Return ‖r‖ of (4) [m]."""
    r = add_scaled(w, -g, n)
    return norm(add_scaled(r, -dot(r, edge), edge))


@compiled
def _newton_direction(
    pair: Pair, vertices: Array, best: float, best_n: Vector, n: Vector, edge: Vector, tiny: float
) -> tuple[float, Vector]:
    """Return the better of the best direction and the end of Newton's iteration (2) or (3) from n.

    The iteration shortens an increment until f does not fall; where f is constant to rounding, ‖r‖ must fall
    instead.
    """
    w, _ = lowest_point(pair, vertices, n)
    g = dot(w, n)
    slope = _gradient_norm(n, w, g, edge)
    for _ in range(_MAX_ITERATIONS):
        if not slope > tiny:
            break
        d = _newton_increment(pair, n, w, g, edge)
        length = norm(d)
        if not length > 1e-15:
            break
        fraction = min(1.0, 0.5 / length)
        improved = False
        trial, w_trial, g_trial, slope_trial = n, w, g, slope
        for _ in range(4):
            trial = unit(add_scaled(n, fraction, d))
            # remove rounding errors off the circle
            trial = unit(add_scaled(trial, -dot(trial, edge), edge))
            w_trial, _ = lowest_point(pair, vertices, trial)
            g_trial = dot(w_trial, trial)
            if g_trial >= g - tiny:
                slope_trial = _gradient_norm(trial, w_trial, g_trial, edge)
                improved = g_trial > g + tiny or slope_trial < slope
                break
            fraction *= 0.25
        if not improved:
            break
        n, w, g, slope = trial, w_trial, g_trial, slope_trial
    if g > best + tiny:
        return g, n
    return best, best_n


@compiled
def _perpendicular(
    pair: Pair, vertices: Array, best: float, best_n: Vector, start: Vector, edges: Array, count: int,
    tiny: float,
) -> tuple[float, Vector]:  # fmt: skip
    """Return the better of the best direction and the directions near the start that are perpendicular to two edges."""
    for i in range(count):
        for j in range(i):
            c = cross(row(edges, i), row(edges, j))
            length = norm(c)
            if length > 1e-3:
                c = scaled(c, sign_of(dot(c, start)) / length)
                if dot(c, start) > 0.9:
                    best, best_n = _better(pair, vertices, best, best_n, c, tiny)
    return best, best_n


@compiled
def refine_direction(
    pair: Pair, vertices: Array, n: Vector, simplex: Array, corners: int, tiny: float, edges: Array
) -> tuple[float, Vector]:
    """Return the best value of f near n [m] and its direction, refined again where that is far from n.

    There other creases of lines are near, and Newton's iteration stops short of one that it does not know.

    Args:
        n: unit start.
        simplex: rows w, a of the corners of the search's simplex, shape (≥ corners, 6) [m].
        tiny: least gain of a later candidate that replaces an earlier one [m]: rounding must not select.
        edges: workspace, shape (MAX_EDGES, 3).
    """
    best, best_n = _refine_once(pair, vertices, n, simplex, corners, tiny, edges)
    if dot(best_n, n) < _SAME and (pair[0][0] in (SEGMENT, CYLINDER) or pair[1][0] in (SEGMENT, CYLINDER)):
        f, refined = _refine_once(pair, vertices, best_n, simplex, corners, tiny, edges)
        if f > best + tiny:
            best, best_n = f, refined
    return best, best_n


@compiled
def _refine_once(
    pair: Pair, vertices: Array, n: Vector, simplex: Array, corners: int, tiny: float, edges: Array
) -> tuple[float, Vector]:
    """Return the best of the directions that the edges near n give, and n itself."""
    best, best_n = -math.inf, n
    axes_a = (pair[3], pair[4], pair[5])
    axes_b = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    count, cap_a = _edges(pair[0], axes_a, n, edges, 0)
    count, cap_b = _edges(pair[1], axes_b, n, edges, count)
    if pair[0][0] == HULL:
        count = _hull_edges(simplex, corners, 3, tiny, edges, count)
    if pair[1][0] == HULL:
        for k in range(min(corners, 3)):  # b = a − w
            for i in range(3):
                simplex[k, 6 + i] = simplex[k, 3 + i] - simplex[k, i]
        count = _hull_edges(simplex, corners, 6, tiny, edges, count)
    if cap_a:
        best, best_n = _better(pair, vertices, best, best_n, scaled(pair[5], sign_of(dot(pair[5], n))), tiny)
    if cap_b:
        best, best_n = _better(pair, vertices, best, best_n, (0.0, 0.0, sign_of(n[2])), tiny)
    best, best_n = _perpendicular(pair, vertices, best, best_n, n, edges, count, tiny)
    for k in range(count):
        edge = row(edges, k)
        projected = add_scaled(n, -dot(n, edge), edge)
        if norm(projected) > 0.5:
            best, best_n = _newton_direction(pair, vertices, best, best_n, unit(projected), edge, tiny)
    best, best_n = _newton_direction(pair, vertices, best, best_n, n, (0.0, 0.0, 0.0), tiny)
    return _better(pair, vertices, best, best_n, n, tiny)
