"""One body's share of the step equation: its matrices, force, rows and factorisation.

    coupled:  A = M + θh·D + θ²h²·K − hθ²·∂(J_bᵀλ_b)/∂q,   b = A·v_k − ρ,   ρ = M·(v_k − v₀) − h·f    (1)
    start:    A = M + h·D + βh²·K,                          b = M·v₀ + h·(f + D·v₀)                  (2)

Rows, in the form J_b·v⁺ + E·λ = r (c position value, u wanted rate, α compliance):

    |               | rigid                                       | compliant                                |
    | position, (1) | E = 0, r = J_b·v̄_k − c(q_k)/h               | E = α/(θ²h²), r = J_b·v_k − c(trial)/(θ²h)  |
    | rate, (1)     | E = 0, r = u(t + h) + (J_b − J_b(q_k))·v_k  | E = α/(θh), r = J_b·v_k − (J_b·v̄_k − u)/θ   |
    | position, (2) | E = 0, r = −c(q₀)/h                         | E = α/h², r = −c(q₀)/h                   |
    | rate, (2)     | E = 0, r = u(t + h)                         | E = α/h, r = u(t + h)                    |

                                                              with u = u(t + θh) where none is given   (3)
A rigid rate row binds v⁺ in its direction at the end q_k of the step: with the trial direction alone a
midpoint step would be of first order, and binding v̄ would make it ring.

Split family: A = M(q_f), b = M·v_f. Rows without bounds were part of the smooth motion: rigid ones keep
their J_b·v_f, compliant ones are forces and stay out. Bounded rows act now, with Δ_f/h the mean velocity:

    position: E = α/h², r = J_b·Δ_f/h − c(q_f)/h,      rate: E = α/h, r = u(t + h)                  (4)

Damping split off: A = M(q_f) + θh·D, b = M·v_f + θh·D·v₀ if the smooth motion held −D·v₀, else A·v_f.   (5)

Where the factorisation or the impulse solver needs a symmetric A, the symmetric parts of K, D and of the
rows' curvature are taken; ρ keeps the answer exact.
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.state import State
from corekit.linalg.factor import EliminatedRows, Factor, factor
from corekit.linalg.matrices import Dense, Matrix, symmetrise, widest
from corekit.linalg.rows import BilateralRows
from corekit.linalg.sparse import Sparse
from corekit.world.bodies import Body

__all__ = ["FREE_ROW", "BodySystem"]

FREE_ROW = 1e30
"""Compliance that leaves an eliminated row without force."""

_NO_ROWS: IntArray = np.zeros(0, dtype=np.int64)


class BodySystem:
    """Buffers and assembly for one body.

    Args:
        body: whose.
        symmetric: whether A must be symmetric, for an impulse solver; potentials can take any.

    Attributes:
        mass, force: M and f at the linearisation.
        matrix: A.
        right: b, shape (nv,).
        rho: ρ(v_k) of the coupled form, shape (nv,).
        rows: bilateral rows as the model wrote them, or None.
        eliminated: those without bounds, in the form (3), or None.
        impulse: λ_b of the eliminated rows, kept as the next warm start [N·s].
        bounded: indices of the bounded rows within `rows`.
        bounded_compliance, bounded_target: E and r of the bounded rows.
        fixed: prescribed velocities ṗ(t + h), shape (p,).
        factor: A factorised with the eliminated rows.
        eliminates: whether an assembly fills `eliminated`; a solver that takes the whole step needs it not.
    """

    def __init__(self, body: Body, symmetric: bool = True) -> None:
        model = body.model
        self.body = body
        self.mass: Matrix = model.mass_matrix()
        self.force = np.zeros(body.nv)
        self.rho = np.zeros(body.nv)
        self.right = np.zeros(body.nv)
        self._work = np.zeros(body.nv)
        self.has_tangent = "tangent" in body.abilities
        self.stiffness: Matrix | None = None
        self.damping: Matrix | None = None
        self._curvature: Matrix | None = None
        if self.has_tangent:
            stiffness, damping = model.tangent_matrices()
            self.stiffness, self.damping = stiffness, damping
            self.matrix = widest(self.mass, stiffness, damping)
        else:
            self.matrix = widest(self.mass)
        # without a tangent A is the mass matrix; only dense and sparse A have a factorisation for the general case
        self._symmetric = symmetric or not self.has_tangent or not isinstance(self.matrix, (Dense, Sparse))
        self.prescribed = body.layout.prescribed
        self._has_prescribed = len(self.prescribed) > 0
        self.fixed = np.zeros(len(self.prescribed))
        self._value = np.zeros(len(self.prescribed))
        self._smooth_reaction = np.zeros(len(self.prescribed))
        self._smooth_count = 0
        self.rows: BilateralRows | None = None
        self._end_rows: BilateralRows | None = None
        self.eliminated: EliminatedRows | None = None
        self.bounded = self._kept = _NO_ROWS
        if "bilateral" in body.abilities and body.layout.bilateral_rows:
            self.rows = rows = model.bilateral_rows()
            self._end_rows = model.bilateral_rows()
            self.bounded = np.flatnonzero(rows.bounded)
            self._kept = np.flatnonzero(~rows.bounded)
            self._has_rate = bool(rows.rate.any())
            if len(self._kept):
                self.eliminated = EliminatedRows(len(self._kept), rows.dofs.shape[1])
            if self.has_tangent:
                self._curvature = model.tangent_matrices()[0]
        count = 0 if self.rows is None else self.rows.count
        self._row_impulse = np.zeros(count)
        self._compliance = np.zeros(count)
        self._target = np.zeros(count)
        self.impulse = np.zeros(len(self._kept))
        self.eliminates = True
        self.factor: Factor = factor(self.matrix, self.eliminated, self.prescribed, self._symmetric)

    @property
    def bounded_compliance(self) -> Array:
        """E of the bounded rows."""
        return self._compliance[self.bounded]

    @property
    def bounded_target(self) -> Array:
        """r of the bounded rows."""
        return self._target[self.bounded]

    # — prescribed motion —

    def impose(self, state: State, time: float) -> None:
        """Set prescribed coordinates of a state to p(time) and its velocities to ṗ(time)."""
        if len(self.prescribed):
            self.body.model.prescribed(time, self._value, self._work[: len(self.prescribed)])
            state.q[self.body.layout.prescribed_coordinates] = self._value
            state.v[self.prescribed] = self._work[: len(self.prescribed)]

    def place(self, state: State, time: float) -> None:
        """Set prescribed coordinates of a state to p(time), leaving its velocities."""
        if len(self.prescribed):
            self.body.model.prescribed(time, self._value, self._work[: len(self.prescribed)])
            state.q[self.body.layout.prescribed_coordinates] = self._value

    def fix(self, time: float) -> None:
        """Take ṗ(time) as the prescribed end velocities."""
        if self._has_prescribed:
            self.body.model.prescribed(time, self._value, self.fixed)

    # — assembly —

    def assemble_coupled(
        self,
        start: State,
        trial: State,
        end: State,
        velocity: Array,
        h: float,
        theta: float,
        tangent: float,
        shift: float,
    ) -> None:
        """Build (1) and (3) at the trial and end states (equal buffers at θ = 1) for v_k = `velocity`.

        `shift` adds shift·M to A, which lifts an indefinite one; ρ keeps the answer exact.
        """
        model, t_end = self.body.model, start.time + h
        u = self._take_residual(start, trial, velocity, h)
        matrix = self.matrix
        matrix.zero()
        matrix.add(self.mass)
        if self.stiffness is not None and self.damping is not None:
            model.tangent(trial, u, self.stiffness, self.damping)
            if self._symmetric:
                symmetrise(self.stiffness)
                symmetrise(self.damping)
            matrix.add(self.damping, theta * h)
            if tangent:
                matrix.add(self.stiffness, tangent * theta * theta * h * h)
        if self.rows is not None:
            self._rows_coupled(trial, end, velocity, h, theta, u)
            if self._curvature is not None and tangent:
                model.bilateral_curvature(trial, self._row_impulse, self._curvature)
                if self._symmetric:
                    symmetrise(self._curvature)
                matrix.add(self._curvature, -tangent * h * theta * theta)
        if shift:
            matrix.add(self.mass, shift)
        matrix.multiply(velocity, self.right)
        self.right -= self.rho
        if self._has_prescribed:
            self.fix(t_end)

    def evaluate_coupled(self, start: State, trial: State, velocity: Array, h: float) -> None:
        """Rewrite ρ and J_b at another trial state and v_k = `velocity`; A and its factorisation stay.

        b follows where coordinates are prescribed, so that the reactions are those of `velocity`.
        """
        u = self._take_residual(start, trial, velocity, h)
        if self.rows is not None:
            self.body.model.bilateral(trial, u, self.rows)
        if len(self.prescribed):
            self.matrix.multiply(velocity, self.right)
            self.right -= self.rho

    def _take_residual(self, start: State, trial: State, velocity: Array, h: float) -> Array:
        """M and f at the trial state and ρ(velocity); returns the inputs there."""
        u = self.body.inputs.at(trial.time)
        self.body.model.dynamics(trial, u, self.mass, self.force)
        np.subtract(velocity, start.v, out=self._work)
        self.mass.multiply(self._work, self.rho)
        np.multiply(self.force, h, out=self._work)
        self.rho -= self._work
        return u

    def _rows_coupled(
        self, trial: State, end: State, velocity: Array, h: float, theta: float, u: Array
    ) -> None:
        rows, ends = self.rows, self._end_rows
        assert rows is not None and ends is not None
        model = self.body.model
        model.bilateral(trial, u, rows)
        if end is trial:
            ends = rows
        else:
            model.bilateral(end, self.body.inputs.at(end.time), ends)
            self.body.inputs.at(trial.time)
        mean = trial.v
        soft = rows.compliance > 0
        at_mean, at_velocity = rows.product(mean), rows.product(velocity)
        wanted = ends.target
        if ends is not rows:
            wanted = wanted + at_velocity - ends.product(velocity)
        rigid = np.where(rows.rate, wanted, at_mean - ends.constraint / h)
        compliant = np.where(
            rows.rate,
            at_velocity - (at_mean - rows.target) / theta,
            at_velocity - rows.constraint / (theta * theta * h),
        )
        np.copyto(self._target, np.where(soft, compliant, rigid))
        np.copyto(
            self._compliance,
            np.where(rows.rate, rows.compliance / (theta * h), rows.compliance / (theta * theta * h * h)),
        )
        if self.eliminates:
            self._eliminate(rows)

    def assemble_start(
        self, start: State, end: State, h: float, beta: float, damping: bool, shift: float = 0.0
    ) -> None:
        """Build (2) and (3) at the start; `end` is scratch for the rows' wanted rates at t + h.

        `shift` adds shift·M·(v⁺ − v₀) to the left side, which lifts an indefinite A.
        """
        model = self.body.model
        u = self.body.inputs.at(start.time)
        model.dynamics(start, u, self.mass, self.force)
        matrix, work = self.matrix, self._work
        self.mass.multiply(start.v, self.right)
        np.multiply(self.force, h, out=work)
        self.right += work
        matrix.zero()
        matrix.add(self.mass)
        if self.stiffness is not None and self.damping is not None and (damping or beta):
            model.tangent(start, u, self.stiffness, self.damping)
            if self._symmetric:
                symmetrise(self.stiffness)
                symmetrise(self.damping)
            if damping:
                matrix.add(self.damping, h)
                self.damping.multiply(start.v, work)
                work *= h
                self.right += work
            if beta:
                matrix.add(self.stiffness, beta * h * h)
        if shift:
            matrix.add(self.mass, shift)
            self.mass.multiply(start.v, work)
            work *= shift
            self.right += work
        if self.rows is not None:
            self._rows_start(start, end, h, u)
        if self._has_prescribed:
            self.fix(start.time + h)

    def _rows_start(self, start: State, end: State, h: float, u: Array) -> None:
        rows, ends = self.rows, self._end_rows
        assert rows is not None and ends is not None
        model = self.body.model
        model.bilateral(start, u, rows)
        target = rows.target
        if self._has_rate:
            end.copy_from(start)
            end.time = start.time + h
            model.bilateral(end, self.body.inputs.at(end.time), ends)
            target = ends.target
        np.copyto(self._target, np.where(rows.rate, target, -rows.constraint / h))
        np.copyto(self._compliance, np.where(rows.rate, rows.compliance / h, rows.compliance / (h * h)))
        if self.eliminates:
            self._eliminate(rows)

    def assemble_split(
        self, start: State, smooth: State, h: float, theta: float = 0.0, held: bool = False
    ) -> None:
        """Build the split form about the smooth end state: rows by (4), damping by (5)."""
        model = self.body.model
        u = self.body.inputs.at(smooth.time)
        model.dynamics(smooth, u, self.mass, self.force)
        self.matrix.zero()
        self.matrix.add(self.mass)
        self.mass.multiply(smooth.v, self.right)
        if theta and self.damping is not None:
            self.matrix.add(self.damping, theta * h)
            self.damping.multiply(start.v if held else smooth.v, self._work)
            self._work *= theta * h
            self.right += self._work
        rows = self.rows
        if rows is not None:
            model.bilateral(smooth, u, rows)
            mean = 0.5 * (start.v + smooth.v)
            acting = np.where(rows.rate, rows.target, rows.product(mean) - rows.constraint / h)
            np.copyto(self._target, np.where(rows.bounded, acting, rows.product(smooth.v)))
            soft = np.where(rows.rate, rows.compliance / h, rows.compliance / (h * h))
            idle = np.where(rows.compliance > 0, FREE_ROW, 0.0)
            np.copyto(self._compliance, np.where(rows.bounded, soft, idle))
            self._eliminate(rows)
        if self._has_prescribed:
            self.fix(smooth.time)

    def take_rows(self, compliance: Array, target: Array) -> None:
        """Take E and r (nb,) of the rows in the form J_b·x + E·λ = r, with J_b as the model wrote it last."""
        if self.rows is not None:
            np.copyto(self._compliance, compliance)
            np.copyto(self._target, target)
            self._eliminate(self.rows)

    def add_tangent(self, state: State, u: Array, damping: float, stiffness: float) -> None:
        """A += damping·D + stiffness·(K − ∂(J_bᵀλ)/∂q) at a state, λ the rows' last forces."""
        model = self.body.model
        if self.stiffness is not None and self.damping is not None:
            model.tangent(state, u, self.stiffness, self.damping)
            if self._symmetric:
                symmetrise(self.stiffness)
                symmetrise(self.damping)
            self.matrix.add(self.damping, damping)
            self.matrix.add(self.stiffness, stiffness)
        if self._curvature is not None:
            model.bilateral_curvature(state, self._row_impulse, self._curvature)
            if self._symmetric:
                symmetrise(self._curvature)
            self.matrix.add(self._curvature, -stiffness)

    def take_damping(self, start: State) -> Matrix | None:
        """D at a state, for (5); None if the model gives none."""
        if self.damping is not None and self.stiffness is not None:
            self.body.model.tangent(start, self.body.inputs.at(start.time), self.stiffness, self.damping)
            if self._symmetric:
                symmetrise(self.damping)
        return self.damping

    def add_held_damping(self, velocity: Array, held: Array) -> None:
        """b += D·(v − v₀): the damping held at its start."""
        if self.damping is not None:
            self.damping.multiply(velocity - held, self._work)
            self.right += self._work

    @property
    def row_compliance(self) -> Array:
        """E of all rows, shape (nb,)."""
        return self._compliance

    @property
    def row_target(self) -> Array:
        """r of all rows, shape (nb,)."""
        return self._target

    def eliminate(self) -> None:
        """Fill `eliminated` after an assembly that did not."""
        if self.rows is not None:
            self._eliminate(self.rows)

    def _eliminate(self, rows: BilateralRows) -> None:
        if self.eliminated is not None:
            self.eliminated.dofs[:] = rows.dofs[self._kept]
            self.eliminated.values[:] = rows.values[self._kept]
            self.eliminated.compliance[:] = self._compliance[self._kept]
            self.eliminated.target[:] = self._target[self._kept]

    # — solving —

    def solve(self, extra: Array | None, x: Array) -> None:
        """x = the velocities of (1)–(3) with `extra` added to b; updates the eliminated rows' impulses."""
        right = self.right if extra is None else self.right + extra
        self.factor.solve(right, self.fixed, x, self.impulse)
        if self.eliminated is not None:
            self._row_impulse[self._kept] = self.impulse

    def columns(self, block: Array) -> None:
        """Overwrite `block` (nv, R), Fortran order, by G·block."""
        self.factor.columns(block)

    def take_bounded(self, impulse: Array) -> None:
        """Remember the bounded rows' impulses, for the curvature term and the residual."""
        self._row_impulse[self.bounded] = impulse

    def add_row_impulses(self, out: Array) -> None:
        """out += J_bᵀ·λ_b over all rows."""
        if self.rows is not None:
            self.rows.add_transpose(self._row_impulse, out)

    def bounded_rows(self) -> tuple[IntArray, Array]:
        """Dofs and values of the bounded rows."""
        assert self.rows is not None
        return self.rows.dofs[self.bounded], self.rows.values[self.bounded]

    def bounds(self, h: float) -> tuple[Array, Array]:
        """Impulse bounds h·lower, h·upper of the bounded rows [N·s]."""
        assert self.rows is not None
        return h * self.rows.lower[self.bounded], h * self.rows.upper[self.bounded]

    def begin(self) -> None:
        """A new step: no smooth acceleration has been evaluated yet."""
        self._smooth_reaction.fill(0.0)
        self._smooth_count = 0

    def keep_smooth_reaction(self, extra: Array | None, acceleration: Array) -> None:
        """Remember the forces that hold the prescribed coordinates in the smooth motion, for `reaction`."""
        if len(self.prescribed):
            self._smooth_reaction += self._unbalanced(extra, acceleration, self.eliminated, self.impulse)
            self._smooth_count += 1

    def reaction(self, extra: Array | None, velocity: Array) -> Array:
        """A·v⁺ − b − J_bᵀ·λ_b at the prescribed velocities, less `extra`, shape (p,) [N·s or N·m·s]."""
        return self._unbalanced(extra, velocity, self.rows, self._row_impulse)

    def smooth_reaction(self) -> Array:
        """Mean force on the prescribed coordinates over the step's smooth accelerations, (p,) [N or N·m]."""
        return self._smooth_reaction / max(self._smooth_count, 1)

    def _unbalanced(
        self, extra: Array | None, x: Array, rows: BilateralRows | EliminatedRows | None, impulse: Array
    ) -> Array:
        total = np.zeros(self.body.nv)
        if rows is not None:
            rows.add_transpose(-impulse, total)
        self.matrix.multiply(x, self._work)
        total += self._work - self.right
        if extra is not None:
            total -= extra
        return total[self.prescribed]

    def free_mask(self) -> BoolArray:
        """Velocities that are not prescribed."""
        mask = np.ones(self.body.nv, dtype=bool)
        mask[self.prescribed] = False
        return mask

    @property
    def row_impulse(self) -> Array:
        """λ_b of all rows [N·s]."""
        return self._row_impulse
