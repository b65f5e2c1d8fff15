"""The bilateral rows of one body in a step, in the form J_b·v⁺ + E·λ = r.

With c the position value, u the wanted rate and α the compliance of a row,

    |                | rigid                                       | compliant                                   |
    | position       | E = 0, r = J_b·v̄_k − c(q_k)/h               | E = α/(θ²h²), r = J_b·v_k − c(trial)/(θ²h)  |
    | rate           | E = 0, r = u(t + h) + (J_b − J_b(q_k))·v_k  | E = α/(θh), r = J_b·v_k − (J_b·v̄_k − u)/θ   |
    | position, start| E = 0, r = −c(q₀)/h                         | E = α/h², r = −c(q₀)/h                      |
    | rate, start    | E = 0, r = u(t + h)                         | E = α/h, r = u(t + h)                       |

                                                              with u = u(t + θh) where none is given   (1)
A rigid rate row binds v⁺ in its direction at the end q_k of the step: with the trial direction alone a
midpoint step would be of first order, and binding v̄ would make it ring.

In a split step rows without bounds were part of the smooth motion: rigid ones keep their J_b·v_f, compliant
ones are forces and stay out. Bounded rows act now, with Δ_f/h the mean velocity:

    position: E = α/h², r = J_b·Δ_f/h − c(q_f)/h,      rate: E = α/h, r = u(t + h)                  (2)

In a Newton step of accelerations (`smooth_correction`), where an acceleration moves velocities by c_v and displacements
by c_q, and λ is the whole force; where λ as it stands is held, less E·λ:

    position: E = α/c_q, r = −c(q)/c_q,                rate: E = α/c_v, r = (u − J_b·v)/c_v          (3)
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.state import State
from corekit.linalg.array_table import ArrayTable
from corekit.linalg.constraint_rows import ConstraintRows, EliminatedConstraints
from corekit.world.bodies import Body

__all__ = ["FREE_ROW", "BodyRows"]

FREE_ROW = 1e30
"""Compliance that leaves an eliminated row without force."""


@compiled
def write_correction(
    rate: BoolArray, constraint: Array, rest: Array, compliance: Array, impulse: Array, damping: float,
    stiffness: float, held: bool, target: Array, softness: Array,
) -> None:  # fmt: skip
    """Write r and E of (3), shape (nb,); `rest` is u − J_b·v of rate rows."""
    for r in range(len(target)):
        share, wanted = (damping, rest[r]) if rate[r] else (stiffness, -constraint[r])
        if held:
            wanted -= compliance[r] * impulse[r]
        target[r], softness[r] = wanted / share, compliance[r] / share


@final
class BodyRows:
    """A body's rows, their E and r, and their impulses.

    Args:
        body: whose; it has rows.

    Attributes:
        rows: as the model wrote them.
        compliance, target: E and r of all rows, (nb,).
        impulse: λ_b of all rows [N·s].
        eliminated: the rows without bounds with their E and r, or None.
        eliminated_impulse: λ_b of those [N·s].
        bounded, kept: indices of the rows with and without bounds.
        table: for `StartForm`.
        eliminates: whether `eliminated` is filled; a solver that takes the whole step needs it not.
    """

    def __init__(self, body: Body) -> None:
        model = body.model
        self._body = body
        self.rows: ConstraintRows = model.bilateral_rows()
        self._ends: ConstraintRows = model.bilateral_rows()
        rows = self.rows
        self.bounded: IntArray = np.flatnonzero(rows.bounded)
        self.kept: IntArray = np.flatnonzero(~rows.bounded)
        # under inputs that stay a rate is at the end of a step what it is at its start
        steady = body.inputs.constant and not rows.time_dependent
        self._has_rates = bool(rows.is_velocity_level.any())
        self._looks_ahead = self._has_rates and not steady
        self.eliminated = (
            EliminatedConstraints(len(self.kept), rows.dofs.shape[1]) if len(self.kept) else None
        )
        self.compliance, self.target = np.zeros(rows.count), np.zeros(rows.count)
        self.impulse, self.eliminated_impulse = np.zeros(rows.count), np.zeros(len(self.kept))
        self.eliminates = True
        ahead = self._ends if self._looks_ahead else rows
        self.table = ArrayTable(
            rows.is_velocity_level.astype(np.int64), rows.position_error, ahead.target_rate, rows.compliance,
            self.target, self.compliance,
        ).table  # fmt: skip

    def coupled(self, trial: State, end: State, velocity: Array, h: float, theta: float, u: Array) -> None:
        """Take the rows at the trial and end states (equal buffers at θ = 1) for v_k = `velocity`: (1)."""
        rows, ends, model, inputs = self.rows, self._ends, self._body.model, self._body.inputs
        model.bilateral(trial, u, rows)
        if end is trial:
            ends = rows
        else:
            model.bilateral(end, inputs.at(end.time), ends)
            inputs.at(trial.time)
        at_mean, at_velocity = rows.product(trial.v), rows.product(velocity)
        wanted = ends.target_rate
        if ends is not rows:
            wanted = wanted + at_velocity - ends.product(velocity)
        rigid = np.where(rows.is_velocity_level, wanted, at_mean - ends.position_error / h)
        compliant = np.where(
            rows.is_velocity_level,
            at_velocity - (at_mean - rows.target_rate) / theta,
            at_velocity - rows.position_error / (theta * theta * h),
        )
        np.copyto(self.target, np.where(rows.compliance > 0, compliant, rigid))
        np.copyto(
            self.compliance,
            np.where(
                rows.is_velocity_level,
                rows.compliance / (theta * h),
                rows.compliance / (theta * theta * h * h),
            ),
        )
        self.fill()

    def start(self, start: State, h: float, u: Array) -> None:
        """Take the rows at the start of the step, their wanted rates at its end; `StartForm` writes (1) of them."""
        rows, model, inputs = self.rows, self._body.model, self._body.inputs
        model.bilateral(start, u, rows)
        if self._looks_ahead:
            now = start.time
            start.time = now + h
            model.bilateral(start, inputs.at(now + h), self._ends)
            start.time = now

    def split(self, start: State, smooth: State, h: float, u: Array) -> None:
        """Take the rows at the end of the smooth motion: (2)."""
        rows = self.rows
        self._body.model.bilateral(smooth, u, rows)
        mean = 0.5 * (start.v + smooth.v)
        acting = np.where(
            rows.is_velocity_level, rows.target_rate, rows.product(mean) - rows.position_error / h
        )
        np.copyto(self.target, np.where(rows.bounded, acting, rows.product(smooth.v)))
        soft = np.where(rows.is_velocity_level, rows.compliance / h, rows.compliance / (h * h))
        idle = np.where(rows.compliance > 0, FREE_ROW, 0.0)
        np.copyto(self.compliance, np.where(rows.bounded, soft, idle))
        self.eliminate()

    def take(self, compliance: Array, target: Array) -> None:
        """Take E and r (nb,), with J_b as the model wrote it last."""
        np.copyto(self.compliance, compliance)
        np.copyto(self.target, target)
        self.eliminate()

    def correct(self, velocity: Array, damping: float, stiffness: float, held: bool) -> None:
        """Take the rows as the model wrote them last for a Newton step of accelerations: (3).

        Args:
            velocity: v.
            damping, stiffness: c_v and c_q.
            held: whether λ as it stands is kept and δλ is looked for.
        """
        rows = self.rows
        rest = rows.target_rate - rows.product(velocity) if self._has_rates else rows.target_rate
        write_correction(
            rows.is_velocity_level, rows.position_error, rest, rows.compliance, self.impulse, damping, stiffness, held,
            self.target, self.compliance,
        )  # fmt: skip
        self.eliminate()

    def fill(self) -> None:
        """Fill `eliminated` if it is wanted."""
        if self.eliminates:
            self.eliminate()

    def eliminate(self) -> None:
        """Fill `eliminated`."""
        if self.eliminated is not None and not len(self.bounded):
            # all of them: no need to pick
            np.copyto(self.eliminated.dofs, self.rows.dofs)
            np.copyto(self.eliminated.values, self.rows.values)
            np.copyto(self.eliminated.compliance, self.compliance)
            np.copyto(self.eliminated.rhs, self.target)
        elif self.eliminated is not None:
            self.eliminated.dofs[:] = self.rows.dofs[self.kept]
            self.eliminated.values[:] = self.rows.values[self.kept]
            self.eliminated.compliance[:] = self.compliance[self.kept]
            self.eliminated.rhs[:] = self.target[self.kept]

    def take_eliminated(self) -> None:
        """Take over the impulses of the eliminated rows."""
        if self.eliminated is not None:
            self.impulse[self.kept] = self.eliminated_impulse

    def bounds(self, h: float) -> tuple[Array, Array]:
        """Impulse bounds h·lower, h·upper of the bounded rows [N·s]."""
        return h * self.rows.lower[self.bounded], h * self.rows.upper[self.bounded]
