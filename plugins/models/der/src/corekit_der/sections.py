"""Cross-sections along a limb: stiffness and inertia of every edge.

Round sections, hollow or not, rectangles and outlines have the constants of `corekit.geometry.sections`, director 1 for
y and director 2 for z: I₁ = ∫ξ₁² dA = I_z, I₂ = I_y, and J is Saint-Venant's. Values given at several points are
interpolated linearly in arc length to the middle of each edge.
"""

from __future__ import annotations

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.geometry.sections import outline, rectangle, tube
from corekit_der.config import Limb

__all__ = ["Section", "compute_section"]


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


def compute_section(limb: Limb, length: Array) -> Section:
    """Return the sections in the middle of edges with rest lengths `length` (e,) [m]."""
    arc = np.concatenate([[0.0], np.cumsum(length)])
    middle = (arc[:-1] + arc[1:]) / (2.0 * arc[-1])

    def interpolate(values: tuple[float, ...]) -> Array:
        if len(values) == 1:
            return np.full(len(length), values[0])
        return np.interp(middle, np.linspace(0.0, 1.0, len(values)), values)

    young, density, radius = interpolate(limb.young), interpolate(limb.density), interpolate(limb.radius)
    if limb.section == "given":
        area, inertia_1 = interpolate(limb.area), interpolate(limb.inertia_1)
        inertia_2, torsion = interpolate(limb.inertia_2), interpolate(limb.torsion)
    else:
        if limb.section == "round":
            constants = tube(radius, interpolate(limb.inner_radius))
        elif limb.section == "outline":
            constants = outline(limb.outline, limb.holes, interpolate(limb.scale))
        else:
            constants = rectangle(interpolate(limb.width), interpolate(limb.height))
        area, inertia_2, inertia_1, torsion = constants[:4]
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
