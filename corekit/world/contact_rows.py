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
from corekit.linalg.array_table import ArrayTable
from corekit.world.bodies import Body
from corekit.world.contact_calls import spread, take_rows

__all__ = ["ContactRows"]

_DENSE_VELOCITIES = 128
"""Worlds up to this many velocities keep J dense; above, J is sparse."""

_NO_INDEX: IntArray = np.zeros(0, dtype=np.int64)


class _Own:
    """Buffers for the rows of the carriers of one body.

    Attributes:
        begin, end: which of all carriers are its own.
        contact, slot: which carrier of which contact they are, views.
        dofs, values: the model's rows, (room, k) and (room, 3, k).
        views: what the model takes: frames and points of the carriers, and the rows to write.
    """

    def __init__(self, body: Body) -> None:
        self.first_v, self.index, self.model = body.first_v, body.index, body.model
        self.width = body.layout.row_width
        self.contact = self.slot = _NO_INDEX
        self.allocate(0)

    def allocate(self, room: int) -> None:
        """Make room for so many carriers."""
        self.begin = self.end = 0
        self.dofs: IntArray = np.zeros((room, self.width), dtype=np.int64)
        self.values = np.zeros((room, 3, self.width))
        self.views = _NO_INDEX, np.zeros((0, 3)), self.dofs[:0], self.values[:0]


class ContactRows:
    """J of a contact set, and products with it. Rows stand contact by contact, `width` each.

    Args:
        room: contacts there is room for at first; who has more asks for it by `reserve` before.

    `matrix` is J, shape (m·width, nv): a dense array, a view of a buffer that the next `build` rewrites, or a
    csr_array. It is built where it is first asked for, before the next change of the contacts.

    Attributes:
        table: for `contact_calls`; replaced when there are more carriers than before.
        wanting: whether J is still to be built. count: of how many contacts it was.
    """

    __slots__ = (
        "_arrays", "_carriers", "_contact", "_contacts", "_dense", "_ends", "_fixed", "_frame", "_local", "_own",
        "_room", "_single", "_slot", "_sparse_matrix", "_spread", "_spread_views", "count", "dense", "table",
        "velocities", "wanting", "width",
    )  # fmt: skip

    def __init__(self, bodies: Sequence[Body], width: int, room: int) -> None:
        self._own = tuple(_Own(body) for body in bodies)
        self._single = self._own[0] if len(self._own) == 1 else None
        frames = [body.first_frame for body in bodies]
        self._fixed = (
            np.array([*frames, frames[-1] + len(bodies[-1].layout.frames)], dtype=np.int64),
            np.array([body.first_v for body in bodies], dtype=np.int64),
        )
        self._ends: IntArray = np.zeros(len(self._own), dtype=np.int64)
        self.width = width
        self.velocities = sum(body.nv for body in bodies)
        self.dense = self.velocities <= _DENSE_VELOCITIES
        self.wanting = False
        self._contacts: ContactSet | None = None
        self._spread: tuple[Array, IntArray] = np.zeros((0, 0)), np.zeros((0, 0), dtype=np.int64)
        self._spread_views: tuple[IntArray, Array] = self._spread[1], self._spread[0]
        self._sparse_matrix = csr_array((0, self.velocities))
        self.count = 0
        self._allocate(64, room)

    def _allocate(self, carriers: int, contacts: int) -> None:
        """Make room for so many carriers of every body, and dense rows of so many contacts."""
        self._carriers, self._room = carriers, contacts
        self._contact, self._slot, self._frame = np.zeros((3, carriers), dtype=np.int64)
        self._local = np.zeros((carriers, 3))
        self._dense = np.zeros((contacts * self.width if self.dense else 0, self.velocities))
        for own in self._own:
            own.allocate(carriers)
        parts = (each for own in self._own for each in (own.dofs, own.values))
        self._arrays = ArrayTable(
            *self._fixed, self._ends, self._contact, self._slot, self._frame, self._local, self._dense, *parts
        )
        self.table = self._arrays.table

    def reserve(self, room: int) -> None:
        """Make room for so many contacts; what was collected is lost."""
        self._allocate(self._carriers, room)

    def collect(self, state: State, contacts: ContactSet, found: int) -> bool:
        """Have the models write the rows of the carriers that were `found` at a world state; False without room.

        Then there is some, and the carriers are to be looked for again.
        """
        if found > self._carriers:
            self._allocate(2 * found, self._room)
            return False
        single = self._single
        if single is not None:
            if found != single.end:
                self._view(single, 0, found)
            if found:
                frame, local, dofs, values = single.views
                single.model.carrier_rows(state.parts[0], frame, local, dofs, values)
        else:
            begin = 0
            for own, end in zip(self._own, self._ends.tolist(), strict=True):
                if begin != own.begin or end != own.end:
                    self._view(own, begin, end)
                if end > begin:
                    own.model.carrier_rows(state.parts[own.index], *own.views)
                begin = end
        self._contacts, self.wanting = contacts, True
        return True

    def _view(self, own: _Own, begin: int, end: int) -> None:
        """Take views of a body's carriers."""
        own.begin, own.end = begin, end
        part = slice(begin, end)
        own.contact, own.slot = self._contact[part], self._slot[part]
        own.views = self._frame[part], self._local[part], own.dofs[: end - begin], own.values[: end - begin]

    @property
    def matrix(self) -> Array | csr_array:
        """J."""
        if self.wanting and self._contacts is not None:
            self._finish(self._contacts)
        return self._dense[: self.count * self.width] if self.dense else self._sparse_matrix

    def _finish(self, contacts: ContactSet) -> None:
        self.wanting, self.count = False, contacts.count
        if self.dense:
            take_rows(contacts.count, self.width, contacts.arrays.table, self.table)
        else:
            self._sparse_matrix = self._sparse(contacts)

    def basis(self, contacts: ContactSet) -> Array:
        """B_c of every contact, shape (m, width, 3)."""
        m = contacts.count
        basis = np.empty((m, self.width, 3))
        basis[:, 0], basis[:, 1] = contacts.normal[:m], contacts.tangent[:m]
        if self.width == 3:
            basis[:, 2] = np.cross(basis[:, 0], basis[:, 1])
        return basis

    def spread(self, contacts: ContactSet) -> tuple[IntArray, Array]:
        """J of the first body by entries: dofs and values, both of shape (m·width, slots·k), views.

        Args:
            contacts: the set last collected.
        """
        own, count, table = self._own[0], contacts.count, contacts.arrays.table
        values, dofs = self._spread
        slots = spread(own.end, count, self.width, table, self.table, dofs, values)
        rows, wide = count * self.width, slots * own.width
        if rows > len(values) or values.shape[1] != wide:
            self._spread = values, dofs = (
                np.zeros((2 * rows, wide)),
                np.zeros((2 * rows, wide), dtype=np.int64),
            )
            spread(own.end, count, self.width, table, self.table, dofs, values)
            self._spread_views = dofs[:rows], values[:rows]
        elif rows != len(self._spread_views[0]):
            self._spread_views = dofs[:rows], values[:rows]
        return self._spread_views

    def _sparse(self, contacts: ContactSet) -> csr_array:
        m, w = contacts.count, self.width
        basis = self.basis(contacts)
        rows: list[IntArray] = [_NO_INDEX]
        columns: list[IntArray] = [_NO_INDEX]
        entries: list[Array] = [np.zeros(0)]
        for own in self._own:
            count, contact, slot = own.end - own.begin, own.contact, own.slot
            part = np.matmul(basis[contact], own.values[:count])
            part *= contacts.weight[contact, slot][:, None, None]
            row = (contact * w)[:, None] + np.arange(w)
            rows.append(np.broadcast_to(row[:, :, None], part.shape).ravel())
            dofs = own.dofs[:count] + own.first_v
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
        them.
        """
        if not (self.wanting and self._contacts is contacts):
            for own in self._own:
                if own.end > own.begin:
                    own.model.carrier_rows(state.parts[own.index], *own.views)
        return [
            (own.first_v, own.end - own.begin, own.contact, own.slot, own.dofs, own.values)
            for own in self._own
            if own.end > own.begin
        ]
