"""One body's terms of the step equation: M, f, K, D, constraints, and A and r by (2) of `linearisation`.

Where the factorisation or the impulse solver needs a symmetric A, the symmetric parts of K, D and of the constraint
forces' gradient are used. Newton's method still converges to the exact solution, since r is exact.

A single solve has no Newton's method behind it. There the symmetric part of D is wrong for inertia forces −c(v), which
are quadratic in v and turn a motion without work: of ω × I·ω it makes energy, without bound. So r becomes A·Δ with

    (A + T)·Δ = r                                                                              (1)

where T is the rest of the whole D and K, T = c_v·(D − Dᵀ)/2 + c_q·(K − Kᵀ)/2, and r has the whole K: without impulses
v⁺ = v₀ + Δ is what it is in a world without contacts. Where a model gives the part D₀ of D that damps, A holds D₀, and
½·c_v·(D − D₀) stands for the first term of T. Since ∂c/∂v is linear in v, this is Kahan's discretisation of
v̇ = −M⁻¹·c(v): of second order, and for the free top its energy and angular momentum stay near their values for ever.
Sparse matrices keep their symmetric part.

Source: Kahan (1993), Unconventional numerical methods for trajectory calculations; Hirota and Kimura (2000),
Discretization of the Euler top, J. Phys. Soc. Japan 69.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.state import State
from corekit.engine.bodies.assembly_kernels import assemble_bands, assemble_blocks, turn_right_side
from corekit.engine.bodies.body_constraints import BodyConstraints
from corekit.engine.bodies.prescribed_motion import PrescribedMotion
from corekit.engine.step.linearisation import LinearisationPoint
from corekit.errors import CompositionError
from corekit.linalg.constraint_rows import ConstraintRows, EliminatedConstraints
from corekit.linalg.factorisation import Factorisation, make_factorisation
from corekit.linalg.matrices import Banded, BlockDiagonal, Dense, Diagonal, Matrix, Sparse, widest
from corekit.roles.body import Body
from corekit.roles.model import Model
from corekit.roles.model_abilities import ModelAbilities

__all__ = ["BodyTerms"]

_NO_ROWS: IntArray = np.zeros(0, dtype=np.int64)


def _columns(matrix: Matrix) -> Array:
    """A band's data with a row per column of the matrix, a view."""
    return matrix.data.reshape(matrix.n, -1) if isinstance(matrix, Diagonal) else matrix.data.T


def _sized(body: Body, method: str, matrix: Matrix) -> Matrix:
    """Return a matrix of a model; raise CompositionError where it is not of the size nv."""
    if matrix.n != body.nv:
        who = f"{method} of {type(body.model).__name__} (body {body.name!r})"
        raise CompositionError(f"{who} gives a matrix of size {matrix.n}, and it has {body.nv} velocities")
    return matrix


@final
class BodyTerms:
    """Buffers and assembly for one body.

    Args:
        body: the body.
        symmetric: whether A must be symmetric, for an impulse solver; potentials accept any.
        symmetric_unless_dense: whether every A but a dense one is symmetric.

    Attributes:
        mass, force: M and f at the linearisation. stiffness, damping: K and D, or None.
        matrix, rhs: A and r.
        constraints: the body's constraints, or None. rows: as the model wrote them, or None.
        eliminated: those without bounds; eliminated_impulse: their λ_b [N·s].
        row_impulse: λ_b of all rows [N·s]. bounded: indices of the bounded rows.
        motion: prescribed motion. prescribed: its velocity indices. free: whether a velocity is not prescribed, (nv,).
        fixed: Δ of the prescribed velocities, shape (p,).
        factor: A factorised with the eliminated rows.
        turns: whether r of steps of one solve may be turned, as (1) says.
    """

    __slots__ = (
        "_force_gradient", "_layout", "_rest", "_scratch", "_steady_inputs", "_symmetric", "_views", "_whole",
        "_work", "body", "bounded", "constraints", "damping", "eliminated", "eliminated_impulse", "factor", "fixed",
        "force", "free", "mass", "matrix", "motion", "prescribed", "rhs", "row_impulse", "rows", "stiffness", "turns",
    )  # fmt: skip

    def __init__(self, body: Body, *, symmetric: bool = True, symmetric_unless_dense: bool = False) -> None:
        model = body.model
        self.body = body
        self.mass = _sized(body, "new_mass_matrix", model.new_mass_matrix())
        self.force, self.rhs, self._work = np.zeros((3, body.nv))
        self._steady_inputs = body.inputs.buffer if body.inputs.constant else None
        self.stiffness: Matrix | None = None
        self.damping: Matrix | None = None
        derivatives = body.abilities.force_derivatives
        if derivatives is not None:
            made = derivatives.new_stiffness_and_damping()
            stiffness, damping = (_sized(body, "new_stiffness_and_damping", each) for each in made)
            self.stiffness, self.damping = stiffness, damping
            self.matrix = widest(self.mass, stiffness, damping)
        else:
            self.matrix = widest(self.mass)
        # without derivatives A is the mass matrix; only dense and sparse A have a factorisation for the general case
        general = (Dense,) if symmetric_unless_dense else (Dense, Sparse)
        self._symmetric = symmetric or derivatives is None or not isinstance(self.matrix, general)
        self.motion = PrescribedMotion(body)
        self.prescribed = self.motion.index
        self.free: BoolArray = np.ones(body.nv, dtype=bool)
        self.free[self.prescribed] = False
        self.fixed = np.zeros(len(self.prescribed))
        self.constraints: BodyConstraints | None = None
        self.rows: ConstraintRows | None = None
        self.eliminated = EliminatedConstraints(0, 1)
        self._force_gradient: Matrix | None = None
        self.bounded = _NO_ROWS
        self.eliminated_impulse = self.row_impulse = np.zeros(0)
        constraints = body.abilities.constraints
        if constraints is not None and body.description.constraint_count:
            self.constraints = own = BodyConstraints(body, constraints)
            self.rows, self.eliminated, self.bounded = own.rows, own.eliminated, own.bounded
            self.eliminated_impulse, self.row_impulse = own.eliminated_impulse, own.impulse
            if derivatives is not None:
                self._force_gradient = derivatives.new_stiffness_and_damping()[0]
        self.factor: Factorisation = make_factorisation(
            self.matrix, self.eliminated, self.prescribed, self._symmetric
        )
        self._layout, self._views = self._choose_layout()
        self.turns = self._symmetric and derivatives is not None and self._layout == "blocks"
        size = self._views[3].shape[1] if self.turns else 0
        self._whole = np.zeros((body.nv // size if size else 0, size, size))
        self._rest, self._scratch = np.zeros((size, size)), np.zeros((size, size + 1))

    def reparametrise(self, state: State) -> bool:
        """Change to equivalent coordinates if the model wants to; return whether it did."""
        own = self.body.abilities.reparametrisation
        return own is not None and own.reparametrise(state)

    def replace_model(self, model: Model) -> None:
        """Compute the body by another model of the same spec and description.

        Raises:
            ValueError: its matrices or rows have another structure; nothing is changed then.
        """
        abilities = ModelAbilities.from_model(model, self.body.abilities.words)
        derivatives = abilities.force_derivatives
        matrices = [(model.new_mass_matrix(), self.mass)]
        if derivatives is not None and self.stiffness is not None and self.damping is not None:
            matrices += zip(
                derivatives.new_stiffness_and_damping(), (self.stiffness, self.damping), strict=True
            )
        alike = all(one.has_structure_of(other) for one, other in matrices)
        if self.constraints is not None:
            alike = (
                alike
                and abilities.constraints is not None
                and self.constraints.replace(abilities.constraints)
            )
        if not alike:
            raise ValueError(f"the terms of body {self.body.name!r} must be made anew")
        self.body.replace_model(model)
        self.motion.forget()

    def _choose_layout(self) -> tuple[str, tuple[Array, ...]]:
        """Which compiled assembly suits the matrices, and views of M, D, K and A for it."""
        # matrices that a model does not give are never read
        given = self.mass, self.damping or self.mass, self.stiffness or self.mass, self.matrix
        if all(isinstance(each, Dense) for each in given):
            return "blocks", tuple(each.data[np.newaxis] for each in given)
        if all(isinstance(each, BlockDiagonal) and each.layout == self.matrix.layout for each in given):
            return "blocks", tuple(each.data for each in given)
        if all(isinstance(each, (Diagonal, Banded)) for each in given):
            return "bands", tuple(_columns(each) for each in given)
        return "any", ()

    @property
    def is_symmetric(self) -> bool:
        """Whether A is made symmetric."""
        return self._symmetric

    def inputs_at(self, time: float) -> Array:
        """u(t), shape (nu,)."""
        return self.body.inputs.value_at(time) if self._steady_inputs is None else self._steady_inputs

    # — assembly —

    def linearise(self, point: LinearisationPoint) -> None:
        """Write A, r, the constraints and Δ of prescribed velocities at a linearisation point of this body."""
        model, at = self.body.model, point.at
        u = self.inputs_at(at.time)
        model.compute_mass_and_force(at, u, self.mass, self.force)
        c_v, c_q = point.damping_factor, point.stiffness_factor
        stiffness, damping, turns = self.stiffness, self.damping, False
        dissipation = self.body.abilities.dissipation
        if stiffness is None or damping is None:
            c_v = c_q = 0.0
        elif (c_v or c_q) and not point.is_after_smooth_motion:
            # D of the split family is that of the start of the step, see `update_damping`
            self._differentiate(at, u, stiffness, damping)
            turns = self.turns and point.momentum is None
            if turns and dissipation is not None:
                np.copyto(self._whole, self._views[1])
                dissipation.compute_dissipation(at, u, damping)
        if self.constraints is not None:
            self.constraints.linearise(point, u)
        lacks = self._assemble(point, c_v, c_q)
        if point.has_force_gradient and self._force_gradient is not None:
            self._add_force_gradient(at, -point.stiffness_factor / point.step)
        if self.motion.exists:
            self.fixed[:] = self.motion.values_at(point.end_time)[1] - point.velocity[self.prescribed]
        if turns and (lacks or dissipation is not None):
            self._turn(point)

    def _turn(self, point: LinearisationPoint) -> None:
        """Write r of (1)."""
        _, damping, stiffness, matrix = self._views
        is_held = self.body.abilities.dissipation is not None
        v = point.velocity
        turn_right_side(
            stiffness, self._whole if is_held else damping, damping, is_held, point.damping_factor,
            point.stiffness_factor, v, v if point.stiffened is None else point.stiffened, matrix, self.prescribed,
            self.fixed, self._rest, self._scratch, self.rhs,
        )  # fmt: skip

    def _differentiate(self, at: State, u: Array, stiffness: Matrix, damping: Matrix) -> None:
        derivatives = self.body.abilities.force_derivatives
        assert derivatives is not None
        derivatives.compute_stiffness_and_damping(at, u, stiffness, damping)

    def _assemble(self, point: LinearisationPoint, c_v: float, c_q: float) -> bool:
        """Write A and r from M, f, K and D; return whether dense A lack a part of K or D that is not symmetric."""
        v, by_mass = point.velocity, 1.0 + point.shift
        p = v if point.momentum is None else point.momentum
        d = v if point.damped is None else point.damped
        s = v if point.stiffened is None else point.stiffened
        if self._layout == "blocks":
            mass, damping, stiffness, matrix = self._views
            lacks: bool = assemble_blocks(
                mass, damping, stiffness, self.force, v, p, d, s, point.force_factor, by_mass, c_v, c_q,
                self._symmetric, matrix, self.rhs,
            )  # fmt: skip
            return lacks
        if self._layout == "bands":
            mass, damping, stiffness, matrix = self._views
            moving = p is not v or (c_v != 0.0 and d is not v) or (c_q != 0.0 and s is not v)
            assemble_bands(
                mass, damping, stiffness, self.force, v, p, d, s, point.force_factor, by_mass, c_v, c_q, moving,
                matrix, self.rhs,
            )  # fmt: skip
        else:
            self._assemble_any(point, c_v, c_q)
        return False

    def _assemble_any(self, point: LinearisationPoint, c_v: float, c_q: float) -> None:
        """Write A and r by the matrices' own methods."""
        matrix, rhs, work = self.matrix, self.rhs, self._work
        terms = [(self.mass, 1.0 + point.shift, 1.0, point.momentum)]
        if c_v and self.damping is not None:
            terms.append((self.damping, c_v, c_v, point.damped))
        if c_q and self.stiffness is not None:
            terms.append((self.stiffness, c_q, c_q, point.stiffened))
        np.multiply(self.force, point.force_factor, out=rhs)
        matrix.zero()
        for term, factor_, by_product, about in terms:
            if self._symmetric and term is not self.mass:
                term.symmetrise()
            matrix.add(term, factor_)
            if about is not None:
                term.multiply(about - point.velocity, work)
                work *= by_product
                rhs += work

    def _add_force_gradient(self, at: State, factor_: float) -> None:
        gradient = self._force_gradient
        assert gradient is not None
        assert self.constraints is not None
        self.constraints.compute_force_gradient(at, self.row_impulse, gradient)
        if self._symmetric:
            gradient.symmetrise()
        self.matrix.add(gradient, factor_)

    def update_residual(self, point: LinearisationPoint) -> None:
        """Rewrite r and J_b at another point of the θ family; A and its factorisation stay."""
        u = self.inputs_at(point.at.time)
        self.body.model.compute_mass_and_force(point.at, u, self.mass, self.force)
        momentum = point.velocity if point.momentum is None else point.momentum
        self.mass.multiply(momentum - point.velocity, self.rhs)
        np.multiply(self.force, point.force_factor, out=self._work)
        self.rhs += self._work
        if self.constraints is not None:
            self.constraints.evaluate(point.at, u)

    def linearise_acceleration(
        self, point: LinearisationPoint, acceleration: Array, *, only_residual: bool
    ) -> None:
        """Write A and r = f − M·w of a Newton step of the acceleration w, and the constraints.

        K contains ∂(M·w)/∂q where the model offers it and A need not be symmetric. With `only_residual` A stays, and
        the constraint forces as they are count in r and among the constraints.
        """
        model, at = self.body.model, point.at
        u = self.inputs_at(at.time)
        # the right-hand side stands in the place of f, with which A is assembled
        inverse_dynamics = self.body.abilities.inverse_dynamics
        if inverse_dynamics is not None:
            mass = None if only_residual else self.mass
            inverse_dynamics.compute_dynamics_residual(at, u, acceleration, self.force, mass)
        else:
            model.compute_mass_and_force(at, u, self.mass, self.force)
            self.mass.multiply(acceleration, self._work)
            np.subtract(self.force, self._work, out=self.force)
        if only_residual:
            self.rhs[:] = self.force
        else:
            self._linearise_residual(point, u, acceleration)
        own = self.constraints
        if own is not None:
            own.linearise(point, u, of_acceleration=True)
            if only_residual:
                own.target -= own.compliance * own.impulse
                own.eliminate()
                own.eliminated.add_transpose_product(own.impulse[own.kept], self.rhs)

    def _linearise_residual(self, point: LinearisationPoint, u: Array, acceleration: Array) -> None:
        """A = (1 + σ)·M + c_v·D + c_q·(K − ∂(J_bᵀλ)/∂q) with the last λ, and r."""
        at, gradient = point.at, self._force_gradient
        stiffness, damping = self.stiffness, self.damping
        if stiffness is None or damping is None:
            self._assemble(point, 0.0, 0.0)
            return
        inverse_dynamics = self.body.abilities.inverse_dynamics
        if inverse_dynamics is not None and not self._symmetric:
            impulse, gradient = None if self.rows is None else self.row_impulse, None
            inverse_dynamics.compute_residual_derivatives(at, u, acceleration, stiffness, damping, impulse)
        else:
            self._differentiate(at, u, stiffness, damping)
        self._assemble(point, point.damping_factor, point.stiffness_factor)
        if gradient is not None:
            self._add_force_gradient(at, -point.stiffness_factor)

    def update_damping(self, start: State) -> Matrix | None:
        """Evaluate D at the start of a step, for the split family; None if the model gives none."""
        dissipation, inputs = self.body.abilities.dissipation, self.inputs_at(start.time)
        if self.damping is not None and dissipation is not None:
            dissipation.compute_dissipation(start, inputs, self.damping)
        elif self.damping is not None and self.stiffness is not None:
            self._differentiate(start, inputs, self.stiffness, self.damping)
            if self._symmetric:
                self.damping.symmetrise()
        return self.damping

    # — solving —

    def refactor(self) -> bool:
        """Factorise A with the constraints as they are; False if that failed."""
        if self.constraints is not None:
            self.constraints.eliminate()
        return self.factor.refactor(self.matrix, self.eliminated)

    def solve(self, extra: Array | None, out: Array) -> None:
        """Write Δ with `extra` added to r, and the impulses of the eliminated rows."""
        rhs = self.rhs if extra is None else self.rhs + extra
        self.factor.solve(rhs, self.fixed, out, self.eliminated_impulse)
        if self.constraints is not None:
            self.constraints.update_impulses()

    def add_constraint_impulses(self, out: Array) -> None:
        """out += J_bᵀ·λ_b over all rows."""
        if self.rows is not None:
            self.rows.add_transpose_product(self.row_impulse, out)

    def unbalanced(self, change: Array) -> Array:
        """A·Δ − r for Δ = `change`, shape (nv,), a new array."""
        self.matrix.multiply(change, self._work)
        return self._work - self.rhs

    def reaction(self, extra: Array | None, change: Array, impulse: Array) -> Array:
        """A·Δ − r − J_bᵀ·λ_b at the prescribed velocities, less `extra`, shape (p,).

        Args:
            change: Δ, shape (nv,). impulse: λ_b of all rows.
        """
        total = np.zeros(self.body.nv)
        if self.rows is not None:
            self.rows.add_transpose_product(-impulse, total)
        total += self.unbalanced(change)
        if extra is not None:
            total -= extra
        return total[self.prescribed]
