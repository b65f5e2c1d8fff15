"""A contact potential's share of the step equation: low-rank terms in the space of the carriers.

With P the rows of all carriers (12 numbers a contact), f_c, K_c, D_c block diagonal over contacts:

    ρ ← ρ − h·Pᵀf_c,      A ← A + Pᵀ·C·P,     C = θh·D_c + θ²h²·K_c                            (1)

and with G the inverse of A before (1), y = P·x,   x = G·b  solved without the term,

    (A + PᵀCP)⁻¹·b = x − G·Pᵀ·(I + C·P·G·Pᵀ)⁻¹·C·y                                          (2)

Where no rows are eliminated beside, `contact_matrix` puts C into one matrix of all bodies instead of (2).

Source for (2): Woodbury (1950); written so that C may be singular and unsymmetric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import MAX_CARRIERS, ContactSet
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.linalg.sparse import SparsePattern
from corekit.roles.contact import ContactPotential, PotentialTerms
from corekit.world.bodies import Body
from corekit.world.carrier_kernels import (
    add_blocks,
    block_products,
    carrier_rates,
    count_places,
    place_carriers,
    places,
    spread_forces,
)
from corekit.world.contact_stage import ContactStage

__all__ = ["ContactForces"]

_SPACE = 3 * MAX_CARRIERS
_NO_INDEX: IntArray = np.zeros(0, dtype=np.int64)


def _empty_terms(m: int) -> PotentialTerms:
    return PotentialTerms(
        energy=np.zeros(m),
        force=np.zeros((m, _SPACE)),
        stiffness=np.zeros((m, _SPACE, _SPACE)),
        damping=np.zeros((m, _SPACE, _SPACE)),
        normal_force=np.zeros(m),
        tangential_force=np.zeros((m, 2)),
    )


class ContactForces:
    """Evaluates a potential on the current contacts and carries (1)–(2).

    Attributes:
        potential: who computes the force.
        terms: of the contacts at the last evaluation.
        obstacle_velocity: at the contacts, as it was given to the last evaluation, or None.
        info: what the potential reported.
    """

    def __init__(self, potential: ContactPotential, bodies: Sequence[Body], stage: ContactStage) -> None:
        self.potential = potential
        self._stage = stage
        self.terms = self._nothing = _empty_terms(0)
        self.info = SolveInfo()
        self._velocities = sum(body.nv for body in bodies)
        no_dofs: IntArray = np.zeros((0, 0), dtype=np.int64)
        self._table = 0, _NO_INDEX, _NO_INDEX, _NO_INDEX, no_dofs, np.zeros((0, 3, 0))
        self._whose = self._width = _NO_INDEX
        self._allocate(64)
        self._inverse_rows = np.zeros((0, 0))
        self._coefficient = np.zeros((0, 0))
        self.obstacle_velocity: Array | None = None
        self._moving: Array | None = None
        self._used = np.zeros((0, 0))
        self._lu: tuple[Array, Array] | None = None

    def _allocate(self, room: int) -> None:
        """Make buffers for so many contacts."""
        self._of: IntArray = np.full((room, MAX_CARRIERS), -1, dtype=np.int64)
        self._position, self._rate = np.zeros((2, room, MAX_CARRIERS, 3))
        self._room = _empty_terms(room)
        self._dirty, self._viewed = 0, -1

    def _views(self, m: int) -> tuple[PotentialTerms, Array, Array]:
        """The first m rows of terms, positions and rates, kept as long as m stays."""
        if m != self._viewed:
            room, self._viewed = self._room, m
            terms = PotentialTerms(
                room.energy[:m], room.force[:m], room.stiffness[:m], room.damping[:m], room.normal_force[:m],
                room.tangential_force[:m],
            )  # fmt: skip
            self._taken = terms, self._position[:m], self._rate[:m]
        return self._taken

    def clear(self) -> None:
        """Forget the last evaluation; what `factorise` prepared stays until the next one."""
        self.terms = self._nothing

    @property
    def count(self) -> int:
        """Contacts of the last evaluation."""
        return len(self.terms.energy)

    def evaluate(self, trial: State, velocity: Array, step: float, obstacle_velocity: Array | None) -> None:
        """Forces and derivatives of the stage's current contacts at a trial state with velocity v̄."""
        contacts, m = self._stage.contacts, self._stage.contacts.count
        if m > len(self._of):
            self._allocate(2 * m)
        self._take_carriers(trial, contacts)
        terms, position, rate = self._views(m)
        room, poses = self._room, self._stage.scene.poses
        place_carriers(
            self._dirty, m, contacts.frame, contacts.local, poses.frame_position, poses.frame_rotation,
            *self._table, velocity, self._of, self._position, self._rate, room.energy, room.force, room.stiffness,
            room.damping, room.normal_force, room.tangential_force,
        )  # fmt: skip
        self.terms, self._dirty = terms, m
        self.obstacle_velocity, self._moving = obstacle_velocity, None
        if obstacle_velocity is not None:
            along = np.einsum("mwi,mw->mi", self._stage.rows.basis(contacts), obstacle_velocity)
            moving = along[:, None, :] * (contacts.frame[:m] >= 0)[:, :, None]
            self._moving = moving
            rate -= moving
        self.info = self.potential.evaluate(contacts, position, rate, step, terms)

    def _take_carriers(self, trial: State, contacts: ContactSet) -> None:
        """Fill the table of `carrier_kernels`, all bodies one after the other."""
        bodies = self._stage.rows.carriers(trial, contacts)
        if len(bodies) == 1 and bodies[0][0] == 0:
            # of one body the rows' own buffers will do: they stay until its contacts are taken again
            _, count, contact, slot, dofs, values = bodies[0]
            if dofs is not self._whose:
                self._whose, self._width = dofs, np.full(len(dofs), dofs.shape[1])
            self._table = count, contact, slot, self._width, dofs, values
            return
        total = sum(body[1] for body in bodies)
        widest = max((body[4].shape[1] for body in bodies), default=0)
        contact, slot, width = (np.empty(total, dtype=np.int64) for _ in range(3))
        dofs, values = np.zeros((total, widest), dtype=np.int64), np.zeros((total, 3, widest))
        at = 0
        for first, count, own_contact, own_slot, own_dofs, own_values in bodies:
            k, part = own_dofs.shape[1], slice(at, at + count)
            contact[part], slot[part], width[part] = own_contact[:count], own_slot[:count], k
            np.add(own_dofs[:count], first, out=dofs[part, :k])
            values[part, :, :k] = own_values[:count]
            at += count
        self._table = total, contact, slot, width, dofs, values

    def start(self, start: State, step: float, beta: float, obstacle_velocity: Array | None) -> Array:
        """Evaluate at the start of a step; what is added to b, (nv,): h·(f + D·v₀), and an obstacle's way, by βh²·K."""
        self.evaluate(start, start.v, step, obstacle_velocity)
        extra = step * (self.generalised() + self.damping_force(start.v))
        return extra + beta * step * step * self.obstacle_stiffness_force()

    def generalised(self) -> Array:
        """Pᵀ·f_c, shape (nv,) [N or N·m]."""
        return self._spread(self.terms.force)

    def add_impulse(self, step: float, out: Array) -> None:
        """Add step·Pᵀ·f_c to `out` (nv,)."""
        if self.count:
            spread_forces(*self._table, self.terms.force, step, out)

    def _spread(self, force: Array) -> Array:
        out = np.zeros(self._velocities)
        if self.count:
            spread_forces(*self._table, force, 1.0, out)
        return out

    def damping_force(self, velocity: Array) -> Array:
        """Pᵀ·D_c·P·v, shape (nv,)."""
        return self.tangent_product(velocity, 1.0, 0.0)

    def obstacle_stiffness_force(self) -> Array | float:
        """Pᵀ·K_c·(velocity of the obstacle), shape (nv,): what its motion adds to −Pᵀ·K_c·P·v."""
        if self._moving is None:
            return 0.0
        rate = np.ascontiguousarray(self._moving).reshape(-1, _SPACE)
        out = np.zeros_like(rate)
        block_products(self.terms.stiffness, self.terms.damping, 1.0, 0.0, rate, out)
        return self._spread(out)

    def tangent_product(self, velocity: Array, damping: float, stiffness: float) -> Array:
        """Pᵀ·(damping·D_c + stiffness·K_c)·P·v, shape (nv,)."""
        rate = np.zeros((self.count, MAX_CARRIERS, 3))
        if self.count:
            carrier_rates(*self._table, velocity, rate)
        out = np.zeros((self.count, _SPACE))
        block_products(
            self.terms.stiffness, self.terms.damping, stiffness, damping, rate.reshape(-1, _SPACE), out
        )
        return self._spread(out)

    # — in a matrix of all bodies —

    def add_to(
        self, dense: Array, pattern: SparsePattern | None, data: Array, damping: float, stiffness: float
    ) -> bool:  # fmt: skip
        """Add Pᵀ·C·P to a dense matrix, or to `data` of a pattern; False if it lacks room."""
        _, _, _, width, dofs, values = self._table
        start, row = (pattern.start, pattern.row) if pattern is not None else (_NO_INDEX, _NO_INDEX)
        return bool(
            add_blocks(
                self.count, self._of, width, dofs, values, self.terms.stiffness, self.terms.damping, stiffness,
                damping, start, row, data, dense,
            )
        )  # fmt: skip

    def couplings(self) -> tuple[IntArray, IntArray]:
        """Rows and columns of every entry that the contacts can touch, with repetitions."""
        _, _, _, width, dofs, _ = self._table
        total = count_places(self.count, self._of, width)
        rows, columns = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
        places(self.count, self._of, width, dofs, rows, columns)
        return rows, columns

    # — beside factorised bodies —

    def factorise(self, columns: Callable[[Array], None], damping: float, stiffness: float) -> bool:
        """Prepare (2) for C = damping·D_c + stiffness·K_c; `columns` applies G in place."""
        if not self.count or (damping == 0.0 and stiffness == 0.0):
            self._lu = None
            return True
        total, _, _, width, dofs, values = self._table
        rows = np.zeros((3 * total, self._velocities))
        for p in range(total):
            rows[3 * p : 3 * p + 3, dofs[p, : width[p]]] = values[p, :, : width[p]]
        self._used = rows
        block = damping * self.terms.damping + stiffness * self.terms.stiffness
        self._coefficient = np.zeros((3 * total, 3 * total))
        for c, of in enumerate(self._of[: self.count]):
            mine = np.flatnonzero(of >= 0)
            index = (3 * of[mine][:, None] + np.arange(3)).ravel()
            inside = (3 * mine[:, None] + np.arange(3)).ravel()
            self._coefficient[np.ix_(index, index)] = block[c][np.ix_(inside, inside)]
        inverse = np.array(rows.T, order="F")
        columns(inverse)
        self._inverse_rows = inverse
        small = self._coefficient @ (rows @ inverse)
        small[np.diag_indices_from(small)] += 1.0
        lu, pivots, info = dgetrf(small)
        self._lu = (lu, pivots)
        return info == 0

    def reply(self, x: Array) -> Array:
        """−Pᵀ·C·P·x' of the solution x' of the full matrix, given x = G·b: what to add to b for G to give x'."""
        if self._lu is None:
            return np.zeros_like(x)
        answer, _ = dgetrs(*self._lu, self._coefficient @ (self._used @ x))
        return -(self._used.T @ answer)

    def correct(self, block: Array) -> None:
        """Turn x = G·b, shape (nv,) or (nv, R), into the solution of the full matrix by (2), in place."""
        if self._lu is None:
            return
        seen = self._coefficient @ (self._used @ block)
        answer, _ = dgetrs(*self._lu, seen)
        block -= self._inverse_rows @ answer.reshape(seen.shape)
