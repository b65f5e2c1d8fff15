"""A step of one linear solve in which a contact potential acts: Newton's method on the potential alone.

Semi-implicit Euler and the explicit schemes linearise what the bodies do once a step. A potential, stiff and curved by
design, is no line within a step: by its slope at the start friction throws what slides past its rest, and what touches
within the step meets nothing at all. So it acts as in an implicit scheme, beside the bodies' A and r,

    A·(v⁺ − v_k) = r + h·Pᵀ·f_c(q_θ, v⁺),     q_θ = integrate(q₀, θ·v⁺ + (1 − θ)·v₀, θ·h)                  (1)

with θ = 1 in a step that linearises at its start, and ½ after a smooth motion of which the potential was no part, so
that q⁺ = integrate(q_f, ½·(v⁺ − v_f), h) is the end of that midpoint, which keeps the energy of a spring. Friction and
dashpots are those of v⁺: by the mean velocity what sticks would change the sign of its slip from step to step. An
iterate v leads to N(v), which solves

    (A + PᵀCP)·(N − v_k) = r + h·Pᵀ·f_c + PᵀCP·(v − v_k),     C = h·D_c + θ²·h²·K_c                        (2)

The increment d = N − v is shortened, s = 1, ½, ¼, …, until by the same matrix what is left of it is less,

    (A + PᵀCP)·δ = r + h·Pᵀ·f_c(v + s·d) − A·(v + s·d − v_k),     |δ| ≤ (1 − s/4)·|d|                        (3)

The step is solved when d, or min(1, 2·|δ|/|d|)·|δ|, is within the tolerance; v + s·d + δ is its answer.

Source for (3): Deuflhard (2011), "Newton Methods for Nonlinear Problems", 3.3.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo, Status
from corekit.engine.contact.contact_pipeline import ContactPipeline
from corekit.engine.potentials.potential_forces import PotentialForces
from corekit.engine.step.linearisation import LinearisationPoint
from corekit.engine.world.world_terms import WorldTerms
from corekit.roles.body import stacked_velocity_scale
from corekit.roles.stage_solver import velocity_norms

__all__ = ["PotentialStage"]

_TOLERANCE, _ROUNDING = 1e-12, 1e-8
"""Of the velocity and of a layer in a step: within what it is solved, and where rounding lets no increment fall."""
_ITERATIONS = 40
_SMALLEST_FRACTION = 2.0**-10


@final
class PotentialStage:
    """Solves (1) for a world with a contact potential.

    Args:
        world: the world's terms. forces, pipeline: its potential and where that acts.

    Attributes:
        impulse: h·Pᵀ·f_c of the last answer, shape (nv,), or None where nothing touches.
    """

    def __init__(self, world: WorldTerms, forces: PotentialForces, pipeline: ContactPipeline) -> None:
        self._world, self._trial = world, world.new_state()
        self._mean, self._iterate, self._before, self._increment, self._left = np.zeros((5, world.nv))
        scale = stacked_velocity_scale([terms.body for terms in world.bodies])
        self._scale = np.ones(world.nv) if scale is None else scale
        self._forces, self._pipeline = forces, pipeline
        # as of `StepLimit`
        self._layer = forces.potential.activation_distance or pipeline.least_margin
        self.impulse: Array | None = None

    def solve(self, start: State, point: LinearisationPoint, velocity: Array) -> SolveInfo:
        """Write v⁺ of (1), for the bodies as they were linearised at `point` in a step from `start`.

        INACCURATE where no fraction of an increment brings it nearer, SINGULAR with v_k where (2) has no solution.
        """
        world, forces, v_k = self._world, self._forces, point.velocity
        c_v, c_q = point.step, (point.share * point.step) ** 2
        v, d, left, before = self._iterate, self._increment, self._left, self._before
        # what touches goes on as it did rather than as it would freely
        is_near = False
        v[:] = start.v if self._pipeline.start.count else v_k
        world.set_prescribed_velocities(v, point.end_time)
        self._evaluate(start, point, v)
        for _ in range(_ITERATIONS):
            if not world.factorisation.refactor(c_v, c_q):
                velocity[:] = v_k
                return SolveInfo(Status.SINGULAR, answered_by="factorisation")
            held = forces.tangent_product(v - v_k, c_v, c_q)
            norm, size = self._solve(point, v, held.copy(), d)
            if size <= self._small(v, c_v):
                return self._end(start, point, v, d, velocity)
            # C of this iterate, which the forces of the next one replace
            along, fraction = forces.tangent_product(d, c_v, c_q), 1.0
            is_near = size <= self._small(v, c_v, _ROUNDING)
            before[:] = v
            while fraction >= (1.0 if is_near else _SMALLEST_FRACTION):
                np.multiply(d, fraction, out=v)
                v += before
                self._evaluate(start, point, v)
                rest, largest = self._solve(point, v, held + fraction * along, left)
                if min(1.0, 2.0 * rest / norm) * largest <= self._small(v, c_v):
                    return self._end(start, point, v, left, velocity)
                if rest <= (1.0 - 0.25 * fraction) * norm:
                    break
                fraction *= 0.5
            else:
                break
        info = self._end(start, point, before, d, velocity)
        return info if is_near else SolveInfo(Status.INACCURATE, answered_by=info.answered_by)

    def _small(self, velocity: Array, step: float, share: float = _TOLERANCE) -> float:
        """A share of the largest entry of a velocity and of the layer in a step."""
        return share * (self._layer / step + velocity_norms(velocity, self._scale)[1])

    def _evaluate(self, start: State, point: LinearisationPoint, velocity: Array) -> None:
        """Evaluate the potential as (1) says for v⁺ = `velocity`."""
        world, theta, h, trial, mean = self._world, point.share, point.step, self._trial, self._mean
        np.multiply(velocity, theta, out=mean)
        mean += (1.0 - theta) * start.v
        world.integrate(start, mean, theta * h, start, trial)
        trial.v[:] = mean
        world.set_prescribed_rates(trial)
        self._forces.update(trial, velocity, h, (start.time, start.time + h))

    def _solve(
        self, point: LinearisationPoint, velocity: Array, held: Array, out: Array
    ) -> tuple[float, float]:
        """Write what is left to v⁺ from an iterate v by the matrix as it is, and return its norms.

        Args:
            held: PᵀCP·(v − v_k) with the C of that matrix, shape (nv,); h·Pᵀ·f_c is added to it.
        """
        self._forces.add_forces(point.step, held)
        self._world.factorisation.solve(held, out)
        out += point.velocity
        out -= velocity
        return velocity_norms(out, self._scale)

    def _end(
        self, start: State, point: LinearisationPoint, velocity: Array, left: Array, out: Array
    ) -> SolveInfo:
        """Write v⁺ = `velocity` + `left`, and keep the impulse there."""
        np.add(velocity, left, out=out)
        if self._forces.count:
            self._evaluate(start, point, out)
        self.impulse = point.step * self._forces.generalised() if self._forces.count else None
        return self._forces.info
