"""Products with the derivatives of one body's equations in a step that linearises at its start, without columns.

With Δ = v⁺ − v₀ and the covectors w of R and z of G, for every solution of the step,

    ψ(q₀, v₀) = Σ wᵀ·R + zᵀ·G,     R = (1 + σ)·M·Δ + c_v·D·Δ + c_q·K·v⁺ − h·f                               (1)

has second derivatives of f in it. They are symmetric, so that

    ∂(wᵀ·(c_v·D·Δ + c_q·K·v⁺))/∂(q, v) = d/dε (Kᵀ·w, Dᵀ·w) at (q₀ + ε·c_q·v⁺, v₀ + ε·c_v·Δ):                 (2)

one difference, whatever nv. ∂(wᵀ·M·Δ)/∂q is zero of a constant mass matrix, what a model with `mass-gradient` says,
with h·(K̂ − K) of one with `inverse-dynamics`, and else of differences of M. Impulses know the symmetric part A of the
matrix A + T of (1) alone, see `body_terms`:

    R = A·(Δ − Δ_f),    (A + T)·Δ_f = r,    ∂(wᵀ·R) = wᵀ·∂A·e + mᵀ·∂((A + T)·Δ_f − r),
    e = Δ − Δ_f,    (A + T)ᵀ·m = Aᵀ·w                                                                        (3)

of which the last term is (1) with m for w and Δ_f for Δ, the same Δ_f for all solutions, and the first one is half of
(2) along e for w, and half along w for e. This is the rule "tangent". It is for bodies that have K and D and no rows of
their own. Where coordinates do not add up it needs a constant M and what `charts` knows of the order of displacements,
B(x)ᵀ·Kᵀ·w beside (2); and of a body with D₀, of which impulses know that part of D alone, a constant one:

    A = sym((1 + σ)·M + c_q·K) + c_v·D₀,     A + T = (1 + σ)·M + ½·c_v·(D + D₀) + c_q·K                      (4)

For all others ψ is differenced along each of their own velocities: the rule "columns of the body", which evaluates no
contact and no other body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np
from scipy.sparse import csc_array

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.engine.step.linearisation import LinearisationPoint
from corekit.linalg.matrices import Banded, BlockDiagonal, Dense, Diagonal, Matrix, Sparse
from corekit.linalg.vectors import max_abs
from corekit_gradients.adjoint.body_equations import body_equations
from corekit_gradients.adjoint.dense_products import (
    SMALL,
    add_transposed,
    add_transposed_blocks,
    displace,
    solve_small,
)

if TYPE_CHECKING:
    from corekit.engine.bodies.body_terms import BodyTerms
    from corekit.engine.world.world_terms import WorldTerms
    from corekit_gradients.adjoint.charts import Charts

__all__ = ["BodyCovector", "BodyProducts", "add_product", "as_dense", "mass_product", "transposed_product"]

_STEP: Final = 2.0**-17
_ROUNDING: Final = 1e-14


class BodyCovector(NamedTuple):
    """Covectors of one solution's equations of one body, and where that solution is.

    Args:
        momentum: w, shape (nv,). rows: z, shape (nb,). ahead: v⁺, shape (nv,).
        impulse: λ_b, shape (nb,). side: of rows at a bound, else 0, shape (nb,).
    """

    momentum: Array
    rows: Array
    ahead: Array
    impulse: Array
    side: IntArray


def transposed_product(matrix: Matrix, y: Array) -> Array:
    """Kᵀ·y, a new array."""
    if isinstance(matrix, Dense):
        return np.asarray(matrix.data.T @ y)
    if isinstance(matrix, BlockDiagonal):
        out = np.zeros(matrix.n)
        add_transposed_blocks(matrix.data, 1.0, y, out)
        return out
    if isinstance(matrix, Sparse):
        entries = csc_array(
            (matrix.data, matrix.pattern.row, matrix.pattern.start), shape=(matrix.n, matrix.n)
        )
        return np.asarray(entries.T @ y)
    out = np.empty(matrix.n)
    matrix.multiply(y, out)  # bands are symmetric
    return out


def add_product(matrix: Matrix, factor: float, w: Array, out: Array) -> None:
    """out += factor·matrixᵀ·w."""
    if isinstance(matrix, Dense) and matrix.n <= SMALL:
        add_transposed(matrix.data, factor, w, out)
    elif isinstance(matrix, BlockDiagonal):
        add_transposed_blocks(matrix.data, factor, w, out)
    elif factor:
        out += factor * transposed_product(matrix, w)


def as_dense(matrix: Matrix) -> Array:
    """A matrix as an array, which may be its own buffer."""
    return matrix.data if isinstance(matrix, Dense) else matrix.dense()


@final
class BodyProducts:
    """Of the bodies of a world.

    Args:
        world: its terms. charts: of its states. state: one of them.

    Attributes:
        has_constant_mass: of every body. by_tangent: whether its rule is "tangent".
    """

    def __init__(self, world: WorldTerms, charts: Charts, state: State) -> None:
        self._world = world
        self.has_constant_mass = [
            _mass_is_constant(terms, own) for terms, own in zip(world.bodies, state.body_states, strict=True)
        ]
        self.by_tangent = [
            adds_up and _has_tangent(terms, has_constant_mass)
            for terms, has_constant_mass, adds_up in zip(
                world.bodies, self.has_constant_mass, charts.adds_up, strict=True
            )
        ]
        # bodies that turn: M and D₀ must be constant, the order of displacements known
        self._turns = [
            self.has_constant_mass[i]
            and terms.rows is None
            and terms.body.abilities.force_derivatives is not None
            and not len(terms.prescribed)
            and charts.commutes_or_is_known(i)
            and _dissipation_is_constant(terms, own)
            # D₀ acts as a turn of r where the step does so; else it stands in A
            and (terms.body.abilities.dissipation is None or terms.turns)
            for i, (terms, own) in enumerate(zip(world.bodies, state.body_states, strict=True))
        ]
        self._charts = charts
        self._moved = [own.copy() for own in state.body_states]

    def pull(
        self, i: int, point: LinearisationPoint, given: list[BodyCovector], *, is_expanded: bool = False
    ) -> tuple[Array, Array]:
        """∂ψ/∂δ and ∂ψ/∂v₀, both (nv,), where impulses act; `is_expanded`: whether the body is, at the point."""
        if not (self.by_tangent[i] or self._turns[i]):
            return self.by_columns(i, point, given)
        terms, c_v, c_q = self._world.bodies[i], point.damping_factor, point.stiffness_factor
        if not is_expanded:
            terms.linearise(point)
        if isinstance(terms.mass, (Diagonal, Banded)) or not (c_v or c_q):
            return self.by_differences(i, point, given)
        matrix, held = as_dense(terms.matrix), self._dissipation(i, point)
        stiffness, damping = self._tangent(i, point)
        moved = as_dense(damping) if held is None else 0.5 * (as_dense(damping) + held)
        whole = (1.0 + point.shift) * as_dense(terms.mass) + c_v * moved + c_q * as_dense(stiffness)
        if held is None and np.abs(whole - matrix).max() <= _ROUNDING * np.abs(matrix).max():
            return self.by_differences(i, point, given)
        if len(terms.prescribed):
            return self.by_columns(i, point, given)
        return self._by_symmetric_part(i, point, given, matrix, whole, held)

    def _dissipation(self, i: int, point: LinearisationPoint) -> Array | None:
        """D₀ of a linearised body that has one, dense, which is constant."""
        terms, own = self._world.bodies[i], self._world.bodies[i].body.abilities.dissipation
        if own is None or terms.damping is None:
            return None
        own.compute_dissipation(point.at, terms.inputs_at(point.at.time), terms.damping)
        return as_dense(terms.damping).copy()

    def _tangent(self, i: int, point: LinearisationPoint) -> tuple[Matrix, Matrix]:
        """K and all of D at the point of a linearised body, in its buffers."""
        terms, at = self._world.bodies[i], point.at
        stiffness, damping, abilities = terms.stiffness, terms.damping, terms.body.abilities
        assert stiffness is not None and damping is not None and abilities.force_derivatives is not None
        if abilities.dissipation is not None:
            inputs = terms.inputs_at(at.time)
            abilities.force_derivatives.compute_stiffness_and_damping(at, inputs, stiffness, damping)
        return stiffness, damping

    def _by_symmetric_part(
        self, i: int, point: LinearisationPoint, given: list[BodyCovector], matrix: Array, whole: Array,
        held: Array | None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """(3), and with `held` = D₀ (4)."""
        terms, at, c_q = self._world.bodies[i], point.at, point.stiffness_factor
        c_v = point.damping_factor if held is None else 0.0
        free = _solve(matrix, terms.rhs)
        by_place, by_speed, total = np.zeros((3, len(free)))
        for each in given:
            w, e = each.momentum, each.ahead - at.v - free
            total += w
            for covector, along in ((w, e), (e, w)):
                q, v = self._along(i, point, covector, c_q * along, c_v * along)
                by_place += 0.5 * q
                by_speed += 0.5 * v
            if not self.has_constant_mass[i]:
                by_place += (1.0 + point.shift) * mass_product(terms, point, e)(w)
        terms.linearise(point)
        self._tangent(i, point)
        m = _solve(whole.T, matrix.T @ total)
        if held is not None:
            point = point._replace(damping_factor=0.5 * point.damping_factor)
            by_speed -= point.damping_factor * (held.T @ m)
        q, v = self.by_differences(i, point, [given[0]._replace(momentum=m, ahead=at.v + free)])
        return by_place + q, by_speed + v

    def _along(
        self, i: int, point: LinearisationPoint, w: Array, along_q: Array, along_v: Array
    ) -> tuple[Array, Array]:
        """d/dε (Kᵀ·w, Dᵀ·w) along a displacement and a change of v, both (nv,)."""
        terms, at, at_end = self._world.bodies[i], point.at, self._moved[i]
        stiffness, damping, derivatives = (
            terms.stiffness,
            terms.damping,
            terms.body.abilities.force_derivatives,
        )
        assert stiffness is not None and damping is not None and derivatives is not None
        by_place, by_speed = np.zeros((2, len(w)))
        size = max(max_abs(along_q), max_abs(along_v))
        if size == 0.0:
            return by_place, by_speed
        u, step = terms.inputs_at(at.time).copy(), _STEP / size
        at_end.time, at_end.aux[:], adds_up = at.time, at.aux, self._charts.adds_up[i]
        if not adds_up:  # what displacements that do not commute add
            derivatives.compute_stiffness_and_damping(at, u, stiffness, damping)
            by_place += self._charts.bracket_of_body(i, along_q, transposed_product(stiffness, w))
        for sign in (step, -step):
            if adds_up:
                displace(at.q, at.v, along_q, along_v, sign, at_end.q, at_end.v)
            else:
                terms.body.model.integrate(at, sign * along_q, 1.0, at, at_end)
                at_end.v[:] = at.v + sign * along_v
            derivatives.compute_stiffness_and_damping(at_end, u, stiffness, damping)
            add_product(stiffness, 0.5 / sign, w, by_place)
            add_product(damping, 0.5 / sign, w, by_speed)
        return by_place, by_speed

    # — columns of the body —

    def by_columns(self, i: int, point: LinearisationPoint, given: list[BodyCovector]) -> tuple[Array, Array]:
        """As `pull`, by differences of ψ along each of the body's own velocities."""
        terms, own, moved = self._world.bodies[i], point.at, self._moved[i]
        nv, integrate, h = terms.body.nv, terms.body.model.integrate, point.step
        out, move = np.zeros((2, nv)), np.zeros(nv)
        line = point._replace(at=moved, end=moved, velocity=moved.v)
        moved.time = own.time

        def value() -> float:
            terms.linearise(line)
            total = 0.0
            for each in given:
                if terms.constraints is None:
                    total += each.momentum @ terms.unbalanced(each.ahead - moved.v)
                    continue
                found = body_equations(
                    terms, h, each.ahead - moved.v, each.impulse, each.side, is_linear=True, is_apart=False
                )
                total += each.momentum @ found.momentum + each.rows @ found.rows
            return float(total)

        for j in np.flatnonzero(terms.free).tolist():
            ends = []
            for sign in (1.0, -1.0):
                move[j] = sign * _STEP
                integrate(own, move, 1.0, own, moved)
                moved.v[:] = own.v
                ends.append(value())
            move[j] = 0.0
            moved.q[:], moved.aux[:] = own.q, own.aux
            for sign in (1.0, -1.0):
                moved.v[j] = own.v[j] + sign * _STEP
                ends.append(value())
            moved.v[j] = own.v[j]
            out[:, j] = (ends[0] - ends[1]) / (2.0 * _STEP), (ends[2] - ends[3]) / (2.0 * _STEP)
        return out[0], out[1]

    # — tangent —

    def by_differences(
        self, i: int, point: LinearisationPoint, given: list[BodyCovector]
    ) -> tuple[Array, Array]:
        """The same by (2), where the body is expanded at the point; K, D and M are overwritten."""
        terms, at, h = self._world.bodies[i], point.at, point.step
        stiffness, damping, derivatives = (
            terms.stiffness,
            terms.damping,
            terms.body.abilities.force_derivatives,
        )
        assert stiffness is not None and damping is not None and derivatives is not None
        u, c_v, c_q = terms.inputs_at(at.time).copy(), point.damping_factor, point.stiffness_factor
        by_mass, is_explicit = 1.0 + point.shift, not (point.damping_factor or point.stiffness_factor)
        if is_explicit:
            derivatives.compute_stiffness_and_damping(at, u, stiffness, damping)
        w = sum((each.momentum for each in given[1:]), given[0].momentum)
        by_place, by_speed = np.zeros((2, len(w)))
        add_product(stiffness, h, w, by_place)
        add_product(damping, h - c_v, w, by_speed)
        add_product(terms.mass, -by_mass, w, by_speed)
        for each in given:
            change = each.ahead - at.v
            if not is_explicit:
                q, v = self._along(i, point, each.momentum, c_q * each.ahead, c_v * change)
                by_place += q
                by_speed += v
            if not self.has_constant_mass[i]:
                by_place += by_mass * mass_product(terms, point, change)(each.momentum)
        return by_place, by_speed


def _solve(matrix: Array, rhs: Array) -> Array:
    """A⁻¹·r, shape (n,)."""
    out = np.empty(len(rhs))
    if len(rhs) <= SMALL and solve_small(matrix, rhs, out):
        return out
    return np.asarray(np.linalg.solve(matrix, rhs), dtype=float)


def mass_product(terms: BodyTerms, point: LinearisationPoint, change: Array) -> Callable[[Array], Array]:
    """The function w → ∂(wᵀ·M·Δ)/∂q, shape (nv,), of a model whose coordinates add up."""
    own = terms.body.abilities.mass_gradient
    if own is None:
        return _mass_slopes(terms, point, change).T.__matmul__
    at = point.at

    def product(w: Array) -> Array:
        out = np.empty(len(w))
        own.compute_mass_gradient(at, w, change, out)
        return out

    return product


def _mass_slopes(terms: BodyTerms, point: LinearisationPoint, change: Array) -> Array:
    """∂(M·Δ)/∂q, shape (nv, nv)."""
    own, at, h = terms.body.abilities, point.at, point.step
    u = terms.inputs_at(at.time).copy()
    if own.inverse_dynamics is not None and own.force_derivatives is not None:
        made = own.force_derivatives.new_stiffness_and_damping()
        own.inverse_dynamics.compute_residual_derivatives(at, u, change / h, *made)
        plain = own.force_derivatives.new_stiffness_and_damping()
        own.force_derivatives.compute_stiffness_and_damping(at, u, *plain)
        return h * (as_dense(made[0]) - as_dense(plain[0]))
    model, moved, force = terms.body.model, at.copy(), np.empty(len(change))
    out, mass = np.empty((len(change), len(change))), terms.body.model.new_mass_matrix()
    for j in range(len(change)):
        ends = []
        for sign in (1.0, -1.0):
            moved.q[j] = at.q[j] + sign * _STEP
            model.compute_mass_and_force(moved, u, mass, force)
            ends.append(as_dense(mass) @ change)
        moved.q[j] = at.q[j]
        out[:, j] = (ends[0] - ends[1]) / (2.0 * _STEP)
    return out


def _has_tangent(terms: BodyTerms, has_constant_mass: bool) -> bool:
    own = terms.body.abilities
    if own.force_derivatives is None or own.dissipation is not None or terms.rows is not None:
        return False
    is_dense = all(isinstance(each, Dense) for each in (terms.mass, terms.stiffness, terms.damping))
    return (is_dense and not len(terms.prescribed)) or has_constant_mass


def _dissipation_is_constant(terms: BodyTerms, state: State) -> bool:
    """Whether D₀ of a body, if it has one, is the same at a state and at one far from it."""
    own, out = terms.body.abilities.dissipation, terms.damping
    if own is None or out is None:
        return True
    moved, found = state.copy(), list[Array]()
    draw, inputs = np.random.default_rng(0), terms.inputs_at(state.time)
    for _ in range(2):
        own.compute_dissipation(moved, inputs, out)
        found.append(out.data.copy())
        terms.body.model.integrate(state, 0.1 * draw.standard_normal(len(state.v)), 1.0, state, moved)
        moved.v += draw.standard_normal(len(state.v))
    return bool(np.array_equal(found[0], found[1]))


def _mass_is_constant(terms: BodyTerms, state: State) -> bool:
    """Whether M is the same at a state of the body and at one far from it."""
    model, moved, force = terms.body.model, state.copy(), np.empty(len(state.v))
    inputs, draw = terms.inputs_at(state.time), np.random.default_rng(0)
    model.compute_mass_and_force(state, inputs, terms.mass, force)
    here = terms.mass.data.copy()
    model.integrate(state, 0.1 * draw.standard_normal(len(state.v)), 1.0, state, moved)
    model.compute_mass_and_force(moved, inputs, terms.mass, force)
    return bool(np.array_equal(here, terms.mass.data))
