"""Small motions about an equilibrium: stiffness, mass, and the displacements that constraints and contacts permit.

    (K − ∂(J_bᵀλ_b)/∂q)·x = ω²·M·x   on   J·x = 0,  prescribed x = 0                    (1)

with the symmetric part of the left matrix; the other part, of loads without an energy, is `circulation`'s. A compliant
constraint adds J_bᵀ·J_b/α, a contact potential Pᵀ·K_c·P. J holds rigid constraints and touching contacts, as if they
acted both ways. A contact that does not press, slides or could not stick holds its normal alone. The matrices of few
velocities, and those with J or a potential, are dense; others keep their entries alone. With J, x = N·y with an
orthonormal basis N of the kernel of J.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen
from scipy.linalg import null_space
from scipy.sparse import coo_array

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactMode
from corekit.linalg.matrices import Matrix
from corekit_statics.equilibrium_system import EquilibriumSystem

__all__ = ["LARGEST_DENSE", "SmallMotions", "small_motions"]

_SMALL = 150
"""Largest number of velocities whose matrices are dense in any case: there arrays are quicker than entries."""
LARGEST_DENSE = 2000
"""Largest number of velocities for which (1) is reduced by J, or holds a potential."""


@frozen(eq=False)
class SmallMotions:
    """The matrices of (1).

    Args:
        stiffness, mass: of the free velocities, symmetric, shape (m, m); arrays, or sparse where there is no `kernel`.
        free: index of every free velocity, shape (m,).
        kernel: N, shape (m, k), or None without J.
        size: number of velocities.
        reason: what was left out.
    """

    stiffness: Any
    mass: Any
    free: IntArray
    kernel: Array | None
    size: int
    reason: str = ""

    def displacement(self, x: Array) -> Array:
        """A displacement of all velocities, largest entry 1, from one of the free velocities, shape (size,)."""
        out = np.zeros(self.size)
        out[self.free] = x / np.max(np.abs(x))
        return out


def small_motions(system: EquilibriumSystem) -> SmallMotions | None:
    """(1) at the state that a system was evaluated at last, with its λ; None where it is too large."""
    potential = system.contacts.potential
    rows, reason = _contact_rows(system)
    constraints = _constraint_rows(system)
    is_dense = potential is not None or bool(len(rows)) or bool(constraints)
    if is_dense and system.nv > LARGEST_DENSE:
        return None
    free = np.flatnonzero(system.free)
    stiffness, mass = _world_matrices(system)
    if is_dense or system.nv <= _SMALL:
        stiffness, mass = stiffness.toarray(), mass.toarray()
        if potential is not None and potential.count:
            columns = [potential.tangent_product(unit, 0.0, 1.0) for unit in np.eye(system.nv)]
            stiffness += np.stack(columns, axis=1)
        stiffness, mass = (each[np.ix_(free, free)] for each in (stiffness, mass))
    else:
        stiffness, mass = (each.tocsc()[free][:, free] for each in (stiffness, mass))
    rigid = np.concatenate([rows, *constraints])[:, free]
    kernel = null_space(rigid) if len(rigid) else None
    return SmallMotions(0.5 * (stiffness + stiffness.T), mass, free, kernel, system.nv, reason)


def _world_matrices(system: EquilibriumSystem) -> tuple[Any, Any]:
    """K and M of all bodies, (nv, nv); K with the force gradient and the stiffness of compliant constraints."""
    found: list[Any] = []
    for kind in ("stiffness", "mass"):
        row, column, value = [], [], []
        for each, where in zip(system.equilibria, system.slices, strict=True):
            if kind == "stiffness":
                each.assemble(0.0)
            matrix: Matrix = each.terms.matrix if kind == "stiffness" else each.terms.mass
            i, j, at = matrix.entries()
            row.append(where.start + i)
            column.append(where.start + j)
            value.append(matrix.data.ravel(order="K")[at])
            rows = each.terms.rows
            if kind == "stiffness" and rows is not None:
                soft = np.flatnonzero((rows.compliance > 0) & ~rows.is_velocity_level & ~rows.bounded)
                jacobian = rows.to_dense(each.terms.body.nv, soft)
                spring = coo_array(jacobian.T @ (jacobian / rows.compliance[soft, None]))
                row.append(where.start + spring.row)
                column.append(where.start + spring.col)
                value.append(spring.data)
        place = (np.concatenate(row), np.concatenate(column))
        found.append(coo_array((np.concatenate(value), place), shape=(system.nv, system.nv)))
    return found[0], found[1]


def _constraint_rows(system: EquilibriumSystem) -> list[Array]:
    """J of the rigid constraints of every body that are not at a bound, each (·, nv)."""
    found: list[Array] = []
    for each, where in zip(system.equilibria, system.slices, strict=True):
        rows, force = each.terms.rows, each.terms.row_impulse
        if rows is None:
            continue
        at_bound = (force <= rows.lower * (1 - 1e-9)) | (force >= rows.upper * (1 - 1e-9))
        rigid = np.flatnonzero((rows.compliance == 0) & ~(rows.bounded & at_bound))
        jacobian = np.zeros((len(rigid), system.nv))
        jacobian[:, where] = rows.to_dense(each.terms.body.nv, rigid)
        found.append(jacobian)
    return found


def _contact_rows(system: EquilibriumSystem) -> tuple[Array, str]:
    """J of what touching contacts hold, in contact axes; those of a potential hold nothing."""
    contacts, record = system.contacts, system.contacts.record(by_point=True)
    presses = record.mode != ContactMode.SEPARATE
    if contacts.potential is not None or not presses.any():
        return np.zeros((0, system.nv)), ""
    sticks = presses & (contacts.friction_use(record) < 1.0 - 1e-6)
    # of four corners a solver may load two: the others touch and block the motion as well
    touches = presses | (record.gap <= max(1e-9, 2.0 * float(np.max(np.abs(record.gap[presses])))))
    rows = np.repeat(touches, contacts.width)
    rows.reshape(-1, contacts.width)[:, 1:] &= sticks[:, None]
    return contacts.jacobian()[rows], "touching contacts held"
