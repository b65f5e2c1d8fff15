"""Strain fields of the slow reference: what is typed in the table of shape functions, nothing more.

A basis answers, at X in [0, 1] of its piece, `columns(X, q, t)` = ∂b/∂q, shape (6, n), and
`series(X, q, q̇, t)`, the Taylor coefficients of b(X, q + q̇·τ, t + τ), shape (3, 6). Rows are
torsion, bend y, bend z, stretch x, shear y, shear z; rotational rows are angles over the piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy
from numpy.polynomial import chebyshev, legendre

MODES = ("torsion", "bend_y", "bend_z", "stretch_x", "shear_y", "shear_z")


def legendre_shape(order):
    return lambda x: np.array([legendre.legval(2 * x - 1, np.eye(order + 1)[j]) for j in range(order + 1)])


def chebyshev_shape(order):
    return lambda x: np.array([chebyshev.chebval(2 * x - 1, np.eye(order + 1)[j]) for j in range(order + 1)])


def monomial_shape(order):
    return lambda x: x ** np.arange(order + 1.0)


def fourier_shape(order):
    def shape(x):
        waves = [f(2 * np.pi * j * x) for j in range(1, order + 1) for f in (np.cos, np.sin)]
        return np.array([1.0, *waves])

    return shape


def lagrange_shape(elements, degree):
    """Nodal polynomials of each element through equally spaced nodes: C⁰, degree·elements + 1 values."""

    def shape(x, element=None):
        e = min(int(x * elements), elements - 1) if element is None else element
        local = x * elements - e
        nodes = np.arange(degree + 1) / degree
        out = np.zeros(degree * elements + 1)
        for i in range(degree + 1):
            others = np.delete(nodes, i)
            out[degree * e + i] = np.prod((local - others) / (nodes[i] - others))
        return out

    return shape


def hermite_shape(elements):
    """Cubics by value and slope db/dX at the nodes: slope functions carry the element's width."""

    def shape(x, element=None):
        e = min(int(x * elements), elements - 1) if element is None else element
        width = 1.0 / elements
        s = x * elements - e
        powers = np.array([1.0, s, s * s, s**3])
        ends = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 1], [0, 1, 2, 3]], dtype=float)
        coefficients = np.linalg.solve(ends, np.diag([1.0, width, 1.0, width]))
        out = np.zeros(2 * elements + 2)
        out[2 * e : 2 * e + 4] = powers @ coefficients
        return out

    return shape


def gaussian_shape(elements):
    """Half of its value at half a width from its node."""
    nodes = np.arange(elements + 1) / elements
    return lambda x: 0.5 ** ((x - nodes) / (0.5 / elements)) ** 2


def multiquadric_shape(elements):
    """Inverse multiquadric, half of its value at half a width from its node."""
    nodes = np.arange(elements + 1) / elements
    return lambda x: 1.0 / np.sqrt(1.0 + 3.0 * ((x - nodes) / (0.5 / elements)) ** 2)


class Independent:
    """b = B(X)·q with one shape per active mode, given as {mode: shape}."""

    def __init__(self, modes):
        self.modes = modes
        self.size = sum(len(shape(0.5)) for shape in modes.values())

    def columns(self, x, q, t):
        out = np.zeros((6, self.size))
        k = 0
        for row, mode in enumerate(MODES):
            if mode in self.modes:
                values = self.modes[mode](x)
                out[row, k : k + len(values)] = values
                k += len(values)
        return out

    def series(self, x, q, rate, t):
        columns = self.columns(x, q, t)
        return np.array([columns @ q, columns @ rate, np.zeros(6)])


class Typed:
    """b(X, q, t) typed as formulas of X, t, q1, q2, …; every derivative by SymPy.

    Args:
        formulas: {mode: text}.
        size: number of coordinates.
    """

    def __init__(self, formulas: dict[str, str], size: int):
        self.size = size
        self.formulas = formulas
        x, t, tau = sympy.symbols("X t tau")
        q = sympy.symbols([f"q{i + 1}" for i in range(size)])
        v = sympy.symbols([f"v{i + 1}" for i in range(size)])
        diff: Any = sympy.diff
        rows = [sympy.sympify(formulas.get(mode, "0")) for mode in MODES]
        moved = [
            row.subs({**{a: a + b * tau for a, b in zip(q, v, strict=True)}, t: t + tau}, simultaneous=True)
            for row in rows
        ]
        taylor = [[diff(row, tau, k).subs(tau, 0) / sympy.factorial(k) for row in moved] for k in range(3)]
        self._columns = sympy.lambdify((x, t, q), sympy.Matrix(rows).jacobian(list(q)), "numpy")
        self._series = sympy.lambdify((x, t, q, v), taylor, "numpy")

    def columns(self, x, q, t):
        return np.asarray(self._columns(x, t, list(q)), dtype=float)

    def series(self, x, q, rate, t):
        return np.asarray(self._series(x, t, list(q), list(rate)), dtype=float)


def gauss(points: int, elements: int = 1):
    """Computational points of a piece: per element its ends and Gauss points; weights are zero at ends."""
    roots, weights = np.polynomial.legendre.leggauss(points)
    nodes, measure = [0.0], [0.0]
    for e in range(elements):
        nodes += [*((e + (roots + 1) / 2) / elements), (e + 1) / elements]
        measure += [*(weights / 2 / elements), 0.0]
    return np.array(nodes), np.array(measure)


def trapezoid(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Equally spaced points with trapezoid weights."""
    nodes = np.linspace(0.0, 1.0, points)
    weights = np.full(points, 1.0 / (points - 1))
    weights[[0, -1]] /= 2
    return nodes, weights


def modes(names: Sequence[str], shape) -> Independent:
    """The same shape on every named mode."""
    return Independent(dict.fromkeys(names, shape))
