"""Cross-sections along a limb: stiffness and inertia of every edge.

    round      A = π·r²,   I₁ = I₂ = π·r⁴/4,   J = I₁ + I₂                                  (1)
    rectangle  A = b·h,    I₁ = h·b³/12,   I₂ = b·h³/12,   J of Saint-Venant's series         (2)

with b along director 1 and h along director 2, I₁ = ∫ξ₁² dA. Values given at several points are interpolated
linearly in arc length to the middle of each edge.
"""

from __future__ import annotations

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit_der.config import Limb

__all__ = ["Section", "compute_section", "rectangle_torsion"]


@frozen(eq=False)
class Section:
    """Section properties of the edges of a limb, arrays of shape (e,).

    Args:
        axial: EA [N].
        bend: EI₁, EI₂, GJ [N·m²], shape (e, 3).
        line_mass: ρ·A [kg/m].
        line_spin: ρ·(I₁ + I₂), polar inertia per length [kg·m]; differs from ρ·J unless the section is round.
        area: A [m²].
        radius: of contact and drawing [m].
        viscosity: η [Pa·s].
        retardation: retardation times of bending (twice) and twist per viscosity, 3/E and 1/G [1/Pa], shape (e, 3).
    """

    axial: Array
    bend: Array
    line_mass: Array
    line_spin: Array
    area: Array
    radius: Array
    viscosity: Array
    retardation: Array


def rectangle_torsion(width: Array, height: Array, terms: int = 12) -> Array:
    """Return J of rectangles [m⁴] with a the longer and b the shorter edge.

        J = a·b³·[1/3 − (64·b)/(π⁵·a)·Σ_{n = 1, 3, 5, …} tanh(n·π·a/(2b))/n⁵]                  (3)

    Source: Timoshenko and Goodier (1970), "Theory of elasticity", section 109.
    """
    a, b = np.maximum(width, height), np.minimum(width, height)
    n = 2.0 * np.arange(terms)[:, None] + 1.0
    series = np.sum(np.tanh(n * np.pi * a / (2.0 * b)) / n**5, axis=0)
    return a * b**3 * (1.0 / 3.0 - 64.0 * b / (np.pi**5 * a) * series)


def compute_section(limb: Limb, length: Array) -> Section:
    """Return the sections in the middle of edges with rest lengths `length` (e,) [m]."""
    arc = np.concatenate([[0.0], np.cumsum(length)])
    middle = (arc[:-1] + arc[1:]) / (2.0 * arc[-1])

    def interpolate(values: tuple[float, ...]) -> Array:
        if len(values) == 1:
            return np.full(len(length), values[0])
        return np.interp(middle, np.linspace(0.0, 1.0, len(values)), values)

    young, density, radius = interpolate(limb.young), interpolate(limb.density), interpolate(limb.radius)
    if limb.section == "round":
        area, inertia_1 = np.pi * radius**2, np.pi * radius**4 / 4.0
        inertia_2, torsion = inertia_1, 2.0 * inertia_1
    elif limb.section == "rectangle":
        b, h = interpolate(limb.width), interpolate(limb.height)
        area, inertia_1, inertia_2 = b * h, h * b**3 / 12.0, b * h**3 / 12.0
        torsion = rectangle_torsion(b, h)
    else:
        area, inertia_1 = interpolate(limb.area), interpolate(limb.inertia_1)
        inertia_2, torsion = interpolate(limb.inertia_2), interpolate(limb.torsion)
    shear = young / (2.0 * (1.0 + limb.poisson))
    return Section(
        axial=young * area,
        bend=np.column_stack([young * inertia_1, young * inertia_2, shear * torsion]),
        line_mass=density * area,
        line_spin=density * (inertia_1 + inertia_2),
        area=area,
        radius=radius,
        viscosity=interpolate(limb.viscosity),
        retardation=np.column_stack([3.0 / young, 3.0 / young, 1.0 / shear]),
    )
