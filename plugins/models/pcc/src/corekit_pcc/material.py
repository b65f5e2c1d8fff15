"""What a section is made of: material and geometry instead of stiffness, damping and mass.

A section of rest length L is a beam of radius R, hollow within r_i (not pressurised), with c round chambers of area a
whose centres lie evenly on a circle of radius ρ (`chamber_radius`). Its material has

    A = π·(R² − r_i²) − c·a,     I = ¼·π·(R⁴ − r_i⁴) − c·(a²/(4π) + ½·a·ρ²)                 (1)

since Σ cos²ψ_j = c/2 over the chambers. In the arc parameters y = (L, b_x, b_y) of `chambers` the curvature is ‖b‖/L,
so that stretching and bending energy, the damping and the mass are those of a beam,

    K_y = E·diag(A, I, I)/L,     D_y = 3·η·diag(A, I, I)/L,     m = ρ_m·A·L                   (2)

with E Young's modulus, η the viscosity of a Kelvin–Voigt material (in shear: a stretched one resists with 3·η) and ρ_m
its density. A chamber at gauge pressure p pushes its ends apart by p·a and its section stays as it is, so the work is
p·a per elongation and

    τ_j = p_j·a,     straight: ΔL = Σp·a·L/(E·A),     one chamber: θ = p·a·ρ·L/(E·I)           (3)

The chambers' sections do not grow under pressure (reinforce them by fibres or rings), stress is linear in strain, and
there is no shear: right for strains below some 30 % and sections longer than a few R.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from attrs import frozen

from corekit.errors import Mistake
from corekit.roles.options import option
from corekit_pcc.options import per_section

__all__ = ["BeamSection", "Material", "beam_section", "section_mistakes"]


@frozen(kw_only=True)
class Material:
    """Material and geometry of an arm's sections, from which stiffness, damping and mass follow by beam theory."""

    young: tuple[float, ...] = per_section(2e5, "Young's modulus E", unit="Pa", above=0)
    density: tuple[float, ...] = per_section(1070.0, "density", unit="kg/m³", above=0)
    viscosity: tuple[float, ...] = per_section(
        0.0, "viscosity η of the Kelvin–Voigt material; stretching resists with 3·η", unit="Pa·s", low=0
    )
    outer_radius: tuple[float, ...] = per_section(0.02, "outer radius of the section", unit="m", above=0)
    inner_radius: tuple[float, ...] | None = per_section(
        None, "radius of the hole in the middle, 0 if left out; not with `wall`", unit="m", low=0
    )
    wall: tuple[float, ...] | None = per_section(
        None, "outer radius minus that of the hole, instead of `inner_radius`", unit="m", above=0
    )
    chamber_area: tuple[float, ...] = per_section(
        0.0, "area of each chamber; 0: there are none, cables drive the arm", unit="m²", low=0
    )
    max_pressure: float = option(
        math.inf, "highest gauge pressure of a chamber", unit="Pa", above=0, infinite=True
    )


class BeamSection(NamedTuple):
    """A [m²] and I [m⁴] of equation (1)."""

    area: float
    inertia: float


def beam_section(
    outer: float, inner: float, chambers: int, chamber_area: float, chamber_radius: float
) -> BeamSection:
    """Equation (1)."""
    area = math.pi * (outer**2 - inner**2) - chambers * chamber_area
    of_chamber = chamber_area**2 / (4.0 * math.pi) + 0.5 * chamber_area * chamber_radius**2
    return BeamSection(area, 0.25 * math.pi * (outer**4 - inner**4) - chambers * of_chamber)


def section_mistakes(
    section: str, outer: float, inner: float, chambers: int, chamber_area: float, chamber_radius: float
) -> list[Mistake]:
    """What cannot be made: chambers beyond the outer radius, over the hole or over each other."""
    if not 0.0 <= inner < outer:
        found = f"a hole of radius {inner:g} m in an outer radius of {outer:g} m ({section})"
        return [Mistake("material.inner_radius", found, "the hole must be smaller than the section")]
    if chamber_area == 0.0:
        return []
    own = math.sqrt(chamber_area / math.pi)
    mistakes = []
    if chamber_radius + own >= outer or chamber_radius - own <= inner:
        found = f"chambers of radius {own:.4g} m around {chamber_radius:g} m ({section})"
        allowed = f"they must lie between the hole of {inner:g} m and the outer radius of {outer:g} m"
        mistakes.append(Mistake("chamber_radius", found, allowed))
    if chamber_radius * math.sin(math.pi / chambers) <= own:
        found = f"{chambers} chambers of radius {own:.4g} m around {chamber_radius:g} m ({section})"
        mistakes.append(Mistake("material.chamber_area", found, "neighbouring chambers must not overlap"))
    return mistakes
