"""Friction and restitution of every two surfaces of a world; `corekit.roles.friction` states the laws of friction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactSet
from corekit.errors import CompositionError
from corekit.geometry.shape_specs import shape_spec
from corekit.geometry.shapes import ShapeTable
from corekit.roles.body import Body
from corekit.roles.collision_scene import CollisionScene
from corekit.roles.friction import COULOMB, FrictionLaw, SurfaceFriction, surface_friction
from corekit.roles.obstacles import Obstacle

__all__ = [
    "FrictionTable",
    "RestitutionTable",
    "assign_friction_records",
    "check_axes_in_plane",
    "friction_table",
]

_NEITHER, _FIRST, _SECOND = range(3)
_ALONG_NORMAL = 1e-6
"""Share of an axis in the tangent plane below which rounding would choose the material direction."""


class FrictionTable(NamedTuple):
    """Friction of n shapes with s different surfaces; k is the width of a record of the law.

    Attributes:
        law: of all contacts in the world.
        surface: of every shape, (n,).
        coefficient: μ, the largest in any direction, of every two surfaces, (s, s).
        record: numbers of the law of every two surfaces, (s, s, k).
        axis_owner: the surface whose axis is the material direction: the first (1), the second (2), none (0), (s, s).
        axis: unit, in the axes of the shape, (n, 3); zero for an edge, whose axis leads from end to end.
        torsional, rolling: largest moments about the normal and the tangents per normal force [m], 0 for none, (s, s).
    """

    law: FrictionLaw
    surface: IntArray
    coefficient: Array
    record: Array
    axis_owner: IntArray
    axis: Array
    torsional: Array
    rolling: Array

    @property
    def resists_turning(self) -> bool:
        """Whether two surfaces have torsional or rolling friction."""
        return bool(self.torsional.any() or self.rolling.any())


class _Surface(NamedTuple):
    """Shapes with the same friction, and with the same name if an entry or a direction belongs to the name."""

    name: str
    friction: SurfaceFriction | None


class _Pair(NamedTuple):
    """Friction of a pair of surfaces, and the owner of its axis."""

    friction: SurfaceFriction
    owner: int


def friction_table(
    scene: CollisionScene,
    bodies: Sequence[Body],
    obstacles: Sequence[Obstacle],
    explicit: Mapping[tuple[str, str], float | Mapping[str, Any]],
    otherwise: float | None = None,
) -> FrictionTable:
    """The friction of every two surfaces of a world.

    An explicit entry for two names comes first, in either order. Without one, the law combines the friction of both
    surfaces (coefficients: the geometric mean), or the friction of one holds for the pair; a pair without any has the
    coefficient `otherwise` (0 if None). The friction of a shape replaces that of its body. The axis of a pair is that
    of its directional surface, and that of the first name of an explicit entry. Torsional and rolling lengths are
    combined alike, and that of one surface holds where the other gives none; without sliding friction there is neither.

    Raises:
        CompositionError: two laws in one world, no axis, or two directional surfaces without an explicit entry.
    """
    known = {
        names: each for names, value in explicit.items() if (each := surface_friction(value)) is not None
    }
    surfaces, surface = _surfaces(scene, bodies, obstacles, {name for names in known for name in names})
    law = _law([each.friction for each in surfaces] + list(known.values()))
    count, width = len(surfaces), law.record_width
    coefficient = np.zeros((count, count))
    record, owner = np.zeros((count, count, width)), np.zeros((count, count), dtype=np.int64)
    torsional, rolling = np.zeros((2, count, count))
    default = SurfaceFriction(COULOMB, (otherwise or 0.0,))
    for i, one in enumerate(surfaces):
        for j, other in enumerate(surfaces):
            pair = _explicit(one.name, other.name, known) or _combined(one, other, law, default)
            if pair is None:
                if _may_touch(one.name, other.name, bodies):
                    raise CompositionError(_two_axes(one.name, other.name))
                continue
            numbers = pair.friction.record_in(law)
            coefficient[i, j], owner[i, j] = law.max_coefficient(numbers), pair.owner
            if coefficient[i, j] > 0.0:
                torsional[i, j], rolling[i, j] = pair.friction.torsional or 0.0, pair.friction.rolling or 0.0
            if width:
                record[i, j] = numbers
    needed = {surfaces[i].name for i in range(count) if (owner[i] == _FIRST).any()}
    axis = (
        _axes(scene, surfaces, surface, needed, known) if law.is_directional else np.zeros((len(surface), 3))
    )
    return FrictionTable(law, surface, coefficient, record, owner, axis, torsional, rolling)


def _surfaces(
    scene: CollisionScene, bodies: Sequence[Body], obstacles: Sequence[Obstacle], named: set[str]
) -> tuple[list[_Surface], IntArray]:
    """The different surfaces, and that of every shape: a pile of equal bodies has one surface, whatever its size."""
    table = scene.table
    index: dict[_Surface, int] = {}
    surface = np.zeros(len(table), dtype=np.int64)
    for i in range(len(table)):
        if table.body[i] >= 0:
            body = bodies[table.body[i]]
            own = surface_friction(body.description.shapes[i - body.first_shape].friction)
            name, friction = body.name, own if own is not None else body.friction
        else:
            obstacle = obstacles[table.obstacle[i]]
            name, friction = obstacle.name, obstacle.friction
        is_distinct = name in named or (friction is not None and friction.law.is_directional)
        each = _Surface(name if is_distinct else "", friction)
        surface[i] = index.setdefault(each, len(index))
    return list(index), surface


def _law(frictions: Sequence[SurfaceFriction | None]) -> FrictionLaw:
    """The one law of the world; Coulomb's is a special case of the others."""
    laws = {each.law.name: each.law for each in frictions if each is not None and each.law is not COULOMB}
    if len(laws) > 1:
        raise CompositionError(
            f"a world has one friction law beside coefficients, found {' and '.join(sorted(laws))}"
        )
    if laws and any(each is not None and (each.torsional or each.rolling) for each in frictions):
        raise CompositionError(
            f"torsional and rolling friction go with Coulomb's law alone, found {next(iter(laws))} beside it"
        )
    return next(iter(laws.values()), COULOMB)


def _explicit(one: str, other: str, known: Mapping[tuple[str, str], SurfaceFriction]) -> _Pair | None:
    """Friction of an explicit entry for two names; for a body with itself, the axis is that of the first shape."""
    for names, owner in (((one, other), _FIRST), ((other, one), _SECOND)):
        if names in known:
            return _Pair(known[names], owner if known[names].law.is_directional else _NEITHER)
    return None


def _combined(one: _Surface, other: _Surface, law: FrictionLaw, default: SurfaceFriction) -> _Pair | None:
    """Friction of a pair from its two surfaces; None if both are directional."""
    first, second = one.friction, other.friction
    if first is not None and second is not None:
        if first.law.is_directional and second.law.is_directional:
            return None
        owner = _FIRST if first.law.is_directional else _SECOND if second.law.is_directional else _NEITHER
        shared = COULOMB if first.law is second.law is COULOMB else law
        record = shared.combine(first.record_in(shared), second.record_in(shared))
        torsional, rolling = (
            _geometric_mean(getattr(first, name), getattr(second, name)) for name in ("torsional", "rolling")
        )
        return _Pair(SurfaceFriction(shared, record, torsional=torsional, rolling=rolling), owner)
    if first is not None:
        return _Pair(first, _FIRST if first.law.is_directional else _NEITHER)
    if second is not None:
        return _Pair(second, _SECOND if second.law.is_directional else _NEITHER)
    return _Pair(default, _NEITHER)


def _geometric_mean(one: float | None, other: float | None) -> float | None:
    """Of two lengths, or the one that is given."""
    return (
        math.sqrt(one * other) if one is not None and other is not None else one if other is None else other
    )


def _may_touch(one: str, other: str, bodies: Sequence[Body]) -> bool:
    touching = {body.name: body.description.self_contact for body in bodies}
    return touching[one] if one == other and one in touching else one in touching or other in touching


def _two_axes(one: str, other: str) -> str:
    here = f"{one!r} can touch itself" if one == other else f"{one!r} and {other!r} can touch"
    return (
        f"{here}, and the friction of both surfaces has a direction: give the friction between them in "
        f'`[[world.friction]]`, between = ["{one}", "{other}"], a coefficient or a table for the axis of the first'
    )


def _axes(
    scene: CollisionScene,
    surfaces: Sequence[_Surface],
    surface: IntArray,
    needed: set[str],
    known: Mapping[tuple[str, str], SurfaceFriction],
) -> Array:
    """The axis of every shape whose name is among the needed ones."""
    given: dict[str, tuple[float, float, float]] = {}
    for name, friction in _with_axis(surfaces, known):
        if friction != given.setdefault(name, friction):
            raise CompositionError(
                f"the friction of {name!r} has two axes, {given[name]} and {friction}: give one"
            )
    table = scene.table
    axis = np.zeros((len(table), 3))
    for i in range(len(table)):
        name = surfaces[surface[i]].name
        if name not in needed:
            continue
        own = shape_spec(table.kind[i]).axis
        if name in given:
            axis[i] = table.offset_rotation[i].T @ np.array(given[name])
        elif own is not None:
            axis[i] = own
        elif table.second_frame[i] < 0:
            raise CompositionError(
                f"the friction of {name!r} has a direction, and a {table.kind[i]} has no axis: give "
                "`axis = [x, y, z]` beside its coefficients, in the axes of the frame that carries the shape"
            )
    return axis


def _with_axis(
    surfaces: Sequence[_Surface], known: Mapping[tuple[str, str], SurfaceFriction]
) -> Iterator[tuple[str, tuple[float, float, float]]]:
    for name, friction in [*surfaces, *((names[0], friction) for names, friction in known.items())]:
        if friction is not None and friction.axis is not None:
            yield name, friction.axis


def check_axes_in_plane(
    friction: FrictionTable, scene: CollisionScene, plane: Array, names: Sequence[str]
) -> None:
    """Refuse axes that leave the plane of a planar world, in which contacts slide forward and backward only.

    Args:
        scene: with the shapes at the initial state.
        plane: origin and two axes, (3, 3).
        names: of the bodies.
    Raises:
        CompositionError: an axis leaves the plane.
    """
    across = np.einsum("nij,nj->ni", scene.poses.rotation, friction.axis) @ np.cross(plane[1], plane[2])
    for i in np.flatnonzero(np.abs(across) > _ALONG_NORMAL):
        owner = names[scene.table.body[i]] if scene.table.body[i] >= 0 else "an obstacle"
        raise CompositionError(
            f"the world is planar, and the axis of the friction of {owner!r} leaves its plane: give "
            "`axis = [x, y, z]` in the plane, in the axes of the frame that carries the shape"
        )


@compiled
def assign_friction_records(
    count: int, planar: bool, surface: IntArray, pair_record: Array, axis_owner: IntArray, axis: Array,
    rotation: Array, position: Array, end: Array, shape: IntArray, normal: Array, tangent: Array, record: Array,
) -> None:  # fmt: skip
    """Write the records of contacts, and turn first tangents into the material direction.

    The direction is the axis of the owner's shape, projected on the tangent plane; of the second shape its negative,
    since slip is the velocity of the first shape relative to the second. If the axis is along the normal, the tangent
    stays as it is. In a planar world, whose axes lie in its plane, only the sign of the tangent changes.

    Args:
        rotation, position, end: poses of the shapes.
        shape, normal, tangent, record: of the contacts; the last two are written.
    """
    for c in range(count):
        i, j = surface[shape[c, 0]], surface[shape[c, 1]]
        for k in range(record.shape[1]):
            record[c, k] = pair_record[i, j, k]
        owner = axis_owner[i, j]
        if owner == 0:
            continue
        s, sign = shape[c, owner - 1], 3.0 - 2.0 * owner
        a0, a1, a2 = axis[s, 0], axis[s, 1], axis[s, 2]
        if a0 == 0.0 and a1 == 0.0 and a2 == 0.0:
            x, y, z = end[s, 0] - position[s, 0], end[s, 1] - position[s, 1], end[s, 2] - position[s, 2]
        else:
            x = rotation[s, 0, 0] * a0 + rotation[s, 0, 1] * a1 + rotation[s, 0, 2] * a2
            y = rotation[s, 1, 0] * a0 + rotation[s, 1, 1] * a1 + rotation[s, 1, 2] * a2
            z = rotation[s, 2, 0] * a0 + rotation[s, 2, 1] * a1 + rotation[s, 2, 2] * a2
        whole = x * x + y * y + z * z
        n0, n1, n2 = normal[c, 0], normal[c, 1], normal[c, 2]
        along = x * n0 + y * n1 + z * n2
        x, y, z = sign * (x - along * n0), sign * (y - along * n1), sign * (z - along * n2)
        square = x * x + y * y + z * z
        if not square > _ALONG_NORMAL * _ALONG_NORMAL * whole:
            continue
        if planar:
            if x * tangent[c, 0] + y * tangent[c, 1] + z * tangent[c, 2] < 0.0:
                for k in range(3):
                    tangent[c, k] = -tangent[c, k]
            continue
        inverse = 1.0 / square**0.5
        tangent[c, 0], tangent[c, 1], tangent[c, 2] = x * inverse, y * inverse, z * inverse


class RestitutionTable(NamedTuple):
    """e of every two owners: the bodies and obstacles that an entry names, and all others as one, the first.

    Attributes:
        owner: of every shape, (n,).
        coefficient: e of every two owners, (k, k).
    """

    owner: IntArray
    coefficient: Array

    @classmethod
    def of_world(
        cls,
        table: ShapeTable,
        bodies: Sequence[Body],
        obstacles: Sequence[Obstacle],
        otherwise: float,
        pairs: Mapping[tuple[str, str], float],
    ) -> RestitutionTable:
        """The table of a world's shapes.

        Args:
            table: of the shapes.
            bodies, obstacles: of the world.
            otherwise: e of a pair without an entry.
            pairs: e of named pairs.
        """
        names = [body.name for body in bodies] + [obstacle.name for obstacle in obstacles]
        named = {name: k + 1 for k, name in enumerate(dict.fromkeys(name for pair in pairs for name in pair))}
        coefficient = np.full((len(named) + 1, len(named) + 1), otherwise)
        for (one, other), value in pairs.items():
            i, j = named[one], named[other]
            coefficient[i, j] = coefficient[j, i] = value
        own: IntArray = np.array([named.get(name, 0) for name in names], dtype=np.int64)
        return cls(own[np.where(table.body >= 0, table.body, len(bodies) + table.obstacle)], coefficient)

    def of_contacts(self, contacts: ContactSet) -> Array:
        """e of every contact, shape (m,)."""
        first, second = self.owner[contacts.shape[: contacts.count]].T
        return self.coefficient[first, second]
