"""The derivative of a step in which no impulse acts: no closed contact, no constraint or joint.

Then R of each body stands alone, and K and D of its model say nearly all. With Δ = v⁺ − v₀ and coordinates that add up,

    θ family:        F_q = h·K + ∂(M·Δ)/∂q,    F_{v⁺} = M + θh·D + θ²h·F_q,
                     F_{v₀} = −M + (1 − θ)h·D + θ(1 − θ)h·F_q                                               (1)
    semi-implicit:   R = (1 + σ)M·Δ + c_v·D·Δ + c_q·K·v⁺ − h·f   at (q₀, v₀),
                     F_{v⁺} = (1 + σ)M + c_v·D + c_q·K                                                      (2)

whose products are those of `body_products`; so is ∂(M·Δ)/∂q. A potential f_c adds −h·Pᵀ·f_c to R, so that (1) and (2)
have for K and D

    K + Pᵀ·K_c·P,     D + Pᵀ·D_c·P                                                                         (3)

where its points stay at origins of frames whose rows P are constant, as nodes of rods are. In (2) it acts at the end of
the step: K_c counts with h² in F_{v⁺}, D_c with h, and D_c not at all in F_{v₀}.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.contact.contact_jacobian import ContactJacobian
from corekit.engine.step.linearisation import LinearisationPoint, in_step
from corekit.engine.tape import StepRecord
from corekit.linalg.matrices import Dense
from corekit.roles.component import Stateful
from corekit_gradients.adjoint.body_products import (
    BodyCovector,
    BodyProducts,
    as_dense,
    mass_product,
    transposed_product,
)
from corekit_gradients.adjoint.covectors import Covectors
from corekit_gradients.adjoint.dense_products import SMALL, leaves, solve_transposed

if TYPE_CHECKING:
    from corekit.engine.world.world_system import WorldSystem

__all__ = ["SmoothSteps"]

_LEFT: Final = 1e-5
_CORRECTIONS: Final = 30
_ROUNDING: Final = 1e-13
"""Of the right side: what corrections leave."""
_NOTHING = np.zeros(0)
_NO_INDEX: IntArray = np.zeros(0, dtype=np.int64)


@final
class SmoothSteps:
    """Pulls covectors through such steps.

    Args:
        system: the world. products: of its bodies.

    Attributes:
        serves: whether steps of the world without closed contacts can be pulled.
    """

    def __init__(self, system: WorldSystem, products: BodyProducts) -> None:
        self._world, self._equation = system.terms, system.equation
        self._trial, self._zero = system.new_state(), np.zeros(system.nv)
        self._products = products
        self.serves = all(products.by_tangent) and system.terms.joints is None
        self._there, self._draw = system.new_state(), np.random.default_rng(0)
        bodies = [terms.body for terms in system.terms.bodies]
        self._points = ContactJacobian(bodies, system.terms.jacobian.width)

    def pull(self, record: StepRecord, end: Covectors) -> tuple[Covectors, Array] | None:
        """As `StepDerivative.pull`; None where something pushes in the step or it cannot be repeated so."""
        scheme, contacts = record.scheme, record.contacts
        if not self.serves or scheme is None or record.placing is not None:
            return None
        if record.separation is not None or end.tangents.any() or end.impulses.any():
            return None
        if contacts is not None and (contacts.impulse[:, 0] > 0.0).any():
            return None
        world, start, h, theta = self._world, record.start, scheme.step, scheme.theta
        for terms, held in zip(world.bodies, record.inputs, strict=True):
            if held or terms.body.inputs.internal_state():
                terms.body.inputs.restore(held)
        if theta is None:
            here = scheme.point_at_start(start, self._zero)
        else:
            mean, trial = (1.0 - theta) * start.v + theta * record.velocity, self._trial
            world.integrate(start, mean, theta * h, start, trial)
            trial.v[:] = mean
            world.set_prescribed_rates(trial)
            here = in_step(start, trial, trial, record.velocity, h, theta, 1.0, 0.0)
        if world.forces is not None:
            return self._pull_potential(record, here, theta, end)
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

    # — with a potential —

    def _pull_potential(
        self, record: StepRecord, point: LinearisationPoint, theta: float | None, end: Covectors
    ) -> tuple[Covectors, Array] | None:
        """(3)."""
        world, start, h, ahead = self._world, record.start, point.step, record.velocity
        forces, factorisation, products = world.forces, world.factorisation, self._products
        assert forces is not None and factorisation.coupled is not None
        if theta is not None and not all(products.has_constant_mass):
            return None
        if record.potential_state is not None and isinstance(world.solver, Stateful):
            world.solver.restore(record.potential_state)
        self._equation.begin_step(start, h, contacts_at_start=theta is None, approach=record.approach)
        for terms, own in world.of_bodies(point):
            terms.linearise(own)
        at, moved = self._trial, ahead
        if theta is None:
            world.integrate(start, ahead, h, start, at)
            at.v[:] = ahead
            world.set_prescribed_rates(at)
        else:
            moved = at.v
        touches = forces.update(at, moved, h, (start.time, start.time + h)) > 0
        if (touches and not self._points_are_constant(at)) or not self._is_balanced(record, point, theta):
            return None
        share = h if theta is None else theta * h
        if not factorisation.refactor(share, share * share):
            return None
        a, g, w = end.place, end.velocity + share * end.place, np.zeros(world.nv)
        for terms, where in zip(world.bodies, world.slices, strict=True):
            if not touches:
                terms.factor.solve_transposed(g[where], _NOTHING, w[where], _NOTHING)
        if touches:
            assert factorisation.coupled.factor is not None
            factorisation.coupled.factor.solve_transposed(g, _NOTHING, w, _NOTHING)
        by_place, by_speed = np.zeros((2, world.nv))
        rest = 0.0 if theta is None else (1.0 - theta) * h
        of_place = forces.tangent_product(w, 0.0, h, transposed=True)
        of_rate = forces.tangent_product(w, rest, 0.0, transposed=True)
        for i, (terms, where) in enumerate(zip(world.bodies, world.slices, strict=True)):
            own = w[where]
            if theta is None:
                given = BodyCovector(own, _NOTHING, ahead[where], _NOTHING, _NO_INDEX)
                line = point.of_body(terms.body.index, where)
                by_place[where], by_speed[where] = products.by_differences(i, line, [given])
                continue
            stiffness, damping = terms.stiffness, terms.damping
            assert stiffness is not None and damping is not None
            by_place[where] = h * transposed_product(stiffness, own)
            by_speed[where] = rest * transposed_product(damping, own) - transposed_product(terms.mass, own)
        by_place += of_place
        if theta is not None:
            by_speed += of_rate + theta * rest * by_place
        free = np.concatenate([terms.free for terms in world.bodies])
        whole = np.concatenate([-w, np.zeros(end.tangents.size)])
        before = np.where(free, a - by_place, 0.0), np.where(free, rest * a - by_speed, 0.0)
        return Covectors(*before, np.zeros((0, 3)), np.zeros_like(end.impulses)), whole

    def _points_are_constant(self, state: State) -> bool:
        """Whether the points at which a potential acts are origins of frames, with rows that do not depend on q."""
        pipeline, points, there = self._world.pipeline, self._points, self._there
        assert pipeline is not None
        contacts = pipeline.contacts
        if contacts.local_point[: contacts.count].any():
            return False
        points.collect(state, contacts)
        here = [(each.dofs.copy(), each.values.copy()) for each in points.points]
        there.copy_from(state)
        there.q += 0.1 * self._draw.standard_normal(len(there.q))
        points.collect(there, contacts)
        return all(
            np.array_equal(dofs, each.dofs) and np.array_equal(values, each.values)
            for (dofs, values), each in zip(here, points.points, strict=True)
        )

    def _is_balanced(self, record: StepRecord, point: LinearisationPoint, theta: float | None) -> bool:
        """Whether what the bodies' equations leave is what the potential gives."""
        world, h = self._world, point.step
        assert world.forces is not None
        given = h * world.forces.generalised()
        left, size = 0.0, np.abs(given).max(initial=0.0)
        for terms, where in zip(world.bodies, world.slices, strict=True):
            ahead, weight = record.velocity[where], np.empty(terms.body.nv)
            change = ahead - record.start.v[where] if theta is None else np.zeros(terms.body.nv)
            terms.mass.multiply(ahead, weight)
            size = max(size, np.abs(weight).max(initial=0.0), h * np.abs(terms.force).max(initial=0.0))
            error = (terms.unbalanced(change) - given[where])[terms.free]
            left = max(left, np.abs(error).max(initial=0.0))
        return bool(left <= _LEFT * size)

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
        c_v, c_q, by_mass = point.damping_factor, point.stiffness_factor, 1.0 + point.shift
        w = self._solve_transposed(terms, b + h * a, by_mass, c_v, c_q)
        if w is None:
            return None
        given = BodyCovector(w, _NOTHING, ahead, _NOTHING, _NO_INDEX)
        by_place, by_speed = self._products.by_differences(i, point, [given])
        if not len(terms.prescribed):
            return a - by_place, -by_speed, -w
        free = terms.free
        return np.where(free, a - by_place, 0.0), np.where(free, -by_speed, 0.0), -w

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
        if self._products.has_constant_mass[i]:
            w = self._solve_transposed(terms, g, 1.0, rate, rate * rate)
            if w is None:
                return None
            by_place = h * transposed_product(stiffness, w)
            of_damping, of_mass = transposed_product(damping, w), transposed_product(terms.mass, w)
        else:
            mass, d, k = terms.mass.data, damping.data, h * stiffness.data
            solved = _solve_nearly(
                (mass + rate * d + theta * rate * k).T, g, theta * rate, mass_product(terms, point, change)
            )
            if solved is None:
                return None
            w, by_place = solved
            by_place += k.T @ w
            of_damping, of_mass = d.T @ w, mass.T @ w
        rest = (1.0 - theta) * h
        by_speed = -of_mass + rest * of_damping + theta * rest * by_place
        return np.where(free, a - by_place, 0.0), np.where(free, rest * a - by_speed, 0.0), -w

    @staticmethod
    def _solve_transposed(terms: BodyTerms, g: Array, by_mass: float, c_v: float, c_q: float) -> Array | None:
        """F_{v⁺}⁻ᵀ·g; None if it is singular."""
        if isinstance(terms.matrix, Dense) and not len(terms.prescribed):
            out, damping, stiffness = np.empty(len(g)), terms.damping, terms.stiffness
            if len(g) <= SMALL and isinstance(damping, Dense) and isinstance(stiffness, Dense):
                given = as_dense(terms.mass), damping.data, stiffness.data
                return out if solve_transposed(*given, by_mass, c_v, c_q, g, out) else None
            matrix = by_mass * as_dense(terms.mass)
            if c_v and terms.damping is not None:
                matrix = matrix + c_v * as_dense(terms.damping)
            if c_q and terms.stiffness is not None:
                matrix = matrix + c_q * as_dense(terms.stiffness)
            try:
                return np.asarray(np.linalg.solve(matrix.T, g), dtype=float)
            except np.linalg.LinAlgError:
                return None
        if not terms.refactor():
            return None
        out, none = np.empty(len(g)), np.zeros(0)
        terms.factor.solve_transposed(g, none, out, none)
        return out


def _solve_nearly(
    near: Array, right: Array, factor: float, small: Callable[[Array], Array]
) -> tuple[Array, Array] | None:
    """w with `near`·w + factor·small(w) = right, and small(w); None where corrections do not end.

    Inertia's derivative is small, h·|Δ| over a length: each correction gains as much.
    """
    factored, pivots, info = dgetrf(near)
    if info:
        return None
    w, rest, size = np.zeros(len(right)), right, np.abs(right).max(initial=0.0)
    for _ in range(_CORRECTIONS):
        w += dgetrs(factored, pivots, rest)[0]
        own = small(w)
        rest = right - near @ w - factor * own
        if np.abs(rest).max(initial=0.0) <= _ROUNDING * size:
            return w, own
    return None


def _is_solved(terms: BodyTerms, change: Array, velocity: Array, point: LinearisationPoint) -> bool:
    """Whether the equation of a body, as it is expanded, is that which the record solved."""
    if isinstance(terms.matrix, Dense) and not len(terms.prescribed):
        push, weight = point.force_factor * terms.force, as_dense(terms.mass)
        left, size = leaves(terms.matrix.data, change, terms.rhs, weight, velocity, push)
        return bool(left <= _LEFT * size)
    weight = np.empty(len(velocity))
    terms.mass.multiply(velocity, weight)
    size = np.abs(weight).max(initial=0.0) + point.force_factor * np.abs(terms.force).max(initial=0.0)
    left = np.abs(terms.unbalanced(change)[terms.free]).max(initial=0.0)
    return bool(left <= _LEFT * size)
