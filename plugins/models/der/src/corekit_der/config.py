"""Options of a graph of rods: limbs, joints, clamps and forces, one table each.

A node is written `limb.start`, `limb.end` or `limb.7`. The number counts nodes from 0, or from the end if negative.
"""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.signals import Signal
from corekit.errors import ConfigError, Mistake
from corekit.geometry.sections import outline_problem
from corekit.roles.options import option, refuse_given
from corekit_der.options import Triple, profile_option, to_floats, to_loops, to_points, to_texts

__all__ = ["Cable", "Clamp", "DERConfig", "Force", "Joint", "Limb"]


def _check_name(name: str) -> str | None:
    return None if name and "." not in name and name == name.strip() else "must be a word without dots"


@frozen(kw_only=True)
class Limb:
    """One rod in its rest shape, in the base's axes: `start` and `end`, or a list of `points`.

    Raises:
        ConfigError: the shape is missing, given twice or degenerate, or natural curvature has not two numbers.
    """

    name: str = option("rod", "name in joints, clamps and results", check=_check_name)
    start: Triple | None = option(None, "first node of a straight rod", unit="m")
    end: Triple | None = option(None, "last node of a straight rod", unit="m")
    nodes: int = option(21, "number of nodes of a straight rod", low=2, high=10**5)
    points: tuple[Triple, ...] = option(
        (), "the nodes themselves, instead of a straight rod", unit="m", converter=to_points
    )
    closed: bool = option(False, "whether one more edge joins the last node to the first: a ring")

    unloaded: str = option(
        "shape",
        "unloaded shape: the shape of the nodes, or straight and untwisted with the same edge lengths",
        choices=("shape", "straight"),
    )

    section: str = option(
        "round",
        "round, rectangle (width along director 1, height along director 2), outline or given",
        choices=("round", "rectangle", "outline", "given"),
    )
    radius: tuple[float, ...] = profile_option(
        0.01, "radius of a round section; for all sections, radius of contact and drawing", unit="m", above=0
    )
    inner_radius: tuple[float, ...] = profile_option(
        0.0, "radius of the hole in a round section; 0: none", unit="m", low=0
    )
    width: tuple[float, ...] = profile_option(
        0.01, "width of a rectangle, along director 1", unit="m", above=0
    )
    height: tuple[float, ...] = profile_option(
        0.01, "height of a rectangle, along director 2", unit="m", above=0
    )
    outline: tuple[tuple[float, ...], ...] = option(
        (),
        "of section outline: its vertices in turn along directors 1 and 2; with a third number, a bulge, where an arc "
        "leads to the next one, the tangent of a quarter of its angle, 1 a half circle. The rod's axis is the "
        "centroid, the directors are principal axes",
        unit="m",
        converter=to_points,
    )
    holes: tuple[tuple[tuple[float, ...], ...], ...] = option(
        (), "of section outline: vertices of its holes", unit="m", converter=to_loops
    )
    scale: tuple[float, ...] = profile_option(
        1.0, "of section outline: how large it is, 1: as drawn", above=0
    )
    area: tuple[float, ...] = profile_option(1e-4, "A of a given section", unit="m²", above=0)
    inertia_1: tuple[float, ...] = profile_option(
        1e-9, "∫ξ₁² dA of a given section, for bending about director 2", unit="m⁴", above=0
    )
    inertia_2: tuple[float, ...] = profile_option(
        1e-9, "∫ξ₂² dA of a given section, for bending about director 1", unit="m⁴", above=0
    )
    torsion: tuple[float, ...] = profile_option(
        2e-9, "torsion constant J of a given section", unit="m⁴", above=0
    )
    director: Triple | None = option(
        None, "approximate direction of director 1 of the first edge; any if absent"
    )

    young: tuple[float, ...] = profile_option(1e6, "Young's modulus E", unit="Pa", above=0)
    poisson: float = option(
        0.5, "Poisson's ratio ν, for the shear modulus E/(2·(1 + ν))", low=-0.999, high=0.5
    )
    density: tuple[float, ...] = profile_option(1000.0, "density ρ", unit="kg/m³", above=0)
    viscosity: tuple[float, ...] = profile_option(
        0.0, "viscosity η of the Kelvin–Voigt material; stretching resists with 3·η", unit="Pa·s", low=0
    )

    natural_curvature: tuple[float, ...] = option(
        (0.0, 0.0),
        "natural curvatures κ₁ (about director 2) and κ₂ (about minus director 1), added to the rest shape",
        unit="1/m",
        converter=to_floats,
    )
    natural_twist: float = option(0.0, "twist of the unloaded rod, added to the rest shape", unit="rad/m")
    curvature_input: str = option(
        "none",
        "input of natural curvature: none, uniform (channel `curvature-NAME`: two curvatures and a twist for the rod), "
        "or nodes (the same for every inner node)",
        choices=("none", "uniform", "nodes"),
    )

    viscous_drag: float = option(
        0.0, "viscous drag of the surroundings per length and velocity", unit="Pa·s", low=0
    )
    drag_normal: float = option(
        0.0, "resistive-force drag across the rod per length and velocity", unit="Pa·s", low=0
    )
    drag_tangential: float = option(
        0.0, "resistive-force drag along the rod per length and velocity", unit="Pa·s", low=0
    )
    fluid_density: float = option(
        0.0, "density of the surrounding fluid, for buoyancy and added mass", unit="kg/m³", low=0
    )
    added_mass: float = option(
        0.0, "mass of the moved fluid, as a fraction of the displaced, where `fluid_density` is given", low=0
    )
    friction: float | None = option(
        None, "friction coefficient of what can touch; if absent, that of the scenario", low=0
    )

    def __attrs_post_init__(self) -> None:
        mistakes = self._shape_mistakes()
        if len(self.natural_curvature) != 2:
            mistakes.append(Mistake("natural_curvature", list(self.natural_curvature), "give two numbers"))
        mistakes += self._hole_mistakes()
        mistakes += self._section_mistakes()
        given = self.outline or self.holes or self.scale != (1.0,)
        wrong = (
            "must be left out, and `holes` and `scale`, unless the section is 'outline'" if given else None
        )
        if self.section == "outline":
            wrong = outline_problem(self.outline, self.holes)
        if wrong:
            mistakes.append(Mistake("outline", f"{len(self.outline)} vertices", wrong))
        if mistakes:
            raise ConfigError(mistakes, f"limb {self.name!r}")

    def _shape_mistakes(self) -> list[Mistake]:
        """Return the mistakes in the nodes."""
        straight = self.start is not None and self.end is not None
        one_end = self.start is not None or self.end is not None
        if (self.points and one_end) or not (self.points or straight):
            found = f"{len(self.points)} points, start {self.start}, end {self.end}"
            return [Mistake("points", found, "give start and end, or points")]
        if self.points and (
            wrong := refuse_given(self, ("nodes",), "must be left out: the points are the nodes")
        ):
            return wrong
        position = self.positions()
        if self.closed and len(self.points) < 3:
            return [Mistake("points", f"{len(self.points)} points", "a ring needs at least 3 points")]
        if len(position) < 2:
            return [Mistake("points", f"{len(position)} points", "a rod needs at least 2 points")]
        short = np.flatnonzero(~(np.linalg.norm(self._between(position), axis=1) > 1e-12))
        if len(short):
            return [
                Mistake("points", f"edge {int(short[0])} has no length", "neighbouring nodes must be apart")
            ]
        return []

    def _section_mistakes(self) -> list[Mistake]:
        """Return what belongs to another section than the limb has."""
        of = {"rectangle": ("width", "height"), "given": ("area", "inertia_1", "inertia_2", "torsion")}
        return [
            mistake
            for section, names in of.items()
            if section != self.section
            for mistake in refuse_given(self, names, f"must be left out, unless the section is {section!r}")
        ]

    def _hole_mistakes(self) -> list[Mistake]:
        """Return the mistakes in the hole: both radii are linear between their knots, so all knots are compared."""
        if not any(self.inner_radius):
            return []
        if self.section != "round":
            return [
                Mistake(
                    "inner_radius", list(self.inner_radius), "must be left out, unless for a round section"
                )
            ]
        knots = [np.linspace(0.0, 1.0, max(len(each), 2)) for each in (self.radius, self.inner_radius)]
        inner, outer = (
            np.interp(np.concatenate(knots), at, np.resize(values, len(at)))
            for at, values in zip(reversed(knots), (self.inner_radius, self.radius), strict=True)
        )
        if np.all(inner < outer):
            return []
        return [Mistake("inner_radius", list(self.inner_radius), "must be below the radius everywhere")]

    def positions(self) -> Array:
        """Return the nodes in the base's axes [m], shape (n, 3)."""
        if self.points:
            return np.array(self.points, dtype=float).reshape(-1, 3)
        assert self.start is not None and self.end is not None
        fraction = np.linspace(0.0, 1.0, self.nodes)[:, None]
        return np.array(self.start) * (1.0 - fraction) + np.array(self.end) * fraction

    def edges(self) -> Array:
        """Return the edges in the base's axes [m], one more if closed, shape (e, 3)."""
        return self._between(self.positions())

    def _between(self, position: Array) -> Array:
        """Return the edges between nodes at `position`, (n, 3)."""
        return np.roll(position, -1, axis=0) - position if self.closed else np.diff(position, axis=0)


@frozen(kw_only=True)
class Joint:
    """Joint that makes one node of coincident nodes of several limbs.

    Elastic: every two edges that meet bend and twist against each other, with the stiffness of both rods. Their rest
    angle is that of the rest shape. n edges make n(n − 1)/2 such pairs, so a hub is stiffer than a rod;
    `stiffness` scales them. Pin: the limbs share only the node.

    Raises:
        ConfigError: a pin with a stiffness.
    """

    at: tuple[str, ...] = option(help="two or more nodes", converter=to_texts)
    kind: str = option("elastic", "elastic, or pin, which turns freely", choices=("elastic", "pin"))
    stiffness: float = option(1.0, "factor on the stiffness of the pairs, which a pin has not", above=0)

    def __attrs_post_init__(self) -> None:
        said = "must be left out, for a pin: it turns freely"
        if self.kind == "pin" and (wrong := refuse_given(self, ("stiffness",), said)):
            raise ConfigError(wrong, "the joint")


@frozen(kw_only=True)
class Clamp:
    """Clamp of a node, fixed or with a prescribed motion.

        x(t) = x_c + displacement(t) + R(t)·(x₀ − x_c),   x_c the node, R about `axis` by `angle(t)`      (1)

    - `clamp`: prescribes position, direction and twist of the rod at the node. Half an edge bends between the
      clamped direction and the first edge, so the free length is that of the rod.
    - `pin`: prescribes the position only.
    - `edge`: prescribes both nodes of the edge that ends or starts there, and its twist. This shortens a cantilever by
      half an edge.
    """

    at: str = option(help="the node, for example `rod.start`")
    kind: str = option("clamp", "clamp, pin or edge", choices=("clamp", "pin", "edge"))
    displacement: Signal | None = option(None, "motion of the point, 3 numbers in the base's axes", unit="m")
    axis: Triple = option((0.0, 0.0, 1.0), "axis of the turn by `angle`, in the base's axes")
    angle: Signal | None = option(
        None, "angle of the turn about `axis` through the point, 1 number; a pin has none", unit="rad"
    )
    twist: Signal | None = option(
        None, "angle of the rod about its own tangent, 1 number; a pin has none", unit="rad"
    )


@frozen(kw_only=True)
class Force:
    """Force at a node, given by the input channel `force-NAME`: 3 numbers [N].

    The components are in world axes. A following force has components in the material axes of the edge at the node:
    director 1, director 2, tangent.
    """

    name: str = option(help="name in the channel `force-NAME`", check=_check_name)
    at: str = option(help="the node, for example `rod.end`")
    follows: bool = option(False, "whether the force turns with the rod")


@frozen(kw_only=True)
class Cable:
    """Cable along a whole limb, with the channel `tension-NAME` [N], or `length-NAME` [m] if driven by its length.

    Driven by its length it is a spring that cannot push; the channel is what its drive wound up from the rest shape on.

    Raises:
        ConfigError: a drive by length without the cable's stiffness.
    """

    name: str = option(help="name in its channel", check=_check_name)
    limb: str = option("rod", "the limb that it follows")
    offset: tuple[float, float] = option((0.0, 0.0), "offset along directors 1 and 2", unit="m")
    drive: str = option("tension", "what its input sets", choices=("tension", "length"))
    stiffness: float | None = option(
        None, "E·A/L of the whole cable, for a drive by length alone", unit="N/m", above=0
    )
    friction: float = option(
        0.0, "friction coefficient in its guides, for the capstan loss from the limb's start on", low=0
    )
    limit: float = option(math.inf, "highest tension of its drive", unit="N", above=0, infinite=True)

    def __attrs_post_init__(self) -> None:
        if self.drive == "length" and self.stiffness is None:
            allowed = "give E·A/L of the cable in N/m: its tension follows from its stretch"
            raise ConfigError([Mistake("stiffness", None, allowed)], f"cable {self.name!r}")


@frozen(kw_only=True)
class DERConfig:
    """Options of a graph of rods.

    Raises:
        ConfigError: no limb; two limbs, two forces or two cables with the same name.
    """

    limbs: tuple[Limb, ...] = option((Limb(start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0)),), "the rods")
    joints: tuple[Joint, ...] = option((), "joints between limbs")
    clamps: tuple[Clamp, ...] = option((), "clamps of nodes")
    forces: tuple[Force, ...] = option((), "nodal forces, given by inputs")
    cables: tuple[Cable, ...] = option((), "cables along limbs, with an input each")
    end_frames: tuple[str, ...] = option(
        (),
        "ends of limbs, `LIMB.start` or `LIMB.end`, whose section gets a frame of that name: what joints and mounts "
        "hold there bends as the rod does up to its end",
        converter=to_texts,
    )
    planar: bool = option(
        False, "whether the rods move in the base's x–z plane only; all nodes must lie in it"
    )
    gyroscopic: bool = option(
        False,
        "whether the spin of edges has its angular momentum about the tangent that turns, which a rod that spins and "
        "turns or touches something needs; matrices are sparse then",
    )
    collision: str = option(
        "edges",
        "collision shapes: edges (capsules between nodes, for a detector of edges), spheres at the nodes, capsules in "
        "frames of the edges, or none",
        choices=("edges", "spheres", "capsules", "none"),
    )
    self_contact: bool = option(
        False, "whether shapes of the body touch each other; neighbours along the arc never do"
    )

    def __attrs_post_init__(self) -> None:
        names = [limb.name for limb in self.limbs]
        mistakes = [
            Mistake(f"limbs[{i}].name", name, "every limb needs its own name")
            for i, name in enumerate(names)
            if name in names[:i]
        ]
        if not self.limbs:
            mistakes.append(Mistake("limbs", "none", "give at least one limb"))
        mistakes.extend(
            Mistake(f"forces[{i}].name", force.name, "every force needs its own name")
            for i, force in enumerate(self.forces)
            if force.name in [other.name for other in self.forces[:i]]
        )
        mistakes.extend(
            Mistake(f"cables[{i}].name", cable.name, "every cable needs its own name")
            for i, cable in enumerate(self.cables)
            if cable.name in [other.name for other in self.cables[:i]]
        )
        if mistakes:
            raise ConfigError(mistakes, "the rods")
