"""Computational points of a division: where strains are evaluated and integrals summed.

Between two points a step of the Magnus expansion; at the quadrature points forces are summed with weights. Gauss points
over the division, or over each element of a local basis; a dependent basis has the trapezoid rule over even points.
How many are enough is derived in `enough_points`; fewer than the functions that they should distinguish are refused:
a strain Σφⱼ·qⱼ that vanishes at every point has no stiffness, one whose turn or stretch ∫φ·q vanishes at every point no
inertia, and M is singular.
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

_TRAPEZOID = 101
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
    return found(strain, division.points, division.magnus, path)


@lru_cache(_KEPT)
def _discretise(strain: Strain, points: int, magnus: int, path: str) -> Discretisation:
    enough = _enough(strain)
    count = points or enough
    custom = any(basis.kind == "custom" for basis in strain)
    if (count < enough or custom) and (blind := _blind(strain, count, magnus, path)):
        _refuse(strain, count, enough, magnus, blind, path)
    X, weight = _nodes(strain, count)
    inner = np.array([zanna_points(a, b, magnus) for a, b in pairwise(X.tolist())])
    made = Discretisation(X, weight, inner, _shapes_at(strain, np.concatenate([inner.ravel(), X]), path))
    for array in made:
        array.setflags(write=False)
    return made


_gauss_points = cache(legendre.leggauss)
"""Places and weights of Gauss's rule on [−1, 1]."""


def _nodes(strain: Strain, count: int) -> Nodes:
    if _dependent(strain):
        weight = np.full(count, 1.0 / (count - 1))
        weight[[0, -1]] *= 0.5
        return Nodes(np.linspace(0.0, 1.0, count), weight)
    x, w = _gauss_points(count)
    places, weights = [np.array([0.0])], [np.array([0.0])]
    for a, b in pairwise(_breaks(strain).tolist()):
        places += [a + 0.5 * (b - a) * (1.0 + x), np.array([b])]
        weights += [0.5 * (b - a) * w, np.array([0.0])]
    return Nodes(np.concatenate(places), np.concatenate(weights))


def running_integrals(division: Division, places: Array) -> Array:
    """∫ from 0 to each of a division's quadrature points, and to 1, in values at these points, (p + 1, p).

    Of the polynomial through the points of an element, or of the trapezoidal rule where the division has that.
    """
    out, p = np.zeros((len(places) + 1, len(places))), len(places)
    if _dependent(division.strain):
        half = 0.5 * np.diff(places)
        for k in range(p - 1):
            out[k + 1 :, k : k + 2] += half[k]
        return out
    for a, b in pairwise(_breaks(division.strain).tolist()):
        own = np.flatnonzero((places > a) & (places < b))
        at = 2.0 * (places[own] - a) / (b - a) - 1.0
        polynomials = np.linalg.inv(legendre.legvander(at, len(own) - 1))
        summed = legendre.legint(polynomials, lbnd=-1.0, axis=0) * (0.5 * (b - a))
        out[np.ix_(own, own)] = legendre.legval(at, summed).T
        out[own[-1] + 1 :, own] = legendre.legval(1.0, summed)
    return out


def _dependent(strain: Strain) -> bool:
    return any(basis.kind == "dependent" for basis in strain)


def _breaks(strain: Strain) -> Array:
    ends = [element_ends(basis) for basis in strain] or [np.array([0.0, 1.0])]
    return np.unique(np.concatenate(ends).round(12))


def _enough(strain: Strain) -> int:
    """The default number: what each basis needs, shared by the elements where one is local."""
    if _dependent(strain):
        return _TRAPEZOID
    elements = len(_breaks(strain)) - 1
    local = max((enough_points(basis) for basis in strain if basis.elements > 1), default=1)
    smooth = [enough_points(basis) for basis in strain if basis.elements == 1]
    return max(local, math.ceil(max(smooth, default=5) / elements))


def _blind(strain: Strain, count: int, magnus: int, path: str) -> list[int]:
    """Which bases have a strain that `count` points do not see, or whose turn or stretch they do not see."""
    if _dependent(strain) and count < 2:
        return list(range(len(strain)))
    nodes, found = _nodes(strain, count), []
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


def _refuse(strain: Strain, count: int, enough: int, magnus: int, blind: list[int], path: str) -> None:
    """Raise the mistake of too few points, or of functions that no number of points distinguishes."""
    most = max(enough, 4 * count)
    smallest = next((n for n in range(count + 1, most + 1) if not _blind(strain, n, magnus, path)), 0)
    if not smallest:
        where, found = f"{path}.strain[{blind[0]}].functions", list(strain[blind[0]].functions)
        said = f"must be linearly independent, they are not at up to {most} quadrature points: M would be singular"
        raise ConfigError([Mistake(where, found, said)], "the basis")
    each = " an element" if len(_breaks(strain)) > 2 and not _dependent(strain) else ""
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
