"""The smooth part as a differential equation, with its Jacobian: see `corekit.roles.steps`.

    a = G·(f + Pᵀf_c) + H·r,     G = M⁻¹ on the kernel of the rigid rows,   J·H = 1                 (1)
    position row:  r = −d(J)/dt·v − (2/τ)·J·v − c/τ²,     rate row:  r = −d(J·v − u)/dt|_v − (J·v − u)/τ
    ∂a/∂δ = −G·(K + PᵀK_cP + J_sᵀJ_s/α − ∂(Jᵀλ)/∂q) − H·J/τ²                                      (2)
    ∂a/∂v = −G·(D + PᵀD_cP + J_sᵀJ_s/α) − H·J·(2/τ or 1/τ)                                        (3)

J_s are compliant rows, of position in (2) and of rate in (3). K is that of f − M·a where the model tells it (ability
`balance`), else of f, and the derivative of M is left out, as are those of J and d(J)/dt·v but for ∂(Jᵀλ)/∂q.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.signal_base import Still
from corekit.data.state import State
from corekit.linalg.matrices import Matrix
from corekit.world.body_system import BodySystem
from corekit.world.smooth import smooth_acceleration

if TYPE_CHECKING:
    from corekit.world.step_problem import StepSystem

__all__ = ["SmoothMotion"]


@final
class SmoothMotion:
    """The differential equation behind `corekit.world.steps.SmoothDynamics`.

    Args:
        system: the world.
    """

    def __init__(self, system: StepSystem) -> None:
        self._system = system
        self._found = np.zeros(0)
        self._curvature: dict[int, Matrix] = {}

    def begin(self, start: State, step: float, span: float) -> None:
        """Find the pairs that could touch within the span, in a step of length `step`."""
        self._system.begin(start, span if self.is_local else step)
        self._system.problem.step = step

    @property
    def may_be_pushed(self) -> bool:
        """Whether bounded rows, or contacts of an impulse solver at the start of the step, are there."""
        system = self._system
        touches = system.solves_impulses and system.stage is not None and system.stage.start.count > 0
        return touches or system.problem.bounded > 0

    @property
    def is_local(self) -> bool:
        """Whether a contact potential acts."""
        return self._system.forces is not None

    def known_until(self, time: float, horizon: float) -> float:
        """The first kink in (time, time + horizon], else its end; `time` where an input is set from outside."""
        until = time + horizon
        sources = [body.inputs for body in self._system.bodies]
        if any(
            isinstance(signal, Still) and not signal.constant for own in sources for signal in own.signals
        ):
            return time
        kinks = [kink for body in self._system.bodies for kink in body.breakpoints(time, until)]
        if self._system.stage is not None:
            kinks += [
                kink for each in self._system.stage.scene.obstacles for kink in each.breakpoints(time, until)
            ]
        return min(kinks, default=until)

    def acceleration(self, state: State, out: Array, held: Array | None, settling: float) -> bool:
        """Write a of (1); False if the mass matrix is singular on the rows' kernel."""
        system = self._system
        system.factor.number += 1
        self.impose(state)
        return smooth_acceleration(system, state, out, held, settling)

    def end(self, state: State, held: Array | None, settling: float) -> None:
        """Impose prescribed velocities, and evaluate a last time where reactions or a potential's contacts are told."""
        self.impose(state)
        parts = self._system.parts
        if self.is_local or any(len(part.prescribed) for part in parts):
            for part in parts:
                part.begin()  # of all evaluations in the step only this one tells the reaction
            self.acceleration(state, self._scratch(), held, settling)

    def impose(self, state: State) -> None:
        """Set the prescribed velocities of a state to ṗ at its time."""
        for part, own in zip(self._system.parts, state.parts, strict=True):
            part.impose_rates(own, own.time)

    def _scratch(self) -> Array:
        if len(self._found) != self._system.nv:
            self._found = np.zeros(self._system.nv)
        return self._found

    # — the Jacobian —

    def jacobian(
        self, state: State, settling: float, damped: bool, by_displacement: Array, by_velocity: Array
    ) -> bool:
        """Write (2) and (3); False if singular."""
        system = self._system
        if not self.acceleration(state, self._scratch(), None, settling):
            return False
        by_displacement.fill(0.0)
        by_velocity.fill(0.0)
        for b, (part, where, own) in enumerate(zip(system.parts, system.slices, state.parts, strict=True)):
            stiffness, damping = by_displacement[where, where], by_velocity[where, where]
            self._add_body(part, own, self._found[where], damped, stiffness, damping)
            self._add_rows(b, part, own, stiffness, damping)
        if system.forces is not None and system.forces.count:
            for j, unit in enumerate(np.eye(system.nv)):
                by_displacement[:, j] += system.forces.tangent_product(unit, 0.0, 1.0)
                by_velocity[:, j] += system.forces.tangent_product(unit, 1.0, 0.0)
        for part, where in zip(system.parts, system.slices, strict=True):
            for matrix in (by_displacement, by_velocity):
                block = np.array(matrix[where], order="F")
                part.columns(block)
                np.negative(block, out=matrix[where])
            _subtract_stabilisation(part, settling, by_displacement[where, where], by_velocity[where, where])
            by_displacement[:, where][:, part.prescribed] = 0.0
            by_velocity[:, where][:, part.prescribed] = 0.0
        return True

    def _add_body(
        self,
        part: BodySystem,
        state: State,
        acceleration: Array,
        damped: bool,
        stiffness: Array,
        damping: Array,
    ) -> None:
        """K and D of the model."""
        if part.stiffness is None or part.damping is None:
            return
        model, inputs = part.body.model, part.body.inputs.at(state.time)
        if "balance" in part.body.abilities:
            model.balance_tangent(state, inputs, acceleration, part.stiffness, part.damping)
        else:
            model.tangent(state, inputs, part.stiffness, part.damping)
        stiffness += part.stiffness.dense()
        if damped:
            damping += part.damping.dense()

    def _add_rows(self, b: int, part: BodySystem, state: State, stiffness: Array, damping: Array) -> None:
        """What compliant rows add to K and D, and the turning of all rows' forces."""
        rows = part.rows
        if rows is None:
            return
        soft = (rows.compliance > 0) & ~rows.bounded
        safe = np.where(soft, rows.compliance, 1.0)
        full = _dense(rows.dofs, rows.values, part.body.nv)
        for rate, matrix in ((False, stiffness), (True, damping)):
            chosen = full[soft & (rows.is_velocity_level == rate)]
            matrix += chosen.T @ (chosen / safe[soft & (rows.is_velocity_level == rate), None])
        if part.has_tangent:
            if b not in self._curvature:
                self._curvature[b] = part.body.model.tangent_matrices()[0]
            rate_error = rows.product(state.v) - rows.target_rate
            pull = -np.where(rows.is_velocity_level, rate_error, rows.position_error) / safe
            force = np.where(soft, pull, np.where(rows.bounded, 0.0, part.row_impulse))
            part.body.model.bilateral_curvature(state, force, self._curvature[b])
            stiffness -= self._curvature[b].dense()


def _dense(dofs: IntArray, values: Array, n: int) -> Array:
    """Rows as a matrix, shape (nb, n)."""
    full = np.zeros((len(dofs), n))
    np.add.at(full, (np.arange(len(dofs))[:, None], dofs), values)
    return full


def _subtract_stabilisation(
    part: BodySystem, settling: float, by_displacement: Array, by_velocity: Array
) -> None:
    """The last terms of (2) and (3), H one column a rigid row."""
    rows, eliminated = part.rows, part.eliminated
    if rows is None or eliminated is None:
        return
    kept = ~rows.bounded
    rigid, rate = (rows.compliance <= 0)[kept], rows.is_velocity_level[kept]
    n, given = part.body.nv, eliminated.rhs.copy()
    nothing, fixed, force = np.zeros(n), np.zeros(len(part.prescribed)), np.zeros(eliminated.count)
    response = np.zeros((n, eliminated.count), order="F")
    for r in np.flatnonzero(rigid):
        eliminated.rhs[:] = 0.0
        eliminated.rhs[r] = 1.0
        part.factor.solve(nothing, fixed, response[:, r], force)
    eliminated.rhs[:] = given
    full = _dense(eliminated.dofs, eliminated.values, n)
    by_displacement -= response @ (full * np.where(rate, 0.0, 1.0 / settling**2)[:, None])
    by_velocity -= response @ (full * np.where(rate, 1.0, 2.0)[:, None] / settling)
