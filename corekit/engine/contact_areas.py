"""Torsional and rolling friction: a contact is an area, which a few points stand for that every impulse solver knows.

Two areas that touch resist spin about their normal n, and rolling. Where a pair of surfaces has the torsional length ℓ
or the rolling length ρ, the contact at x is replaced by N others of the same gap, of which each carries λ_n/N:

    sliding points    x ± r·t₁, x ± r·t₂,  r = ℓ/μ;  without ℓ the one point x                 (1)
    rolling points    x ± a·n,  a = 50·ρ

    J_k = [nᵀ·J(x); t₁ᵀ·J_k; t₂ᵀ·J_k],   J_k = J(x_k) of sliding points,
                                         J_k = ±½·(J(x + a·n) − J(x − a·n)) of rolling ones    (2)

The normal rows are those of x: else the pressure could wander to one side and the body would rise as it rolls. The
coefficients of friction are such that all sliding points together have μ·λ_n, and the rolling ones the couple ρ·λ_n.

**Spin.** In pure spin ω each sliding point has its whole friction along the ring: the moment is r·μ·λ_n = ℓ·λ_n. A
contact that slides at u ≫ r·ω as well has the friction μ·λ_n, and the moment ℓ·λ_n·r·ω/(2·u): what slides turns nearly
freely. What spins at r·ω ≫ u has little friction against u, so that a ball that spins and rolls creeps a little.

**Rolling.** The rows of rolling points know nothing but rates of turning, ω × (±a·n): their friction is a couple
without a force. By Coulomb's law of each, the moment opposes the rolling rate, in every direction alike, or holds.

**Loads.** Equal rows would leave it to the solver which points carry the load, and which of the rolling ones the
friction. So points get coordinates of their own with the mobility C, which nothing else feels:

    W_kl ← W_kl + C·(δ_kl − 1/N)    along the normals
    W_kl ← W_kl + ½·C               along each tangent, of the two rolling points             (3)

With w along n at x, w_k = w + C·(λ_k − λ̄) is 0 at every point that carries a load and not negative at the others. So
all carry the same, λ_k = λ̄, and the first of (3) adds nothing to the motion, for any C > 0. Nor does the second: the
sum F of the two frictions adds ½·C·F to both of their slips ±w_t, and by Coulomb's law with equal bounds F·F ≤ 0.

A planar body does not spin about a normal in its plane, and has rolling points alone.

Source: Contensou (1963), Couplage entre frottement de glissement et frottement de pivotement dans la théorie de la
toupie, Kreiselprobleme, IUTAM Symposium, for the moment of an area that slides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, final

import numpy as np
from attrs import evolve

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactRecord, ContactSet
from corekit.data.state import State
from corekit.engine.contact.contact_jacobian import BodyPoints
from corekit.errors import CompositionError, PluginError
from corekit.roles.body import Body
from corekit.roles.surface_pairs import FrictionTable

__all__ = ["MOST_POINTS", "ContactAreas", "find_areas"]

MOST_POINTS: Final = 6
"""Largest N."""
_LAYOUTS: Final = ((4, 0), (1, 2), (4, 2))
"""Sliding and rolling points."""
_LEVER: Final = 50.0
"""a/ρ: lengths ρ are about a thousandth of a body, and a its size, so that all rows have the same magnitude."""
_FIRST_BIT: Final = 60
"""Of an id, from which a point has its number; ids are far smaller."""


def find_areas(bodies: Sequence[Body], friction: FrictionTable, width: int) -> ContactAreas | None:
    """The areas of a world with so many rows per contact; None where nothing resists turning.

    Raises:
        CompositionError: a surface that resists turning touches by points that do not turn with a frame.
    """
    torsional = friction.torsional if width == 3 else np.zeros_like(friction.torsional)
    resists = np.maximum(torsional, friction.rolling).max(axis=1, initial=0.0)[friction.surface] > 0.0
    if not resists.any():
        return None
    for body in bodies:
        own = body.description
        shapes = [shape for i, shape in enumerate(own.shapes) if resists[body.first_shape + i]]
        if any(shape.second_frame >= 0 or not _turns(body, shape.frame) for shape in shapes):
            raise CompositionError(
                "torsional and rolling friction act on surfaces that turn with a frame, and those of body "
                f"{body.name!r} touch by points that do not turn: give the pair a coefficient in `[[world.friction]]`, "
                "or choose other shapes"
            )
    radius = np.divide(torsional, friction.coefficient, out=np.zeros_like(torsional), where=torsional > 0.0)
    return ContactAreas(friction.surface, radius, friction.rolling, width)


def _turns(body: Body, frame: int) -> bool:
    """Whether the points of a frame move differently, or not at all."""
    own, model = body.description, body.abilities.point_jacobian
    state = State.zeros(len(own.coordinates), len(own.velocities), own.aux)
    body.model.compute_initial_state(None, state)
    dofs, values = np.zeros((4, own.jacobian_width), dtype=np.int64), np.zeros((4, 3, own.jacobian_width))
    assert model is not None  # composition refuses contact of others
    model.compute_point_jacobians(state, np.full(4, frame), np.vstack([np.zeros(3), np.eye(3)]), dofs, values)
    return not values.any() or bool(np.ptp(values, axis=0).any())


@final
class ContactAreas:
    """Makes several contacts of one where the pair resists turning; they stand in a row.

    Args:
        surface: of every shape. radius, rolling: r and ρ of every two surfaces [m]; see `FrictionTable`.
        width: rows per contact.
    """

    def __init__(self, surface: IntArray, radius: Array, rolling: Array, width: int) -> None:
        self._surface, self._radius, self._rolling, self._width = surface, radius, rolling, width
        self._shares = {layout: _shares(*layout, width) for layout in _LAYOUTS}

    def _lengths(self, contacts: ContactSet | ContactRecord) -> tuple[Array, Array, IntArray, IntArray]:
        """r and ρ of every contact, and its sliding and rolling points, each (m,)."""
        first, second = self._surface[contacts.shape[: contacts.count]].T
        radius, rolling = self._radius[first, second], self._rolling[first, second]
        return radius, rolling, np.where(radius > 0.0, 4, 1), np.where(rolling > 0.0, 2, 0)

    def groups(self, contacts: ContactSet) -> Iterator[tuple[int, IntArray, Array]]:
        """Sliding points, the contacts of every area (k, N), and the matrix of (3) for C = 1, (N·width, N·width).

        The matrix is its own square.
        """
        *_, slide, roll = self._lengths(contacts)
        for layout in _LAYOUTS:
            own = np.flatnonzero((slide == layout[0]) & (roll == layout[1]))
            if len(own):
                yield layout[0], own.reshape(-1, sum(layout)), self._shares[layout]

    def spread(self, contacts: ContactSet) -> None:
        """Replace contacts by N, which have the id of the contact but for three bits; they stand at its point."""
        *_, slide, roll = self._lengths(contacts)
        copies = slide + roll
        which = np.repeat(np.arange(contacts.count), copies)
        number = np.arange(len(which)) - np.repeat(np.cumsum(copies) - copies, copies)
        contacts.select(which)
        contacts.id[: len(which)] ^= number << _FIRST_BIT

    def place(self, contacts: ContactSet, frame_rotation: Array) -> None:
        """Move the points to (1), also where they are there already, and write their coefficients of friction.

        Args:
            contacts: with their tangents, and the coefficients of their pairs.
            frame_rotation: of all frames, (f, 3, 3), at the state of the contacts.
        """
        radius, rolling, *_ = self._lengths(contacts)
        for slide, group, _ in self.groups(contacts):
            first, count = group[:, 0], group.shape[1]
            normal, tangent, point = contacts.normal[first], contacts.tangent[first], contacts.point[group]
            offset = np.zeros_like(point)
            if slide > 1:
                offset[:, 0] = radius[first, None] * tangent
                offset[:, 2] = np.cross(normal, offset[:, 0])
                offset[:, 1], offset[:, 3] = -offset[:, 0], -offset[:, 2]
            contacts.friction[group[:, :slide]] *= count / slide
            if count > slide:
                offset[:, -2] = _LEVER * rolling[first, None] * normal
                offset[:, -1] = -offset[:, -2]
                contacts.friction[group[:, slide:]] = count / (2.0 * _LEVER)
            middle = point[:, 0] if slide == 1 else 0.5 * (point[:, 0] + point[:, 1])
            to = middle[:, None] + offset
            frame = contacts.frame[group]
            move = np.einsum("gksij,gki->gksj", frame_rotation[frame], to - point)
            contacts.local_point[group] += np.where(frame[..., None] >= 0, move, 0.0)
            contacts.point[group] = to

    def share_motion(self, contacts: ContactSet, bodies: Sequence[BodyPoints]) -> None:
        """Give the material points the motion of (2).

        Raises:
            PluginError: points of a frame depend on different velocities.
        """
        *_, slide, roll = self._lengths(contacts)
        for points in bodies:
            if not _share_motion(points.contact, slide, roll, contacts.normal, points.dofs, points.values):
                raise PluginError(
                    "torsional and rolling friction need models that write the same `dofs` for all points of a frame"
                )

    def add_mobility(self, contacts: ContactSet, delassus: Array) -> None:
        """Add (3) to W, (R, R) with R ≥ m·width."""
        for _, group, share in self.groups(contacts):
            for first in group[:, 0] * self._width:
                own = slice(first, first + len(share))
                delassus[own, own] += delassus[first, first] * share

    def make_rate_rigid(self, contacts: ContactSet, rate: Array) -> None:
        """Make the velocities of obstacles in contact axes, (m, width), those of x with a spin, and (2).

        Chords of a finite turn also lead inwards, which no body can follow: all points would slide for ever.
        """
        for slide, group, _ in self.groups(contacts):
            own = rate[group]
            out = np.repeat(own[:, :slide].mean(axis=1, keepdims=True), own.shape[1], axis=1)
            if slide > 1:
                spin = 0.25 * (own[:, 0, 2] - own[:, 1, 2] - own[:, 2, 1] + own[:, 3, 1])
                out[:, :2, 2] += np.stack([spin, -spin], axis=1)
                out[:, 2:4, 1] += np.stack([-spin, spin], axis=1)
            if own.shape[1] > slide:
                out[:, -2, 1:] = 0.5 * (own[:, -2, 1:] - own[:, -1, 1:])
                out[:, -1, 1:] = -out[:, -2, 1:]
            rate[group] = out

    def count(self, contacts: ContactSet) -> int:
        """Number of contacts of which the points are made."""
        return len(_first_points(contacts.id[: contacts.count]))

    def join(self, record: ContactRecord) -> ContactRecord:
        """What the contacts did of which the points of a record are made.

        A contact has the point x, the forces of its sliding points and the moment of all of them. It slides where one
        of its sliding points does, by spin too; what rolls sticks.
        """
        *_, slide, roll = self._lengths(record)
        first = _first_points(record.id)
        which = np.repeat(np.arange(len(first)), (slide + roll)[first])
        slides = np.arange(len(which)) - first[which] < slide

        def total(values: Array) -> Array:
            return np.add.reduceat(values, first, axis=0)

        def of_sliding(values: Array) -> Array:
            return total(np.where(slides[:, None], values, 0.0))

        axes, friction = record.axes, record.tangential_impulse
        point = of_sliding(record.point) / slide[first, None]
        moment = total(np.cross(record.point - point[which], np.einsum("na,nai->ni", friction, axes[:, 1:])))
        return evolve(
            record,
            id=record.id[first],
            shape=record.shape[first],
            gap=record.gap[first],
            point=point,
            normal=record.normal[first],
            tangent=record.tangent[first],
            normal_impulse=total(record.normal_impulse),
            tangential_impulse=of_sliding(friction),
            moment_impulse=np.einsum("nai,ni->na", axes[first], moment),
            slip=of_sliding(record.slip) / slide[first, None],
            mode=np.maximum.reduceat(np.where(slides, record.mode, 0), first),
            residual=np.maximum.reduceat(record.residual, first),
        )


def _first_points(id_: IntArray) -> IntArray:
    """Of every contact the first of its points, which stand in a row."""
    own = id_ & ((1 << _FIRST_BIT) - 1)
    return np.flatnonzero(np.append(True, own[1:] != own[:-1])) if len(own) else own


def _shares(slide: int, roll: int, width: int) -> Array:
    count = slide + roll
    out = np.zeros((count, width, count, width))
    out[:, 0, :, 0] = np.eye(count) - 1.0 / count
    for a in range(1, width):
        out[slide:, a, slide:, a] = 0.5
    return out.reshape(count * width, count * width)


@compiled
def _share_motion(
    contact: IntArray, slide: IntArray, roll: IntArray, normal: Array, dofs: IntArray, values: Array
) -> bool:
    """Give the material points of a body the motion of (2); False where points of one area have other velocities."""
    a = 0
    while a < len(contact):
        c, slots = contact[a], 1
        while a + slots < len(contact) and contact[a + slots] == c:
            slots += 1
        count = slide[c] + roll[c]
        for first in range(a, a + slots if count > 1 else a):
            end = first + count * slots
            for j in range(dofs.shape[1]):
                if roll[c] > 0:
                    p, q = end - 2 * slots, end - slots
                    if dofs[p, j] != dofs[q, j]:
                        return False
                    for i in range(3):
                        half = 0.5 * (values[p, i, j] - values[q, i, j])
                        values[p, i, j], values[q, i, j] = half, -half
                mean = 0.0
                for p in range(first, first + slide[c] * slots, slots):
                    mean += _along(normal[c], values, p, j) / slide[c]
                for p in range(first, end, slots):
                    if dofs[p, j] != dofs[first, j]:
                        return False
                    lack = mean - _along(normal[c], values, p, j)
                    for i in range(3):
                        values[p, i, j] += lack * normal[c, i]
        a += count * slots
    return True


@compiled
def _along(normal: Array, values: Array, p: int, j: int) -> float:
    return normal[0] * values[p, 0, j] + normal[1] * values[p, 1, j] + normal[2] * values[p, 2, j]
