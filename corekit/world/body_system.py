"""One body's share of the step equation: its matrices, force, rows and factorisation.

    coupled:  A = M + θh·D + θ²h²·K − hθ²·∂(J_bᵀλ_b)/∂q,   b = A·v_k − ρ,   ρ = M·(v_k − v₀) − h·f    (1)
    start:    A = M + h·D + βh²·K,                          b = M·v₀ + h·(f + D·v₀)                  (2)

Rows follow `body_rows`. Split family: A = M(q_f), b = M·v_f.

Damping split off: A = M(q_f) + θh·D, b = M·v_f + θh·D·v₀ if the smooth motion held −D·v₀, else A·v_f.   (3)

Where the factorisation or the impulse solver needs a symmetric A, the symmetric parts of K, D and of the
rows' curvature are taken; ρ keeps the answer exact.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.state import State
from corekit.linalg.constraint_rows import ConstraintRows, EliminatedConstraints
from corekit.linalg.factorisation import Factorisation
from corekit.linalg.factorisation_choice import make_factorisation
from corekit.linalg.matrices import Dense, Matrix, symmetrise, widest
from corekit.linalg.sparse import Sparse
from corekit.world.bodies import Body
from corekit.world.body_rows import BodyRows
from corekit.world.start_form import StartForm

__all__ = ["BodySystem"]

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
        joints: bilateral rows with their E and r, or None.
        rows: as the model wrote them, or None.
        eliminated: those without bounds, or None; impulse: their λ_b [N·s].
        row_impulse: λ_b of all rows [N·s]. bounded: indices of the bounded rows.
        fixed: prescribed velocities ṗ(t + h), shape (p,).
        free: whether a velocity is not prescribed, (nv,).
        factor: A factorised with the eliminated rows.
    """

    __slots__ = (
        "_about", "_balances", "_curvature", "_has_prescribed", "_held", "_held_at", "_held_inputs", "_oldest",
        "_smooth_count", "_smooth_reaction", "_start", "_symmetric", "_work", "body", "bounded", "damping",
        "eliminated", "factor", "fixed", "force", "free", "has_tangent", "impulse", "joints", "mass", "matrix",
        "prescribed", "rho", "right", "row_impulse", "rows", "stiffness",
    )  # fmt: skip

    def __init__(self, body: Body, symmetric: bool = True) -> None:
        model = body.model
        self.body = body
        self.mass: Matrix = model.mass_matrix()
        self.force = np.zeros(body.nv)
        self.rho = np.zeros(body.nv)
        self.right = np.zeros(body.nv)
        self._work = np.zeros(body.nv)
        self._about: Array | None = None
        self._held_inputs = body.inputs.buffer if body.inputs.constant else None
        self.has_tangent = "tangent" in body.abilities
        self._balances = "balance" in body.abilities
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
        self.free: BoolArray = np.ones(body.nv, dtype=bool)
        self.free[self.prescribed] = False
        self.fixed = np.zeros(len(self.prescribed))
        # p and ṗ at the two times asked last: a step asks for them at its trial and at its end, again and again
        self._held = np.zeros((2, 2, len(self.prescribed)))
        self._held_at, self._oldest = [math.nan, math.nan], 0
        self._smooth_reaction = np.zeros(len(self.prescribed))
        self._smooth_count = 0
        self.joints: BodyRows | None = None
        self.rows: ConstraintRows | None = None
        self.eliminated: EliminatedConstraints | None = None
        self.bounded = _NO_ROWS
        self.impulse = self.row_impulse = np.zeros(0)
        if "bilateral" in body.abilities and body.layout.bilateral_rows:
            self.joints = joints = BodyRows(body)
            self.rows, self.eliminated, self.bounded = joints.rows, joints.eliminated, joints.bounded
            self.impulse, self.row_impulse = joints.eliminated_impulse, joints.impulse
            if self.has_tangent:
                self._curvature = model.tangent_matrices()[0]
        rows = None if self.joints is None else self.joints.table
        self._start = StartForm(
            self.mass, self.stiffness, self.damping, self.matrix, self.force, self.right, self._symmetric, rows
        )  # fmt: skip
        self.factor: Factorisation = make_factorisation(
            self.matrix, self.eliminated, self.prescribed, self._symmetric
        )

    # — prescribed motion —

    def _motion(self, time: float) -> Array:
        """p(time) and ṗ(time), shape (2, p); a time that rounding puts behind a kink is that of the kink."""
        at = self._held_at
        if time == at[0]:
            return self._held[0]
        if time != at[1]:
            slot, self._oldest = self._oldest, 1 - self._oldest
            at[slot] = time
            self.body.model.prescribed(min((time, *self.body.kinks_at(time))), *self._held[slot])
            return self._held[slot]
        return self._held[1]

    def impose(self, state: State, time: float) -> None:
        """Set prescribed coordinates of a state to p(time) and its velocities to ṗ(time)."""
        if self._has_prescribed:
            state.q[self.body.layout.prescribed_coordinates], state.v[self.prescribed] = self._motion(time)

    def impose_rates(self, state: State, time: float) -> None:
        """Set the prescribed velocities of a state to ṗ(time), leaving its coordinates."""
        if self._has_prescribed:
            state.v[self.prescribed] = self._motion(time)[1]

    def place(self, state: State, time: float) -> None:
        """Set prescribed coordinates of a state to p(time), leaving its velocities."""
        if self._has_prescribed:
            state.q[self.body.layout.prescribed_coordinates] = self._motion(time)[0]

    def fix(self, time: float) -> None:
        """Take ṗ(time) as the prescribed end velocities."""
        if self._has_prescribed:
            self.fixed[:] = self._motion(time)[1]

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
        if self.stiffness is not None and self.damping is not None:
            model.tangent(trial, u, self.stiffness, self.damping)
            if self._symmetric:
                symmetrise(self.stiffness)
                symmetrise(self.damping)
            by_stiffness = tangent * theta * theta * h * h
            self._start.combine(1.0 + shift, theta * h, by_stiffness)
        else:
            matrix.zero()
            matrix.add(self.mass, 1.0 + shift)
        if self.joints is not None:
            self.joints.coupled(trial, end, velocity, h, theta, u)
            if self._curvature is not None and tangent:
                model.bilateral_curvature(trial, self.row_impulse, self._curvature)
                if self._symmetric:
                    symmetrise(self._curvature)
                matrix.add(self._curvature, -tangent * h * theta * theta)
        self._about = velocity
        if self._has_prescribed:
            self.fix(t_end)

    def take_right(self) -> None:
        """Write b of (1), which is left until it is asked for: a Newton step −A⁻¹·ρ does without."""
        if self._about is not None:
            self.matrix.multiply(self._about, self.right)
            self.right -= self.rho
            self._about = None

    def evaluate_coupled(self, start: State, trial: State, velocity: Array, h: float) -> None:
        """Rewrite ρ and J_b at another trial state and v_k = `velocity`; A and its factorisation stay.

        b follows when it is asked for: reactions are those of `velocity`, which the caller keeps until then.
        """
        u = self._take_residual(start, trial, velocity, h)
        if self.rows is not None:
            self.body.model.bilateral(trial, u, self.rows)
        self._about = velocity

    def _take_residual(self, start: State, trial: State, velocity: Array, h: float) -> Array:
        """M and f at the trial state and ρ(velocity); returns the inputs there."""
        u = self.body.inputs.at(trial.time)
        self.body.model.dynamics(trial, u, self.mass, self.force)
        np.subtract(velocity, start.v, out=self._work)
        self.mass.multiply(self._work, self.rho)
        np.multiply(self.force, h, out=self._work)
        self.rho -= self._work
        return u

    def assemble_start(
        self, start: State, h: float, by_damping: float, by_stiffness: float, shift: float = 0.0
    ) -> None:
        """Build (2) and the rows at the start.

        Args:
            by_damping, by_stiffness: h and βh², or 0 for what is taken explicitly.
            shift: adds shift·M·(v⁺ − v₀) to the left side, which lifts an indefinite A.
        """
        self._about = None
        model, u = self.body.model, self._held_inputs
        if u is None:
            u = self.body.inputs.at(start.time)
        model.dynamics(start, u, self.mass, self.force)
        stiffness, damping = self.stiffness, self.damping
        if stiffness is None or damping is None:
            by_damping = by_stiffness = 0.0
        elif by_damping or by_stiffness:
            model.tangent(start, u, stiffness, damping)
        joints = self.joints
        if joints is not None:
            joints.start(start, h, u)
        self._start.write(start.v, h, by_damping, by_stiffness, shift)
        if joints is not None and joints.eliminates:
            joints.eliminate()
        if self._has_prescribed:
            self.fix(start.time + h)

    def assemble_split(
        self, start: State, smooth: State, h: float, theta: float = 0.0, held: bool = False
    ) -> None:
        """Build the split form about the smooth end state, damping by (3)."""
        model, self._about = self.body.model, None
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
        if self.joints is not None:
            self.joints.split(start, smooth, h, u)
        if self._has_prescribed:
            self.fix(smooth.time)

    def take_rows(self, compliance: Array, target: Array) -> None:
        """Take E and r (nb,) of the rows in the form J_b·x + E·λ = r, with J_b as the model wrote it last."""
        if self.joints is not None:
            self.joints.take(compliance, target)

    def take_balance(self, state: State, u: Array, acceleration: Array, mass: bool) -> None:
        """Write f − M·w as the right side, and M if it is wanted."""
        model = self.body.model
        if self._balances:
            model.balance(state, u, acceleration, self.right, self.mass if mass else None)
            return
        model.dynamics(state, u, self.mass, self.force)
        self.mass.multiply(acceleration, self.right)
        np.subtract(self.force, self.right, out=self.right)

    def add_tangent(
        self, state: State, u: Array, acceleration: Array, damping: float, stiffness: float
    ) -> None:
        """A += damping·D + stiffness·(K − ∂(J_bᵀλ)/∂q) at a state, λ the rows' last forces.

        K has ∂(M·w)/∂q too where the model offers it and A need not be symmetric.
        """
        model = self.body.model
        if self.stiffness is not None and self.damping is not None:
            whole = self._balances and not self._symmetric
            if whole:
                rows = None if self.rows is None else self.row_impulse
                model.balance_tangent(state, u, acceleration, self.stiffness, self.damping, rows)
            else:
                model.tangent(state, u, self.stiffness, self.damping)
            if self._symmetric:
                symmetrise(self.stiffness)
                symmetrise(self.damping)
            self.matrix.add(self.damping, damping)
            self.matrix.add(self.stiffness, stiffness)
            if whole:
                return
        if self._curvature is not None:
            model.bilateral_curvature(state, self.row_impulse, self._curvature)
            if self._symmetric:
                symmetrise(self._curvature)
            self.matrix.add(self._curvature, -stiffness)

    def take_damping(self, start: State) -> Matrix | None:
        """D at a state, for (3); None if the model gives none."""
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

    # — solving —

    def solve(self, extra: Array | None, x: Array) -> None:
        """x = the velocities of (1)–(3) with `extra` added to b; updates the eliminated rows' impulses."""
        right = self.right if extra is None else self.right + extra
        self.factor.solve(right, self.fixed, x, self.impulse)
        if self.joints is not None:
            self.joints.take_eliminated()

    def columns(self, block: Array) -> None:
        """Overwrite `block` (nv, R), Fortran order, by G·block."""
        self.factor.solve_columns(block)

    def add_row_impulses(self, out: Array) -> None:
        """out += J_bᵀ·λ_b over all rows."""
        if self.rows is not None:
            self.rows.add_transpose_product(self.row_impulse, out)

    def begin(self) -> None:
        """A new step: no smooth acceleration has been evaluated yet."""
        self._smooth_reaction.fill(0.0)
        self._smooth_count = 0
        self._about = None

    def keep_smooth_reaction(self, extra: Array | None, acceleration: Array) -> None:
        """Remember the forces that hold the prescribed coordinates in the smooth motion, for `reaction`."""
        if len(self.prescribed):
            self._smooth_reaction += self._unbalanced(extra, acceleration, self.eliminated, self.impulse)
            self._smooth_count += 1

    def reaction(self, extra: Array | None, velocity: Array) -> Array:
        """A·v⁺ − b − J_bᵀ·λ_b at the prescribed velocities, less `extra`, shape (p,) [N·s or N·m·s]."""
        self.take_right()
        return self._unbalanced(extra, velocity, self.rows, self.row_impulse)

    def smooth_reaction(self) -> Array:
        """Mean force on the prescribed coordinates over the step's smooth accelerations, (p,) [N or N·m]."""
        return self._smooth_reaction / max(self._smooth_count, 1)

    def _unbalanced(
        self,
        extra: Array | None,
        x: Array,
        rows: ConstraintRows | EliminatedConstraints | None,
        impulse: Array,
    ) -> Array:
        total = np.zeros(self.body.nv)
        if rows is not None:
            rows.add_transpose_product(-impulse, total)
        self.matrix.multiply(x, self._work)
        total += self._work - self.right
        if extra is not None:
            total -= extra
        return total[self.prescribed]
