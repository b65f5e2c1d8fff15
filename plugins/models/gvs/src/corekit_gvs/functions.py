"""Shape functions of independent strain bases on X ∈ [0, 1].

| basis                | functions                                                        |
|----------------------|------------------------------------------------------------------|
| monomial             | Xʲ                                                               |
| legendre             | P₀ = 1, P₁ = y, (j+1)·P_{j+1} = (2j+1)·y·P_j − j·P_{j−1}, y = 2X − 1 |
| chebyshev            | T₀ = 1, T₁ = y, T_{j+1} = 2y·T_j − T_{j−1}                       |
| fourier              | 1, cos 2πjX, sin 2πjX                                            |
| fem-*                | Lagrange polynomials on evenly spaced nodes of an element        |
| hermite              | value and slope d/dX at the nodes (slope functions carry w)      |
| gaussian             | exp(−c²(X − aⱼ)²), c = 2√(ln 2)/w                                |
| inverse-multiquadric | 1/√(1 + c²(X − aⱼ)²), c = 2√3/w                                  |
| custom               | formulas of X, or Python functions of the places (p,)            |

w = 1/elements is the width of an element, aⱼ = j·w its ends. An end of an element belongs to the left one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_gvs.basis import PER_ELEMENT, Basis
from corekit_gvs.python_functions import call, function_of, is_function

__all__ = ["element_ends", "enough_points", "shape_functions"]


def shape_functions(basis: Basis, X: Array, path: str) -> Array:
    """φⱼ at places X of shape (p,), as shape (p, per mode)."""
    kind, order, y = basis.kind, basis.order, 2.0 * X - 1.0
    if kind == "constant":
        return np.ones((len(X), 1))
    if kind == "monomial":
        return np.power(X[:, None], np.arange(order + 1))
    if kind == "legendre":
        return np.asarray(np.polynomial.legendre.legvander(y, order), dtype=np.float64)
    if kind == "chebyshev":
        return np.asarray(np.polynomial.chebyshev.chebvander(y, order), dtype=np.float64)
    if kind == "fourier":
        waves = 2.0 * math.pi * X[:, None] * np.arange(1, order + 1)
        pairs = np.stack([np.cos(waves), np.sin(waves)], axis=2).reshape(len(X), 2 * order)
        return np.hstack([np.ones((len(X), 1)), pairs])
    if kind == "custom":
        return np.stack(
            [_custom(each, X, f"{path}.functions[{i}]") for i, each in enumerate(basis.functions)], 1
        )
    return _local(basis, X)


def _custom(entry: Any, X: Array, path: str) -> Array:
    """Values of a formula of X, or of a Python function of the places, shape (p,)."""
    if is_function(entry):
        found = call(function_of(entry, path), path, X.shape, X.copy())
    else:
        from corekit_gvs.formula import evaluator, expression  # brings SymPy

        found = evaluator([expression(entry, ["X"], path)], ["X"])(X)[0]
    if not np.isfinite(found).all():
        where = X[~np.isfinite(found)][0]
        raise ConfigError([Mistake(path, entry, f"has no finite value at X = {where:.6g}")], "the basis")
    return found


def _local(basis: Basis, X: Array) -> Array:
    """Functions that live on elements or about their ends."""
    n, w = basis.elements, 1.0 / basis.elements
    if basis.kind in ("gaussian", "inverse-multiquadric"):
        away = (X[:, None] - w * np.arange(n + 1)) / w
        if basis.kind == "gaussian":
            return np.exp(-4.0 * math.log(2.0) * away**2)
        return 1.0 / np.sqrt(1.0 + 12.0 * away**2)
    element = np.clip(np.ceil(X * n - 1e-12).astype(int) - 1, 0, n - 1)
    x = X * n - element
    if basis.kind == "hermite":
        own = np.stack(
            [1 - 3 * x**2 + 2 * x**3, w * (x - 2 * x**2 + x**3), 3 * x**2 - 2 * x**3, w * (x**3 - x**2)],
            axis=1,
        )
        first = 2 * element
    else:
        degree = PER_ELEMENT[basis.kind]
        nodes = np.linspace(0.0, 1.0, degree + 1)
        own = np.ones((len(X), degree + 1))
        for i in range(degree + 1):
            for j in range(degree + 1):
                if i != j:
                    own[:, i] *= (x - nodes[j]) / (nodes[i] - nodes[j])
        first = degree * element
    values = np.zeros((len(X), basis.per_mode))
    values[np.arange(len(X))[:, None], first[:, None] + np.arange(own.shape[1])] = own
    return values


def element_ends(basis: Basis) -> Array:
    """Where a basis is not smooth or narrow: ends of its elements, 0 and 1 among them."""
    return np.linspace(0.0, 1.0, basis.elements + 1) if basis.kind in PER_ELEMENT else np.array([0.0, 1.0])


def enough_points(basis: Basis) -> int:
    """Gauss points that a basis needs over the division, or over an element if it is one of several.

    The rule for functions of degree p. In M = ∫ Jᵀ·M̄·J ds of a straight piece a turn or a stretch is ∫φ, of degree
    p + 1, a deflection ∫∫φ, of degree p + 2; so Jᵀ·M̄·J has degree 2·p + 4, which n Gauss points integrate exactly
    where 2·n − 1 ≥ 2·p + 4:

        n = p + 3                                                                                        (1)

    (K = ∫ φ² alone needs p + 1.) Bent by an angle α the integrand is multiplied by sines and cosines of the arc α·X.
    Their coefficients of Chebyshev polynomials, 2·J_k(α/2), are below 1e-4 beyond degree 6 at α = π, so a division has
    three points more; an element of several turns by π/2 or less and has one more, by which the tests measure less
    than 0.1 % in every frequency. A piece that turns by a whole circle needs two more still.

    J itself is summed by Magnus steps between the points, exact for strains of degree 3; of higher ones a step must be
    short against the functions' waves. A polynomial of degree p has p/2 of them; 5 steps a wave and one for the arc are

        n ≥ 5·p/2 + 1                                                                                    (2)

    A Fourier wave is no polynomial and needs 7. Of custom functions the waves are not known: they count as
    polynomials, as many as they are.
    """
    if basis.kind in PER_ELEMENT:
        return PER_ELEMENT[basis.kind] + (4 if basis.elements > 1 else 6)
    if basis.kind == "fourier":
        return max(6, 7 * basis.order + 2)
    degree = len(basis.functions) if basis.kind == "custom" else basis.order
    return max(degree + 6, math.ceil(2.5 * degree) + 1)
