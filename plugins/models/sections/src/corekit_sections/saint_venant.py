"""Torsion and flexure of a section of any outline, after Saint-Venant, by boundary elements.

With the axes y and z through the centroid and the outward normal n of all edges, holes included, the warping ω of a
section that twists, and the function χ of one that a force along y bends, are harmonic and have

    ∂ω/∂n = z·n_y − y·n_z,                          J = I_y + I_z − ∮ ω·∂ω/∂n ds                       (1)
    ∂χ/∂n = −n_y·(½·ν·y² + (1 − ½·ν)·z²) − n_z·(2 + ν)·y·z                                             (2)
    (1 + ν)/k_y = [½·ν·(I_y − I_z) − (A/I_z)·∬ y·(χ + y·z²) dA]/(2·I_z) = b + a·ν                       (3)

A force through the shear centre does not twist the rod; it is, by Trefftz, at y_s = −∬ z·ω dA/I_y, z_s = ∬ y·ω dA/I_z.
Integrals over the area go to the boundary, ∬ y·χ dA = ∮ (χ·∂(y³/6)/∂n − (y³/6)·∂χ/∂n) ds. On the boundary

    ½·φ + ∮ φ·∂g/∂n ds = ∮ g·∂φ/∂n ds,     g = −log r/(2·π)                                           (4)

is solved at Gauss's points of panels, on which φ is the polynomial through its values. From a point w = x + i·h beside
a panel −1 … 1 both kernels are integrals of u^k/(u − w), exact by recurrence; from far away Gauss's rule is as exact.
Panels get shorter towards corners, where φ is less smooth, and are halved until the constants no longer change.

Sources: Love (1927), "Mathematical theory of elasticity", chapters 14 and 15; Cowper (1966), equation (15);
Helsing, Ojala (2008), "On the evaluation of layer potentials close to their sources", J. Computational Physics 227.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit.geometry.sections import Loop, OutlineConstants

__all__ = ["solve_outline"]

_ORDER = 6
"""Points of a panel."""
_CHORD = math.radians(5.0)
"""Longest chord of an arc: errs in J by 1e-4, of walls of a tenth of their radius by 2e-4."""
_MOST = 3000
"""Most points on all edges."""
_TOLERANCE = 2e-4
"""Relative change of the constants that ends the halving; the next change is ten times less or better."""
_OBLIQUE = 1e-4
"""Largest ∫y·z dA, as a share of I_y + I_z, that counts as 0."""


@lru_cache(64)
def solve_outline(outline: Loop, holes: tuple[Loop, ...] = ()) -> OutlineConstants:
    """Constants of the section within an outline and outside of its holes.

    Raises:
        ValueError: in words, loops that cross or lie elsewhere, axes that are not principal, or too many vertices.
    """
    loops = [_turned(_vertices(outline), 1), *(_turned(_vertices(each), -1) for each in holes)]
    _check(loops)
    area, first, _ = _moments(loops)
    loops = [each - first / area for each in loops]
    _, _, ((i_z, i_yz), (_, i_y)) = _moments(loops)
    if abs(i_yz) > _OBLIQUE * (i_y + i_z):
        angle = math.degrees(0.5 * math.atan2(2.0 * i_yz, i_z - i_y))
        raise ValueError(
            f"must have y and z for principal axes, they are turned by {angle:.4g}° about x: turn the vertices by "
            f"{-angle:.4g}° and the rod the other way"
        )
    sides = sum(map(len, loops))
    panels, change, found = 1, np.inf, np.zeros(7)
    while change > _TOLERANCE * np.abs(found).max():
        if sides * panels * _ORDER > _MOST:
            raise ValueError(
                f"has too many sides ({sides}, those of arcs included) or some too close to each other"
            )
        last, found = found, _constants(loops, panels, area, i_y, i_z)
        change = np.abs(found - last).max() if panels > 1 else np.inf
        panels *= 2
    J, b_y, a_y, b_z, a_z, y_s, z_s = found.tolist()
    size = i_y + i_z
    return OutlineConstants(
        area, i_y, i_z, J * size, (b_y, a_y), (b_z, a_z), (y_s * size**0.25, z_s * size**0.25), tuple(loops)
    )


def _vertices(outline: Loop) -> Array:
    """Vertices with those of the chords of arcs, moved outwards so that the area stays."""
    points: list[Sequence[float]] = []
    for here, after in zip(outline, (*outline[1:], outline[0]), strict=True):
        points.append(here[:2])
        bulge = here[2] if len(here) > 2 else 0.0
        if not bulge:
            continue
        a, b = complex(*here[:2]), complex(*after[:2])
        angle = 4.0 * math.atan(bulge)
        centre = 0.5 * (a + b) + 0.5j * (b - a) * (1.0 - bulge**2) / (2.0 * bulge)
        count = max(2, math.ceil(abs(angle) / _CHORD))
        x = angle / count
        # two triangles with sides 1 and s, the others with s and s, have the area of the sector together
        s = x * count / math.sin(x)
        s = s / 2.0 if count == 2 else (math.sqrt(1.0 + (count - 2) * s) - 1.0) / (count - 2)
        for k in range(1, count):
            turned = centre + (a - centre) * s * complex(math.cos(k * x), math.sin(k * x))
            points.append((turned.real, turned.imag))
    return np.array(points, dtype=float).reshape(-1, 2)


def _turned(loop: Array, sign: int) -> Array:
    """The loop counter-clockwise (1) or clockwise (−1)."""
    return loop if sign * _moments([loop])[0] > 0.0 else loop[::-1]


def _moments(loops: Sequence[Array]) -> tuple[float, Array, Array]:
    """∫dA, ∫(y, z) dA and ∫(y, z)⊗(y, z) dA, by triangles from the origin to the sides."""
    a = np.concatenate(loops)
    b = np.concatenate([np.roll(each, -1, axis=0) for each in loops])
    double = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    both = a + b
    second = np.einsum("s,si,sj->ij", double, both, both)
    second += np.einsum("s,si,sj->ij", double, a, a) + np.einsum("s,si,sj->ij", double, b, b)
    return 0.5 * float(double.sum()), both.T @ double / 6.0, second / 24.0


def _check(loops: Sequence[Array]) -> None:
    """Raise ValueError for loops that enclose nothing, cross, or are not in the first one."""
    if min(map(len, loops)) < 3:
        raise ValueError("must have three vertices or more in every loop, or two and an arc")
    a = np.concatenate(loops)
    b = np.concatenate([np.roll(each, -1, axis=0) for each in loops])
    if np.linalg.norm(b - a, axis=1).min() <= 1e-9 * np.ptp(a, axis=0).max():
        raise ValueError("must have neighbouring vertices apart")

    along = b - a

    def side(points: Array) -> Array:
        away = points - a[:, None]
        return np.sign(along[:, None, 0] * away[..., 1] - along[:, None, 1] * away[..., 0])

    crossing = side(a) * side(b) < 0.0
    if (crossing & crossing.T).any():
        raise ValueError("must not cross itself, nor its holes each other or it")
    outside = [not _is_inside(loops[0], hole[0]) for hole in loops[1:]]
    nested = [_is_inside(one, other[0]) for one in loops[1:] for other in loops[1:] if one is not other]
    if any(outside) or any(nested):
        raise ValueError("must have its holes inside, and beside each other")


def _is_inside(loop: Array, point: Array) -> bool:
    """Whether a loop encloses a point: how often a ray from it along y crosses the loop."""
    a, b = loop, np.roll(loop, -1, axis=0)
    above: BoolArray = (a[:, 1] > point[1]) != (b[:, 1] > point[1])
    a, b = a[above], b[above]
    at = a[:, 0] + (point[1] - a[:, 1]) / (b[:, 1] - a[:, 1]) * (b[:, 0] - a[:, 0])
    return int((at > point[0]).sum()) % 2 == 1


def _panels(loops: Sequence[Array], count: int) -> tuple[Array, Array]:
    """Middles and halves of `count` panels a side, graded to its ends as the fourth power, (m, 2) each."""
    a = np.concatenate(loops)
    b = np.concatenate([np.roll(each, -1, axis=0) for each in loops])
    at = np.linspace(0.0, 1.0, count // 2 + 1) ** 4 / 2.0
    at = np.concatenate([at, 1.0 - at[-2::-1]]) if count > 1 else np.array([0.0, 1.0])
    ends = a[:, None] + at[:, None] * (b - a)[:, None]
    return 0.5 * (ends[:, :-1] + ends[:, 1:]).reshape(-1, 2), 0.5 * np.diff(ends, axis=1).reshape(-1, 2)


def _operators(middle: Array, half: Array, point: Array, nodes: Array, weights: Array) -> tuple[Array, Array]:
    """The integrals of (4) at all points over the polynomials of all panels, (n, n) each: of ∂g/∂n and of g."""
    length = np.hypot(*half.T)
    along = half[:, 0] - 1j * half[:, 1]
    # seen from a panel of half length 1 along u, with h > 0 on its outer side
    w = ((point[:, None] - middle) @ (1.0, 1j)) * along / length**2
    w = w.conj()
    own = np.repeat(np.arange(len(middle)), len(nodes))
    w[np.arange(len(point)), own] = w[np.arange(len(point)), own].real
    away = nodes - w[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        double, single = (weights / away).imag, weights * np.log(np.abs(away))
    i, j = np.nonzero(np.abs(w) < 3.0)
    z = w[i, j]
    on_line = z.imag == 0.0
    after, before = (np.log(np.where(on_line, np.abs(end - z), end - z)) for end in (1.0, -1.0))
    power = [after - before]
    for k in range(1, len(nodes) + 1):
        power.append(z * power[-1] + (1.0 - (-1.0) ** k) / k)
    logs = [(after - (-1.0) ** (k + 1) * before - power[k + 1]) / (k + 1) for k in range(len(nodes))]
    values = np.linalg.inv(np.vander(nodes, increasing=True))
    double[i, j], single[i, j] = (np.array(power[:-1]).imag.T @ values, np.array(logs).real.T @ values)
    single += weights * np.log(length)[:, None]
    single *= -length[:, None]
    return double.reshape(len(point), -1) / (2.0 * math.pi), single.reshape(len(point), -1) / (2.0 * math.pi)


def _constants(loops: Sequence[Array], count: int, area: float, i_y: float, i_z: float) -> Array:
    """J, b and a of k_y and of k_z, and the shear centre, in units of I_y + I_z, for `count` panels a side."""
    nodes, weights = np.polynomial.legendre.leggauss(_ORDER)
    middle, half = _panels(loops, count)
    point = (middle[:, None] + nodes[:, None] * half[:, None]).reshape(-1, 2)
    length = np.hypot(*half.T)
    normal = np.repeat(np.column_stack([half[:, 1], -half[:, 0]]) / length[:, None], _ORDER, axis=0)
    ds = (length[:, None] * weights).ravel()
    double, single = _operators(middle, half, point, nodes, weights)
    (y, z), (n_y, n_z) = point.T, normal.T

    def flexure(y: Array, z: Array, n_y: Array, n_z: Array) -> list[Array]:
        return [-n_y * z**2 - 2.0 * n_z * y * z, -0.5 * n_y * (y**2 - z**2) - n_z * y * z]

    slope = np.column_stack([z * n_y - y * n_z, *flexure(y, z, n_y, n_z), *flexure(z, y, n_z, n_y)])
    # φ is known but for a constant, which the rank one matrix sets
    value = np.linalg.solve(0.5 * np.eye(len(ds)) + double + ds / ds.sum(), single @ slope)
    over_y, over_z = (  # ∬ y·φ dA and ∬ z·φ dA
        ds @ (value * (0.5 * x**2 * n)[:, None] - slope * (x**3 / 6.0)[:, None])
        for x, n in ((y, n_y), (z, n_z))
    )
    square = ds @ (y**3 * z**2 * n_y) / 3.0
    size = i_y + i_z
    found = [1.0 - ds @ (value[:, 0] * slope[:, 0]) / size]
    for (chi_0, chi_1), own, other in ((over_y[1:3], i_z, i_y), (over_z[3:], i_y, i_z)):
        found.append(-area / own * (chi_0 + square) / (2.0 * own))
        found.append((0.5 * (other - own) - area / own * chi_1) / (2.0 * own))
    return np.array([*found, -over_z[0] / i_y / size**0.25, over_y[0] / i_z / size**0.25])
