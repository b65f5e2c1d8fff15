"""Moments of inertia that no matter gives: most often they are in another unit, as kg·mm² for kg·m².

With r from the centre of mass, the moments about three axes at right angles sum up to

    tr I = 2·∫ r² dm                                                                              (1)

Of all bodies of mass m without a part denser than ρ, a ball of the density ρ has the least: what lies farther out than
its radius R could be moved inside. With (4/3)·π·R³·ρ = m

    tr I ≥ (6/5)·m·R²                                                                             (2)

whatever the shape is. ρ is that of osmium, the densest matter on earth. A single moment has no such bound: that of a
thread about itself is nearly 0. Moments that are all 0 are those of a point, which is an idealisation and no slip.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["inertia_doubt"]

_DENSEST = 22.6e3
"""Of osmium [kg/m³]."""


def inertia_doubt(mass: float, moments: Sequence[float]) -> str:
    """Return what is improbable about (xx, yy, zz, …) [kg·m²] of a body by (2), empty if nothing is."""
    least = 1.2 * mass * (3.0 * mass / (4.0 * math.pi * _DENSEST)) ** (2.0 / 3.0)
    if not 0.0 < sum(moments[:3]) < least:
        return ""
    shown = ", ".join(f"{each:.3g}" for each in moments[:3])
    return (
        f"moments of {shown} kg·m² are below those of any body of {mass:g} kg: a ball of osmium has {least / 3:.2g} "
        "about every axis. Are they in kg·m², about the centre of mass?"
    )
