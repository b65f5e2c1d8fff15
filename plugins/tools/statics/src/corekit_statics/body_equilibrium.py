"""One body at equilibrium: its matrix, and the constraints of a displacement.

A = K − ∂(J_bᵀλ_b)/∂q + σ·M                                                          (1)

| constraint                    | form                                                             |
| position                      | J_b·δ + α·λ = −c                                                 |
| velocity, rigid               | J_b·δ = −∫J_b·dq over the steps so far: it holds its integral    |
| velocity, compliant           | the constant force u/α, as J_b·v − u + α·λ = 0 at v = 0          |
| velocity, bounded             | J_b·δ = 0, or it slips at a bound, as friction does              |  (2)
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import CompositionError
from corekit.linalg.constraint_rows import FREE_ROW
from corekit.linalg.factorisation import make_factorisation
from corekit.linalg.matrices import Dense, Matrix
from corekit.roles.world_terms import BodyTerms
from corekit_statics.inertia import is_definite_on_constraints
from corekit_statics.scaled_loads import ScaledLoads

__all__ = ["BodyEquilibrium"]

_LARGEST_JUDGED = 600
"""Largest saddle-point matrix whose inertia is computed in every step; beyond, only singularity is noticed."""
_DIFFERENCE = 1e-6
"""Largest displacement over which forces are differenced, of lengths relative to the body's size [- or rad]."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


@final
class BodyEquilibrium:
    """(1) and (2) of one body.

    Args:
        index: of the body.
        terms: of the body, whose matrices, right-hand side and constraints are written.
        loads: give M, f and K.
        symmetric: whether A must be symmetric, for an impulse solver.

    Attributes:
        terms: of the body.
        drift: ∫J_b·dq of every constraint so far, shape (nb,) [m or rad].
    """

    def __init__(self, index: int, terms: BodyTerms, loads: ScaledLoads, *, symmetric: bool) -> None:
        self._index, self.terms, self._loads = index, terms, loads
        is_dense = isinstance(terms.matrix, Dense)
        self._is_symmetric = symmetric or not is_dense
        # of an unsymmetric A the symmetric part is tested
        has_test = not terms.eliminated.count and not self._is_symmetric
        self._test = make_factorisation(terms.matrix, None, terms.prescribed) if has_test else None
        self._force_gradient: Matrix | None = None
        derivatives = terms.body.abilities.force_derivatives
        if terms.rows is not None and derivatives is not None:
            self._force_gradient = derivatives.new_stiffness_and_damping()[0]
        self.drift = np.zeros(0 if terms.rows is None else terms.rows.count)

    @property
    def has_rates(self) -> bool:
        """Whether any constraint is one of velocities."""
        rows = self.terms.rows
        return rows is not None and bool(rows.is_velocity_level.any())

    def check_rates(self, time: float) -> None:
        """Refuse constraints that cannot be at rest at the inputs of a time [s].

        Raises:
            CompositionError: one drives, or binds a velocity with compliance and bounds at once.
        """
        rows, own, body = self.terms.rows, self.terms.constraints, self.terms.body
        if rows is None or own is None or not self.has_rates:
            return
        state = State.zeros(*body.sizes)
        body.model.compute_initial_state(None, state)
        own.evaluate(state, body.inputs.value_at(time))
        driven = np.flatnonzero(rows.is_velocity_level & (rows.compliance == 0) & (rows.target_rate != 0))
        if len(driven):
            raise CompositionError(
                f"row {driven[0]} of body {body.name!r} is driven at {rows.target_rate[driven[0]]:.4g} per second at "
                f"t = {time:g} s: nothing rests while it moves. Choose a time at which its input is zero."
            )
        if (rows.is_velocity_level & rows.bounded & (rows.compliance > 0)).any():
            raise CompositionError(
                f"body {body.name!r} has rows that bind a rate, with compliance and force bounds at once: "
                "statics cannot say what they hold at rest. Let a run with damping come to rest instead."
            )

    # — at a state —

    def evaluate(self, state: State, time: float) -> None:
        """Write M, f, K, the constraints and the distance of prescribed coordinates from p(T) at the body's state."""
        terms = self.terms
        u = self._loads.inputs(self._index, time)
        self._loads.evaluate(self._index, state, u)
        if self._is_symmetric and terms.stiffness is not None:
            terms.stiffness.symmetrise()
        if self._force_gradient is not None and terms.constraints is not None:
            self._evaluate_constraints(state, u)
            terms.constraints.compute_force_gradient(state, terms.row_impulse, self._force_gradient)
            if self._is_symmetric:
                self._force_gradient.symmetrise()
        if terms.motion.exists:
            terms.fixed[:] = terms.motion.values_at(time)[0] - state.q[terms.motion.coordinates]

    def _evaluate_constraints(self, state: State, u: Array) -> None:
        """Write (2), and the forces of compliant velocity constraints into the right-hand side."""
        rows, constraints = self.terms.rows, self.terms.constraints
        assert rows is not None
        assert constraints is not None
        constraints.evaluate(state, u)
        flows = rows.is_velocity_level & (rows.compliance > 0)
        at_rest = np.where(flows | rows.bounded, 0.0, -self.drift)
        constraints.set_rows(
            np.where(flows, FREE_ROW, rows.compliance),
            np.where(rows.is_velocity_level, at_rest, -rows.position_error),
        )
        constraints.eliminate()
        if flows.any():
            force = np.where(flows, rows.target_rate / np.where(flows, rows.compliance, 1.0), 0.0)
            rows.add_transpose_product(force, self.terms.rhs)

    def guess_constraint_forces(self) -> bool:
        """Give rigid constraints without forces those that balance f best, λ = argmin |f + J_bᵀλ|; False without any.

        A mechanism that hangs in its constraints (a platform on ropes) is stiff through ∂(J_bᵀλ)/∂q alone, so that
        without λ nothing guides the first steps.
        """
        terms, rows, constraints = self.terms, self.terms.rows, self.terms.constraints
        if rows is None or constraints is None or terms.row_impulse.any():
            return False
        rigid = np.flatnonzero((rows.compliance == 0) & ~rows.bounded)
        jacobian = rows.to_dense(terms.body.nv, rigid)
        forces, *_ = np.linalg.lstsq(jacobian[:, terms.free].T, -terms.rhs[terms.free], rcond=1e-10)
        terms.row_impulse[rigid] = forces
        constraints.eliminated_impulse[:] = terms.row_impulse[constraints.kept]
        return bool(forces.any())

    # — errors —

    def rounding(self, state: State, size: float) -> Array:
        """Change of the forces by rounding of the coordinates, 16·ε·|K|·x, shape (nv,) [N or N·m].

        x is |q|, but at least the size of the bodies [m], or 1 rad; 16 stands for the operations from q to a force.
        """
        terms = self.terms
        assert terms.stiffness is not None
        unit = [size if each.unit == "m/s" else 1.0 for each in terms.body.description.velocities]
        x = np.maximum(
            unit, np.max(np.abs(state.q), initial=0.0) if len(state.q) != len(unit) else np.abs(state.q)
        )
        row, column, where = terms.stiffness.entries()
        value = np.abs(terms.stiffness.data.ravel(order="K")[where]) * x[column]
        total = np.bincount(row, weights=value, minlength=terms.body.nv)
        return 16.0 * float(np.finfo(float).eps) * np.asarray(total, dtype=np.float64)

    def constraint_error(self) -> float:
        """Largest |c + α·λ| of position constraints, one-sided where one gives way at its bound [m or rad]."""
        rows, force = self.terms.rows, self.terms.row_impulse
        if rows is None:
            return 0.0
        error = rows.position_error + rows.compliance * force
        near = 1e-9 * (1.0 + np.abs(force))
        error = np.where(rows.bounded & (force >= rows.upper - near), np.maximum(error, 0.0), error)
        error = np.where(rows.bounded & (force <= rows.lower + near), np.minimum(error, 0.0), error)
        return float(np.max(np.abs(error[~rows.is_velocity_level]), initial=0.0))

    def drift_after(self, start: State, step: Array, time: float) -> Array:
        """The drift of rigid velocity constraints after a further step, by Gauss's rule; 0 for the others, (nb,)."""
        constraints = self.terms.body.abilities.constraints
        if constraints is None or not self.has_rates:
            return self.drift
        rows = constraints.new_constraints()
        between, total = start.copy(), np.zeros(rows.count)
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            self.terms.body.model.integrate(start, step, 0.5 * (1.0 + node), start, between)
            constraints.compute_constraints(between, self.terms.body.inputs.value_at(time), rows)
            total += 0.5 * weight * rows.product(step)
        is_rigid = rows.is_velocity_level & ~rows.bounded & (rows.compliance == 0)
        return self.drift + np.where(is_rigid, total, 0.0)

    # — without a potential —

    def circulating_product(self, state: State, time: float, x: Array) -> Array:
        """K·x at the body's state but for a symmetric part, see `circulation`, shape (nv, k)."""
        terms, kept = self.terms, self.terms.rhs.copy()
        u = self._loads.inputs(self._index, time)
        if not isinstance(terms.stiffness, Dense):
            return self._difference_efforts(state, u, x)
        self._loads.evaluate(self._index, state, u)
        assert terms.stiffness is not None
        product = terms.stiffness.dense() @ x
        if self._force_gradient is not None and terms.constraints is not None:
            terms.constraints.compute_force_gradient(state, terms.row_impulse, self._force_gradient)
            product -= self._force_gradient.dense() @ x
        if self._is_symmetric:
            terms.stiffness.symmetrise()
            if self._force_gradient is not None:
                self._force_gradient.symmetrise()
        terms.rhs[:] = kept
        return product

    def _difference_efforts(self, state: State, u: Array, x: Array) -> Array:
        """−∂[f(q, u) − f(q, 0)]/∂q·x by central differences, shape (nv, k)."""
        terms, without = self.terms, self._loads.without_efforts(self._index, u)
        product, moved = np.zeros(x.shape), state.copy()
        if np.array_equal(u, without):
            return product
        model, mass, force = (
            terms.body.model,
            terms.body.model.new_mass_matrix(),
            np.zeros((2, terms.body.nv)),
        )
        places = np.zeros((len(terms.body.description.frames), 3))
        model.compute_frame_poses(state, places, np.zeros((len(places), 3, 3)))
        size = float(np.max(np.ptp(places, axis=0), initial=0.0)) or 1.0
        unit = np.array([size if each.unit == "m/s" else 1.0 for each in terms.body.description.velocities])
        for k, column in enumerate(x.T):
            amplitude = _DIFFERENCE / max(float(np.max(np.abs(column) / unit)), 1e-300)
            for sign in (-1.0, 1.0):
                model.integrate(state, sign * amplitude * column, 1.0, state, moved)
                for inputs, out in ((u, force[0]), (without, force[1])):
                    model.compute_mass_and_force(moved, inputs, mass, out)
                product[:, k] -= sign * (force[0] - force[1]) / (2.0 * amplitude)
        return product

    def damping(self) -> Array:
        """D at the state that was evaluated last, (nv, nv)."""
        assert self.terms.damping is not None
        return self.terms.damping.dense()

    # — the matrix —

    def assemble(self, shift: float) -> None:
        """Write (1) with σ = `shift` [1/s²] into the body's matrix."""
        terms, matrix = self.terms, self.terms.matrix
        matrix.zero()
        assert terms.stiffness is not None
        matrix.add(terms.stiffness)
        if self._force_gradient is not None:
            matrix.add(self._force_gradient, -1.0)
        if shift:
            matrix.add(terms.mass, shift)

    def is_definite(self) -> bool:
        """Whether A is positive definite on its constraints, as far as its factorisation does not find out."""
        terms = self.terms
        if terms.eliminated.count:
            is_large = terms.body.nv + terms.eliminated.count > _LARGEST_JUDGED
            return is_large or is_definite_on_constraints(terms)
        if self._test is None:
            return True
        symmetric = Dense(terms.body.nv)
        symmetric.data[:] = terms.matrix.data
        symmetric.symmetrise()
        return self._test.refactor(symmetric, None)
