"""What a division's section is like: inertia, rigidity and fluid at places along it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit.geometry.sections import SectionConstants, ellipse, outline, rectangle, tube
from corekit_gvs.links import Division
from corekit_gvs.options import Profile
from corekit_gvs.profiles import profile_of

__all__ = ["Section", "radius_at", "reach_at", "reference_strain", "section_at"]


class Section(NamedTuple):
    """At p places: diagonals of M̄ (with added mass), Σ and Υ, (p, 6); weight's mass per length (p,); drag (p, 9)."""

    inertia: Array
    rigidity: Array
    viscous: Array
    weight: Array
    drag: Array


def _positive(profile: Profile, X: Array, path: str) -> Array:
    value = profile_of(profile, "X", X, path)[0]
    if (value <= 0.0).any():
        where = X[value <= 0.0][0]
        raise ConfigError(
            [Mistake(path, profile, f"must be > 0, it is not at X = {where:.4g}")], "the section"
        )
    return value


def radius_at(division: Division, X: Array, path: str) -> Array:
    """Radius for drawing, contact and drag [m]."""
    return _positive(division.radius, X, f"{path}.radius")


def reach_at(division: Division, X: Array, path: str) -> Array:
    """How far from the axis a section may have matter [m]; nothing is farther out for certain."""
    if division.section == "outline":
        corners = np.array([vertex[:2] for vertex in division.outline])
        widest = np.linalg.norm(corners[:, None] - corners, axis=2).max()  # the axis is inside
        return float(widest) * _positive(division.scale, X, f"{path}.scale")
    if division.section in ("circle", "given"):
        return radius_at(division, X, path)
    y, z = (_positive(getattr(division, name), X, f"{path}.{name}") for name in ("height", "width"))
    return 0.5 * (np.hypot(y, z) if division.section == "rectangle" else np.maximum(y, z))


def reference_strain(division: Division, X: Array, path: str) -> Array:
    """ξ* at places X, (p, 6)."""
    out = np.empty((len(X), 6))
    for r, text in enumerate(division.reference):
        try:
            out[:, r] = float(text)
        except ValueError:
            from corekit_gvs.formula import evaluator, expression  # brings SymPy

            out[:, r] = evaluator([expression(str(text), ["X"], f"{path}.reference[{r}]")], ["X"])(X)[0]
    if not np.isfinite(out).all():
        raise ConfigError(
            [Mistake(f"{path}.reference", list(division.reference), "must be finite")], "the division"
        )
    if (out[:, 3] <= 0.0).any():
        where = X[out[:, 3] <= 0.0][0]
        said = f"must be > 0: a rod that is not stretched has 1; it is not at X = {where:.4g}"
        raise ConfigError([Mistake(f"{path}.reference[3]", division.reference[3], said)], "the division")
    return out


def _constants(division: Division, X: Array, path: str) -> SectionConstants:
    """The constants of the section at places X."""
    if division.section == "circle":
        outer = radius_at(division, X, path)
        inner = profile_of(division.inner_radius, "X", X, f"{path}.inner_radius")[0]
        if (wrong := (inner < 0.0) | (inner >= outer)).any():
            said = f"must be ≥ 0 and below the radius, it is not at X = {X[wrong][0]:.4g}"
            raise ConfigError([Mistake(f"{path}.inner_radius", division.inner_radius, said)], "the section")
        return tube(outer, inner)
    if division.section == "outline":
        return outline(division.outline, division.holes, _positive(division.scale, X, f"{path}.scale"))
    y, z = (_positive(getattr(division, name), X, f"{path}.{name}") for name in ("height", "width"))
    return rectangle(y, z) if division.section == "rectangle" else ellipse(y, z)


def section_at(division: Division, X: Array, fluid: float, path: str) -> Section:
    """Everything of a section at places X of shape (p,)."""
    r = radius_at(division, X, path)
    if division.section == "given":
        ones = np.ones((len(X), 1))
        inertia, rigidity = ones * np.array(division.inertia), ones * np.array(division.rigidity)
        viscous = ones * np.array(division.viscous_rigidity or (0.0,) * 6)
        area, density = math.pi * r**2, inertia[:, 3]
    else:
        constants, E = _constants(division, X, path), division.young
        area, Iy, Iz, J = constants.area, constants.inertia_y, constants.inertia_z, constants.torsion
        shear_y, shear_z = (k * area for k in constants.shear_coefficients(division.poisson))
        G = 0.5 * E / (1.0 + division.poisson)
        inertia = division.density * np.stack([Iy + Iz, Iy, Iz, area, area, area], axis=1)
        rigidity = np.stack([G * J, E * Iy, E * Iz, E * area, G * shear_y, G * shear_z], axis=1)
        viscous = division.viscosity * np.stack([J, 3 * Iy, 3 * Iz, 3 * area, shear_y, shear_z], axis=1)
        density = division.density * area
    inertia[:, 3:] += fluid * area[:, None] * np.array(division.added_mass)
    (Cx, Cy, Cz), (Lx, Ly, Lz) = division.drag, division.lift
    drag = np.array([0.5 * math.pi * Cx, -Lz, Ly, Lz, Cy, -Lx, -Ly, Lx, Cz])
    return Section(inertia, rigidity, viscous, density - fluid * area, fluid * r[:, None] * drag)
