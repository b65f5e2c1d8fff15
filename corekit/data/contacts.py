"""Contacts as structures of arrays: candidates, the contact set, and the record of an answered step."""

from __future__ import annotations

import enum

import numpy as np
from attrs import Factory, define, evolve, field, fields_dict

from corekit.data.arrays import Array, IntArray

__all__ = ["MAX_MATERIAL_POINTS", "Candidates", "ContactMode", "ContactRecord", "ContactSet"]

MAX_MATERIAL_POINTS = 4
"""Of one contact: two for a pair of points, four for a pair of edges."""


class ContactMode(enum.IntEnum):
    """What a contact did during a step."""

    SEPARATE = 0
    STICK = 1
    SLIDE = 2


class Candidates:
    """Pairs of shapes that could touch during a step.

    Attributes:
        pairs: indices into the shape table, shape (capacity, 2); an obstacle stands second.
        count: how many rows are in use.
    """

    __slots__ = ("count", "pairs")

    def __init__(self, capacity: int = 64) -> None:
        self.pairs: IntArray = np.zeros((capacity, 2), dtype=np.int64)
        self.count = 0

    def reserve(self, capacity: int) -> None:
        """Make room for at least `capacity` pairs, keeping those in use."""
        if capacity > len(self.pairs):
            grown = np.zeros((max(capacity, 2 * len(self.pairs)), 2), dtype=np.int64)
            grown[: self.count] = self.pairs[: self.count]
            self.pairs = grown


class ContactSet:
    """Contacts at one state: a structure of arrays with capacity and count.

    A contact has up to four material points, points of frames with signed weights; the relative velocity of its two
    sides is   u = Σᵢ weightᵢ · ẋᵢ − (velocity of the obstacle's point). Only the first `count` rows are meaningful.

    Attributes:
        id: persistent feature identity: the same pair of features keeps it from step to step.
        shape: indices of the two shapes (first: always a body's; second: a body's or an obstacle's), (n, 2).
        gap: signed distance [m], > 0 apart, (n,).
        point: contact point in the world [m], (n, 3).
        normal: unit, from the obstacle or second body into the first, (n, 3).
        tangent: first tangent, unit, orthogonal to the normal, (n, 3); the second is normal × tangent. Of a directional
            friction law it is the material direction. Written by the kernel, as are `friction` and `friction_record`.
        friction: largest coefficient μ in any direction [-], (n,).
        friction_record: numbers of the friction law, which the kernel does not interpret (`roles.friction`), (n, k).
        frame: world frame index of each material point, −1 where unused, (n, 4).
        local_point: the point in its frame [m], (n, 4, 3).
        weight: its signed weight [-], (n, 4).
    """

    __slots__ = (
        "count", "frame", "friction", "friction_record", "gap", "id", "local_point", "normal", "point",
        "shape", "tangent", "weight",
    )  # fmt: skip

    def __init__(self, capacity: int = 64, record_width: int = 0) -> None:
        self.count = 0
        self._allocate(capacity, record_width)

    def _allocate(self, n: int, record_width: int) -> None:
        self.id: IntArray = np.zeros(n, dtype=np.int64)
        self.shape: IntArray = np.zeros((n, 2), dtype=np.int64)
        self.gap: Array = np.zeros(n)
        self.point: Array = np.zeros((n, 3))
        self.normal: Array = np.zeros((n, 3))
        self.tangent: Array = np.zeros((n, 3))
        self.friction: Array = np.zeros(n)
        self.friction_record: Array = np.zeros((n, record_width))
        self.frame: IntArray = np.full((n, MAX_MATERIAL_POINTS), -1, dtype=np.int64)
        self.local_point: Array = np.zeros((n, MAX_MATERIAL_POINTS, 3))
        self.weight: Array = np.zeros((n, MAX_MATERIAL_POINTS))

    @property
    def capacity(self) -> int:
        """Rows allocated."""
        return len(self.gap)

    def reserve(self, capacity: int) -> None:
        """Make room for at least `capacity` contacts, keeping those in use."""
        if capacity <= self.capacity:
            return
        kept = {name: getattr(self, name)[: self.count] for name in _FIELDS}
        self._allocate(max(capacity, 2 * self.capacity), self.friction_record.shape[1])
        for name, values in kept.items():
            getattr(self, name)[: self.count] = values

    def copy_from(self, other: ContactSet) -> None:
        """Become equal to `other`."""
        self.reserve(other.count)
        self.count = n = other.count
        for name in _FIELDS:
            getattr(self, name)[:n] = getattr(other, name)[:n]

    def take(self, other: ContactSet, which: IntArray) -> None:
        """Become the contacts of these indices of another set."""
        self.reserve(len(which))
        self.count = n = len(which)
        for name in _FIELDS:
            getattr(self, name)[:n] = getattr(other, name)[which]

    def append(self, other: ContactSet, which: IntArray) -> None:
        """Add the contacts of these indices of another set."""
        n, count = self.count, self.count + len(which)
        self.reserve(count)
        self.count = count
        for name in _FIELDS:
            getattr(self, name)[n:count] = getattr(other, name)[which]

    def select(self, which: IntArray) -> None:
        """Become the contacts of these indices, which may come several times."""
        self.reserve(len(which))
        self.count = len(which)
        for name in _FIELDS:
            values = getattr(self, name)
            values[: self.count] = values[which]


_FIELDS = tuple(name for name in ContactSet.__slots__ if name != "count")


@define(eq=False)
class ContactRecord:
    """What every contact did in an accepted step, or in several, the same record out of every contact solver.

    Attributes (n contacts):
        id, shape, point [m], normal, tangent: as in the contact set, where the step's rows are.
        gap: at the end of the step; at its start of a scheme that has its rows there [m].
        normal_impulse: over the step [N·s] (potentials: h·force), (n,).
        tangential_impulse: along tangent and normal × tangent [N·s], (n, 2).
        moment_impulse: of torsional and rolling friction, about normal, tangent, normal × tangent [N·m·s], (n, 3).
        slip: relative tangential velocity in the same two directions [m/s], (n, 2).
        mode: `ContactMode` values, (n,).
        residual: largest physical residual of the contact's own conditions [m/s or N·s], (n,).
        step_size: h [s] of the step, over which the impulses act.
        owners: name of the body or obstacle of every shape of the world, empty in a record of the kernel.
    """

    id: IntArray = field(factory=lambda: np.zeros(0, dtype=np.int64))
    shape: IntArray = field(factory=lambda: np.zeros((0, 2), dtype=np.int64))
    gap: Array = field(factory=lambda: np.zeros(0))
    point: Array = field(factory=lambda: np.zeros((0, 3)))
    normal: Array = field(factory=lambda: np.zeros((0, 3)))
    tangent: Array = field(factory=lambda: np.zeros((0, 3)))
    normal_impulse: Array = field(factory=lambda: np.zeros(0))
    tangential_impulse: Array = field(factory=lambda: np.zeros((0, 2)))
    slip: Array = field(factory=lambda: np.zeros((0, 2)))
    mode: IntArray = field(factory=lambda: np.zeros(0, dtype=np.int64))
    residual: Array = field(factory=lambda: np.zeros(0))
    step_size: float = 0.0
    owners: tuple[str, ...] = ()
    moment_impulse: Array = field(
        default=Factory(lambda record: np.zeros((len(record.gap), 3)), takes_self=True)
    )

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Whose shapes touch in each contact: a body, then a body or an obstacle."""
        return tuple((self.owners[first], self.owners[second]) for first, second in self.shape)

    @property
    def axes(self) -> Array:
        """Normal, tangent and normal × tangent of every contact, in its rows, shape (n, 3, 3)."""
        return np.stack([self.normal, self.tangent, np.cross(self.normal, self.tangent)], axis=1)

    @property
    def impulse(self) -> Array:
        """Impulse over the step on the first of the two, in world axes [N·s], shape (n, 3)."""
        along_axes = np.column_stack([self.normal_impulse, self.tangential_impulse])
        return np.einsum("na,nai->ni", along_axes, self.axes)

    @property
    def moment(self) -> Array:
        """Mean moment of torsional and rolling friction on the first of the two, in world axes [N·m], shape (n, 3)."""
        if not self.step_size > 0.0:
            return np.zeros((self.count, 3))
        return np.einsum("na,nai->ni", self.moment_impulse, self.axes) / self.step_size

    @property
    def force(self) -> Array:
        """Mean force over the step on the first of the two, in world axes [N], shape (n, 3)."""
        return self.impulse / self.step_size if self.step_size > 0.0 else np.zeros((self.count, 3))

    def after(self, earlier: ContactRecord) -> ContactRecord:
        """Return the record of a step and the one before it: impulses by id summed as vectors in the later axes.

        All else of a contact is as it was when it was found last.
        """
        _, own, other = np.intersect1d(self.id, earlier.id, return_indices=True)
        ended = np.setdiff1d(np.arange(earlier.count), other)
        joined = {
            name: np.concatenate([getattr(self, name), getattr(earlier, name)[ended]])
            for name in fields_dict(ContactRecord)
            if isinstance(getattr(self, name), np.ndarray)
        }
        turn = self.axes[own] @ earlier.axes[other].transpose(0, 2, 1)
        before = np.einsum("nai,ni->na", self.axes[own], earlier.impulse[other])
        joined["normal_impulse"][own] += before[:, 0]
        joined["tangential_impulse"][own] += before[:, 1:]
        joined["moment_impulse"][own] += np.einsum("nab,nb->na", turn, earlier.moment_impulse[other])
        return evolve(self, **joined, step_size=earlier.step_size + self.step_size)

    @property
    def count(self) -> int:
        """Number of contacts recorded."""
        return len(self.gap)
