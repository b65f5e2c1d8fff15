"""Steps of the θ family: from a velocity iterate to a linearisation point; see `corekit.roles.steps.ThetaStep`."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.engine.step.linearisation import LinearisationPoint, at_start, in_step
from corekit.engine.step.step_equation import StepEquation
from corekit.roles.steps import DEFAULT_TOLERANCE

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["ThetaStep"]


@final
class ThetaStep:
    """Implements the protocol for a world.

    Args:
        world: the world's terms.
        equation: its step equation.

    Attributes:
        trial: the trial state of the last iterate.
    """

    def __init__(self, world: WorldTerms, equation: StepEquation) -> None:
        self._world, self._equation = world, equation
        self.trial, self._end, self._place = world.new_state(), world.new_state(), world.new_state()
        self._start, self._step = self.trial, 0.0
        # states of this step near the next ones: those of another step may hold other coordinates of the same place
        self._near_trial = self._near_end = self.trial
        self._theta, self._shift, self._tolerance = 1.0, 0.0, DEFAULT_TOLERANCE
        self._mean, self._zero = np.zeros((2, world.nv))

    def begin_step(
        self,
        start: State,
        step: float,
        *,
        contacts_at_start: bool = False,
        tolerance: float = DEFAULT_TOLERANCE,
    ) -> None:
        """Find the contact candidates of a step h from `start`."""
        self._start, self._step, self._tolerance = start, step, tolerance
        self._near_trial = self._near_end = start
        self._equation.begin_step(start, step, contacts_at_start=contacts_at_start)

    def linearise_at_start(self, beta: float, damped: bool, shift: float = 0.0) -> None:
        """Expand the step equation at the start."""
        self._equation.linearise(
            self._start, at_start(self._start, self._step, self._zero, beta, damped, shift)
        )

    def linearise(
        self, velocity: Array, theta: float, stiffness_factor: float = 1.0, shift: float = 0.0
    ) -> None:
        """Expand the step equation at an iterate."""
        self._theta, self._shift = theta, shift
        self._equation.linearise(self._start, self._point(velocity, theta, stiffness_factor, shift))

    def update_residual(self, velocity: Array, theta: float) -> None:
        """Compute the residual and the contacts at an iterate; A stays."""
        self._equation.update_residual(self._start, self._point(velocity, theta, 1.0, 0.0))

    def linearise_bodies(self, velocity: Array) -> None:
        """Expand bodies and joints at an iterate of the velocity level; the contacts and their rows stay."""
        self._equation.linearise_bodies(self._point(velocity, self._theta, 1.0, self._shift))

    def is_small(self, change: Array, velocity: Array) -> bool:
        """Whether a change that a linearisation gives v⁺ = `velocity`, both (nv,), is within the tolerance."""
        bound = self._equation.error_bound(velocity, self._tolerance)
        return self._equation.bound.speed(change) <= bound / (1.0 + self._shift)

    def _point(self, velocity: Array, theta: float, stiffness: float, shift: float) -> LinearisationPoint:
        """Move to the trial state of v_k = `velocity` and, where anything is evaluated there, to the end state."""
        world, start, h = self._world, self._start, self._step
        mean, trial, end = self._mean, self.trial, self.trial
        world.set_prescribed_velocities(velocity, start.time + h)
        np.multiply(start.v, 1.0 - theta, out=mean)
        mean += theta * velocity
        world.integrate(start, mean, theta * h, self._near_trial, trial)
        self._near_trial = trial
        trial.v[:] = mean
        if theta != 1.0 and self._equation.needs_end_state:
            end = self._end
            world.integrate(start, mean, h, self._near_end, end)
            self._near_end = end
            end.v[:] = mean
        world.set_prescribed_rates(trial)
        return in_step(start, trial, end, velocity, h, theta, stiffness, shift)

    def settle(self, velocity: Array) -> None:
        """Evaluate a contact potential where the accepted v⁺ = `velocity` has it act; the bodies' terms stay."""
        world, start, h, point = self._world, self._start, self._step, self._equation.point
        assert point is not None
        mean, place = self._mean, self._place
        np.multiply(start.v, 1.0 - point.share, out=mean)
        mean += point.share * velocity
        world.integrate(start, mean, point.share * h, self._near_trial, place)
        place.v[:] = mean
        world.set_prescribed_rates(place)
        self._equation.settle_potential(start, point._replace(at=place))

    def compute_newton_increment(self, out: Array) -> SolveInfo | None:
        """Write −A⁻¹·ρ; None where impulses act."""
        return self._equation.compute_newton_increment(out)

    def momentum_residual(self) -> float:
        """Return the largest momentum that is out of balance, as an impulse at the surface [N·s]."""
        return self._equation.momentum_residual()

    def solve(self, velocity: Array, *, chord: bool = False) -> SolveInfo:
        """Solve the current problem and write v⁺; with `chord` by the last matrix, unless rows stand in it."""
        return self._equation.solve(velocity, chord=chord)
