"""Computational points of a division: where strains are taken and integrals summed.

Between two points a step of the Magnus expansion; at the quadrature points forces are summed with weights. Gauss points
over the division, or over each element of a local basis; a dependent basis has the trapezoid rule over even points.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_gvs.basis import MODES
from corekit_gvs.functions import element_ends, enough_points, shape_functions
from corekit_gvs.links import Division

__all__ = ["Nodes", "columns_at", "division_nodes", "zanna_points"]

_TRAPEZOID = 101


class Nodes(NamedTuple):
    """Places X from 0 to 1, and weights that sum to 1; a weight of 0: no quadrature there."""

    X: Array
    weight: Array


def division_nodes(division: Division) -> Nodes:
    """Points of a division, both ends included."""
    if any(basis.kind == "dependent" for basis in division.strain):
        count = max(2, division.points or _TRAPEZOID)
        weight = np.full(count, 1.0 / (count - 1))
        weight[[0, -1]] *= 0.5
        return Nodes(np.linspace(0.0, 1.0, count), weight)
    ends = [element_ends(basis) for basis in division.strain] or [np.array([0.0, 1.0])]
    breaks = np.unique(np.concatenate(ends).round(12))
    elements = len(breaks) - 1
    count = division.points
    if not count:
        local = max((enough_points(basis) for basis in division.strain if basis.elements > 1), default=1)
        smooth = [enough_points(basis) for basis in division.strain if basis.elements == 1]
        count = max(local, math.ceil(max(smooth, default=5) / elements))
    x, w = np.polynomial.legendre.leggauss(count)
    places, weights = [np.array([0.0])], [np.array([0.0])]
    for a, b in pairwise(breaks.tolist()):
        places += [a + 0.5 * (b - a) * (1.0 + x), np.array([b])]
        weights += [0.5 * (b - a) * w, np.array([0.0])]
    return Nodes(np.concatenate(places), np.concatenate(weights))


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
