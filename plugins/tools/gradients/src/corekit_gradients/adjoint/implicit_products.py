"""Products with the derivatives of a step of the θ family in which impulses act, term by term.

With v̄ = (1 − θ)·v₀ + θ·v_p, q_m = integrate(q₀, v̄, θh), q₁ = integrate(q₀, v̄, h) and covectors (w, z, y) of (R, G, H),

    Ψ = wᵀ·(M·(v_p − v₀) − h·f(q_m, v̄)) + zᵀ·G + bodies' rows
        − λ_jᵀ·J_j·w + zᵀ·(J_j·(v_p − v̄) + c(q₁)/h)                                                        (1)
        − λᵀ·J·w + ŷᵀ·J·v_p − ŷ_nᵀ·(κ·J_n·v̄ − (κ·φ(q₁) + (α − 1)·φ(q₀) + β)/h),     ŷ = P_wᵀ·y

J, J_j, M and f at q_m; κ = 1, or α without φ(q₀) for a contact that was not known at the start. Its derivatives by q_m,
q₁ and q₀ are those of `body_products`, `directional` and `contact_slopes`; with κ_m and κ₁ the first two, ν that by v̄,

    F_{q₀}ᵀ·y = κ₀ + T_mᵀ·κ_m + T₁ᵀ·κ₁,     v̄: ν + (θh·T_{m,v})ᵀ·κ_m + (h·T_{1,v})ᵀ·κ₁                       (2)

of which v_p gets θ and v₀ the rest. The system F_vᵀ·y = … has the same products in it. It is solved with the matrix
that lacks what inertia, contacts and joints add by turning, as the engine's own, and corrected by its residual: that
converges by the share of the missing part, of the order h·v over a radius.

Bodies without the rule "tangent" are differenced along their own q₀, v_p and v₀.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.state import State
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.contact.contact_jacobian import ContactJacobian
from corekit.engine.step.linearisation import LinearisationPoint, in_step
from corekit_gradients.adjoint.body_equations import body_equations
from corekit_gradients.adjoint.body_products import BodyProducts, as_dense, mass_product
from corekit_gradients.adjoint.contact_slope_kernels import locate
from corekit_gradients.adjoint.contact_slopes import ContactCovector, ContactSlopes, SlopeTable
from corekit_gradients.adjoint.directional import pull_rows
from corekit_gradients.adjoint.frozen_contacts import ContactLost

if TYPE_CHECKING:
    from corekit.engine.world.world_system import WorldSystem
    from corekit_gradients.adjoint.charts import Charts
    from corekit_gradients.adjoint.frozen_step import FrozenStep
    from corekit_gradients.adjoint.saddle import SaddleSystem

__all__ = ["ImplicitProducts", "Pulled"]

_STEP: Final = 2.0**-17
_LEFT: Final = 1e-12
"""Of the right side: what corrections leave."""
_CORRECTIONS: Final = 30


class Pulled(NamedTuple):
    """Covectors of q₀, v_p and v₀, each of shape (nv,)."""

    place: Array
    velocity: Array
    start: Array


class _Body(NamedTuple):
    """Derivatives of one body's R and G, dense: by q_m, v̄, v_p (all of R), or by q₀, v_p and v₀.

    `inertia` is w → ∂(wᵀ·M·Δ)/∂q_m, which the first lacks; None where it has all.
    """

    inertia: Callable[[Array], Array] | None
    first: Array
    second: Array
    third: Array


class _Contacts(NamedTuple):
    """The closed contacts of the solution at q_m, with the rows of their gaps elsewhere."""

    subset: ContactSet
    table: SlopeTable
    at_place: IntArray
    slopes: Array
    end_rows: Array
    start_rows: Array


@final
class ImplicitProducts:
    """(1) and (2) of one step.

    Args:
        system: the world. charts: of its states. products: of its bodies. slopes: of its contacts, None without.
        frozen: the step, of one solution. of_tangents: τ of the contacts of the record, shape (m, 3), or (0, 3).
    Raises:
        ContactLost: a contact is not found at the end of the step, where its gap counts.
    """

    def __init__(
        self, system: WorldSystem, charts: Charts, products: BodyProducts, slopes: ContactSlopes | None,
        frozen: FrozenStep, of_tangents: Array,
    ) -> None:  # fmt: skip
        assert frozen.theta is not None
        self._world, self._charts, self._frozen = system.terms, charts, frozen
        self._theta, self._h, self._start = frozen.theta, frozen.step, frozen.record.start
        self._solution, self._residual = frozen.solutions[0], frozen.here.residuals[0]
        self._moved, self._begin = system.new_state(), system.new_state()
        self._trial, self._end = system.new_state(), system.new_state()
        self._v = self._solution.velocity
        point = self._place(self._start, self._v)
        self._mean = point.at.v.copy()
        bodies = [terms.body for terms in system.terms.bodies]
        self._bodies = [
            self._tangent(terms, own) if products.by_tangent[i] else self._columns(i)
            for i, (terms, own) in enumerate(system.terms.of_bodies(point))
        ]
        self._place(self._start, self._v)
        self._to_trial = charts.transports(self._start, self._mean, self._theta * self._h, self._trial)
        self._to_end = charts.transports(self._start, self._mean, self._h, self._end)
        self._jacobian = ContactJacobian(bodies, system.terms.jacobian.width)
        self._contacts: _Contacts | None = None
        if slopes is not None and (frozen.has_closed_contacts or of_tangents.any()):
            self._contacts = self._find_contacts(slopes, of_tangents)
        self._tau = of_tangents

    def _place(self, start: State, velocity: Array) -> LinearisationPoint:
        """The point of the θ family, at the trial and end states."""
        world, theta, h, trial, end = self._world, self._theta, self._h, self._trial, self._end
        mean = (1.0 - theta) * start.v + theta * velocity
        world.integrate(start, mean, theta * h, start, trial)
        trial.v[:] = mean
        world.integrate(start, mean, h, start, end)
        end.v[:] = mean
        world.set_prescribed_rates(trial)
        return in_step(start, trial, trial if theta == 1.0 else end, velocity, h, theta, 1.0, 0.0)

    # — bodies —

    def _tangent(self, terms: BodyTerms, point: LinearisationPoint) -> _Body:
        terms.linearise(point)
        assert terms.stiffness is not None and terms.damping is not None
        mass, d = as_dense(terms.mass).copy(), self._h * as_dense(terms.damping)
        of_q = self._h * as_dense(terms.stiffness)
        where = self._world.slices[terms.body.index]
        change = (self._v - self._start.v)[where]
        return _Body(mass_product(terms, point, change), of_q, d, mass)

    def _columns(self, i: int) -> _Body:
        """By q₀, v_p and v₀, of R and G of a body."""
        world, start, begin, move = self._world, self._start, self._begin, np.zeros(self._world.nv)
        terms, where = world.bodies[i], world.slices[i]
        nv = terms.body.nv
        first = sum(each.constraints.rows.count for each in world.bodies[:i] if each.constraints is not None)
        count = 0 if terms.constraints is None else terms.constraints.rows.count
        own_rows = slice(first, first + count)
        impulse, side = self._solution.of_constraints[own_rows], self._solution.side[own_rows]

        def value(velocity: Array) -> Array:
            point = self._place(begin, velocity)
            own = point.of_body(i, where)
            terms.update_residual(own)
            if terms.constraints is not None:
                terms.constraints.linearise(own, terms.inputs_at(own.at.time))
            found = body_equations(
                terms, self._h, np.zeros(nv), impulse, side, is_linear=False, is_apart=False
            )
            return np.concatenate([found.momentum, found.rows])

        out = np.zeros((3, nv + count, nv))
        for j in np.flatnonzero(terms.free).tolist():
            k, ends = where.start + j, []
            for sign in (1.0, -1.0):
                move[k] = sign * _STEP
                self._charts.displace(start, move, begin)
                ends.append(value(self._v))
            begin.copy_from(start)
            step = _STEP * (np.arange(len(move)) == k)
            ends += [value(self._v + step), value(self._v - step)]
            for sign in (1.0, -1.0):
                begin.v[k] = start.v[k] + sign * _STEP
                ends.append(value(self._v))
            begin.copy_from(start)
            move[k] = 0.0
            for part in range(3):
                out[part, :, j] = (ends[2 * part] - ends[2 * part + 1]) / (2.0 * _STEP)
        return _Body(None, *out)

    # — contacts —

    def _find_contacts(self, slopes: ContactSlopes, of_tangents: Array) -> _Contacts:
        world, frozen, pipeline = self._world, self._frozen, self._world.pipeline
        record, modes = frozen.record.contacts, self._solution.modes
        assert pipeline is not None and record is not None
        base, subset = (ContactSet(record_width=pipeline.record_width) for _ in range(2))
        index = modes.index
        if of_tangents.any():
            index = np.union1d(index, np.flatnonzero(of_tangents.any(axis=1)))
        pipeline.scene.update_poses(self._trial)
        pipeline.measure(base)
        place = frozen.contacts.places(record.id[index])
        index, place = index[place >= 0], place[place >= 0]
        subset.take(base, place)
        table = slopes.measure(self._trial, subset)
        closed, factors = record.id[modes.index], frozen.contacts.gap_slopes(self._solution)
        known = np.isin(closed, pipeline.start.id[: pipeline.start.count])
        at_start = np.zeros((len(closed), world.nv))
        at_start[known] = self._gap_rows(self._start, closed[known])
        by_gap = np.stack([np.where(known, 1.0, factors), np.where(known, factors - 1.0, 0.0)])
        at_end = self._gap_rows(self._end, closed)
        return _Contacts(subset, table, np.searchsorted(index, modes.index), by_gap, at_end, at_start)

    def _gap_rows(self, state: State, ids: IntArray) -> Array:
        """J_n of some contacts at another state, shape (k, nv).

        Raises:
            ContactLost: one of them is not found there.
        """
        pipeline = self._world.pipeline
        assert pipeline is not None
        found = ContactSet(record_width=pipeline.record_width)
        pipeline.scene.update_poses(state)
        pipeline.measure(found)
        self._jacobian.collect(state, found)
        self._jacobian.assemble(found)
        rows = self._jacobian.to_dense().reshape(-1, self._jacobian.width, self._world.nv)[:, 0]
        at = np.empty(len(ids), dtype=np.int64)
        locate(ids, found.count, found.id, at)
        if (at < 0).any():
            raise ContactLost
        return rows[at].copy()

    def _spread(self, state: State, z: Array) -> Array:
        assert self._contacts is not None
        self._jacobian.collect(state, self._contacts.subset)
        self._jacobian.assemble(self._contacts.subset)
        return self._jacobian.multiply_transposed(z)

    # — products —

    def pull(self, y: Array, *, with_tangents: bool = False) -> Pulled:
        """(2) for the covectors of R, G and H, one after the other; with those of tangents, if they are wanted."""
        world, theta, h, nv = self._world, self._theta, self._h, self._world.nv
        w, rows = y[:nv], y[nv : nv + len(self._residual.rows)]
        at_trial, at_end, at_start, of_mean, of_v, of_v0 = np.zeros((6, nv))
        own = np.zeros((3, nv))
        first = 0
        for terms, where, body in zip(world.bodies, world.slices, self._bodies, strict=True):
            count = 0 if terms.constraints is None else terms.constraints.rows.count
            if body.inertia is not None:
                at_trial[where] += body.first.T @ w[where] + body.inertia(w[where])
                of_mean[where] += body.second.T @ w[where]
                of_v[where] += body.third.T @ w[where]
                of_v0[where] -= body.third.T @ w[where]
            else:
                given = np.concatenate([w[where], rows[first : first + count]])
                for part, matrix in enumerate((body.first, body.second, body.third)):
                    own[part, where] = matrix.T @ given
            first += count
        if world.joints is not None:
            joints, z = world.joints, rows[first:]
            terms_of_joints = [(-self._solution.of_joints, w), (z, self._v - self._mean)]

            def spread(state: State, z: Array) -> Array:
                return joints.jacobian_at(state).T @ z

            at_trial += pull_rows(self._charts, self._trial, self._moved, spread, terms_of_joints)
            given = joints.jacobian_at(self._trial).T @ z
            of_v += given
            of_mean -= given
            at_end += joints.jacobian_at(self._end).T @ (z / h)
        if self._contacts is not None:
            self._add_contacts(y, w, at_trial, at_end, at_start, of_v, of_mean, with_tangents)
        place, by_trial = self._to_trial.pull(at_trial)
        other, by_end = self._to_end.pull(at_end)
        of_mean += by_trial + by_end
        return Pulled(
            own[0] + at_start + place + other,
            own[1] + of_v + theta * of_mean,
            own[2] + of_v0 + (1.0 - theta) * of_mean,
        )

    def _add_contacts(
        self, y: Array, w: Array, at_trial: Array, at_end: Array, at_start: Array, of_v: Array, of_mean: Array,
        with_tangents: bool,
    ) -> None:  # fmt: skip
        contacts, known, h = self._contacts, self._residual.contacts, self._h
        assert contacts is not None
        subset, width, count = contacts.subset, self._jacobian.width, contacts.subset.count
        tangent = np.zeros((count, 3))
        if with_tangents and self._tau.any():
            record = self._frozen.record.contacts
            assert record is not None
            place = {int(each): i for i, each in enumerate(record.id)}
            tangent[:] = self._tau[[place[int(each)] for each in subset.id[:count]]]
        terms: list[ContactCovector] = []
        if known.held.size:
            of_rows = np.einsum("cij,ci->cj", known.by_velocity, y[-known.held.size :].reshape(-1, width))
            (by_end, by_start), normal = contacts.slopes, np.zeros_like(of_rows)
            normal[:, 0] = -by_end * of_rows[:, 0]
            at = contacts.at_place
            terms = [
                ContactCovector(at, -known.impulse, w),
                ContactCovector(at, of_rows, self._v),
                ContactCovector(at, normal, self._mean),
            ]
            of_v += np.einsum("cwv,cw->v", known.rows, of_rows)
            of_mean += np.einsum("cwv,cw->v", known.rows, normal)
            at_end += contacts.end_rows.T @ (by_end * of_rows[:, 0] / h)
            at_start += contacts.start_rows.T @ (by_start * of_rows[:, 0] / h)
        rows = []
        for at, coefficients, velocity in terms:
            z = np.zeros((count, width))
            z[at] = coefficients
            rows.append((z.ravel(), velocity))
        at_trial += pull_rows(self._charts, self._trial, self._moved, self._spread, rows)
        at_trial += contacts.table.pull(terms, np.zeros(count), tangent)

    def solve(
        self, near: SaddleSystem, right: Array, of_impulses: Array, fixed: BoolArray
    ) -> tuple[Array, Pulled] | None:
        """y with F_vᵀ·y = `right` (nv,) and that of impulses, and (2) of it; None where corrections do not end.

        Args:
            near: of `near_matrix`. of_impulses: covector of λ. fixed: prescribed velocities, shape (nv,).
        """
        y, rest, nothing = np.zeros(len(right) + len(of_impulses)), right, np.zeros_like(of_impulses)
        size = np.abs(right).max(initial=0.0) + np.finfo(float).tiny
        for i in range(_CORRECTIONS):
            y += np.concatenate(near.solve_transposed(rest, nothing if i else of_impulses))
            y[: len(right)][fixed] = 0.0
            pulled = self.pull(y)
            rest = np.where(fixed, 0.0, right - pulled.velocity)
            left = np.abs(rest).max(initial=0.0)
            if left <= _LEFT * size:
                return y, pulled
        return None

    def near_matrix(self) -> Array:
        """F_{v_p} of R, G and H without what inertia, contacts and joints add by turning, shape (N, nv)."""
        world, theta, h, nv = self._world, self._theta, self._h, self._world.nv
        contacts = self._residual.contacts
        rows_of_bodies = []
        momentum = np.zeros((nv, nv))
        for where, body in zip(world.slices, self._bodies, strict=True):
            if body.inertia is not None:
                momentum[where, where] = body.third + theta * body.second + theta * theta * h * body.first
            else:
                size = where.stop - where.start
                momentum[where, where] = body.second[:size]
                own = np.zeros((len(body.second) - size, nv))
                own[:, where] = body.second[size:]
                rows_of_bodies.append(own)
        held = np.einsum("cij,cjv->civ", contacts.by_velocity, contacts.rows).reshape(-1, nv)
        joints = [] if world.joints is None else [world.joints.jacobian_at(self._trial)]
        return np.concatenate([momentum, *rows_of_bodies, *joints, held])
