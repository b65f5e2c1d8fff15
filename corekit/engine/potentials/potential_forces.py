"""The terms of a contact potential in the step equation, from the space of the material points.

With P the rows of all points (12 numbers per contact), f_c, K_c, D_c block diagonal over contacts,

    r ← r + h_f·Pᵀf_c,     A ← A + Pᵀ·C·P,     C = c_v·D_c + c_q·K_c                              (1)

at the velocity about which both are expanded. C may be singular and unsymmetric.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import MAX_MATERIAL_POINTS, ContactSet
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.engine.contact.contact_jacobian import ContactJacobian, contact_axes
from corekit.engine.contact.contact_pipeline import ContactPipeline
from corekit.engine.potentials.material_point_kernels import (
    add_blocks,
    add_generalised_forces,
    block_products,
    count_entries,
    entry_places,
    point_velocities,
    update_points,
)
from corekit.engine.step.linearisation import LinearisationPoint
from corekit.linalg.matrices import Dense, Sparse
from corekit.roles.body import Body
from corekit.roles.contact import ContactPotential, PotentialTerms

__all__ = ["PotentialForces"]

_SPACE = 3 * MAX_MATERIAL_POINTS
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


class PotentialForces:
    """Evaluates a potential on the current contacts and applies (1).

    Attributes:
        potential: the component that computes the force.
        terms: of the contacts at the last evaluation. count: how many there are.
        obstacle_velocity: at the contacts, as it was given to the last evaluation, or None.
        info: what the potential reported.
    """

    def __init__(
        self,
        potential: ContactPotential,
        bodies: Sequence[Body],
        pipeline: ContactPipeline,
        jacobian: ContactJacobian,
    ) -> None:
        self.potential = potential
        self._bodies, self._pipeline, self._jacobian = tuple(bodies), pipeline, jacobian
        self.terms = self._nothing = _empty_terms(0)
        self.count = 0
        self.info = SolveInfo()
        self._velocities = sum(body.nv for body in bodies)
        no_dofs: IntArray = np.zeros((0, 0), dtype=np.int64)
        self._table = 0, _NO_INDEX, _NO_INDEX, _NO_INDEX, no_dofs, np.zeros((0, 3, 0))
        self._one_width = _NO_INDEX
        self._allocate(64)
        self.obstacle_velocity: Array | None = None

    def _allocate(self, room: int) -> None:
        """Make buffers for so many contacts."""
        self._of: IntArray = np.full((room, MAX_MATERIAL_POINTS), -1, dtype=np.int64)
        self._position, self._rate = np.zeros((2, room, MAX_MATERIAL_POINTS, 3))
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

    def apart(self, jacobian: ContactJacobian) -> PotentialForces:
        """The same potential with terms of its own, by another Jacobian."""
        return PotentialForces(self.potential, self._bodies, self._pipeline, jacobian)

    def clear(self) -> None:
        """Forget the last evaluation."""
        self.terms, self.count = self._nothing, 0

    def update(
        self,
        state: State,
        velocity: Array,
        step: float,
        interval: tuple[float, float] | None,
        *,
        at_start: bool = False,
    ) -> int:
        """Find the contacts at a state and evaluate them with the velocities given; return how many there are.

        Args:
            step: h [s], which the potential is given.
            interval: two times, of whose mean the velocity of obstacles is [s]; None: it is that of the state's time.
            at_start: whether the shapes are placed at the state, with which the step was begun.
        """
        pipeline, time = self._pipeline, state.time
        # terms of another state must not be reported for this one
        self.clear()
        contacts = pipeline.contacts = pipeline.detect_at_start() if at_start else pipeline.detect(state)
        if contacts.count:
            t0, t1 = (time - step, time) if interval is None else interval
            pipeline.assign_tangents(contacts)
            self._jacobian.collect(state, contacts)
            moving = pipeline.obstacle_velocity(contacts, time, t0, t1, instant=interval is None)
            self.evaluate(contacts, velocity, step, moving)
        return contacts.count

    def linearise(self, start: State, point: LinearisationPoint) -> Array | None:
        """Evaluate the potential at a point of the θ family; its part of r, None where nothing touches."""
        at, interval = point.at, (start.time, start.time + point.step)
        if not self.update(at, at.v, point.step, interval, at_start=at is start):
            return None
        out = np.zeros(self._velocities)
        self.add_forces(point.force_factor, out)
        return out

    def evaluate(
        self, contacts: ContactSet, velocity: Array, step: float, obstacle_velocity: Array | None
    ) -> None:
        """Compute forces and derivatives of contacts whose material points were collected."""
        m = contacts.count
        if m > len(self._of):
            self._allocate(2 * m)
        self._load_points()
        terms, position, rate = self._views(m)
        room, poses = self._room, self._pipeline.scene.poses
        update_points(
            self._dirty, m, contacts.frame, contacts.local_point, poses.frame_position, poses.frame_rotation,
            *self._table, velocity, self._of, self._position, self._rate, room.energy, room.force, room.stiffness,
            room.damping, room.normal_force, room.tangential_force,
        )  # fmt: skip
        self.terms, self.count, self._dirty = terms, m, m
        self.obstacle_velocity = obstacle_velocity
        if obstacle_velocity is not None:
            along = np.einsum("mwi,mw->mi", contact_axes(contacts, self._pipeline.width), obstacle_velocity)
            rate -= along[:, None, :] * (contacts.frame[:m] >= 0)[:, :, None]
        self.info = self.potential.evaluate(contacts, position, rate, step, terms)

    def _load_points(self) -> None:
        """Fill the table of `material_point_kernels`, all bodies one after the other."""
        bodies = self._jacobian.points
        if len(bodies) == 1 and bodies[0].first_v == 0:
            _, contact, slot, dofs, values = bodies[0]
            if len(self._one_width) != len(dofs):
                self._one_width = np.full(len(dofs), dofs.shape[1])
            self._table = len(contact), contact, slot, self._one_width, dofs, values
            return
        total = sum(len(points.contact) for points in bodies)
        widest = max((points.dofs.shape[1] for points in bodies), default=0)
        contact, slot, width = (np.empty(total, dtype=np.int64) for _ in range(3))
        dofs, values = np.zeros((total, widest), dtype=np.int64), np.zeros((total, 3, widest))
        at = 0
        for points in bodies:
            k, own = points.dofs.shape[1], slice(at, at + len(points.contact))
            contact[own], slot[own], width[own] = points.contact, points.slot, k
            np.add(points.dofs, points.first_v, out=dofs[own, :k])
            values[own, :, :k] = points.values
            at = own.stop
        self._table = total, contact, slot, width, dofs, values

    def generalised(self) -> Array:
        """Pᵀ·f_c, shape (nv,) [N or N·m]."""
        return self._spread(self.terms.force)

    def add_forces(self, factor: float, out: Array) -> None:
        """Add factor·Pᵀ·f_c to `out` (nv,)."""
        if self.count:
            add_generalised_forces(*self._table, self.terms.force, factor, out)

    def _spread(self, force: Array) -> Array:
        out = np.zeros(self._velocities)
        if self.count:
            add_generalised_forces(*self._table, force, 1.0, out)
        return out

    def tangent_product(
        self, velocity: Array, damping: float, stiffness: float, *, transposed: bool = False
    ) -> Array:
        """Pᵀ·(damping·D_c + stiffness·K_c)·P·v, shape (nv,), or that of the transposes of D_c and K_c."""
        rate, terms = np.zeros((self.count, MAX_MATERIAL_POINTS, 3)), self.terms
        if self.count:
            point_velocities(*self._table, velocity, rate)
        rate = rate.reshape(-1, _SPACE)
        out = np.zeros_like(rate)
        by_place, by_rate = terms.stiffness, terms.damping
        if transposed:
            by_place, by_rate = (
                np.ascontiguousarray(np.swapaxes(each, 1, 2)) for each in (by_place, by_rate)
            )
        block_products(by_place, by_rate, stiffness, damping, rate, out)
        return self._spread(out)

    # — in a matrix of all bodies —

    def add_to(self, matrix: Dense | Sparse, damping: float, stiffness: float) -> bool:
        """Add Pᵀ·C·P for C = damping·D_c + stiffness·K_c; False if the pattern lacks room."""
        _, _, _, width, dofs, values = self._table
        start, row, dense = _NO_INDEX, _NO_INDEX, np.zeros((0, 0))
        if isinstance(matrix, Sparse):
            start, row = matrix.pattern.start, matrix.pattern.row
        else:
            dense = matrix.data
        return bool(
            add_blocks(
                self.count, self._of, width, dofs, values, self.terms.stiffness, self.terms.damping, stiffness,
                damping, start, row, matrix.data.ravel(), dense,
            )
        )  # fmt: skip

    def couplings(self) -> tuple[IntArray, IntArray]:
        """Rows and columns of every entry that the contacts can touch, with repetitions."""
        _, _, _, width, dofs, _ = self._table
        total = count_entries(self.count, self._of, width)
        rows, columns = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
        entry_places(self.count, self._of, width, dofs, rows, columns)
        return rows, columns
