"""Mass and moments of inertia of a body: a hollow cylinder with the tail inside.

With the length l = 2d, outer radius ρ and wall e in k layers, J across and J_x along it,

    m_w = k·ρ_w·π·(ρ² − (ρ − e)²)·l,   m_g = ρ_g·π·(ρ − e)²·l                                    (1)
    J = m_w·(l²/12 + (ρ² + (ρ − e)²)/4) + m_g·(l²/12 + (ρ − e)²/4)                              (2)
    J_x = m_w·(ρ² + (ρ − e)²)/2 + m_g·(ρ − e)²/2                                                (3)
"""

from __future__ import annotations

import math

from corekit_vine.config import VineConfig

__all__ = ["compute_base_inertia", "compute_body_inertia", "compute_particles"]


def _cylinder(config: VineConfig) -> tuple[float, float, float]:
    """Return m, J and J_x of the wall and the gas."""
    length, outer = 2.0 * config.half_length, 0.5 * config.diameter
    inner = outer - config.wall_thickness
    wall = config.wall_layers * config.wall_density * math.pi * (outer**2 - inner**2) * length
    gas = config.gas_density * math.pi * inner**2 * length
    across = wall * (length**2 / 12 + (outer**2 + inner**2) / 4) + gas * (length**2 / 12 + inner**2 / 4)
    return wall + gas, across, wall * (outer**2 + inner**2) / 2 + gas * inner**2 / 2


def compute_body_inertia(config: VineConfig) -> tuple[float, float]:
    """Return mass [kg] and moment of inertia J [kg·m²] of one body, from the options or by (1) and (2)."""
    whole, across, _ = _cylinder(config)
    mass = whole if config.body_mass is None else config.body_mass
    return mass, across * mass / whole if config.body_inertia is None else config.body_inertia


def compute_particles(mass: float, across: float, config: VineConfig) -> tuple[float, float, float, float]:
    """Return the mass, and J − ½·J_x, ½·J_x, ½·J_x of a body's axes as particles; J_x/J is that of the cylinder."""
    _, whole, along = _cylinder(config)
    half = 0.5 * along * across / whole
    return mass, across - half, half, half


def compute_base_inertia(config: VineConfig) -> tuple[float, float]:
    """Return mass [kg] and moment of inertia [kg·m²] of a base that moves: of the options, or as a body has them."""
    mass, inertia = compute_body_inertia(config)
    return (
        mass if config.base_mass is None else config.base_mass,
        inertia if config.base_inertia is None else config.base_inertia,
    )
