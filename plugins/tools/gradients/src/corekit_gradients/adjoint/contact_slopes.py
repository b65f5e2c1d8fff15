"""What contacts do when they move over the surfaces: normals, tangents, material points, weights and gaps by poses.

Everything that a contact detector says follows from the poses of the two shapes. For the covectors of what it says, of

    Ψ = Σ_c coefᵀ·B·U(x) + c_φ·φ + τᵀ·t,     B = [nᵀ; tᵀ; (n × t)ᵀ],
    U(x) = Σᵢ weightᵢ·uᵢ,     uᵢ = ẋ_f + ω_f × R_f·ξᵢ                                                      (1)

with ẋ_f, ω_f of the frames for a velocity x,

    c_n = coef₀·U + coef₂·t × U,    c_t = coef₁·U + coef₂·U × n + τ,    c_weight = F·uᵢ,
    c_ξ = weightᵢ·R_fᵀ·(F × ω_f),   F = Bᵀ·coef                                                             (2)

the covector of a twist of a frame is that of what the detector says, times its differences along the twist: six of
them, or three where only origins count, for all contacts at once, whatever nv. Frames that move the same contact
are not moved at once. What frames do is then spread to the bodies by `FrameTwists`.

What moves with the frames, at points that are held in them, is not in here: that is `directional`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.state import State
from corekit_gradients.adjoint.contact_passes import ContactPasses
from corekit_gradients.adjoint.contact_slope_kernels import (
    add_changes,
    add_covectors,
    add_slopes,
    locate,
    turn_frames,
)
from corekit_gradients.adjoint.frame_twists import FrameTwists

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["ContactCovector", "ContactSlopes", "SlopeTable"]

_STEP: Final = 2.0**-20
"""Of a displacement [m] and of a turn [rad] of a frame."""


class ContactCovector(NamedTuple):
    """One term of (1): contacts, as places in a set, shape (k,); coef, shape (k, width); x, shape (nv,)."""

    contacts: IntArray
    coefficients: Array
    velocity: Array


@final
class SlopeTable:
    """What a detector says of k contacts by twists of frames, in p passes.

    Args:
        contacts: the set. twists: of the frames that carry or move them.
        carriers: of every material point the number of its frame among those, or −1, shape (k, 4).
        mover: of every pass the number of the frame that moves each contact, or −1, shape (p, k).
        axis: of every pass, 0 to 2 displacements, 3 to 5 turns, shape (p,).

    Attributes:
        changes: of normals, tangents, weights, local points and gaps, shape (p, k, …).
        scale: to multiply them by, shape (p, k).
    """

    def __init__(
        self, contacts: ContactSet, twists: FrameTwists, carriers: IntArray, mover: IntArray, axis: IntArray
    ) -> None:
        self.contacts, self._twists, self._carriers = contacts, twists, carriers
        self._mover, self._axis = mover, axis
        (p, k), points = mover.shape, carriers.shape[1]
        self.changes = (
            np.zeros((p, k, 3)), np.zeros((p, k, 3)), np.zeros((p, k, points)), np.zeros((p, k, points, 3)),
            np.zeros((p, k)),
        )  # fmt: skip
        self.scale = np.zeros((p, k))

    def pull(self, terms: list[ContactCovector], of_gap: Array, of_tangent: Array) -> Array:
        """∂Ψ/∂δ by what the detector says, shape (nv,), for terms of Ψ, c_φ, shape (k,), and τ, shape (k, 3)."""
        contacts, twists, place, k = self.contacts, self._twists, self._carriers, self.contacts.count
        own = contacts.normal[:k], contacts.tangent[:k], contacts.weight[:k], contacts.local_point[:k]
        covectors = np.zeros((k, 3)), of_tangent.copy(), np.zeros(place.shape), np.zeros((*place.shape, 3))
        for each in terms:
            speed, spin = twists.multiply(each.velocity)
            add_covectors(
                each.contacts, np.ascontiguousarray(each.coefficients), place, speed, spin, twists.rotation, *own,
                *covectors,
            )  # fmt: skip
        out = np.zeros((2, len(twists.rotation), 3))
        add_slopes(self._mover, self._axis, self.scale, *self.changes, *covectors, of_gap, out)
        return twists.multiply_transposed(out[0], out[1])


class _Plan(NamedTuple):
    """How to measure contacts of the same shapes and frames.

    Args:
        frames: that carry or move contacts. turns: whether each turns them. carriers, mover, axis: as of `SlopeTable`.
        moved: the frames of each pass.
    """

    frames: IntArray
    turns: BoolArray
    carriers: IntArray
    mover: IntArray
    axis: IntArray
    moved: tuple[IntArray, ...]


_MOST_PLANS: Final = 64


@final
class ContactSlopes:
    """Of the contacts of one world.

    Args:
        world: its terms, with a pipeline.

    Attributes:
        lost: how many differences found a contact on no side, and count as zero.
    """

    def __init__(self, world: WorldTerms) -> None:
        assert world.pipeline is not None
        self._world, self._pipeline = world, world.pipeline
        self._found = ContactSet(record_width=world.pipeline.record_width)
        table, poses = world.pipeline.scene.table, world.pipeline.scene.poses
        # a frame turns a shape unless that hangs at two origins
        self._turns: BoolArray = np.zeros(len(poses.frame_position), dtype=bool)
        self._turns[table.frame[(table.frame >= 0) & (table.second_frame < 0)]] = True
        self._near = {} if world.pipeline.joined is None else _neighbours(table.frame, table.second_frame)
        # frames of pairs of shapes, which stay as they are
        self._movers: dict[tuple[int, int], tuple[int, ...]] = {}
        self._plans: dict[tuple[bytes, ...], _Plan] = {}
        self._kept = poses.frame_position.copy(), poses.frame_rotation.copy()
        form = ContactPasses.form_of(world.pipeline)
        self._passes = None if form is None else ContactPasses(world.pipeline, form)
        self.lost = 0

    def measure(self, state: State, contacts: ContactSet) -> SlopeTable:
        """Find what the detector says of contacts by poses; those of the scene are the same again.

        Args:
            state: at which the contacts were found, and where the shapes are.
            contacts: those that count, with tangents.
        """
        poses, count = self._pipeline.scene.poses, contacts.count
        self._kept[0][:], self._kept[1][:] = poses.frame_position, poses.frame_rotation
        carriers, is_off = contacts.frame[:count], contacts.local_point[:count].any(axis=2)
        key = contacts.shape[:count].tobytes(), carriers.tobytes(), is_off.tobytes()
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            plan = self._plans[key] = self._make_plan(contacts, carriers[(carriers >= 0) & is_off])
        twists = FrameTwists(self._world, state, plan.frames, plan.turns, self._kept[1][plan.frames])
        table = SlopeTable(contacts, twists, plan.carriers, plan.mover, plan.axis)
        if self._passes is None or not self._passes.measure(
            contacts, self._kept, plan.moved, plan.axis, _STEP, table.changes, table.scale
        ):
            for each in table.changes:
                each[:] = 0.0
            for i, own_frames in enumerate(plan.moved):
                self._move(table, i, own_frames, int(plan.axis[i]))
        self._pipeline.scene.place_shapes()
        self.lost += int(np.count_nonzero((plan.mover >= 0) & (table.scale == 0.0)))
        return table

    def _make_plan(self, contacts: ContactSet, turned: IntArray) -> _Plan:
        """The passes for contacts; `turned` are frames that carry points beside their origins."""
        count = contacts.count
        influences = [self._movers_of(*pair) for pair in contacts.shape[:count].tolist()]
        carriers = contacts.frame[:count]
        is_used = np.zeros(len(self._turns) + 1, dtype=bool)
        is_used[carriers.ravel()] = True  # the last one stands for none
        for own in influences:
            is_used[list(own)] = True
        frames = np.flatnonzero(is_used[:-1])
        turns = self._turns.copy()
        turns[turned] = True
        number = np.full(len(self._turns) + 1, -1, dtype=np.int64)
        number[frames] = np.arange(len(frames))
        passes = []
        for group in _apart(influences):
            # which of these frames moves each contact, or −1
            mover = np.array([next((f for f in own if f in group), -1) for own in influences])
            for axis in range(6):
                which = mover if axis < 3 else np.where(self._turns[mover], mover, -1)
                if (which >= 0).any():
                    passes.append((np.array(sorted(group)), axis, number[which]))
        moved = np.array([each for *_, each in passes], dtype=np.int64).reshape(-1, count)
        axes = np.array([axis for _, axis, _ in passes], dtype=np.int64)
        return _Plan(frames, turns[frames], number[carriers], moved, axes, tuple(own for own, *_ in passes))

    def _move(self, table: SlopeTable, i: int, frames: IntArray, axis: int) -> None:
        """Write the changes of pass i, by a twist of some frames."""
        scene, found, contacts, k = self._pipeline.scene, self._found, table.contacts, table.contacts.count
        poses, kept = scene.poses, self._kept
        width, at = np.zeros(k), np.empty(k, dtype=np.int64)
        changes = [each[i] for each in table.changes]
        for sign in (1.0, -1.0):
            turn_frames(frames, axis, sign * _STEP, *kept, poses.frame_position, poses.frame_rotation)
            scene.place_shapes()
            self._pipeline.measure(found)
            locate(contacts.id[:k], found.count, found.id, at)
            width += at >= 0
            add_changes(
                at, sign, contacts.normal, contacts.tangent, contacts.weight, contacts.local_point, contacts.gap,
                found.normal, found.tangent, found.weight, found.local_point, found.gap, *changes,
            )  # fmt: skip
        poses.frame_position[frames], poses.frame_rotation[frames] = kept[0][frames], kept[1][frames]
        table.scale[i] = np.where(width > 0.0, 1.0 / (np.maximum(width, 1.0) * _STEP), 0.0)

    def _movers_of(self, one: int, other: int) -> tuple[int, ...]:
        """Frames that move a contact of two shapes."""
        known = self._movers.get((one, other))
        if known is None:
            table = self._pipeline.scene.table
            own = {int(each[i]) for each in (table.frame, table.second_frame) for i in (one, other)} - {-1}
            # what ends that shapes share make one moves with the next shapes too
            known = tuple(sorted({each for f in own for each in self._near.get(f, {f})}))
            self._movers[one, other] = known
        return known


def _neighbours(first: IntArray, second: IntArray) -> dict[int, set[int]]:
    """Frames that share an edge with each."""
    out: dict[int, set[int]] = {}
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        if a >= 0 and b >= 0:
            out.setdefault(a, {a}).add(b)
            out.setdefault(b, {b}).add(a)
    return out


def _apart(influences: list[tuple[int, ...]]) -> list[set[int]]:
    """Frames in groups, no two of which move the same contact."""
    clashes: dict[int, set[int]] = {}
    for own in influences:
        for f in own:
            clashes.setdefault(f, set()).update(own)
    groups: list[set[int]] = []
    for f in sorted(clashes):
        group = next((each for each in groups if not clashes[f] & each), None)
        if group is None:
            groups.append({f})
        else:
            group.add(f)
    return groups
