"""The derivative of a step in which nothing pushes: no closed contact, no constraint, joint or potential.

Then R of each body stands alone, and K and D of its model say nearly all. With Δ = v⁺ − v₀ and coordinates that add up,

    θ family:        F_q = h·K + ∂(M·Δ)/∂q,    F_{v⁺} = M + θh·D + θ²h·F_q,
                     F_{v₀} = −M + (1 − θ)h·D + θ(1 − θ)h·F_q                                               (1)
    semi-implicit:   R = (1 + σ)M·Δ + c_v·D·Δ + c_q·K·v⁺ − h·f   at (q₀, v₀),
                     F_{v⁺} = (1 + σ)M + c_v·D + c_q·K                                                      (2)

of which (2) needs the second derivatives of f. They are symmetric, so that for a covector y

    ∂(yᵀ·(c_v·D·Δ + c_q·K·v⁺))/∂(q, v) = d/dε (Kᵀ·y, Dᵀ·y) at (q₀ + ε·c_q·v⁺, v₀ + ε·c_v·Δ):                       (3)

one difference, whatever nv. ∂(M·Δ)/∂q is zero of a constant mass matrix, h·(K̂ − K) of a model with `inverse-dynamics`,
and else of differences of M.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

import numpy as np
from scipy.sparse import csc_array

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.engine.adjoint.charts import Charts
from corekit.engine.adjoint.step_derivative import Covectors
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.step.linearisation import LinearisationPoint, at_start, in_step
from corekit.engine.tape import StepRecord
from corekit.linalg.matrices import BlockDiagonal, Dense, Matrix, Sparse

if TYPE_CHECKING:
    from corekit.engine.world.world_system import WorldSystem

__all__ = ["SmoothSteps"]

_STEP: Final = 2.0**-17
_LEFT: Final = 1e-5


def _transposed_product(matrix: Matrix, y: Array) -> Array:
    """Kᵀ·y, a new array."""
    if isinstance(matrix, Dense):
        return np.asarray(matrix.data.T @ y)
    if isinstance(matrix, BlockDiagonal):
        return np.einsum("bij,bi->bj", matrix.data, y.reshape(len(matrix.data), -1)).ravel()
    if isinstance(matrix, Sparse):
        entries = csc_array(
            (matrix.data, matrix.pattern.row, matrix.pattern.start), shape=(matrix.n, matrix.n)
        )
        return np.asarray(entries.T @ y)
    out = np.empty(matrix.n)
    matrix.multiply(y, out)  # bands are symmetric
    return out


@final
class SmoothSteps:
    """Pulls covectors through such steps.

    Args:
        system: the world. charts: of its states. state: one of them.

    Attributes:
        serves: whether steps of the world without closed contacts can be pulled.
    """

    def __init__(self, system: WorldSystem, charts: Charts, state: State) -> None:
        self._system, self._world = system, system.terms
        self._trial, self._zero = system.new_state(), np.zeros(system.nv)
        bodies = system.terms.bodies
        self._has_constant_mass = [
            _mass_is_constant(terms, own) for terms, own in zip(bodies, state.body_states, strict=True)
        ]
        self.serves = (
            all(charts.adds_up)
            and system.terms.joints is None
            and system.terms.forces is None
            and all(map(self._serves_body, bodies, self._has_constant_mass))
        )

    @staticmethod
    def _serves_body(terms: BodyTerms, has_constant_mass: bool) -> bool:
        own = terms.body.abilities
        if own.force_derivatives is None or own.dissipation is not None or terms.rows is not None:
            return False
        is_dense = all(isinstance(each, Dense) for each in (terms.mass, terms.stiffness, terms.damping))
        return (is_dense and not len(terms.prescribed)) or has_constant_mass

    def pull(self, record: StepRecord, end: Covectors) -> tuple[Covectors, Array] | None:
        """As `StepDerivative.pull`; None where something pushes in the step or it cannot be repeated so."""
        point, contacts = record.point, record.contacts
        if not self.serves or point is None or point.is_after_smooth_motion or record.placing is not None:
            return None
        if record.separation is not None or end.tangents.any() or end.impulses.any():
            return None
        if contacts is not None and (contacts.impulse[:, 0] > 0.0).any():
            return None
        world, start, h = self._world, record.start, point.step
        for terms, held in zip(world.bodies, record.inputs, strict=True):
            if held or terms.body.inputs.internal_state():
                terms.body.inputs.restore(held)
        theta = None if point.is_single_solve else point.share
        if theta is None:
            beta, damped = point.stiffness_factor / h**2, point.damping_factor != 0.0
            here = at_start(start, h, self._zero, beta, damped, point.shift)
        else:
            mean, trial = (1.0 - theta) * start.v + theta * record.velocity, self._trial
            world.integrate(start, mean, theta * h, start, trial)
            trial.v[:] = mean
            world.set_prescribed_rates(trial)
            here = in_step(start, trial, trial, record.velocity, h, theta, 1.0, 0.0)
        place, velocity, y = np.empty((3, world.nv))
        for i, (terms, own) in enumerate(world.of_bodies(here)):
            where = world.slices[i]
            parts = record.velocity[where], start.v[where], end.place[where], end.velocity[where]
            found = (
                self._pull_linear(terms, own, i, *parts)
                if theta is None
                else self._pull_theta(terms, own, i, theta, *parts)
            )
            if found is None:
                return None
            place[where], velocity[where], y[where] = found
        known = (
            np.zeros((0, 3))
            if contacts is None or not len(end.tangents)
            else np.zeros((len(contacts.known.id), 3))
        )
        nothing = np.zeros_like(end.impulses)
        whole = np.concatenate([y, np.zeros(end.tangents.size)])
        return Covectors(place, velocity, known, nothing), whole

    # — one body —

    def _pull_linear(
        self,
        terms: BodyTerms,
        point: LinearisationPoint,
        i: int,
        ahead: Array,
        before: Array,
        a: Array,
        b: Array,
    ) -> tuple[Array, Array, Array] | None:
        """(2) and (3)."""
        terms.linearise(point)
        change, h = ahead - before, point.step
        if not _is_solved(terms, change, ahead, point):
            return None
        stiffness, damping, derivatives = (
            terms.stiffness,
            terms.damping,
            terms.body.abilities.force_derivatives,
        )
        assert stiffness is not None and damping is not None and derivatives is not None
        c_v, c_q, by_mass = point.damping_factor, point.stiffness_factor, 1.0 + point.shift
        w = self._solve_transposed(terms, b + h * a, by_mass, c_v, c_q)
        if w is None:
            return None
        free = terms.free
        at, u = point.at, terms.inputs_at(point.at.time).copy()
        of_stiffness = _transposed_product(stiffness, w) if c_q or c_v else np.zeros(len(w))
        by_place = h * self._stiffness_product(terms, w, of_stiffness, point)
        by_speed = -by_mass * _transposed_product(terms.mass, w)
        if not (c_v or c_q):
            moved = damping
            derivatives.compute_stiffness_and_damping(at, u, stiffness, moved)
            by_speed += h * _transposed_product(moved, w)
        else:
            by_speed += (h - c_v) * _transposed_product(damping, w)
            along_q, along_v = c_q * ahead, c_v * change
            size = max(np.abs(along_q).max(initial=0.0), np.abs(along_v).max(initial=0.0))
            if size > 0.0:
                ends, step, at_end = [], _STEP / size, at.copy()
                for sign in (1.0, -1.0):
                    at_end.q[:], at_end.v[:] = at.q + sign * step * along_q, at.v + sign * step * along_v
                    derivatives.compute_stiffness_and_damping(at_end, u, stiffness, damping)
                    ends.append((_transposed_product(stiffness, w), _transposed_product(damping, w)))
                (k_one, d_one), (k_other, d_other) = ends
                by_place += (k_one - k_other) / (2.0 * step)
                by_speed += (d_one - d_other) / (2.0 * step)
        by_place += by_mass * self._mass_product(terms, point, i, change, w)
        return np.where(free, a - by_place, 0.0), np.where(free, -by_speed, 0.0), -w

    @staticmethod
    def _stiffness_product(terms: BodyTerms, w: Array, known: Array, point: LinearisationPoint) -> Array:
        """Kᵀ·w, which the explicit form has not evaluated."""
        if point.damping_factor or point.stiffness_factor:
            return known
        derivatives, stiffness, damping = (
            terms.body.abilities.force_derivatives,
            terms.stiffness,
            terms.damping,
        )
        assert derivatives is not None and stiffness is not None and damping is not None
        derivatives.compute_stiffness_and_damping(
            point.at, terms.inputs_at(point.at.time), stiffness, damping
        )
        return _transposed_product(stiffness, w)

    def _pull_theta(
        self, terms: BodyTerms, point: LinearisationPoint, i: int, theta: float, ahead: Array, before: Array,
        a: Array, b: Array,
    ) -> tuple[Array, Array, Array] | None:  # fmt: skip
        """(1)."""
        terms.linearise(point)
        h, change, free = point.step, ahead - before, terms.free
        if not _is_solved(terms, np.zeros(len(ahead)), ahead, point):
            return None
        stiffness, damping = terms.stiffness, terms.damping
        assert stiffness is not None and damping is not None
        g, rate = b + theta * h * a, theta * h
        if self._has_constant_mass[i]:
            w = self._solve_transposed(terms, g, 1.0, rate, rate * rate)
            if w is None:
                return None
            by_place = h * _transposed_product(stiffness, w)
            of_damping, of_mass = _transposed_product(damping, w), _transposed_product(terms.mass, w)
        else:
            mass, d = terms.mass.data.copy(), damping.data.copy()
            of_q = h * stiffness.data + self._mass_slopes(terms, point, change)
            try:
                w = np.asarray(np.linalg.solve((mass + rate * d + theta * rate * of_q).T, g), dtype=float)
            except np.linalg.LinAlgError:
                return None
            by_place, of_damping, of_mass = of_q.T @ w, d.T @ w, mass.T @ w
        rest = (1.0 - theta) * h
        by_speed = -of_mass + rest * of_damping + theta * rest * by_place
        return np.where(free, a - by_place, 0.0), np.where(free, rest * a - by_speed, 0.0), -w

    @staticmethod
    def _solve_transposed(terms: BodyTerms, g: Array, by_mass: float, c_v: float, c_q: float) -> Array | None:
        """F_{v⁺}⁻ᵀ·g; None if it is singular."""
        if isinstance(terms.matrix, Dense) and not len(terms.prescribed):
            matrix = by_mass * _dense(terms.mass)
            if c_v and terms.damping is not None:
                matrix = matrix + c_v * _dense(terms.damping)
            if c_q and terms.stiffness is not None:
                matrix = matrix + c_q * _dense(terms.stiffness)
            try:
                return np.asarray(np.linalg.solve(matrix.T, g), dtype=float)
            except np.linalg.LinAlgError:
                return None
        if not terms.refactor():
            return None
        out, none = np.empty(len(g)), np.zeros(0)
        terms.factor.solve_transposed(g, none, out, none)
        return out

    def _mass_product(
        self, terms: BodyTerms, point: LinearisationPoint, i: int, change: Array, w: Array
    ) -> Array:
        """∂(wᵀ·M·Δ)/∂q."""
        if self._has_constant_mass[i]:
            return np.zeros(len(w))
        return np.asarray(self._mass_slopes(terms, point, change).T @ w)

    @staticmethod
    def _mass_slopes(terms: BodyTerms, point: LinearisationPoint, change: Array) -> Array:
        """∂(M·Δ)/∂q, shape (nv, nv), of a dense model; K, D and M are overwritten but for the θ family's K and D."""
        own, at, h = terms.body.abilities, point.at, point.step
        u = terms.inputs_at(at.time).copy()
        if own.inverse_dynamics is not None and own.force_derivatives is not None:
            made = own.force_derivatives.new_stiffness_and_damping()
            own.inverse_dynamics.compute_residual_derivatives(at, u, change / h, *made)
            plain = own.force_derivatives.new_stiffness_and_damping()
            own.force_derivatives.compute_stiffness_and_damping(at, u, *plain)
            return h * (_dense(made[0]) - _dense(plain[0]))
        model, moved, force = terms.body.model, at.copy(), np.empty(len(change))
        out, mass = np.empty((len(change), len(change))), terms.body.model.new_mass_matrix()
        for j in range(len(change)):
            ends = []
            for sign in (1.0, -1.0):
                moved.q[j] = at.q[j] + sign * _STEP
                model.compute_mass_and_force(moved, u, mass, force)
                ends.append(_dense(mass) @ change)
            moved.q[j] = at.q[j]
            out[:, j] = (ends[0] - ends[1]) / (2.0 * _STEP)
        return out


def _dense(matrix: Matrix) -> Array:
    """A matrix as an array, which may be its own buffer."""
    return matrix.data if isinstance(matrix, Dense) else matrix.dense()


def _mass_is_constant(terms: BodyTerms, state: State) -> bool:
    """Whether M is the same at a state of the body and at one far from it."""
    model, moved, force = terms.body.model, state.copy(), np.empty(len(state.v))
    inputs, draw = terms.inputs_at(state.time), np.random.default_rng(0)
    model.compute_mass_and_force(state, inputs, terms.mass, force)
    here = terms.mass.data.copy()
    model.integrate(state, 0.1 * draw.standard_normal(len(state.v)), 1.0, state, moved)
    model.compute_mass_and_force(moved, inputs, terms.mass, force)
    return bool(np.array_equal(here, terms.mass.data))


def _is_solved(terms: BodyTerms, change: Array, velocity: Array, point: LinearisationPoint) -> bool:
    """Whether the equation of a body, as it is expanded, is that which the record solved."""
    weight = np.empty(len(velocity))
    terms.mass.multiply(velocity, weight)
    size = np.abs(weight).max(initial=0.0) + point.force_factor * np.abs(terms.force).max(initial=0.0)
    left = np.abs(terms.unbalanced(change)[terms.free]).max(initial=0.0)
    return bool(left <= _LEFT * size)
