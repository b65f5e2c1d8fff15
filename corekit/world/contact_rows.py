"""Rows of contacts: carriers of all bodies summed into J, in the axes normal, tangent, normal × tangent.

    u_c = B_c·Σᵢ weightᵢ·ẋᵢ = J_c·v,    B_c = [nᵀ; tᵀ; (n × t)ᵀ]                          (1)

In a planar world B_c keeps its first two rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import MAX_CARRIERS, ContactSet
from corekit.data.state import State
from corekit.world.bodies import Body

__all__ = ["ContactRows", "tangents"]

_DENSE_VELOCITIES = 128
"""Worlds up to this many velocities keep J dense; above, J is sparse."""

_AHEAD, _BEHIND = np.array([1, 2, 0]), np.array([2, 0, 1])
"""Axes turned once forward and once back, for cross products."""


def tangents(normal: Array, previous: Array | None, plane: Array | None, out: Array) -> None:
    """First tangents of unit normals (n, 3), near `previous` (n, 3) where it is not zero.

    A planar world (`plane`: origin and two axes, (3, 3)) has the one tangent in the plane. Without a
    previous tangent the world axis least aligned with the normal is projected.
    """
    n = len(normal)
    if plane is not None:
        out[:n] = np.cross(np.cross(plane[1], plane[2]), normal)
        return
    seed = np.zeros((n, 3)) if previous is None else previous
    along = np.einsum("ni,ni->n", seed, normal)
    across = seed - along[:, None] * normal
    square = np.einsum("ni,ni->n", across, across)
    poor = square < 0.25
    if np.count_nonzero(poor):
        least = np.argmin(np.abs(normal), axis=1)
        across = np.where(
            poor[:, None], np.eye(3)[least] - normal[np.arange(n), least][:, None] * normal, across
        )
        square = np.einsum("ni,ni->n", across, across)
    np.divide(across, np.sqrt(square)[:, None], out=out[:n])


class ContactRows:
    """J of a contact set, and products with it. Rows stand contact by contact, `width` each.

    Attributes:
        matrix: J, shape (m·width, nv): a dense array or a csr_array.
    """

    def __init__(self, bodies: Sequence[Body], frame_body: IntArray, width: int) -> None:
        self._bodies = tuple(bodies)
        self._frame_body = frame_body
        self.width = width
        self.velocities = sum(body.nv for body in bodies)
        self.dense = self.velocities <= _DENSE_VELOCITIES
        self.matrix: Array | csr_array = np.zeros((0, self.velocities))
        self._dofs: list[IntArray] = [np.zeros((0, body.layout.row_width), dtype=np.int64) for body in bodies]
        self._values: list[Array] = [np.zeros((0, 3, body.layout.row_width)) for body in bodies]
        self._all_velocities = np.arange(self.velocities)
        self._basis = np.zeros((0, 3, 3))

    def _carriers(self, b: int, state: State, frame: IntArray, local: Array) -> tuple[IntArray, Array]:
        """The model's rows of points of body b: dofs (c, k) in the world's numbering, values (c, 3, k)."""
        body, count = self._bodies[b], len(frame)
        if len(self._dofs[b]) < count:
            room = max(count, 2 * len(self._dofs[b]))
            self._dofs[b] = np.zeros((room, body.layout.row_width), dtype=np.int64)
            self._values[b] = np.zeros((room, 3, body.layout.row_width))
        dofs, values = self._dofs[b][:count], self._values[b][:count]
        body.model.carrier_rows(state.parts[b], frame, local, dofs, values)
        return dofs, values

    def basis(self, contacts: ContactSet) -> Array:
        """B_c of every contact, shape (m, width, 3)."""
        m = contacts.count
        if len(self._basis) < m:
            self._basis = np.zeros((max(m, 2 * len(self._basis)), 3, 3))
        basis = self._basis[:m]
        normal, tangent = contacts.normal[:m], contacts.tangent[:m]
        basis[:, 0] = normal
        basis[:, 1] = tangent
        if self.width == 3:
            # n × t, the indices turned once forward and once back
            second = basis[:, 2]
            np.multiply(normal.take(_AHEAD, 1), tangent.take(_BEHIND, 1), out=second)
            second -= normal.take(_BEHIND, 1) * tangent.take(_AHEAD, 1)
        return basis[:, : self.width]

    def build(self, state: State, contacts: ContactSet) -> None:
        """Compute J at a world state for the contacts of a set."""
        m, w = contacts.count, self.width
        basis = self.basis(contacts)
        if len(self._bodies) == 1 and self.dense and self._one_dense_body(state, contacts, basis):
            return
        rows: list[IntArray] = []
        columns: list[IntArray] = []
        entries: list[Array] = []
        frame = contacts.frame[:m]
        owner = np.where(frame >= 0, self._frame_body[frame], -1)
        for b, body in enumerate(self._bodies):
            contact, slot = np.nonzero(owner == b)
            if not len(contact):
                continue
            local = np.ascontiguousarray(contacts.local[contact, slot])
            dofs, values = self._carriers(b, state, frame[contact, slot] - body.first_frame, local)
            part = np.matmul(basis[contact], values) * contacts.weight[contact, slot][:, None, None]
            row = (contact * w)[:, None] + np.arange(w)
            rows.append(np.broadcast_to(row[:, :, None], part.shape).ravel())
            columns.append(np.broadcast_to((dofs + body.first_v)[:, None, :], part.shape).ravel())
            entries.append(part.ravel())
        if not rows:
            empty = np.zeros((m * w, self.velocities))
            self.matrix = empty if self.dense else csr_array(empty)
            return
        row, column, entry = np.concatenate(rows), np.concatenate(columns), np.concatenate(entries)
        if self.dense:
            matrix = np.zeros((m * w, self.velocities))
            np.add.at(matrix, (row, column), entry)
            self.matrix = matrix
        else:
            self.matrix = csr_array((entry, (row, column)), shape=(m * w, self.velocities))

    def _one_dense_body(self, state: State, contacts: ContactSet, basis: Array) -> bool:
        """The common case of one dense body against obstacles: no scatter needed. False if it is not that."""
        body, m = self._bodies[0], contacts.count
        if body.layout.row_width != self.velocities or np.count_nonzero(contacts.frame[:m, 1] >= 0):
            return False
        dofs, values = self._carriers(
            0, state, np.ascontiguousarray(contacts.frame[:m, 0]), np.ascontiguousarray(contacts.local[:m, 0])
        )
        if np.count_nonzero(dofs != self._all_velocities) or np.count_nonzero(contacts.weight[:m, 0] != 1.0):
            return False
        self.matrix = np.matmul(basis, values).reshape(m * self.width, self.velocities)
        return True

    def velocity(self, v: Array) -> Array:
        """J·v, shape (m, width) [m/s]."""
        return (self.matrix @ v).reshape(-1, self.width)

    def transposed(self) -> Array:
        """Jᵀ as a new Fortran-ordered array (nv, m·width)."""
        full = self.matrix if isinstance(self.matrix, np.ndarray) else self.matrix.toarray()
        return np.array(full.T, order="F")

    def carriers_matrix(self, state: State, contacts: ContactSet) -> csr_array | Array:
        """Rows of every carrier in world axes, shape (12·m, nv); row 12·c + 3·i + a is carrier i, axis a.

        Weights are not included: a potential's forces carry them.
        """
        m = contacts.count
        frame = contacts.frame[:m]
        owner = np.where(frame >= 0, self._frame_body[frame], -1)
        rows: list[IntArray] = [np.zeros(0, dtype=np.int64)]
        columns: list[IntArray] = [np.zeros(0, dtype=np.int64)]
        entries: list[Array] = [np.zeros(0)]
        for b, body in enumerate(self._bodies):
            contact, slot = np.nonzero(owner == b)
            if not len(contact):
                continue
            local = np.ascontiguousarray(contacts.local[contact, slot])
            dofs, values = self._carriers(b, state, frame[contact, slot] - body.first_frame, local)
            row = (3 * MAX_CARRIERS * contact + 3 * slot)[:, None] + np.arange(3)
            rows.append(np.broadcast_to(row[:, :, None], values.shape).ravel())
            columns.append(np.broadcast_to((dofs + body.first_v)[:, None, :], values.shape).ravel())
            entries.append(values.ravel().copy())
        row, column, entry = np.concatenate(rows), np.concatenate(columns), np.concatenate(entries)
        shape = (3 * MAX_CARRIERS * m, self.velocities)
        if self.dense:
            matrix = np.zeros(shape)
            np.add.at(matrix, (row, column), entry)
            return matrix
        return csr_array((entry, (row, column)), shape=shape)
