"""What contacts do when they move over the surfaces: normals, tangents, material points, weights and gaps by poses.

Everything that a contact detector says follows from the poses of the two shapes. For the covectors of what it says, of

    Ψ = Σ_c coefᵀ·B·U(x) + c_φ·φ + τᵀ·t,   B = [nᵀ; tᵀ; (n × t)ᵀ],   U(x) = Σᵢ weightᵢ·uᵢ,  uᵢ = ẋ_f + ω_f × R_f·ξᵢ   (1)

with ẋ_f, ω_f of the frames for a velocity x,

    c_n = coef₀·U + coef₂·t × U,    c_t = coef₁·U + coef₂·U × n + τ,    c_weight = F·uᵢ,
    c_ξ = weightᵢ·R_fᵀ·(F × ω_f),   F = Bᵀ·coef                                                             (2)

the covector of a twist of a frame is that of what the detector says, times its differences along the twist: six of
them, or three where only origins count, for all contacts at once, whatever nv. Frames that move the same contact
are not moved at once. What frames do is then spread to the bodies by `FrameTwists`.

What moves with the frames, at points that are held in them, is not in here: that is `point_rows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.state import State
from corekit.engine.adjoint.frame_twists import FrameTwists

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["ContactCovector", "ContactSlopes"]

_STEP: Final = 2.0**-20
"""Of a displacement [m] and of a turn [rad] of a frame."""


class ContactCovector(NamedTuple):
    """One term of (1): contacts, as places in a set, shape (k,); coef, shape (k, width); x, shape (nv,)."""

    contacts: IntArray
    coefficients: Array
    velocity: Array


@compiled
def _turn_frame(rotation: Array, axis: int, angle: float, out: Array) -> None:
    """Turn the rows of R about a world axis."""
    b, c = (axis + 1) % 3, (axis + 2) % 3
    cos, sin = np.cos(angle), np.sin(angle)
    for j in range(3):
        out[axis, j] = rotation[axis, j]
        out[b, j] = cos * rotation[b, j] - sin * rotation[c, j]
        out[c, j] = sin * rotation[b, j] + cos * rotation[c, j]


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
        table = world.pipeline.scene.table
        frames = len(world.pipeline.scene.poses.frame_position)
        # a frame turns a shape unless that hangs at two origins
        self._turns: BoolArray = np.zeros(frames, dtype=bool)
        carried = table.frame >= 0
        self._turns[table.frame[carried & (table.second_frame < 0)]] = True
        self._merges = world.pipeline.joined is not None
        self._near = _neighbours(table.frame, table.second_frame) if self._merges else {}
        self.lost = 0

    def pull(
        self,
        start: State,
        contacts: ContactSet,
        closed: IntArray,
        terms: list[ContactCovector],
        of_gap: Array,
        of_tangent: Array,
    ) -> Array:
        """∂Ψ/∂δ by what the detector says, shape (nv,); the poses of the scene are those of the start again.

        Args:
            start: state at which the contacts were found. contacts: the set, with tangents.
            closed: those that count, shape (k,). terms: of Ψ, their contacts counted in `closed`.
            of_gap: c_φ of those, shape (k,). of_tangent: τ of those, shape (k, 3).
        """
        poses = self._pipeline.scene.poses
        influences = [self._frames_of(contacts.shape[c]) for c in closed.tolist()]
        carriers = contacts.frame[closed]
        frames = np.unique(np.concatenate([carriers.ravel(), *influences]))
        frames = frames[frames >= 0]
        has_arm = np.zeros(len(self._turns), dtype=bool)
        moved = carriers[np.abs(contacts.local_point[closed]).max(axis=2) > 0.0]
        has_arm[moved[moved >= 0]] = True
        turns = self._turns[frames] | has_arm[frames]
        twists = FrameTwists(self._world, start, frames, turns, poses.frame_rotation[frames])
        covectors = self._covectors(contacts, closed, terms, twists, frames, of_tangent)
        place, turn = np.zeros((2, len(frames), 3))
        for moved_frames in _apart(influences):
            # which of these frames moves each contact, or −1
            mover = np.array([_common(own, moved_frames) for own in influences], dtype=np.int64)
            own = np.searchsorted(frames, mover)
            for axis in range(6):
                which = mover >= 0 if axis < 3 else (mover >= 0) & self._turns[mover]
                if not which.any():
                    continue
                slope = self._slopes(contacts, closed, moved_frames, axis, covectors, of_gap)
                out = place if axis < 3 else turn
                np.add.at(out[:, axis % 3], own[which], slope[which])
        return twists.multiply_transposed(place, turn)

    # — covectors —

    @staticmethod
    def _covectors(
        contacts: ContactSet,
        closed: IntArray,
        terms: list[ContactCovector],
        twists: FrameTwists,
        frames: IntArray,
        of_tangent: Array,
    ) -> tuple[Array, Array, Array, Array]:
        """(2): of normals and tangents, (k, 3), weights, (k, 4), and local points, (k, 4, 3)."""
        n, t = contacts.normal[closed], contacts.tangent[closed]
        frame, weight, local = contacts.frame[closed], contacts.weight[closed], contacts.local_point[closed]
        is_point = frame >= 0
        place = np.where(is_point, np.searchsorted(frames, frame), 0)
        of_n, of_t = np.zeros_like(n), of_tangent.copy()
        of_weight, of_local = np.zeros_like(weight), np.zeros_like(local)
        rotation = twists.rotation[place]
        arm = np.einsum("cpij,cpj->cpi", rotation, local)
        for c, coefficients, velocity in terms:
            speed, spin = twists.multiply(velocity)
            at = place[c]
            own = (speed[at] + np.cross(spin[at], arm[c])) * is_point[c][:, :, None]
            u = np.einsum("cp,cpi->ci", weight[c], own)
            coef = np.zeros((len(c), 3))
            coef[:, : coefficients.shape[1]] = coefficients
            zero, one, two = coef[:, 0:1], coef[:, 1:2], coef[:, 2:3]
            force = zero * n[c] + one * t[c] + two * np.cross(n[c], t[c])
            of_n[c] += zero * u + two * np.cross(t[c], u)
            of_t[c] += one * u + two * np.cross(u, n[c])
            of_weight[c] += np.einsum("ci,cpi->cp", force, own)
            pushed = np.cross(force[:, None, :], spin[at]) * (weight[c] * is_point[c])[:, :, None]
            of_local[c] += np.einsum("cpij,cpi->cpj", rotation[c], pushed)
        return of_n, of_t, of_weight, of_local

    # — differences —

    def _slopes(
        self,
        contacts: ContactSet,
        closed: IntArray,
        frames: list[int],
        axis: int,
        covectors: tuple[Array, Array, Array, Array],
        of_gap: Array,
    ) -> Array:
        """The change of Ψ of every contact by a twist of some frames, shape (k,)."""
        of_n, of_t, of_weight, of_local = covectors
        ends, is_found = [], []
        for sign in (1.0, -1.0):
            at = self._find_moved(contacts.id[closed], frames, axis, sign * _STEP)
            there, found = at >= 0, self._found
            # counted from the base, which keeps their rounding small
            value = np.einsum("ci,ci->c", of_n, found.normal[at] - contacts.normal[closed])
            value += np.einsum("ci,ci->c", of_t, found.tangent[at] - contacts.tangent[closed])
            value += np.einsum("cp,cp->c", of_weight, found.weight[at] - contacts.weight[closed])
            value += np.einsum("cpi,cpi->c", of_local, found.local_point[at] - contacts.local_point[closed])
            value += of_gap * (found.gap[at] - contacts.gap[closed])
            ends.append(np.where(there, value, 0.0))
            is_found.append(there)
        ahead, behind = (np.where(each, _STEP, 0.0) for each in is_found)
        width = ahead + behind
        self.lost += int(np.count_nonzero(width == 0.0))
        return np.where(width > 0.0, (ends[0] - ends[1]) / np.where(width > 0.0, width, 1.0), 0.0)

    def _find_moved(self, ids: IntArray, frames: list[int], axis: int, size: float) -> IntArray:
        """Find the contacts where some frames are displaced or turned; the places of these ids in the set, −1 if lost."""
        scene, found, k = self._pipeline.scene, self._found, axis % 3
        poses = scene.poses
        kept = [(poses.frame_position[f].copy(), poses.frame_rotation[f].copy()) for f in frames]
        for f, (_, rotation) in zip(frames, kept, strict=True):
            if axis < 3:
                poses.frame_position[f, k] += size
            else:
                _turn_frame(rotation, k, size, poses.frame_rotation[f])
        scene.place_shapes()
        self._pipeline.measure(found)
        for f, (position, rotation) in zip(frames, kept, strict=True):
            poses.frame_position[f], poses.frame_rotation[f] = position, rotation
        scene.place_shapes()
        there = found.id[: found.count]
        order = np.argsort(there, kind="stable")
        at = np.minimum(np.searchsorted(there, ids, sorter=order), max(len(there) - 1, 0))
        if not len(there):
            return np.full(len(ids), -1, dtype=np.int64)
        return np.where(there[order[at]] == ids, order[at], -1)

    def _frames_of(self, shapes: IntArray) -> IntArray:
        """Frames that move a contact of two shapes."""
        scene = self._pipeline.scene.table
        own = np.concatenate([scene.frame[shapes], scene.second_frame[shapes]])
        own = np.unique(own[own >= 0])
        if not self._merges:
            return own
        # what ends that shapes share make one moves with the next shapes too
        near = {each for f in own.tolist() for each in self._near.get(f, {f})}
        return np.array(sorted(near), dtype=np.int64)


def _neighbours(first: IntArray, second: IntArray) -> dict[int, set[int]]:
    """Frames that share an edge with each."""
    out: dict[int, set[int]] = {}
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        if a >= 0 and b >= 0:
            out.setdefault(a, {a}).add(b)
            out.setdefault(b, {b}).add(a)
    return out


def _apart(influences: list[IntArray]) -> list[list[int]]:
    """Frames in groups, no two of which move the same contact."""
    clashes: dict[int, set[int]] = {}
    for own in influences:
        for f in own.tolist():
            clashes.setdefault(f, set()).update(own.tolist())
    groups: list[list[int]] = []
    for f in sorted(clashes):
        for group in groups:
            if not clashes[f].intersection(group):
                group.append(f)
                break
        else:
            groups.append([f])
    return groups


def _common(own: IntArray, group: list[int]) -> int:
    """The frame of a group that moves a contact, or −1."""
    return next((f for f in own.tolist() if f in group), -1)
