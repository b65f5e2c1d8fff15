"""Computational points of a division: where strains are evaluated and integrals summed.

Between two points a step of the Magnus expansion; at the quadrature points forces are summed with weights. By the
division's `quadrature` these are Gauss's n points over the division, or over each element of a local basis, exact for
degree 2·n − 1; or n even points, of the trapezoid rule, exact for degree 1, or of Simpson's (n odd), exact for 3.
If it is not given, a dependent basis has the trapezoid rule and all else Gauss's. Of ∫Xᵐ the rules with steps of
h = 1/(n − 1) miss, by Euler and Maclaurin's formula to leading order, the share

    trapezoid  h²·m·(m + 1)/12,   Simpson  h⁴·(m + 1)·m·(m − 1)·(m − 2)/180                                 (1)

How many of Gauss's points are enough is derived in `enough_points`. Even points are as many as miss, in the highest
degree that these integrate exactly, 5e-4 by the trapezoid rule and 1e-4 by Simpson's, by which the tests measure less
than 0.1 % in every frequency; a dependent basis has 101. Fewer than the functions that they should distinguish are
refused: a strain Σφⱼ·qⱼ that vanishes at every point has no stiffness, one whose turn or stretch ∫φ·q vanishes at every
point no inertia, and M is singular.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from attrs import evolve
from numpy.polynomial import legendre

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_gvs.basis import MODES, Basis
from corekit_gvs.functions import element_ends, enough_points, shape_functions
from corekit_gvs.links import Division
from corekit_gvs.python_functions import is_function

__all__ = [
    "Discretisation",
    "columns_at",
    "discretise",
    "running_integrals",
    "scaled_columns",
    "zanna_points",
]

Strain = tuple[Basis, ...]
"""The strain bases of a division."""

_OF_DEPENDENT, _MISSED = 101, {"trapezoid": 5e-4, "simpson": 1e-4}
"""Even points where a basis is dependent; what (1) may be elsewhere."""
_KEPT = 256
"""Discretisations that are remembered: robots are built again and again with other numbers, but the same bases."""


class Nodes(NamedTuple):
    """Places X from 0 to 1, and weights that sum to 1; a weight of 0: no quadrature there."""

    X: Array
    weight: Array


class Discretisation(NamedTuple):
    """Computational points of a division, for any length, section and material; its arrays are read only.

    Attributes:
        X: nodes from 0 to 1, both ends included, (n,).
        weight: sum to 1; 0: no quadrature there, (n,).
        inner: where strains are evaluated in the steps between nodes, (n − 1, points of a step).
        shapes: B at the inner places, then at the nodes, (places, 6, own), to be scaled as `columns_at` does.
    """

    X: Array
    weight: Array
    inner: Array
    shapes: Array


def discretise(division: Division, path: str) -> Discretisation:
    """Points of a division and its bases there.

    Raises:
        ConfigError: too few points to see every function of its bases; the smallest number is named.
    """
    strain = division.strain
    # what a name stands for may change between two robots
    fixed = all(
        isinstance(entry, str) and not is_function(entry) for basis in strain for entry in basis.functions
    )
    found = _discretise if fixed else _discretise.__wrapped__
    return found(strain, division.points, division.magnus, rule_of(division), path)


def rule_of(division: Division) -> str:
    """Which quadrature a division has: gauss, trapezoid or simpson."""
    if division.quadrature == "by-basis":
        return "trapezoid" if _dependent(division.strain) else "gauss"
    return division.quadrature


@lru_cache(_KEPT)
def _discretise(strain: Strain, points: int, magnus: int, rule: str, path: str) -> Discretisation:
    enough = _enough(strain, rule)
    count = points or enough
    custom = any(basis.kind == "custom" for basis in strain)
    if not _makes_a_rule(rule, count):
        said = "must be odd and ≥ 3, for Simpson's rule" if rule == "simpson" else "must be ≥ 2, both ends"
        raise ConfigError([Mistake(f"{path}.points", count, said)], "the division")
    if (count < enough or custom) and (blind := _blind(strain, count, magnus, rule, path)):
        _refuse(strain, count, enough, magnus, rule, blind, path)
    X, weight = _nodes(strain, count, rule)
    inner = np.array([zanna_points(a, b, magnus) for a, b in pairwise(X.tolist())])
    made = Discretisation(X, weight, inner, _shapes_at(strain, np.concatenate([inner.ravel(), X]), path))
    for array in made:
        array.setflags(write=False)
    return made


_gauss_points = cache(legendre.leggauss)
"""Places and weights of Gauss's rule on [−1, 1]."""


def _makes_a_rule(rule: str, count: int) -> bool:
    return rule == "gauss" or (count >= 2 if rule == "trapezoid" else count >= 3 and count % 2 == 1)


def _nodes(strain: Strain, count: int, rule: str) -> Nodes:
    if rule == "gauss":
        x, w = _gauss_points(count)
        y, w = np.concatenate([[0.0], 0.5 * (1.0 + x), [1.0]]), np.concatenate([[0.0], 0.5 * w, [0.0]])
    else:
        y, w = np.linspace(0.0, 1.0, count), np.full(count, 1.0 / (count - 1))
        if rule == "trapezoid":
            w[[0, -1]] *= 0.5
        else:
            w *= np.where(np.arange(count) % 2, 4.0, 2.0) / 3.0
            w[[0, -1]] *= 0.5
    places, weights = [np.array([0.0])], [np.array([0.0])]
    for a, b in pairwise(_breaks(strain, rule).tolist()):
        weights[-1][-1] += (b - a) * w[0]  # elements share their ends
        places.append(np.append(a + (b - a) * y[1:-1], b))
        weights.append((b - a) * w[1:])
    return Nodes(np.concatenate(places), np.concatenate(weights))


def running_integrals(division: Division, places: Array) -> Array:
    """∫ from 0 to each of a division's quadrature points, and to 1, in values at these points, (p + 1, p).

    Of the polynomial through Gauss's points in an element, of the lines of the trapezoid rule, or Simpson's parabolas.
    """
    out, p, rule = np.zeros((len(places) + 1, len(places))), len(places), rule_of(division)
    if rule == "trapezoid":
        half = 0.5 * np.diff(places)
        for k in range(p - 1):
            out[k + 1 :, k : k + 2] += half[k]
        return out
    if rule == "simpson":
        for k in range(0, p - 2, 2):
            h = 0.5 * (places[k + 2] - places[k])
            out[k + 1, k : k + 3] += h / 12.0 * np.array([5.0, 8.0, -1.0])
            out[k + 2 :, k : k + 3] += h / 3.0 * np.array([1.0, 4.0, 1.0])
        return out
    for a, b in pairwise(_breaks(division.strain, rule).tolist()):
        own = np.flatnonzero((places > a) & (places < b))
        at = 2.0 * (places[own] - a) / (b - a) - 1.0
        polynomials = np.linalg.inv(legendre.legvander(at, len(own) - 1))
        summed = legendre.legint(polynomials, lbnd=-1.0, axis=0) * (0.5 * (b - a))
        out[np.ix_(own, own)] = legendre.legval(at, summed).T
        out[own[-1] + 1 :, own] = legendre.legval(1.0, summed)
    return out


def _dependent(strain: Strain) -> bool:
    return any(basis.kind == "dependent" for basis in strain)


def _breaks(strain: Strain, rule: str) -> Array:
    if rule != "gauss" and _dependent(strain):  # where it is not smooth is not known
        return np.array([0.0, 1.0])
    ends = [element_ends(basis) for basis in strain] or [np.array([0.0, 1.0])]
    return np.unique(np.concatenate(ends).round(12))


def _enough(strain: Strain, rule: str) -> int:
    """The default number: what each basis needs, shared by the elements where one is local."""
    if _dependent(strain):
        return _OF_DEPENDENT
    elements = len(_breaks(strain, rule)) - 1
    local = max((enough_points(basis) for basis in strain if basis.elements > 1), default=1)
    smooth = [enough_points(basis) for basis in strain if basis.elements == 1]
    gauss = max(local, math.ceil(max(smooth, default=5) / elements))
    m = 2 * gauss - 1
    if rule == "trapezoid":
        return 1 + math.ceil(math.sqrt(m * (m + 1) / 12 / _MISSED[rule]))
    if rule == "simpson":
        return 1 + 2 * math.ceil(0.5 * ((m + 1) * m * (m - 1) * (m - 2) / 180 / _MISSED[rule]) ** 0.25)
    return gauss


def _blind(strain: Strain, count: int, magnus: int, rule: str, path: str) -> list[int]:
    """Which bases have a strain that `count` points do not see, or whose turn or stretch they do not see."""
    nodes, found = _nodes(strain, count, rule), []
    inner = np.array([zanna_points(a, b, magnus) for a, b in pairwise(nodes.X.tolist())])
    seen = nodes.weight > 0.0
    for i, basis in enumerate(strain):
        if basis.kind == "dependent":  # the base, X = 0, does not move
            if len(basis.modes) * (count - 1) < basis.coordinates:
                found.append(i)
            continue
        # the span of the monomials, without their condition
        span = evolve(basis, kind="legendre") if basis.kind == "monomial" else basis
        where = f"{path}.strain[{i}]"
        values = shape_functions(span, nodes.X[seen], where)
        means = shape_functions(span, inner.ravel(), where).reshape(*inner.shape, -1).mean(axis=1)
        moved = np.concatenate([0.0 * means[:1], np.cumsum(np.diff(nodes.X)[:, None] * means, axis=0)])[seen]
        if min(np.linalg.matrix_rank(values), np.linalg.matrix_rank(moved)) < basis.per_mode:
            found.append(i)
    return found


def _refuse(
    strain: Strain, count: int, enough: int, magnus: int, rule: str, blind: list[int], path: str
) -> None:
    """Raise the mistake of too few points, or of functions that no number of points distinguishes."""
    most = max(enough, 4 * count)
    more = [n for n in range(count + 1, most + 1) if _makes_a_rule(rule, n)]
    smallest = next((n for n in more if not _blind(strain, n, magnus, rule, path)), 0)
    if not smallest:
        where, found = f"{path}.strain[{blind[0]}].functions", list(strain[blind[0]].functions)
        said = f"must be linearly independent, they are not at up to {most} quadrature points: M would be singular"
        raise ConfigError([Mistake(where, found, said)], "the basis")
    each = " an element" if len(_breaks(strain, rule)) > 2 else ""
    said = f"must be ≥ {smallest}{each}, or 0 for enough ({enough}): with fewer M or K is singular"
    raise ConfigError([Mistake(f"{path}.points", count, said)], "the division")


def zanna_points(start: float, end: float, order: int) -> list[float]:
    """Places in a step where the strain is evaluated: its middle, or the two points of order 4."""
    if order == 2:
        return [0.5 * (start + end)]
    away = math.sqrt(3.0) / 6.0
    return [start + (0.5 - away) * (end - start), start + (0.5 + away) * (end - start)]


def columns_at(division: Division, X: Array, path: str) -> Array:
    """D_L·B at places X, (p, 6, own): independent bases by the mode's row, then columns left for dependent ones."""
    return scaled_columns(division, _shapes_at(division.strain, X, path))


def scaled_columns(division: Division, shapes: Array) -> Array:
    """D_L·B of B, (p, 6, own)."""
    return np.array([1.0 / division.length] * 3 + [1.0] * 3)[:, None] * shapes


def _shapes_at(strain: Strain, X: Array, path: str) -> Array:
    """B at places X, (p, 6, own)."""
    out = np.zeros((len(X), 6, sum(basis.size for basis in strain)))
    entries = sorted(
        (MODES[mode], i)
        for i, basis in enumerate(strain)
        if basis.kind != "dependent"
        for mode in basis.modes
    )
    values = {
        i: shape_functions(basis, X, f"{path}.strain[{i}]")
        for i, basis in enumerate(strain)
        if basis.kind != "dependent"
    }
    column = 0
    for row, i in entries:
        count = strain[i].per_mode
        out[:, row, column : column + count] = values[i]
        if not np.isfinite(values[i]).all():
            where = X[~np.isfinite(values[i]).all(axis=1)][0]
            said = f"must have finite values, it has not at X = {where:.6g}"
            found = list(strain[i].functions)
            raise ConfigError([Mistake(f"{path}.strain[{i}].functions", found, said)], "a formula")
        column += count
    return out
