"""The constant tables of an arm, read by every kernel, and how they come from the options."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.geometry.frames import Pose
from corekit_pcc.chambers import chamber_maps
from corekit_pcc.config import PCCConfig

__all__ = ["Arm", "arm_of", "disk_places", "place_name"]


class Arm(NamedTuple):
    """An arm of S sections as arrays; N mass nodes a section, T places that carry rotary inertia.

    Attributes:
        length: rest length L₀ [m], shape (S,).
        plate: rigid length behind each section [m], shape (S,).
        to_arc: E of `chambers`, shape (S, 3, 3).
        chamber: A of `chambers`, stacked over all chambers, shape (sum of c, 3).
        chamber_start: first row of each section in `chamber`, shape (S + 1,).
        stiffness, damping: k·AᵀA [N/m] and d·AᵀA [N·s/m], shape (S, 3, 3).
        node: Gauss–Legendre nodes on [0, 1], shape (N,).
        node_mass: mass of each node [kg], shape (S, N).
        turning_section, turning_place: section and s of each place with rotary inertia, ordered, shape (T,).
        turning_inertia: moment of inertia about a diameter there [kg·m²], shape (T,).
        base_position, base_rotation: pose of the base in the world.
        gravity: gravitational acceleration in the world [m/s²], shape (3,).
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


def arm_of(config: PCCConfig, base: Pose, gravity: Array) -> Arm:
    """The tables of the arm that `config` describes, standing at `base`."""
    sections = config.sections
    maps = [
        chamber_maps(chambers, radius, angle)
        for chambers, radius, angle in zip(
            config.spread("chambers"),
            config.spread("chamber_radius"),
            config.spread("chamber_angle"),
            strict=True,
        )
    ]
    gram = np.array([a.T @ a for a, _ in maps])
    nodes, weights = np.polynomial.legendre.leggauss(config.mass_nodes)
    inertia = config.spread("disk_inertia")
    turning = [(i, s) for i, s in disk_places(config) if inertia[i] > 0.0]
    return Arm(
        length=np.array(config.spread("length")),
        plate=np.array(config.spread("plate_thickness")),
        to_arc=np.array([e for _, e in maps]),
        chamber=np.concatenate([a for a, _ in maps]),
        chamber_start=np.cumsum([0, *config.spread("chambers")], dtype=np.int64),
        stiffness=gram * np.reshape(config.spread("stiffness"), (sections, 1, 1)),
        damping=gram * np.reshape(config.spread("damping"), (sections, 1, 1)),
        node=0.5 * (nodes + 1.0),
        node_mass=np.outer(config.spread("mass"), 0.5 * weights),
        turning_section=np.array([i for i, _ in turning], dtype=np.int64),
        turning_place=np.array([s for _, s in turning], dtype=np.float64),
        turning_inertia=np.array([inertia[i] for i, _ in turning], dtype=np.float64),
        base_position=np.array(base.position, dtype=np.float64),
        base_rotation=np.array(base.rotation, dtype=np.float64, order="C"),
        gravity=np.array(gravity, dtype=np.float64),
    )


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
