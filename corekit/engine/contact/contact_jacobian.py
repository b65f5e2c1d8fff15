"""The contact Jacobian: material points of all bodies summed in the axes normal, tangent, normal × tangent.

    u_c = B_c·Σᵢ weightᵢ·ẋᵢ = J_c·v,    B_c = [nᵀ; tᵀ; (n × t)ᵀ]                          (1)

In a planar world B_c keeps its first two rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
from scipy.sparse import csr_array

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.state import State
from corekit.engine.contact.contact_kernels import (
    add_rows,
    add_rows_by_entries,
    collect_material_points,
)
from corekit.errors import PluginError
from corekit.linalg.constraint_rows import SparseRows
from corekit.linalg.vectors import largest_product, max_abs, multiply
from corekit.roles.body import Body

__all__ = ["BodyPoints", "ContactJacobian", "contact_axes"]

_DENSE_VELOCITIES = 128
"""Worlds up to this many velocities keep J dense; above, J is kept by entries."""


class BodyPoints(NamedTuple):
    """The material points of one body: its first velocity, contact and slot of each, and ẋ = values·v[dofs]."""

    first_v: int
    contact: IntArray
    slot: IntArray
    dofs: IntArray
    values: Array


def contact_axes(contacts: ContactSet, width: int) -> Array:
    """B_c of every contact, shape (m, width, 3)."""
    m = contacts.count
    axes = np.empty((m, width, 3))
    axes[:, 0], axes[:, 1] = contacts.normal[:m], contacts.tangent[:m]
    if width == 3:
        axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    return axes


@final
class ContactJacobian:
    """J of one contact set. Rows stand contact by contact, `width` each.

    Args:
        bodies: of the world.
        width: rows per contact, 3, or 2 in a planar world.
        by_entries: whether J is kept by entries in any case, for solvers that keep its structure.

    Attributes:
        dense: whether J is kept as an array (m·width, nv); else by entries.
        rows: J by entries, m·width rows.
    """

    def __init__(self, bodies: Sequence[Body], width: int, *, by_entries: bool = False) -> None:
        self._bodies, self.width = tuple(bodies), width
        self.velocities = sum(body.nv for body in bodies)
        self.dense = self.velocities <= _DENSE_VELOCITIES and not by_entries
        frames = [body.first_frame for body in bodies]
        self._first_frames: IntArray = np.array(
            [*frames, frames[-1] + len(bodies[-1].description.frames)], dtype=np.int64
        )
        self._ends: IntArray = np.zeros(len(bodies), dtype=np.int64)
        self._widest = max(body.description.jacobian_width for body in bodies)
        self._calls: list[tuple[Body, IntArray, Array, BodyPoints]] = []
        self._slots = 1
        self._dofs: list[IntArray] = [np.zeros((0, 0), dtype=np.int64)] * len(self._bodies)
        self._values = [np.zeros((0, 3, 0))] * len(self._bodies)
        self._reserve_points(64)
        self._matrix = np.zeros((0, self.velocities))
        self.rows = SparseRows(0, 0)

    def _reserve_points(self, room: int) -> None:
        self._contact, self._slot, self._frame = np.zeros((3, room), dtype=np.int64)
        self._local = np.zeros((room, 3))
        self._viewed: list[int] = []

    # — building it —

    def collect(self, state: State, contacts: ContactSet) -> None:
        """Compute the rows of the contacts' material points by the models at a world state.

        Raises:
            PluginError: a frame or a velocity that a body does not have; looked at where the number of points is new.
        """
        ends = self._find_points(contacts)
        if ends[-1] > len(self._contact):
            self._reserve_points(2 * ends[-1])
            self._find_points(contacts)
        is_new = ends != self._viewed
        if is_new:
            self._view_points(ends)
        for body, frame, local, points in self._calls:
            model = body.abilities.point_jacobian
            assert model is not None  # composition refuses shapes of others where something may touch
            model.compute_point_jacobians(
                state.body_states[body.index], frame, local, points.dofs, points.values
            )
            if is_new and not 0 <= points.dofs.min(initial=0) <= points.dofs.max(initial=0) < body.nv:
                where = f"compute_point_jacobians of {type(body.model).__name__} (body {body.name!r})"
                raise PluginError(f"{where} wrote a velocity index outside of 0 … {body.nv - 1}")

    def collect_some(self, state: State, contacts: ContactSet, which: BoolArray) -> None:
        """Compute the rows of some contacts, (m,), at another state; the others keep those that were collected last."""
        kept = [points.values.copy() for points in self.points]
        self.collect(state, contacts)
        for points, values in zip(self.points, kept, strict=True):
            others = ~which[points.contact]
            points.values[others] = values[others]

    def _find_points(self, contacts: ContactSet) -> list[int]:
        """Collect the points that there is room for; return where those of each body end."""
        self._slots = collect_material_points(
            contacts.count, self._first_frames, contacts.frame, contacts.local_point, self._ends, self._contact,
            self._slot, self._frame, self._local,
        )  # fmt: skip
        ends: list[int] = self._ends.tolist()
        return ends

    def _view_points(self, ends: list[int]) -> None:
        """Make views of the points of every body that has any; they stay as long as their numbers do."""
        self._viewed, begin = ends, 0
        self._calls = []
        for b, (body, end) in enumerate(zip(self._bodies, ends, strict=True)):
            if end > begin:
                own, n, width = slice(begin, end), end - begin, body.description.jacobian_width
                if n > len(self._dofs[b]):
                    # by body: room for all contacts at every body would be quadratic in a pile
                    self._dofs[b] = np.zeros((2 * n, width), dtype=np.int64)
                    self._values[b] = np.zeros((2 * n, 3, width))
                dofs, values = self._dofs[b][:n], self._values[b][:n]
                points = BodyPoints(body.first_v, self._contact[own], self._slot[own], dofs, values)
                if self._frame[own].max() >= len(body.description.frames):
                    raise PluginError("a contact detector names a frame that no body has")
                self._calls.append((body, self._frame[own], self._local[own], points))
            begin = end

    @property
    def points(self) -> list[BodyPoints]:
        """Every body's material points, those of bodies without any left out; views that `collect` rewrites."""
        return [points for *_, points in self._calls]

    def assemble(self, contacts: ContactSet) -> None:
        """Write J of the contacts whose points were collected."""
        rows = contacts.count * self.width
        weight, normal, tangent = contacts.weight, contacts.normal, contacts.tangent
        if self.dense:
            if len(self._matrix) == rows:
                self._matrix.fill(0.0)
            else:
                self._matrix = np.zeros((rows, self.velocities))
            matrix = self._matrix
            for *_, (first_v, contact, slot, dofs, values) in self._calls:
                add_rows(
                    self.width, first_v, contact, slot, contact, weight, normal, tangent, dofs, values, matrix
                )
            return
        shape = rows, self._slots * self._widest
        if self.rows.values.shape == shape:
            self.rows.dofs.fill(0)
            self.rows.values.fill(0.0)
        else:
            self.rows = SparseRows(*shape)
        for *_, (first_v, contact, slot, dofs, values) in self._calls:
            add_rows_by_entries(
                self.width, first_v, self._widest, contact, slot, weight, normal, tangent, dofs, values,
                self.rows.dofs, self.rows.values,
            )  # fmt: skip

    # — products —

    def multiply(self, v: Array) -> Array:
        """J·v, shape (m, width) [m/s]."""
        if self.dense:
            out = np.empty(len(self._matrix))
            multiply(self._matrix, v, out)
            return out.reshape(-1, self.width)
        return self.rows.product(v).reshape(-1, self.width)

    def largest(self, v: Array) -> float:
        """max|J·v| [m/s]; nan where an entry is nan."""
        return largest_product(self._matrix, v) if self.dense else max_abs(self.rows.product(v))

    def normal_velocity(self, v: Array) -> Array:
        """The first row of every contact times v, shape (m,) [m/s].

        It is contiguous, so that kernels are compiled for one kind of array alone.
        """
        return np.ascontiguousarray(self.multiply(v)[:, 0])

    def multiply_transposed(self, impulse: Array) -> Array:
        """Jᵀ·λ, shape (nv,) [N·s or N·m·s]."""
        if self.dense:
            return self._matrix.T @ impulse
        out = np.zeros(self.velocities)
        self.rows.add_transpose_product(impulse, out)
        return out

    def to_sparse(self) -> csr_array:
        """J without zeros, a new matrix (m·width, nv)."""
        if self.dense:
            return csr_array(self._matrix)
        return self.rows.to_sparse(self.velocities)

    def to_dense(self) -> Array:
        """J, shape (m·width, nv)."""
        if self.dense:
            return self._matrix
        return self.rows.to_dense(self.velocities)
