"""Mass and moments of inertia of a body at the start, a hollow cylinder with the tail inside, and what of it flows.

With the length l = 2d, outer radius ρ and wall e in k layers, J across and J_x along it,

    m_w = k·ρ_w·π·(ρ² − (ρ − e)²)·l,   m_g = ρ_g·π·(ρ − e)²·l                                    (1)
    J = m_w·(l²/12 + (ρ² + (ρ − e)²)/4) + m_g·(l²/12 + (ρ − e)²/4)                              (2)
    J_x = m_w·(ρ² + (ρ − e)²)/2 + m_g·(ρ − e)²/2                                                (3)

One layer is the wall outside, which rests along the tube. The others, as many as the wall at most, are the tail.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corekit_vine.config import VineConfig

__all__ = [
    "compute_base_inertia",
    "compute_body_inertia",
    "compute_gyration",
    "compute_slender",
    "compute_square_gyration",
    "compute_streams",
]


def _cylinder(config: VineConfig) -> tuple[float, float, float, float]:
    """Return m, J and J_x of the wall and the gas, and m of the gas."""
    length, outer = 2.0 * config.half_length, 0.5 * config.diameter
    inner = outer - config.wall_thickness
    wall = config.wall_layers * config.wall_density * math.pi * (outer**2 - inner**2) * length
    gas = config.gas_density * math.pi * inner**2 * length
    across = wall * (length**2 / 12 + (outer**2 + inner**2) / 4) + gas * (length**2 / 12 + inner**2 / 4)
    return wall + gas, across, wall * (outer**2 + inner**2) / 2 + gas * inner**2 / 2, gas


def compute_slender(config: VineConfig) -> tuple[float, float]:
    """Return the mass of one body [kg], and the moment of inertia of a rod of it without thickness [kg·m²]."""
    mass = _cylinder(config)[0] if config.body_mass is None else config.body_mass
    return mass, mass * (2.0 * config.half_length) ** 2 / 12.0


def compute_body_inertia(config: VineConfig) -> tuple[float, float]:
    """Return mass [kg] and moment of inertia J [kg·m²] of one body, from the options or by (1) and (2)."""
    whole, across, _, _ = _cylinder(config)
    mass = whole if config.body_mass is None else config.body_mass
    return mass, across * mass / whole if config.body_inertia is None else config.body_inertia


def compute_gyration(config: VineConfig) -> float:
    """Return J_x per mass of a body [m²]; J_x/J is that of the cylinder, where the section of a tube allows."""
    _, whole, along, _ = _cylinder(config)
    mass, across = compute_body_inertia(config)
    found = along * across / whole / mass
    # what is left of J in a link that gets short is the inertia of its section, twice of which is J_x at most
    return min(found, 2.0 * compute_square_gyration(config)) if config.form != "telescope" else found


def compute_square_gyration(config: VineConfig) -> float:
    """Return i² of a section about an axis across [m²], J/m − l²/12; in a tube at least 0, for rounding."""
    mass, across = compute_body_inertia(config)
    square = across / mass - (2.0 * config.half_length) ** 2 / 12.0
    return max(square, 0.0) if config.form != "telescope" else square


def compute_streams(config: VineConfig) -> tuple[float, float, float]:
    """Return Σ φ·n and Σ φ·n² over the parts φ of the mass that move at n times the speed of the tip, and 2·φ_tail.

    The wall has n = 0, the tail 2 and the gas 1.
    """
    whole, _, _, gas = _cylinder(config)
    layers = config.wall_layers
    tail = min(1.0 - 1.0 / layers, 0.5) * (1.0 - gas / whole)
    return 2.0 * tail + gas / whole, 4.0 * tail + gas / whole, 2.0 * tail


def compute_base_inertia(config: VineConfig) -> tuple[float, float]:
    """Return mass [kg] and moment of inertia [kg·m²] of a base that moves: of the options, or as a body has them."""
    mass, inertia = compute_body_inertia(config)
    return (
        mass if config.base_mass is None else config.base_mass,
        inertia if config.base_inertia is None else config.base_inertia,
    )
