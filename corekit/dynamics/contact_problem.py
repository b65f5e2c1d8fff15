"""The contact problem of a step, reduced to impulses: as an impulse solver sees it, and how it is built.

    w = W·λ + w₀,   W = J·G·Jᵀ + diag(0, E_b),   w₀ = J·v_f + bias                                        (1)

J stacks the contact rows and the bounded constraints, whose w_b = J_b·v⁺ + E·λ_b − r.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.status import SolveInfo
from corekit.dynamics.contact_kernels import has_immovable, isolate_immovable
from corekit.dynamics.world_terms import WorldTerms
from corekit.linalg.constraint_rows import new_dense_rows
from corekit.roles.contact import ImpulseSolver

__all__ = ["ContactReduction", "ReducedContactProblem"]

_NO_ID: IntArray = np.zeros(0, dtype=np.int64)
_NOTHING = np.zeros(0)
_NO_RECORD = np.zeros((0, 0))


class ReducedContactProblem:
    """Implements `corekit.roles.contact.ContactProblem`."""

    __slots__ = (
        "_delassus",
        "bounded_count",
        "contact_count",
        "free_velocity",
        "friction",
        "friction_record",
        "gap",
        "id",
        "lower",
        "rows_per_contact",
        "step",
        "upper",
    )  # fmt: skip

    def __init__(self, width: int, step: float, delassus: Array, free: Array) -> None:
        self.rows_per_contact, self.step, self.free_velocity = width, step, free
        self.contact_count = self.bounded_count = 0
        self.id = _NO_ID
        self.gap = self.friction = self.lower = self.upper = _NOTHING
        self.friction_record = _NO_RECORD
        self._delassus = delassus

    def set_contacts(self, id_: IntArray, gap: Array, friction: Array) -> None:
        """Set what is known of the contacts, each of shape (m,)."""
        self.contact_count, self.id, self.gap, self.friction = len(gap), id_, gap, friction

    def set_bounds(self, lower: Array, upper: Array) -> None:
        """Set the impulse bounds of the bounded constraints, shape (p,)."""
        self.bounded_count, self.lower, self.upper = len(lower), lower, upper

    def delassus(self) -> Array:
        """W, shape (R, R)."""
        return self._delassus


class _BoundedRows(NamedTuple):
    """The bounded constraints of all bodies: J (p, nv), bias, E and impulse bounds, each (p,)."""

    jacobian: Array
    bias: Array
    compliance: Array
    lower: Array
    upper: Array


def _bounded_rows(world: WorldTerms, about: Array, step: float) -> _BoundedRows | None:
    """Those of the current linearisation about v_k, for w_b = J_b·v⁺ + E·λ_b + bias; None without any."""
    parts: list[_BoundedRows] = []
    for terms, where in zip(world.bodies, world.slices, strict=True):
        own, index = terms.constraints, terms.bounded
        if own is None or not len(index):
            continue
        jacobian = np.zeros((len(index), world.nv))
        jacobian[:, where] = new_dense_rows(own.rows.dofs[index], own.rows.values[index], terms.body.nv)
        bias = -own.target[index] - jacobian @ about
        parts.append(_BoundedRows(jacobian, bias, own.compliance[index], *own.bounds(step)))
    if len(parts) < 2:
        return parts[0] if parts else None
    return _BoundedRows(*(np.concatenate(each) for each in zip(*parts, strict=True)))


class ContactReduction:
    """The rows J of one linearisation, and the problem (1) that they lead to.

    Args:
        world: terms of bodies and contacts, the constraints linearised.
        contact_count: how many of the pipeline's current contacts there are.
        bias: of the contacts, shape (m, width).
        about: v_k, about which r of the constraints is written, shape (nv,).
        step: h [s], by which bounds of forces become bounds of impulses.

    Attributes:
        rows: J, shape (R, nv).
        problem: whose W is to be written, and to whose w₀, now the bias, J·v_f is to be added.
        movable: after `solve`, which contacts can move along their normal, shape (m,); None if all can.
    """

    __slots__ = ("_compliance", "movable", "problem", "rows")

    def __init__(self, world: WorldTerms, contact_count: int, bias: Array, about: Array, step: float) -> None:
        m, jacobian = contact_count, world.jacobian
        bounded = _bounded_rows(world, about, step) if world.has_bounded else None
        rows = jacobian.to_dense() if m else np.zeros((0, world.nv))
        free = bias[:m].ravel().copy()
        if bounded is not None:
            rows, free = np.concatenate([rows, bounded.jacobian]), np.concatenate([free, bounded.bias])
        count = len(free)
        self.rows = rows
        self.problem = problem = ReducedContactProblem(jacobian.width, step, np.empty((count, count)), free)
        if m and world.pipeline is not None:
            contacts = world.pipeline.contacts
            problem.set_contacts(contacts.id[:m], contacts.gap[:m], contacts.friction[:m].copy())
            if world.pipeline.record_width:
                problem.friction_record = contacts.friction_record[:m]
        if bounded is not None:
            problem.set_bounds(bounded.lower, bounded.upper)
        self._compliance = None if bounded is None else bounded.compliance
        self.movable: BoolArray | None = None

    def solve(self, solver: ImpulseSolver, impulse: Array) -> SolveInfo:
        """Solve (1) once W and w₀ are written; `impulse` (R,) holds the guess and receives λ."""
        problem = self.problem
        delassus, count, width = problem.delassus(), problem.contact_count, problem.rows_per_contact
        if self._compliance is not None:
            corner = np.arange(count * width, len(delassus))
            delassus[corner, corner] += self._compliance
        if has_immovable(count, width, delassus):
            self.movable = movable = delassus.diagonal()[: count * width : width] > 0.0
            isolate_immovable(width, movable, delassus, problem.free_velocity, problem.friction)
        return solver.solve(problem, impulse)
