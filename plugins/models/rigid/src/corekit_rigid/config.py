"""Options of a rigid body."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType

import numpy as np
from attrs import frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import option, refuse_given
from corekit_rigid.inertia import MassProperties, hull, shared_volume, symmetric, together, uniform

__all__ = ["SIZES", "RigidConfig", "RigidInitial"]

SIZES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "sphere": ("radius",),
        "box": ("edge_x", "edge_y", "edge_z"),
        "capsule": ("radius", "length"),
        "cylinder": ("radius", "length"),
        "disk": ("radius", "thickness"),
        "polytope": (),
        "polytopes": (),
    }
)
"""Shape → its sizes [m], as an obstacle's in a scenario file: a box's edges in full, a capsule's length without
its caps. Axes are the local z axis."""

_BALL = (0.05,)
_WATER = 1000.0
_SHARED = 1e-3
"""Of the smaller of two pieces: what they may share."""
_Triple = tuple[float, float, float]


def _possible(inertia: tuple[float, ...]) -> str | None:
    """What is wrong with principal moments or (xx, yy, zz, xy, xz, yz), or None."""
    if len(inertia) not in (3, 6):
        return "give 3 numbers (xx, yy, zz) or 6 (xx, yy, zz, xy, xz, yz)"
    moments = np.linalg.eigvalsh(symmetric(inertia))
    if moments[0] <= 0.0:
        return f"principal moments must be > 0, they are {moments.round(12).tolist()}"
    if moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9):
        return (
            f"no body has it: the largest principal moment exceeds the sum of the others, {moments.tolist()}"
        )
    return None


@frozen(kw_only=True)
class RigidConfig:
    """Options of a rigid body; sizes and axes are those of the shape.

    Mass and inertia follow from the shape, uniformly filled; or `mass`, `inertia` and `centre_of_mass` are given.
    Raises ConfigError with all that contradicts itself.
    """

    shape: str = option("sphere", "its form", choices=tuple(SIZES))
    size: tuple[float, ...] | None = option(
        None, "sizes of the shape: " + "; ".join(f"{k} [{', '.join(v)}]" for k, v in SIZES.items()), unit="m"
    )
    vertices: tuple[_Triple, ...] = option((), "of a polytope, the hull of them", unit="m")
    pieces: tuple[tuple[_Triple, ...], ...] = option(
        (), "of polytopes, convex pieces that do not overlap: the vertices of each", unit="m"
    )
    mass: float | None = option(None, "mass; or give the density", unit="kg", above=0)
    density: float | None = option(
        None, "density; 1000 where neither it nor the mass is given", unit="kg/m³", above=0
    )
    inertia: tuple[float, ...] | None = option(
        None,
        "moments about the centre of mass, (xx, yy, zz) or (xx, yy, zz, xy, xz, yz), instead of the shape's; "
        "xy is the matrix entry −∫xy dm",
        unit="kg·m²",
    )
    centre_of_mass: _Triple | None = option(
        None, "in the shape's axes, instead of the shape's centroid; give the inertia too", unit="m"
    )
    fixed_centre: bool = option(False, "whether one point stays in place and the body only turns")
    pivot: _Triple | None = option(
        None,
        "the point that stays, in the shape's axes; left out, the centre of mass. Fixed centre only",
        unit="m",
    )
    linear_damping: float = option(
        0.0, "drag against the velocity of the centre of mass, which must move", unit="N·s/m", low=0
    )
    angular_damping: float = option(0.0, "drag against the angular velocity", unit="N·m·s", low=0)
    friction: float | None = option(
        None, "friction coefficient of its surface; left out, the scenario decides", low=0
    )

    def __attrs_post_init__(self) -> None:
        wrong = [*self._shape_mistakes(), *self._mass_mistakes()]
        if not wrong:
            wrong += self._flat_polytopes()
        if not wrong and (self.inertia is None or self.centre_of_mass is None):
            wrong += self._overlaps()
        if wrong:
            raise ConfigError(wrong, "the rigid body")

    def _shape_mistakes(self) -> list[Mistake]:
        names, wrong = SIZES[self.shape], []
        if len(self.sizes) != len(names) or not all(size > 0 for size in self.sizes):
            allowed = f"[{', '.join(names)}], each > 0" if names else "left out"
            found = "nothing" if self.size is None else list(self.sizes)
            wrong.append(Mistake("size", found, f"must be {allowed}, for shape {self.shape!r}"))
        if self.shape != "polytope" and self.vertices:
            wrong.append(
                Mistake(
                    "vertices", f"{len(self.vertices)} points", "must be left out: only a polytope has them"
                )
            )
        if self.shape == "polytope" and len(self.vertices) < 4:
            allowed = "give at least 4 points [x, y, z], for shape 'polytope'"
            wrong.append(Mistake("vertices", f"{len(self.vertices)} points", allowed))
        if (self.shape == "polytopes") != bool(self.pieces):
            allowed = "give them for shape 'polytopes', and for no other"
            wrong.append(Mistake("pieces", f"{len(self.pieces)} pieces", allowed))
        return wrong

    def _flat_polytopes(self) -> list[Mistake]:
        wrong = []
        for path, points in self.hulls.items():
            try:
                hull(points)
            except ValueError as error:
                wrong.append(Mistake(path, f"{len(points)} points", str(error)))
        return wrong

    def _overlaps(self) -> list[Mistake]:
        """Pieces that would weigh twice what they share."""
        wrong = []
        for (i, one), (j, other) in combinations(enumerate(self.pieces), 2):
            volume = min(uniform("polytope", (), points).mass for points in (one, other))
            if (share := shared_volume(one, other) / volume) > _SHARED:
                said = (
                    f"must not overlap pieces[{i}] where the mass follows from them, they share {share:.1%}"
                )
                hint = "give mass, inertia and centre_of_mass"
                wrong.append(Mistake(f"pieces[{j}]", f"{len(other)} points", said, hint))
        return wrong

    @property
    def hulls(self) -> Mapping[str, tuple[_Triple, ...]]:
        """Path → vertices of each polytope [m]."""
        one = {"vertices": self.vertices} if self.shape == "polytope" else {}
        return one | {f"pieces[{i}]": piece for i, piece in enumerate(self.pieces)}

    def _mass_mistakes(self) -> list[Mistake]:
        wrong: list[Mistake] = []
        if self.mass is not None and self.density is not None:
            wrong.append(Mistake("density", self.density, "give the mass or the density, not both"))
        if self.inertia is not None:
            problem = _possible(self.inertia)
            if problem:
                wrong.append(Mistake("inertia", list(self.inertia), problem))
            if self.mass is None:
                wrong.append(Mistake("mass", "nothing", "must be given where the inertia is"))
        elif self.centre_of_mass is not None:
            wrong.append(Mistake("inertia", "nothing", "must be given where the centre of mass is"))
        if self.pivot is not None and not self.fixed_centre:
            wrong.append(Mistake("pivot", list(self.pivot), "needs fixed_centre = true"))
        if self.pivot is None and self.fixed_centre:
            stays = "must be left out, or give a `pivot` away from the centre of mass, which stays in place"
            wrong += refuse_given(self, ("linear_damping",), stays)
        return wrong

    @property
    def sizes(self) -> tuple[float, ...]:
        """The sizes, a ball of 0.05 m where nothing is said [m]."""
        return self.size if self.size is not None else (_BALL if self.shape == "sphere" else ())

    def mass_properties(self) -> MassProperties:
        """Mass, centre of mass and inertia about it, computed or as given."""
        if self.mass is not None and self.inertia is not None:
            centre = np.zeros(3)
            if self.centre_of_mass is not None:
                centre = np.array(self.centre_of_mass)
            elif self.hulls:
                centre = self._filled().centre
            return MassProperties(self.mass, centre, symmetric(self.inertia))
        filled = self._filled()
        density = self.density or _WATER
        scale = density if self.mass is None else self.mass / filled.mass
        return MassProperties(scale * filled.mass, filled.centre, scale * filled.inertia)

    def _filled(self) -> MassProperties:
        """Of density 1."""
        if self.hulls:
            return together([uniform("polytope", (), points) for points in self.hulls.values()])
        return uniform(self.shape, self.sizes)


@frozen(kw_only=True)
class RigidInitial:
    """How a body starts, from its base: the base pose itself, at rest, where nothing is said."""

    position: _Triple = option((0.0, 0.0, 0.0), "of the shape's origin, in the base's axes", unit="m")
    rotation_rpy: _Triple = option((0.0, 0.0, 0.0), "roll, pitch, yaw about the base's axes", unit="rad")
    velocity: _Triple = option((0.0, 0.0, 0.0), "of the centre of mass, in the world's axes", unit="m/s")
    angular_velocity: _Triple = option((0.0, 0.0, 0.0), "in the world's axes", unit="rad/s")
