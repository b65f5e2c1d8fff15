"""Options of a graph of rods: limbs, and what joins, holds and pushes them. One line of a file each.

Places are written `limb.start`, `limb.end` or `limb.7`, the number counting nodes from 0, from the end if negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen

from corekit.data.signals import Signal
from corekit.errors import ConfigError, Mistake
from corekit.roles.options import option
from corekit_der.options import Triple, along_rod, numbers, text_list, triples

__all__ = ["Clamp", "DERConfig", "Force", "Joint", "Limb"]


def _no_dot(name: str) -> str | None:
    return None if name and "." not in name and name == name.strip() else "must be a word without dots"


@frozen(kw_only=True)
class Limb:
    """One rod in its rest shape, in the base's axes: `start` and `end`, or a list of `points`.

    Raises ConfigError with all that contradicts itself.
    """

    name: str = option("rod", "what joints, clamps and results call it", check=_no_dot)
    start: Triple | None = option(None, "first node of a straight rod", unit="m")
    end: Triple | None = option(None, "last node of a straight rod", unit="m")
    nodes: int = option(21, "number of nodes of a straight rod", low=2, high=10**6)
    points: tuple[Triple, ...] = option(
        (), "the nodes themselves, instead of a straight rod", unit="m", converter=triples
    )
    closed: bool = option(False, "whether the last node is joined to the first by one more edge: a ring")

    unloaded: str = option(
        "shape",
        "what it relaxes to: the shape of its nodes, or straight and untwisted with edges as long as they are",
        choices=("shape", "straight"),
    )

    section: str = option(
        "round",
        "round, rectangle (width along director 1, height along director 2) or given",
        choices=("round", "rectangle", "given"),
    )
    radius: tuple[float, ...] = along_rod(
        0.01, "radius of a round section; of any, that of contact and drawing", unit="m", above=0
    )
    width: tuple[float, ...] = along_rod(0.01, "of a rectangle, along director 1", unit="m", above=0)
    height: tuple[float, ...] = along_rod(0.01, "of a rectangle, along director 2", unit="m", above=0)
    area: tuple[float, ...] = along_rod(1e-4, "A of a given section", unit="m²", above=0)
    inertia_1: tuple[float, ...] = along_rod(
        1e-9, "∫ξ₁² dA of a given section, for bending about director 2", unit="m⁴", above=0
    )
    inertia_2: tuple[float, ...] = along_rod(
        1e-9, "∫ξ₂² dA of a given section, for bending about director 1", unit="m⁴", above=0
    )
    torsion: tuple[float, ...] = along_rod(2e-9, "torsion constant J of a given section", unit="m⁴", above=0)
    director: Triple | None = option(
        None, "direction near which director 1 of the first edge lies; any if absent"
    )

    young: tuple[float, ...] = along_rod(1e6, "Young's modulus E", unit="Pa", above=0)
    poisson: float = option(
        0.5, "Poisson's ratio ν, for the shear modulus E/(2·(1 + ν))", low=-0.999, high=0.5
    )
    density: tuple[float, ...] = along_rod(1000.0, "density ρ", unit="kg/m³", above=0)

    natural_curvature: tuple[float, ...] = option(
        (0.0, 0.0),
        "curvatures κ₁ (about director 2) and κ₂ (about minus director 1) that it has unloaded, beside its rest shape",
        unit="1/m",
        converter=numbers,
    )
    natural_twist: float = option(0.0, "twist of the unloaded rod, beside its rest shape", unit="rad/m")
    curvature_input: str = option(
        "none",
        "whether natural curvature is an input: none, uniform (channel `curvature-NAME`: two curvatures and a twist "
        "for the rod), or nodes (the same for every inner node)",
        choices=("none", "uniform", "nodes"),
    )

    viscosity: float = option(
        0.0, "drag against the surroundings per length and velocity", unit="Pa·s", low=0
    )
    drag_normal: float = option(
        0.0, "resistive-force drag across the rod per length and velocity", unit="Pa·s", low=0
    )
    drag_tangential: float = option(
        0.0, "resistive-force drag along the rod per length and velocity", unit="Pa·s", low=0
    )
    fluid_density: float = option(
        0.0, "of what surrounds it, for buoyancy and added mass", unit="kg/m³", low=0
    )
    added_mass: float = option(0.0, "mass of moved fluid, as a share of the displaced", low=0)
    friction: float | None = option(None, "friction coefficient; left out, the scenario decides", low=0)

    def __attrs_post_init__(self) -> None:
        wrong = self._shape_mistakes()
        if len(self.natural_curvature) != 2:
            wrong.append(Mistake("natural_curvature", list(self.natural_curvature), "give two numbers"))
        if wrong:
            raise ConfigError(wrong, f"limb {self.name!r}")

    def _shape_mistakes(self) -> list[Mistake]:
        """What is wrong with the nodes."""
        straight = self.start is not None and self.end is not None
        one = self.start is not None or self.end is not None
        if (self.points and one) or not (self.points or straight):
            found = f"{len(self.points)} points, start {self.start}, end {self.end}"
            return [Mistake("points", found, "give start and end, or points")]
        place = self.positions()
        if self.closed and len(self.points) < 3:
            return [Mistake("points", f"{len(self.points)} points", "a ring needs at least 3 points")]
        if len(place) < 2:
            return [Mistake("points", f"{len(place)} points", "a rod needs at least 2 points")]
        short = np.flatnonzero(~(np.linalg.norm(self.edges(), axis=1) > 1e-12))
        if len(short):
            return [
                Mistake("points", f"edge {int(short[0])} has no length", "neighbouring nodes must be apart")
            ]
        return []

    def positions(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The nodes in the base's axes [m], shape (n, 3)."""
        if self.points:
            return np.array(self.points, dtype=float).reshape(-1, 3)
        assert self.start is not None and self.end is not None
        share = np.linspace(0.0, 1.0, self.nodes)[:, None]
        return np.array(self.start) * (1.0 - share) + np.array(self.end) * share

    def edges(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The edges in the base's axes [m], one more if closed, shape (e, 3)."""
        place = self.positions()
        return np.roll(place, -1, axis=0) - place if self.closed else np.diff(place, axis=0)


@frozen(kw_only=True)
class Joint:
    """Nodes of limbs, at one place, become one node.

    Elastic: every two edges that meet bend and twist against each other with the stiffness of both rods and
    the rest angle they are built with. n edges make n(n − 1)/2 such pairs, so a hub is stiffer than a rod;
    `stiffness` scales them. Pin: only the node is shared.
    """

    at: tuple[str, ...] = option(help="two or more places", converter=text_list)
    kind: str = option("elastic", "elastic, or pin that turns freely", choices=("elastic", "pin"))
    stiffness: float = option(1.0, "factor on the stiffness of its pairs", above=0)


@frozen(kw_only=True)
class Clamp:
    """What holds a node, and how it moves.

        x(t) = x_c + displacement(t) + R(t)·(x₀ − x_c),   x_c the node, R about `axis` by `angle(t)`      (1)

    - `clamp`: position, direction and twist of the rod at that very point. The clamped direction is held half an
      edge length before the first edge bends, so the free length is the rod's own (holding two nodes instead
      shortens a cantilever by half an edge).
    - `pin`: the position alone.
    - `edge`: both nodes of the edge that ends or starts there, and its twist.
    """

    at: str = option(help="the place, for example `rod.start`")
    kind: str = option("clamp", "clamp, pin or edge", choices=("clamp", "pin", "edge"))
    displacement: Signal | None = option(None, "motion of the point, 3 numbers in the base's axes", unit="m")
    axis: Triple = option((0.0, 0.0, 1.0), "axis of the turn, in the base's axes")
    angle: Signal | None = option(
        None, "angle of the turn about `axis` through the point, 1 number", unit="rad"
    )
    twist: Signal | None = option(None, "angle of the rod about its own tangent, 1 number", unit="rad")


@frozen(kw_only=True)
class Force:
    """A force at a node, given by the input channel `force-NAME`: 3 numbers [N].

    In world axes, or if it follows in the material axes (director 1, director 2, tangent) of the edge there.
    """

    name: str = option(help="names its channel", check=_no_dot)
    at: str = option(help="the place, for example `rod.end`")
    follows: bool = option(False, "whether it turns with the rod")


@frozen(kw_only=True)
class DERConfig:
    """Options of a graph of rods. Raises ConfigError with all that does not fit together."""

    limbs: tuple[Limb, ...] = option((Limb(start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0)),), "the rods")
    joints: tuple[Joint, ...] = option((), "where rods meet")
    clamps: tuple[Clamp, ...] = option((), "what holds them")
    forces: tuple[Force, ...] = option((), "forces at nodes, given by inputs")
    planar: bool = option(False, "moves in the base's x–z plane, where all nodes must lie")
    collision: str = option(
        "edges",
        "what can touch: edges (capsules between nodes, for a detector of edges), spheres at the nodes, capsules in "
        "frames of the edges, or none",
        choices=("edges", "spheres", "capsules", "none"),
    )
    self_contact: bool = option(
        False, "whether its own shapes touch each other, but for neighbours along the arc"
    )

    def __attrs_post_init__(self) -> None:
        names = [limb.name for limb in self.limbs]
        wrong = [
            Mistake(f"limbs[{i}].name", name, "every limb needs its own name")
            for i, name in enumerate(names)
            if name in names[:i]
        ]
        if not self.limbs:
            wrong.append(Mistake("limbs", "none", "give at least one limb"))
        wrong.extend(
            Mistake(f"forces[{i}].name", force.name, "every force needs its own name")
            for i, force in enumerate(self.forces)
            if force.name in [other.name for other in self.forces[:i]]
        )
        if wrong:
            raise ConfigError(wrong, "the rods")
