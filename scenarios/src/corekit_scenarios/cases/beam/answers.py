"""What beam theory says of a clamped, straight beam: its elastica and its first two frequencies.

Under a weight w a length and a load P at its end, θ the angle below the horizontal, s the arc length unloaded and
F = w·(L − s) + P, which stretches by ε = F·sin θ/(E·A) (0 for the inextensible elastica),

    E·I·θ″ = −F·(1 + ε)·cos θ,   θ(0) = 0,   θ′(L) = 0,   x′ = (1 + ε)·cos θ,   z′ = −(1 + ε)·sin θ    (1)

Small vibrations of a section with moment of inertia I and area A (ρI = 0: Euler–Bernoulli, else Rayleigh's beam):

    E·I·w⁗ − ρI·ẅ″ + ρA·ẅ = 0,   w = w′ = 0 at the clamp,   w″ = 0 and E·I·w‴ = ρI·ẅ′ at the end        (2)

Source: S. S. Antman, Nonlinear Problems of Elasticity (2005), chapter 4; S. Timoshenko, Vibration Problems in
Engineering (1937), section 55.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np

from corekit.data.arrays import Array

__all__ = ["elastica_tip", "frequencies"]

_ROOTS = 1.8751040687119611, 4.694091132974174
"""Of cos β·cosh β = −1."""


def elastica_tip(
    length: float, rigidity: float, weight: float, load: float, axial: float = math.inf
) -> Array:
    """Place of the end by (1), x and z [m].

    Args:
        length: L [m]. rigidity: E·I [N·m²]. weight: w [N/m]. load: P [N]. axial: E·A [N].
    Raises:
        ArithmeticError: the boundary value solver gave up.
    """
    integrate: Any = import_module("scipy.integrate")
    grid = np.linspace(0.0, length, 201)

    def along(s: Array, y: Array) -> Array:
        force, cos, sin = weight * (length - s) + load, np.cos(y[0]), np.sin(y[0])
        longer = 1.0 + force * sin / axial
        return np.array([y[1], -force * longer * cos / rigidity, longer * cos, -longer * sin])

    def ends(a: Array, b: Array) -> Array:
        return np.array([a[0], a[2], a[3], b[1]])

    guess = np.array([grid / length, 1.0 / length + 0.0 * grid, grid, -0.5 * grid])
    found = integrate.solve_bvp(along, ends, grid, guess, tol=1e-11, max_nodes=100000)
    if not found.success:
        raise ArithmeticError(f"the elastica's boundary value problem: {found.message}")
    return found.y[2:4, -1]


def frequencies(length: float, rigidity: float, weight: float, inertia: float = 0.0) -> tuple[float, float]:
    """The first two by (2) [Hz].

    Args:
        length: L [m]. rigidity: E·I [N·m²]. weight: ρA [kg/m]. inertia: ρI [kg·m].
    """
    optimize: Any = import_module("scipy.optimize")
    found: list[float] = []
    for root in _ROOTS:
        plain = root**2 * math.sqrt(rigidity / weight) / length**2
        if inertia == 0.0:
            found.append(plain)
            continue
        # rotary inertia can only slow a mode down
        rates = plain * np.linspace(0.8, 1.0001, 401)
        signs = np.sign([_determinant(rate, length, rigidity, weight, inertia) for rate in rates])
        last = int(np.flatnonzero(np.diff(signs))[-1])
        found.append(
            optimize.brentq(
                _determinant, rates[last], rates[last + 1], (length, rigidity, weight, inertia), xtol=1e-12
            )
        )
    return found[0] / (2 * math.pi), found[1] / (2 * math.pi)


def _determinant(rate: float, length: float, rigidity: float, weight: float, inertia: float) -> float:
    """Of the conditions of (2) on cosh ax, sinh ax, cos bx, sin bx."""
    shift, mass = inertia * rate**2 / rigidity, weight * rate**2 / rigidity
    a = math.sqrt(-0.5 * shift + math.sqrt(0.25 * shift**2 + mass))
    b = math.sqrt(0.5 * shift + math.sqrt(0.25 * shift**2 + mass))
    ca, sa, cb, sb = math.cosh(a * length), math.sinh(a * length), math.cos(b * length), math.sin(b * length)
    # w‴ + ρIω²/EI·w′ = 0 at the end
    up, down = a**3 + shift * a, -(b**3) + shift * b
    return float(
        np.linalg.det(
            [
                [1.0, 0.0, 1.0, 0.0],
                [0.0, a, 0.0, b],
                [a * a * ca, a * a * sa, -b * b * cb, -b * b * sb],
                [up * sa, up * ca, -down * sb, down * cb],
            ]
        )
    )
