"""The constant tables of an arm, read by every kernel, and how they come from the options."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.geometry.frames import Pose
from corekit_pcc.chambers import chamber_maps
from corekit_pcc.config import PCCConfig

__all__ = [
    "Arm",
    "SectionMatrix",
    "arm_of",
    "disk_places",
    "place_name",
    "section_matrices",
    "with_matter_of",
]


class Arm(NamedTuple):
    """An arm of S sections as arrays; N mass nodes a section, T places that carry rotary inertia.

    Attributes:
        length: rest length L₀ [m], shape (S,).
        plate: rigid length behind each section [m], shape (S,).
        to_arc: E of `chambers`, shape (S, 3, 3).
        chamber: generalised force per input: A of `chambers`, stacked over all chambers, times their area where
            inputs are pressures, shape (sum of c, 3).
        chamber_start: first row of each section in `chamber`, shape (S + 1,).
        stiffness, damping: K [N/m] and D [N·s/m] of `chambers`, equation (3), or of `material`, (2), shape (S, 3, 3).
        node: Gauss–Legendre nodes on [0, 1], shape (N,).
        node_mass: mass of each node [kg], shape (S, N).
        turning_section, turning_place: section and s of each place with rotary inertia, ordered, shape (T,).
        turning_inertia: moment of inertia about a diameter there [kg·m²], shape (T,).
        base_position, base_rotation: pose of the base in the world.
        gravity: gravitational acceleration in the world [m/s²], shape (3,).
        base_spin: angular velocity of the base in the world [rad/s], shape (3,).
    """

    length: Array
    plate: Array
    to_arc: Array
    chamber: Array
    chamber_start: IntArray
    stiffness: Array
    damping: Array
    node: Array
    node_mass: Array
    turning_section: IntArray
    turning_place: Array
    turning_inertia: Array
    base_position: Array
    base_rotation: Array
    gravity: Array
    base_spin: Array


_gauss_points = cache(np.polynomial.legendre.leggauss)
"""Places and weights of Gauss's rule on [−1, 1]."""


def arm_of(config: PCCConfig, base: Pose, gravity: Array, *, free_base: bool = False) -> Arm:
    """The tables of the arm that `config` describes, standing at `base` or moving from there."""
    sections = config.sections
    maps = _maps(config)
    area = (1.0,) * sections if config.material is None else config.spread("material.chamber_area")
    inputs = [a * each if each > 0.0 else a[:0] for (a, _), each in zip(maps, area, strict=True)]
    nodes, _ = _gauss_points(config.mass_nodes)
    inertia = config.spread("disk_inertia")
    if free_base and config.disk_inertia is None:
        inertia = _solid_inertia(config)
    turning = [(i, s) for i, s in disk_places(config) if inertia[i] > 0.0]
    return Arm(
        length=np.array(config.spread("length")),
        plate=np.array(config.spread("plate_thickness")),
        to_arc=np.array([e for _, e in maps]),
        chamber=np.concatenate([np.zeros((0, 3)), *inputs]),
        chamber_start=np.cumsum([0, *map(len, inputs)], dtype=np.int64),
        node=0.5 * (nodes + 1.0),
        turning_section=np.array([i for i, _ in turning], dtype=np.int64),
        turning_place=np.array([s for _, s in turning], dtype=np.float64),
        turning_inertia=np.array([inertia[i] for i, _ in turning], dtype=np.float64),
        base_position=np.array(base.position, dtype=np.float64),
        base_rotation=np.array(base.rotation, dtype=np.float64, order="C"),
        gravity=np.array(gravity, dtype=np.float64),
        base_spin=np.zeros(3),
        **_matter(config)._asdict(),
    )


def with_matter_of(arm: Arm, config: PCCConfig) -> Arm:
    """An arm whose base does not move with other stiffness, damping and mass."""
    matter = _matter(config)
    return arm._replace(stiffness=matter.stiffness, damping=matter.damping, node_mass=matter.node_mass)


class _Matter(NamedTuple):
    """Tables of `Arm` in which stiffness, damping and mass stand."""

    stiffness: Array
    damping: Array
    node_mass: Array


def _matter(config: PCCConfig) -> _Matter:
    _, weights = _gauss_points(config.mass_nodes)
    stiffness, damping = section_matrices(config)
    return _Matter(
        stiffness.per_unit * np.reshape(stiffness.values, (-1, 1, 1)),
        damping.per_unit * np.reshape(damping.values, (-1, 1, 1)),
        np.outer(config.spread("mass"), 0.5 * weights),
    )


def _solid_inertia(config: PCCConfig) -> tuple[float, ...]:
    """¼·m·r² of a solid section, shared by its disks [kg·m²]."""
    sections = zip(*(config.spread(name) for name in ("mass", "disk_radius", "disks")), strict=True)
    return tuple(0.25 * mass * radius**2 / (inside + 1) for mass, radius, inside in sections)


class SectionMatrix(NamedTuple):
    """K or D of every section: an option's value times what geometry makes of it.

    Attributes:
        option, unit: name and unit of the option.
        values: one per section.
        per_unit: the matrix for a value of one, shape (S, 3, 3).
    """

    option: str
    unit: str
    values: tuple[float, ...]
    per_unit: Array


def section_matrices(config: PCCConfig) -> tuple[SectionMatrix, SectionMatrix]:
    """K and D: equation (3) of `chambers`, or (2) of `material`."""
    if config.material is None:
        gram = np.array([a.T @ a for a, _ in _maps(config)])
        return (
            SectionMatrix("stiffness", "N/m", config.spread("stiffness"), gram),
            SectionMatrix("damping", "N·s/m", config.spread("damping"), gram),
        )
    beams = zip(_maps(config), config.beam_sections(), config.spread("length"), strict=True)
    per_unit = np.array([e.T @ np.diag([a, i, i]) @ e / length for (_, e), (a, i), length in beams])
    return (
        SectionMatrix("material.young", "Pa", config.spread("material.young"), per_unit),
        SectionMatrix("material.viscosity", "Pa·s", config.spread("material.viscosity"), 3.0 * per_unit),
    )


def _maps(config: PCCConfig) -> list[tuple[Array, Array]]:
    """A and E of `chambers` for every section."""
    options = (config.spread(name) for name in ("chambers", "chamber_radius", "chamber_angle"))
    return [chamber_maps(*each) for each in zip(*options, strict=True)]


def disk_places(config: PCCConfig) -> list[tuple[int, float]]:
    """Section index and s of every moving disk: s = k/(n + 1), k = 1 … n + 1, for n disks inside."""
    return [
        (section, k / (inside + 1))
        for section, inside in enumerate(config.spread("disks"))
        for k in range(1, inside + 2)
    ]


def place_name(section: int, s: float, inside: int) -> str:
    """The name of a disk's frame: `section-2-disk-1`, or `section-2-tip` at its end."""
    k = round(s * (inside + 1))
    return f"section-{section + 1}-tip" if k == inside + 1 else f"section-{section + 1}-disk-{k}"
