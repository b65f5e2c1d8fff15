"""Rows of contacts: carriers of all bodies summed into J, in the axes normal, tangent, normal × tangent.

    u_c = B_c·Σᵢ weightᵢ·ẋᵢ = J_c·v,    B_c = [nᵀ; tᵀ; (n × t)ᵀ]                          (1)

In a planar world B_c keeps its first two rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.state import State
from corekit.world.bodies import Body
from corekit.world.contact_kernels import add_rows, carriers_of, spread_rows

__all__ = ["ContactRows"]

_DENSE_VELOCITIES = 128
"""Worlds up to this many velocities keep J dense; above, J is sparse."""

_NO_INDEX: IntArray = np.zeros(0, dtype=np.int64)


class _Carriers:
    """Buffers for the carriers of one body's frames, and for the rows of their points.

    Attributes:
        contact, slot: which carrier of which contact, (c,).
        frame, local: where it sits, in the body's own numbering, (c,) and (c, 3) [m].
        dofs, values: the model's rows, (c, k) and (c, 3, k).
    """

    def __init__(self, body: Body, room: int = 64) -> None:
        self.body = body
        self.first, self.last = body.first_frame, body.first_frame + len(body.layout.frames)
        self._model, self._index = body.model, body.index
        self._allocate(room)

    def _allocate(self, room: int) -> None:
        k = self.body.layout.row_width
        self.contact: IntArray = np.zeros(room, dtype=np.int64)
        self.slot: IntArray = np.zeros(room, dtype=np.int64)
        self.frame: IntArray = np.zeros(room, dtype=np.int64)
        self.local = np.zeros((room, 3))
        self.dofs: IntArray = np.zeros((room, k), dtype=np.int64)
        self.values = np.zeros((room, 3, k))
        self._count = 0
        self._views = self.frame[:0], self.local[:0], self.dofs[:0], self.values[:0]

    def collect(self, state: State, contacts: ContactSet) -> int:
        """Find this body's carriers in a set and have the model write their rows; returns how many."""
        count = self._find(contacts)
        if count > len(self.contact):
            self._allocate(2 * count)
            self._find(contacts)
        if count:
            if count != self._count:
                self._count = count
                self._views = self.frame[:count], self.local[:count], self.dofs[:count], self.values[:count]
            self._model.carrier_rows(state.parts[self._index], *self._views)
        return count

    def _find(self, contacts: ContactSet) -> int:
        return carriers_of(
            contacts.count, self.first, self.last, contacts.frame, contacts.local,
            self.contact, self.slot, self.frame, self.local,
        )  # fmt: skip


class ContactRows:
    """J of a contact set, and products with it. Rows stand contact by contact, `width` each.

    `matrix` is J, shape (m·width, nv): a dense array, a view of a buffer that the next `build` rewrites, or a
    csr_array. With `lazy` it is built where it is first asked for, before the next change of the contacts.
    """

    def __init__(self, bodies: Sequence[Body], width: int) -> None:
        self._carriers = tuple(_Carriers(body) for body in bodies)
        self._single = self._carriers[0] if len(self._carriers) == 1 else None
        self.width = width
        self.velocities = sum(body.nv for body in bodies)
        self.dense = self.velocities <= _DENSE_VELOCITIES
        self.lazy = False
        self._buffer = np.zeros((0, self.velocities))
        self._matrix: Array | csr_array = self._buffer
        self._collected: tuple[ContactSet, Sequence[int]] | None = None
        self._wanting = False
        self._spread: tuple[Array, IntArray] = np.zeros((0, 0)), np.zeros((0, 0), dtype=np.int64)

    @property
    def matrix(self) -> Array | csr_array:
        """J."""
        if self._wanting and self._collected is not None:
            self._finish(*self._collected)
        return self._matrix

    def _finish(self, contacts: ContactSet, counts: Sequence[int]) -> None:
        self._wanting = False
        self._matrix = self._dense(contacts, counts) if self.dense else self._sparse(contacts, counts)

    def basis(self, contacts: ContactSet) -> Array:
        """B_c of every contact, shape (m, width, 3)."""
        m = contacts.count
        basis = np.empty((m, self.width, 3))
        basis[:, 0], basis[:, 1] = contacts.normal[:m], contacts.tangent[:m]
        if self.width == 3:
            basis[:, 2] = np.cross(basis[:, 0], basis[:, 1])
        return basis

    def build(self, state: State, contacts: ContactSet) -> None:
        """Have the models write the rows of the contacts of a set at a world state."""
        counts = [own.collect(state, contacts) for own in self._carriers]
        self._collected, self._wanting = (contacts, counts), True
        if not self.lazy:
            self._finish(contacts, counts)

    def spread(self, contacts: ContactSet) -> tuple[IntArray, Array]:
        """J of the first body by entries: dofs and values, both of shape (m·width, slots·k), views.

        Args:
            contacts: the set last built.
        """
        own, rows = self._carriers[0], contacts.count * self.width
        assert self._collected is not None
        count = self._collected[1][0]
        values, dofs = self._spread
        taken = (
            count, rows, self.width, own.contact, own.slot, contacts.weight, contacts.normal, contacts.tangent,
            own.dofs, own.values,
        )  # fmt: skip
        slots = spread_rows(*taken, dofs, values)
        if rows > len(values) or values.shape[1] != slots * own.dofs.shape[1]:
            shape = (2 * rows, slots * own.dofs.shape[1])
            self._spread = values, dofs = np.zeros(shape), np.zeros(shape, dtype=np.int64)
            spread_rows(*taken, dofs, values)
        return dofs[:rows], values[:rows]

    def _dense(self, contacts: ContactSet, counts: Sequence[int]) -> Array:
        rows = contacts.count * self.width
        if rows > len(self._buffer):
            self._buffer = np.zeros((2 * rows, self.velocities))
        matrix = self._buffer[:rows]
        matrix.fill(0.0)
        for own, count in zip(self._carriers, counts, strict=True):
            if count:
                add_rows(
                    count, self.width, own.body.first_v, own.contact, own.slot, contacts.weight,
                    contacts.normal, contacts.tangent, own.dofs, own.values, matrix,
                )  # fmt: skip
        return matrix

    def _sparse(self, contacts: ContactSet, counts: Sequence[int]) -> csr_array:
        m, w = contacts.count, self.width
        basis = self.basis(contacts)
        rows: list[IntArray] = [_NO_INDEX]
        columns: list[IntArray] = [_NO_INDEX]
        entries: list[Array] = [np.zeros(0)]
        for own, count in zip(self._carriers, counts, strict=True):
            contact, slot = own.contact[:count], own.slot[:count]
            part = np.matmul(basis[contact], own.values[:count])
            part *= contacts.weight[contact, slot][:, None, None]
            row = (contact * w)[:, None] + np.arange(w)
            rows.append(np.broadcast_to(row[:, :, None], part.shape).ravel())
            dofs = own.dofs[:count] + own.body.first_v
            columns.append(np.broadcast_to(dofs[:, None, :], part.shape).ravel())
            entries.append(part.ravel())
        row, column, entry = np.concatenate(rows), np.concatenate(columns), np.concatenate(entries)
        return csr_array((entry, (row, column)), shape=(m * w, self.velocities))

    def velocity(self, v: Array) -> Array:
        """J·v, shape (m, width) [m/s]."""
        return (self.matrix @ v).reshape(-1, self.width)

    def stacked(self) -> Array:
        """J as a dense array (m·width, nv), possibly the buffer itself."""
        matrix = self.matrix
        return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()

    def carriers(
        self, state: State, contacts: ContactSet
    ) -> list[tuple[int, int, IntArray, IntArray, IntArray, Array]]:
        """Every body's carriers at a state: (first velocity, count, contact, slot, dofs, values), views.

        Dofs are in the body's own numbering, values in world axes without weights: a potential's forces carry
        them. With `lazy` those of the last `build` are given.
        """
        if self.lazy and self._wanting and self._collected is not None and self._collected[0] is contacts:
            counts = self._collected[1]
        else:
            counts = [own.collect(state, contacts) for own in self._carriers]
        return [
            (own.body.first_v, count, own.contact, own.slot, own.dofs, own.values)
            for own, count in zip(self._carriers, counts, strict=True)
            if count
        ]
