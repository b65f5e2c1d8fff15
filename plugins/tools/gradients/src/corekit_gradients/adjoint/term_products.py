"""Products of a covector with the derivatives of a step's equations, term by term: no columns of the whole step.

For a step that linearises at its start (those of the θ family are of `implicit_products`), with the covectors (w, z, y)
of (R, G, H) of each of its solutions,

    Ψ(q₀, v₀) = Σ wᵀ·R + zᵀ·G + yᵀ·H = Σ bodies ψ + Σ joints + Σ contacts                                    (1)

    bodies      R and G of bodies alone, by `body_products`
    joints      −λ_jᵀ·J_j·w + zᵀ·(J_j·v⁺ + c/h):   `directional`, and J_jᵀ·z/h
    contacts    −λᵀ·J·w + ŷᵀ·(J·v⁺ + bias),  ŷ = P_wᵀ·y:   with points, normals and weights held by `directional`,
                by what the detector says of them, and of gaps, by `contact_slopes`; where an impact struck, bias is
                e·J_n·v₀

What has no such form is said by `reason`; then columns of the whole step answer (`step_derivative`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactSet
from corekit.data.state import State
from corekit.engine.contact.contact_jacobian import ContactJacobian
from corekit.engine.step.linearisation import LinearisationPoint
from corekit_gradients.adjoint.body_products import BodyCovector, BodyProducts
from corekit_gradients.adjoint.contact_slopes import ContactCovector, ContactSlopes
from corekit_gradients.adjoint.directional import pull_rows
from corekit_gradients.adjoint.implicit_products import ImplicitProducts
from corekit_gradients.adjoint.solutions import Kind
from corekit_gradients.adjoint.turned_pyramids import TurnedTerms, turned_terms

if TYPE_CHECKING:
    from corekit.engine.world.world_system import WorldSystem
    from corekit_gradients.adjoint.charts import Charts
    from corekit_gradients.adjoint.frozen_step import FrozenStep

__all__ = ["TermProducts"]


@final
class TermProducts:
    """Of the steps of one world.

    Args:
        system: the world. charts: of its states. products: of its bodies.

    Attributes:
        turned: terms of the step that was pulled last, where pyramids turned.
    """

    def __init__(self, system: WorldSystem, charts: Charts, products: BodyProducts) -> None:
        self._system, self._world, self._charts, self._products = system, system.terms, charts, products
        self._moved = system.new_state()
        pipeline, bodies = system.terms.pipeline, [terms.body for terms in system.terms.bodies]
        self._slopes = None if pipeline is None else ContactSlopes(system.terms)
        self._jacobian = ContactJacobian(bodies, system.terms.jacobian.width)
        self.turned: TurnedTerms | None = None
        self._closed = ContactSet(record_width=0 if pipeline is None else pipeline.record_width)

    @property
    def lost(self) -> int:
        """How many differences found a contact on no side so far."""
        return 0 if self._slopes is None else self._slopes.lost

    def reason(self, frozen: FrozenStep) -> str | None:
        """Why the products of a step do not follow from its terms; None where they do."""
        world, pipeline = self._world, self._world.pipeline
        touches = frozen.has_closed_contacts or frozen.here.tangents.size > 0
        contacts, is_implicit = frozen.record.contacts, frozen.theta is not None
        reasons = {
            "potential": world.forces is not None,
            "moved apart": any(each.kind is Kind.APART for each in frozen.solutions),
            "impact": is_implicit and any(each.kind is Kind.VELOCITY for each in frozen.solutions),
            "contacts of the start": is_implicit and contacts is not None and len(contacts.held) > 0,
            "turned pyramids": frozen.turns_pyramids and not self._turns_alone(frozen),
            "moving obstacle": touches and pipeline is not None and bool(pipeline.scene.moving),
            "given motion": world.joints is not None and any(each.moving for each in world.joints.given),
            "limited push-out": frozen.contacts.limits_push_out,
            "displacements": not self._charts.commute_known,
        }  # fmt: skip
        return next((name for name, holds in reasons.items() if holds), None)

    def _turns_alone(self, frozen: FrozenStep) -> bool:
        """Whether `turned_terms` may know what such pyramids depend on: one solution, contacts alone."""
        is_single = frozen.theta is None and len(frozen.solutions) == 1
        return is_single and not self._world.has_constraints and not self._world.has_bounded

    def implicit(self, frozen: FrozenStep, of_tangents: Array) -> ImplicitProducts:
        """Those of a step of the θ family; see `ImplicitProducts`."""
        return ImplicitProducts(self._system, self._charts, self._products, self._slopes, frozen, of_tangents)

    def pull(
        self, frozen: FrozenStep, point: LinearisationPoint, parts: list[Array], of_tangents: Array
    ) -> tuple[Array, Array] | None:
        """∂Ψ/∂δ and ∂Ψ/∂v₀, both (nv,); None where the solver does not say what its directions follow.

        Args:
            frozen: the step, at its record. point: about which bodies are expanded.
            parts: covectors of R, G and H one after the other, of every solution.
            of_tangents: of the contacts of the record, shape (m, 3), or (0, 3).
        """
        world, start, turned = self._world, frozen.record.start, None
        self.turned = None
        if frozen.turns_pyramids:
            solution, known = frozen.solutions[0], frozen.here.residuals[0].contacts
            turned = turned_terms(
                world, frozen, solution, parts[0][-known.held.size :].reshape(known.held.shape)
            )
            if turned is None:
                return None
        self.turned = turned
        place, velocity = self._of_bodies(frozen, point, parts, turned)
        place += self._of_joints(frozen, parts)
        if world.pipeline is not None and (frozen.has_closed_contacts or of_tangents.any()):
            of_place, of_velocity = self._of_contacts(frozen, start, parts, of_tangents, turned)
            place += of_place
            velocity += of_velocity
        return place, velocity

    def _of_bodies(
        self, frozen: FrozenStep, point: LinearisationPoint, parts: list[Array], turned: TurnedTerms | None
    ) -> tuple[Array, Array]:
        world, nv, first = self._world, self._world.nv, 0
        place, velocity = np.zeros((2, nv))
        for (terms, own), where in zip(world.of_bodies(point), world.slices, strict=True):
            last = first + (0 if terms.constraints is None else terms.constraints.rows.count)
            given = [
                BodyCovector(
                    y[:nv][where], y[nv + first : nv + last], solution.velocity[where],
                    solution.of_constraints[first:last], solution.side[first:last],
                )
                for solution, y in zip(frozen.solutions, parts, strict=True)
            ]  # fmt: skip
            if turned is not None:  # in worlds without rows of bodies
                none, nowhere = np.zeros(0), frozen.solutions[0].side[:0]
                given += [BodyCovector(w[where], none, v[where], none, nowhere) for w, v in turned.bodies]
            place[where], velocity[where] = self._products.pull(
                terms.body.index, own, given, is_expanded=frozen.is_at_record
            )
            if turned is not None:
                terms.linearise(own)  # as they were, for the problem of the step
            first = last
        return place, velocity

    def _of_joints(self, frozen: FrozenStep, parts: list[Array]) -> Array:
        joints, nv, start = self._world.joints, self._world.nv, frozen.record.start
        if joints is None:
            return np.zeros(nv)
        terms = []
        by_error = np.zeros(joints.count)
        for solution, residual, y in zip(frozen.solutions, frozen.here.residuals, parts, strict=True):
            last = nv + len(residual.rows)
            z = y[last - joints.count : last]
            terms += [(-solution.of_joints, y[:nv]), (z, solution.velocity)]
            by_error += z / frozen.step
        rows = joints.jacobian_at(start)
        out = pull_rows(
            self._charts, start, self._moved, lambda state, z: joints.jacobian_at(state).T @ z, terms
        )
        return out + rows.T @ by_error

    def _of_contacts(
        self,
        frozen: FrozenStep,
        start: State,
        parts: list[Array],
        of_tangents: Array,
        turned: TurnedTerms | None,
    ) -> tuple[Array, Array]:
        world, pipeline, slopes, nv = self._world, self._world.pipeline, self._slopes, self._world.nv
        contacts, subset, width = frozen.record.contacts, self._closed, world.jacobian.width
        assert pipeline is not None and slopes is not None and contacts is not None
        base = pipeline.start  # where the step was expanded, and the shapes are
        wanted = [each.modes.index for each in frozen.solutions]
        if of_tangents.any():
            wanted.append(np.flatnonzero(of_tangents.any(axis=1)))
        if turned is not None:
            wanted.append(np.arange(len(contacts.id)))
        index = np.unique(np.concatenate(wanted))  # among the contacts of the record
        place = frozen.contacts.places(contacts.id[index])
        index, place = index[place >= 0], place[place >= 0]
        subset.take(base, place)
        terms, gap, tangent = [], np.zeros(len(index)), np.zeros((len(index), 3))
        of_velocity = np.zeros(nv)
        if of_tangents.any():
            tangent += of_tangents[index]
        for solution, residual, y in zip(frozen.solutions, frozen.here.residuals, parts, strict=True):
            own, known = solution.modes.index, residual.contacts
            if not len(own):
                continue
            at = np.searchsorted(index, own)
            of_rows = np.einsum("cij,ci->cj", known.by_velocity, y[-known.held.size :].reshape(-1, width))
            terms += [(at, -known.impulse, y[:nv]), (at, of_rows, solution.velocity)]
            slope = np.where(solution.struck, 0.0, frozen.contacts.gap_slopes(solution))
            gap[at] += of_rows[:, 0] * slope / frozen.step
            thrown = np.zeros_like(of_rows)
            thrown[:, 0] = of_rows[:, 0] * frozen.contacts.rebounds(solution, start, known.rows)
            if thrown.any():
                terms.append((at, thrown, start.v))
                of_velocity += np.einsum("cwv,cw->v", known.rows, thrown)

        if turned is not None:
            terms += [(np.searchsorted(index, own), coefficients, x) for own, coefficients, x in turned.rows]
            gap += (
                turned.of_bias[index] * frozen.contacts.gap_slopes(frozen.solutions[0], index) / frozen.step
            )

        def spread(state: State, z: Array) -> Array:
            self._jacobian.collect(state, subset)
            self._jacobian.assemble(subset)
            return self._jacobian.multiply_transposed(z)

        rows = []
        for at, coefficients, velocity in terms:
            z = np.zeros((len(index), width))
            z[at] = coefficients
            rows.append((z.ravel(), velocity))
        found = frozen.contacts.found
        here = None if found is None else found.rows[index].reshape(-1, nv)
        out = pull_rows(self._charts, start, self._moved, spread, rows, here)
        out += slopes.measure(start, subset).pull([ContactCovector(*each) for each in terms], gap, tangent)
        pipeline.contacts = pipeline.start
        return out, of_velocity
