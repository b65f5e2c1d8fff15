"""Computational points of a division: where strains are taken and integrals summed.

Between two points a step of the Magnus expansion; at the quadrature points forces are summed with weights. Gauss points
over the division, or over each element of a local basis; a dependent basis has the trapezoid rule over even points.
How many are enough is derived in `enough_points`; fewer than the functions that they should tell apart are refused:
a strain Σφⱼ·qⱼ that vanishes at every point has no stiffness, one whose turn or stretch ∫φ·q vanishes at every point no
inertia, and M is singular.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from attrs import evolve
from numpy.polynomial import legendre

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_gvs.basis import MODES
from corekit_gvs.functions import element_ends, enough_points, shape_functions
from corekit_gvs.links import Division

__all__ = ["Nodes", "columns_at", "division_nodes", "running_integrals", "zanna_points"]

_TRAPEZOID = 101


class Nodes(NamedTuple):
    """Places X from 0 to 1, and weights that sum to 1; a weight of 0: no quadrature there."""

    X: Array
    weight: Array


def division_nodes(division: Division, path: str) -> Nodes:
    """Points of a division, both ends included.

    Raises:
        ConfigError: too few points to see every function of its bases; the smallest number is named.
    """
    enough = _enough(division)
    count = division.points or enough
    custom = any(basis.kind == "custom" for basis in division.strain)
    if (count < enough or custom) and (blind := _blind(division, count, path)):
        _refuse(division, count, enough, blind, path)
    return _nodes(division, count)


_gauss_points = cache(legendre.leggauss)
"""Places and weights of Gauss's rule on [−1, 1]."""


def _nodes(division: Division, count: int) -> Nodes:
    if _dependent(division):
        weight = np.full(count, 1.0 / (count - 1))
        weight[[0, -1]] *= 0.5
        return Nodes(np.linspace(0.0, 1.0, count), weight)
    x, w = _gauss_points(count)
    places, weights = [np.array([0.0])], [np.array([0.0])]
    for a, b in pairwise(_breaks(division).tolist()):
        places += [a + 0.5 * (b - a) * (1.0 + x), np.array([b])]
        weights += [0.5 * (b - a) * w, np.array([0.0])]
    return Nodes(np.concatenate(places), np.concatenate(weights))


def running_integrals(division: Division, places: Array) -> Array:
    """∫ from 0 to each of a division's quadrature points, and to 1, in values at these points, (p + 1, p).

    Of the polynomial through the points of an element, or of the trapezoidal rule where the division has that.
    """
    out, p = np.zeros((len(places) + 1, len(places))), len(places)
    if _dependent(division):
        half = 0.5 * np.diff(places)
        for k in range(p - 1):
            out[k + 1 :, k : k + 2] += half[k]
        return out
    for a, b in pairwise(_breaks(division).tolist()):
        own = np.flatnonzero((places > a) & (places < b))
        at = 2.0 * (places[own] - a) / (b - a) - 1.0
        polynomials = np.linalg.inv(legendre.legvander(at, len(own) - 1))
        summed = legendre.legint(polynomials, lbnd=-1.0, axis=0) * (0.5 * (b - a))
        out[np.ix_(own, own)] = legendre.legval(at, summed).T
        out[own[-1] + 1 :, own] = legendre.legval(1.0, summed)
    return out


def _dependent(division: Division) -> bool:
    return any(basis.kind == "dependent" for basis in division.strain)


def _breaks(division: Division) -> Array:
    ends = [element_ends(basis) for basis in division.strain] or [np.array([0.0, 1.0])]
    return np.unique(np.concatenate(ends).round(12))


def _enough(division: Division) -> int:
    """The default number: what each basis needs, shared by the elements where one is local."""
    if _dependent(division):
        return _TRAPEZOID
    elements = len(_breaks(division)) - 1
    local = max((enough_points(basis) for basis in division.strain if basis.elements > 1), default=1)
    smooth = [enough_points(basis) for basis in division.strain if basis.elements == 1]
    return max(local, math.ceil(max(smooth, default=5) / elements))


def _blind(division: Division, count: int, path: str) -> list[int]:
    """Which bases have a strain that `count` points do not see, or whose turn or stretch they do not see."""
    if _dependent(division) and count < 2:
        return list(range(len(division.strain)))
    nodes, found = _nodes(division, count), []
    inner = np.array([zanna_points(a, b, division.magnus) for a, b in pairwise(nodes.X.tolist())])
    seen = nodes.weight > 0.0
    for i, basis in enumerate(division.strain):
        if basis.kind == "dependent":  # the base, X = 0, does not move
            if len(basis.modes) * (count - 1) < basis.coordinates:
                found.append(i)
            continue
        # the span of the monomials, without their condition
        span = evolve(basis, kind="legendre") if basis.kind == "monomial" else basis
        where = f"{path}.strain[{i}]"
        strain = shape_functions(span, nodes.X[seen], where)
        means = shape_functions(span, inner.ravel(), where).reshape(*inner.shape, -1).mean(axis=1)
        moved = np.concatenate([0.0 * means[:1], np.cumsum(np.diff(nodes.X)[:, None] * means, axis=0)])[seen]
        if min(np.linalg.matrix_rank(strain), np.linalg.matrix_rank(moved)) < basis.per_mode:
            found.append(i)
    return found


def _refuse(division: Division, count: int, enough: int, blind: list[int], path: str) -> None:
    """Raise the mistake of too few points, or of functions that no number of points tells apart."""
    most = max(enough, 4 * count)
    smallest = next((n for n in range(count + 1, most + 1) if not _blind(division, n, path)), 0)
    if not smallest:
        where, found = f"{path}.strain[{blind[0]}].functions", list(division.strain[blind[0]].functions)
        said = f"must be linearly independent, they are not at up to {most} quadrature points: M would be singular"
        raise ConfigError([Mistake(where, found, said)], "the basis")
    each = " an element" if len(_breaks(division)) > 2 and not _dependent(division) else ""
    said = f"must be ≥ {smallest}{each}, or 0 for enough ({enough}): with fewer M or K is singular"
    raise ConfigError([Mistake(f"{path}.points", count, said)], "the division")


def zanna_points(start: float, end: float, order: int) -> list[float]:
    """Places in a step where the strain is taken: its middle, or the two points of order 4."""
    if order == 2:
        return [0.5 * (start + end)]
    away = math.sqrt(3.0) / 6.0
    return [start + (0.5 - away) * (end - start), start + (0.5 + away) * (end - start)]


def columns_at(division: Division, X: Array, path: str) -> Array:
    """D_L·B at places X, (p, 6, own): independent bases by the mode's row, then columns left for dependent ones."""
    out = np.zeros((len(X), 6, division.size))
    scale = np.array([1.0 / division.length] * 3 + [1.0] * 3)
    entries = sorted(
        (MODES[mode], i)
        for i, basis in enumerate(division.strain)
        if basis.kind != "dependent"
        for mode in basis.modes
    )
    values = {
        i: shape_functions(basis, X, f"{path}.strain[{i}]")
        for i, basis in enumerate(division.strain)
        if basis.kind != "dependent"
    }
    column = 0
    for row, i in entries:
        count = division.strain[i].per_mode
        out[:, row, column : column + count] = scale[row] * values[i]
        if not np.isfinite(values[i]).all():
            where = X[~np.isfinite(values[i]).all(axis=1)][0]
            said = f"must have finite values, it has not at X = {where:.6g}"
            found = list(division.strain[i].functions)
            raise ConfigError([Mistake(f"{path}.strain[{i}].functions", found, said)], "a formula")
        column += count
    return out
