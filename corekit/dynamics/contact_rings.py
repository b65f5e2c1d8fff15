"""Torsional friction: a contact is four points on a ring, by rows that every solver with impulses knows.

Two areas that touch resist spin about their normal n. Where a pair of surfaces has the torsional length ℓ, the contact
at x is replaced by four of the friction μ of the pair, with one gap and

    x_k = x ± r·t₁, x ± r·t₂,    r = ℓ/μ                                                      (1)

    J_k = [nᵀ·J(x); t₁ᵀ·J(x_k); t₂ᵀ·J(x_k)]                                                   (2)

The normal rows are those of x: else the pressure could wander to one side of the ring and resist rolling. Equal rows
leave it to the solver which of them carry the load λ_n of the contact, and what slides and spins depends on that. So
the four get coordinates of their own with the mobility C, which nothing else feels:

    W_kl ← W_kl + C·(δ_kl − ¼)    along the normals of a ring, C = W_kk                         (3)

With w along n at x, w_k = w + C·(λ_k − λ̄) is 0 at every point that carries a load and not negative at the others. So
all carry the same, λ_k = λ̄, and (3) adds nothing to the motion, for any C > 0.

In pure spin ω each point has its whole friction along the ring: the moment is r·μ·λ_n = ℓ·λ_n. A contact that slides at
u ≫ r·ω as well has the friction μ·λ_n, and the moment ℓ·λ_n·r·ω/(2·u): what slides turns nearly freely.

A planar body does not spin about a normal in its plane, and needs no ring.

Source: Contensou (1963), Couplage entre frottement de glissement et frottement de pivotement dans la théorie de la
toupie, Kreiselprobleme, IUTAM Symposium, for the moment of an area that slides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.state import State
from corekit.dynamics.bodies import Body
from corekit.dynamics.contact_jacobian import BodyPoints
from corekit.dynamics.surface_pairs import FrictionTable
from corekit.errors import CompositionError, PluginError

__all__ = ["RING_POINTS", "RING_SHARE", "ContactRings", "find_rings"]

RING_POINTS: Final = 4
RING_SHARE: Final = np.eye(RING_POINTS) - 1.0 / RING_POINTS
"""δ_kl − ¼ of (3), its own square."""
_FIRST_BIT: Final = 61
"""Of an id, from which a point has its number; ids are far smaller."""


def find_rings(bodies: Sequence[Body], friction: FrictionTable) -> ContactRings | None:
    """The rings of a world; None without torsional friction.

    Raises:
        CompositionError: a surface whose points do not turn with a frame has torsional friction.
    """
    if not friction.ring.any():
        return None
    has_ring = friction.ring.max(axis=1)[friction.surface] > 0.0
    for body in bodies:
        own = body.description
        shapes = [shape for i, shape in enumerate(own.shapes) if has_ring[body.first_shape + i]]
        if any(shape.second_frame >= 0 or not _turns(body, shape.frame) for shape in shapes):
            raise CompositionError(
                f"torsional friction acts on surfaces that turn with a frame, and those of body {body.name!r} touch by "
                "points that do not spin: give the pair a coefficient in `[[world.friction]]`, or choose other shapes"
            )
    return ContactRings(friction)


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
class ContactRings:
    """Makes four contacts of one where the pair has torsional friction; they stand in a row.

    Args:
        friction: of every two surfaces.
    """

    def __init__(self, friction: FrictionTable) -> None:
        self._radius, self._surface = friction.ring, friction.surface

    def _radii(self, contacts: ContactSet) -> Array:
        """r of every contact, 0 without a ring, shape (m,)."""
        first, second = self._surface[contacts.shape[: contacts.count]].T
        return np.asarray(self._radius[first, second])

    def groups(self, contacts: ContactSet) -> IntArray:
        """The four contacts of every ring, shape (k, 4)."""
        return np.flatnonzero(self._radii(contacts) > 0.0).reshape(-1, RING_POINTS)

    def spread(self, contacts: ContactSet) -> None:
        """Replace contacts by four, which have the id of the contact but for two bits; they stand at its point."""
        copies = np.where(self._radii(contacts) > 0.0, RING_POINTS, 1)
        which = np.repeat(np.arange(contacts.count), copies)
        number = np.arange(len(which)) - np.repeat(np.cumsum(copies) - copies, copies)
        contacts.select(which)
        contacts.id[: len(which)] ^= number << _FIRST_BIT

    def place(self, contacts: ContactSet, frame_rotation: Array) -> None:
        """Move the points to (1), also where they are there already.

        Args:
            contacts: with their tangents.
            frame_rotation: of all frames, (f, 3, 3), at the state of the contacts.
        """
        radius, ring = self._radii(contacts), self.groups(contacts)
        first = ring[:, 0]
        normal, tangent, point = contacts.normal[first], contacts.tangent[first], contacts.point[ring]
        along, across = radius[first, None] * tangent, radius[first, None] * np.cross(normal, tangent)
        middle = 0.5 * (point[:, 0] + point[:, 1])
        to = middle[:, None] + np.stack([along, -along, across, -across], axis=1)
        frame = contacts.frame[ring]
        move = np.einsum("gksij,gki->gksj", frame_rotation[frame], to - point)
        contacts.local_point[ring] += np.where(frame[..., None] >= 0, move, 0.0)
        contacts.point[ring] = to

    def share_normal_motion(self, contacts: ContactSet, bodies: Sequence[BodyPoints]) -> None:
        """Give the material points of a ring the normal motion of its middle, (2).

        Raises:
            PluginError: points of a frame depend on different velocities.
        """
        on_ring = self._radii(contacts) > 0.0
        for points in bodies:
            if not _share_normal_motion(points.contact, on_ring, contacts.normal, points.dofs, points.values):
                raise PluginError(
                    "torsional friction needs models that write the same `dofs` for all points of a frame"
                )

    def add_mobility(self, contacts: ContactSet, width: int, delassus: Array) -> None:
        """Add (3) to W, (R, R) with R ≥ m·width."""
        for first in self.groups(contacts)[:, 0] * width:
            own = slice(first, first + RING_POINTS * width, width)
            delassus[own, own] += delassus[first, first] * RING_SHARE

    def make_rate_rigid(self, contacts: ContactSet, rate: Array) -> None:
        """Make the velocities of obstacles in contact axes, (m, 3), those of the middle and of a spin about the normal.

        Chords of a finite turn also lead inwards, which no body can follow: all points would slide for ever.
        """
        ring = self.groups(contacts)
        own = rate[ring]
        spin = 0.25 * (own[:, 0, 2] - own[:, 1, 2] - own[:, 2, 1] + own[:, 3, 1])
        own[:] = own.mean(axis=1, keepdims=True)
        own[:, :2, 2] += np.stack([spin, -spin], axis=1)
        own[:, 2:, 1] += np.stack([-spin, spin], axis=1)
        rate[ring] = own


@compiled
def _share_normal_motion(
    contact: IntArray, on_ring: BoolArray, normal: Array, dofs: IntArray, values: Array
) -> bool:
    """Give the points of a body on a ring their mean normal motion; False where their velocities differ."""
    a = 0
    while a < len(contact):
        c, slots = contact[a], 1
        while a + slots < len(contact) and contact[a + slots] == c:
            slots += 1
        if not on_ring[c]:
            a += slots
            continue
        n0, n1, n2 = normal[c, 0], normal[c, 1], normal[c, 2]
        for first in range(a, a + slots):
            for j in range(dofs.shape[1]):
                mean = 0.0
                for p in range(first, first + 4 * slots, slots):
                    if dofs[p, j] != dofs[first, j]:
                        return False
                    mean += 0.25 * (n0 * values[p, 0, j] + n1 * values[p, 1, j] + n2 * values[p, 2, j])
                for p in range(first, first + 4 * slots, slots):
                    lack = mean - (n0 * values[p, 0, j] + n1 * values[p, 1, j] + n2 * values[p, 2, j])
                    values[p, 0, j] += lack * n0
                    values[p, 1, j] += lack * n1
                    values[p, 2, j] += lack * n2
        a += 4 * slots
    return True
