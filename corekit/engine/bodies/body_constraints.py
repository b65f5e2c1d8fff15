"""The constraints of one body in the form J_b·Δ + E·λ = r of the step equation.

With c the position error, u the target rate and α the compliance of a row, g_v and g_q the factors of compliant
constraints (`rate_factor`, `position_factor`), and "end" the state at which constraints are evaluated,

    | row                    | E      | r                                                     |
    | position, rigid        | 0      | J·(v̄ − v_k) − c(end)/h                                |
    | position, compliant    | α/g_q  | J·(s − v_k) − (h/g_q)·c(at)                           |
    | velocity, rigid        | 0      | u(end) − J(end)·v_k                                   |
    | velocity, compliant    | α/g_v  | (h/g_v)·(u − J·v(at))                                 |        (1)

A rigid velocity row binds v⁺ in its direction at the end of the step: with the direction at the trial state alone a
midpoint step would be of first order, and binding v̄ would make it ring.

After a smooth motion rows without bounds keep what they were (rigid: J·v⁺ = J·v_f; compliant: free, since their force
was part of the motion), and bounded rows act as rigid ones with E = α/h² or α/h.

Rigid position rows may repeat others: revolutes that close a planar loop hold five directions where two are free. Those
that the other ones imply where the body stands at composition, by a factorisation with pivots, carry no force, as long
as they hold about as well as the rest. One that does not is a row again: then it was implied at that place alone.

In a Newton step of accelerations, where λ is a force, all rows are as the compliant ones of (1) with h = 1 and s = v_k:

    position:  J·Δ + (α/g_q)·λ = −c/g_q,         velocity:  J·Δ + (α/g_v)·λ = (u − J·v)/g_v               (2)
"""

from __future__ import annotations

from typing import final

import numpy as np
from scipy.linalg import qr

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.state import State
from corekit.engine.step.linearisation import LinearisationPoint
from corekit.linalg.constraint_rows import FREE_ROW, ConstraintRows, EliminatedConstraints
from corekit.linalg.matrices import Matrix
from corekit.roles.body import Body
from corekit.roles.model_abilities import ConstraintAbility

__all__ = ["BAUMGARTE_STEPS", "BodyConstraints", "write_targets"]

BAUMGARTE_STEPS = 10.0
"""Baumgarte's time τ in steps, where no other is given."""

_IMPLIED = 1e-9
"""Part of a row that others do not imply, relative to the largest row, and its error [m or rad], which are rounding."""
_LOOSE = 10.0
"""By how much more than the others a row that they imply may be violated."""
_MOST = 1_000_000
"""Entries of J up to which implied rows are looked for: not in chains of hundreds of bodies."""


@compiled
def _product(dofs: IntArray, values: Array, row: int, v: Array) -> float:
    total = 0.0
    for k in range(dofs.shape[1]):
        total += values[row, k] * v[dofs[row, k]]
    return total


@compiled
def write_targets(
    is_rate: BoolArray, error: Array, rate: Array, alpha: Array, dofs: IntArray, values: Array,
    end_error: Array, end_rate: Array, end_dofs: IntArray, end_values: Array,
    v: Array, mean: Array, stiffened: Array, at_v: Array, h: float, by_rate: float, by_position: float,
    of_acceleration: bool, target: Array, compliance: Array,
) -> None:  # fmt: skip
    """Write r and E of (1), or of (2) in a Newton step of accelerations."""
    for r in range(len(target)):
        soft = of_acceleration or alpha[r] > 0.0
        if is_rate[r]:
            compliance[r] = alpha[r] / by_rate
            if soft:
                target[r] = h * (rate[r] - _product(dofs, values, r, at_v)) / by_rate
            else:
                target[r] = end_rate[r] - _product(end_dofs, end_values, r, v)
        else:
            compliance[r] = alpha[r] / by_position
            here = _product(dofs, values, r, v)
            if soft:
                target[r] = _product(dofs, values, r, stiffened) - here - h * error[r] / by_position
            else:
                target[r] = _product(dofs, values, r, mean) - here - end_error[r] / h


@final
class BodyConstraints:
    """The rows of one body, their r and E, and their impulses.

    Args:
        body: a body with constraints. constraints: its model, which gives them.

    Attributes:
        rows: as the model wrote them.
        target, compliance: r and E of all rows, (nb,).
        impulse: λ_b of all rows [N·s].
        eliminated: the rows without bounds with their r and E.
        eliminated_impulse: λ_b of those [N·s].
        bounded, kept: indices of the rows with and without bounds.
    """

    def __init__(self, body: Body, constraints: ConstraintAbility) -> None:
        self._body, self._model = body, constraints
        self.rows: ConstraintRows = constraints.new_constraints()
        self._at_end: ConstraintRows = constraints.new_constraints()
        rows = self.rows
        self.bounded: IntArray = np.flatnonzero(rows.bounded)
        self.kept: IntArray = np.flatnonzero(~rows.bounded)
        # under inputs that stay a rate is at the end of a step what it is at its start
        self._rates_vary = bool(rows.is_velocity_level.any()) and not (
            body.inputs.constant and not rows.time_dependent
        )
        self.eliminated = EliminatedConstraints(len(self.kept), rows.dofs.shape[1])
        self.target, self.compliance = np.zeros((2, rows.count))
        self._implied: BoolArray = np.zeros(rows.count, dtype=bool)
        self.impulse, self.eliminated_impulse = np.zeros(rows.count), np.zeros(len(self.kept))

    @property
    def is_steady(self) -> bool:
        """Whether rates at the end of a step are those at its start, and no row is left out as implied."""
        return not (self._rates_vary or self._implied.any())

    def replace(self, constraints: ConstraintAbility) -> bool:
        """Get the rows from another model from now on, if they have this structure; return whether they have."""
        made = constraints.new_constraints()
        if not (self.rows.copy_from(made) and self._at_end.copy_from(made)):
            return False
        self._model = constraints
        return True

    def evaluate(self, state: State, inputs: Array) -> None:
        """Write the rows of the model at a state of the body."""
        self._model.compute_constraints(state, inputs, self.rows)

    def find_implied(self, state: State, free: BoolArray) -> None:
        """Find the rows that others imply at a state of the body, whose velocities are `free` (nv,) or prescribed."""
        rows = self.rows
        self.evaluate(state, self._body.inputs.value_at(state.time))
        rigid = np.flatnonzero(~(rows.bounded | rows.is_velocity_level | (rows.compliance > 0.0)))
        if not free.any() or not 0 < len(rigid) * len(free) <= _MOST:
            return
        triangle, order = qr(rows.to_dense(len(free), rigid)[:, free].T, mode="r", pivoting=True)
        size = np.abs(np.diagonal(triangle))
        self._implied[rigid[order[np.count_nonzero(size > _IMPLIED * size.max()) :]]] = True

    def _leave_out(self) -> None:
        """Take the force from the rows that others imply."""
        if self._implied.any():
            error = np.abs(self.rows.position_error)
            others = error[~(self._implied | self.rows.is_velocity_level)].max(initial=0.0)
            idle = self._implied & (error <= _LOOSE * others + _IMPLIED)
            self.compliance[idle], self.target[idle] = FREE_ROW, 0.0

    def compute_force_gradient(self, state: State, impulse: Array, out: Matrix) -> None:
        """Write ∂(J_bᵀ·λ)/∂δ at a state of the body, for λ of all rows."""
        self._model.compute_constraint_force_gradient(state, impulse, out)

    def linearise(self, point: LinearisationPoint, inputs: Array, *, of_acceleration: bool = False) -> None:
        """Read the rows at a linearisation point of this body and write r and E of (1), or of (2)."""
        rows, at = self.rows, point.at
        self.evaluate(at, inputs)
        ends, rates = self._rows_at_end(point, inputs)
        v = point.velocity
        stiffened = v if point.stiffened is None else point.stiffened
        write_targets(
            rows.is_velocity_level, rows.position_error, rates, rows.compliance, rows.dofs, rows.values,
            ends.position_error, ends.target_rate, ends.dofs, ends.values,
            v, point.mean, stiffened, at.v, point.step, point.rate_factor, point.position_factor,
            of_acceleration, self.target, self.compliance,
        )  # fmt: skip
        if point.is_after_smooth_motion:
            self._keep_smooth_motion(point)
        self._leave_out()

    def _rows_at_end(self, point: LinearisationPoint, inputs: Array) -> tuple[ConstraintRows, Array]:
        """Rows at the end of the step, and the target rates of compliant velocity rows."""
        model, rows, ends = self._model, self.rows, self._at_end
        if point.end is not point.at:
            model.compute_constraints(point.end, self._body.inputs.value_at(point.end.time), ends)
            self._body.inputs.value_at(point.at.time)
            return ends, rows.target_rate
        if not self._rates_vary or point.end_time == point.at.time:
            return rows, rows.target_rate
        ahead = State(point.at.q, point.at.v, point.at.aux, point.end_time)
        model.compute_constraints(ahead, self._body.inputs.value_at(point.end_time), ends)
        self._body.inputs.value_at(point.at.time)
        np.copyto(ends.position_error, rows.position_error)
        np.copyto(ends.dofs, rows.dofs)
        np.copyto(ends.values, rows.values)
        return ends, ends.target_rate

    def _keep_smooth_motion(self, point: LinearisationPoint) -> None:
        rows = self.rows
        acting = np.where(
            rows.is_velocity_level,
            rows.target_rate - rows.product(point.velocity),
            rows.product(point.mean - point.velocity) - rows.position_error / point.step,
        )
        kept = 0.0 if point.momentum is None else rows.product(point.momentum - point.velocity)
        np.copyto(self.target, np.where(rows.bounded, acting, kept))
        idle = np.where(rows.compliance > 0, FREE_ROW, 0.0)
        np.copyto(self.compliance, np.where(rows.bounded, self.compliance, idle))

    def set_rows(self, compliance: Array, target: Array) -> None:
        """Set E and r (nb,), with J_b as the model wrote it last."""
        np.copyto(self.compliance, compliance)
        np.copyto(self.target, target)
        self._leave_out()

    def eliminate(self) -> None:
        """Copy the rows without bounds into `eliminated`."""
        if len(self.kept):
            self.eliminated.set_rows(self.rows, self.kept, self.compliance, self.target)

    def update_impulses(self) -> None:
        """Copy the impulses of the eliminated rows among those of all rows."""
        self.impulse[self.kept] = self.eliminated_impulse

    def bounds(self, step: float) -> tuple[Array, Array]:
        """Impulse bounds h·lower, h·upper of the bounded rows [N·s]."""
        return step * self.rows.lower[self.bounded], step * self.rows.upper[self.bounded]
