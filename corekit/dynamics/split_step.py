"""Steps of the split family: impulses after the smooth dynamics; see `corekit.roles.steps.SplitStep`."""

from __future__ import annotations

from typing import final

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.dynamics.damping_rate import max_damping_rate
from corekit.dynamics.linearisation import after_smooth_motion
from corekit.dynamics.rate_jumps import DriveImpulse, apply_rate_jump
from corekit.dynamics.smooth_dynamics import SmoothDynamics
from corekit.dynamics.step_equation import StepEquation
from corekit.dynamics.world_terms import WorldTerms
from corekit.roles.steps import SplitOutlook

__all__ = ["SplitStep"]


@final
class SplitStep:
    """Implements the protocol for a world.

    Args:
        world: the world's terms.
        equation: its step equation.
        smooth: its smooth dynamics, whose reactions are counted per step.

    Attributes:
        drive_impulse: of the last step that began with a rate jump, or None.
    """

    def __init__(self, world: WorldTerms, equation: StepEquation, smooth: SmoothDynamics) -> None:
        self._world, self._equation, self._smooth = world, equation, smooth
        self._start, self._step = world.new_state(), 0.0
        self.drive_impulse: DriveImpulse | None = None

    def begin_step(self, start: State, step: float, lookahead: float = 0.0) -> SplitOutlook:
        """Find the contact candidates of a step h from `start`."""
        world, equation = self._world, self._equation
        self._start, self._step = start, step
        self._smooth.begin_step(step)
        is_local = world.forces is not None
        equation.begin_step(start, step, lookahead=lookahead if is_local else 0.0)
        touches = not is_local and world.pipeline is not None and world.pipeline.start.count > 0
        return SplitOutlook(touches or world.has_bounded, is_local)

    def apply_rate_jump(self, state: State, out: State) -> bool:
        """Write the state after a jump of prescribed rates; False where none jumps."""
        self.drive_impulse = apply_rate_jump(self._world, state, out) if self._world.has_prescribed else None
        return self.drive_impulse is not None

    def max_damping_rate(self) -> float:
        """Evaluate D at the start and return the largest damping rate, a potential's drag included [1/s]."""
        return max_damping_rate(self._world, self._start)

    def linearise(self, free_state: State, theta: float = 0.0, frozen_damping: bool = False) -> None:
        """Expand the step equation about the free state."""
        start = self._start
        mean = 0.5 * (start.v + free_state.v)
        point = after_smooth_motion(start, free_state, mean, self._step, theta, frozen_damping)
        self._equation.linearise(start, point)

    def is_impulse_free(self, free_state: State) -> bool:
        """Return whether no impulse acts at the free state."""
        return self._equation.end_without_impulses(free_state)

    def solve(self, velocity: Array) -> SolveInfo:
        """Solve the current problem and write v⁺."""
        return self._equation.solve(velocity)

    def apply_velocity_change(self, free_state: State, velocity: Array, out: State) -> None:
        """Write the end of the step, q⁺ = q_f ⊕ h·½·(v⁺ − v_f), for v⁺ = `velocity`.

        Where a pair would pass through each other the share is 1: q⁺ follows v⁺ from the start, as its contact rows do.
        """
        world = self._world
        share = 1.0 if self._equation.passed_pair else 0.5
        world.integrate(free_state, share * (velocity - free_state.v), self._step, free_state, out)
        out.time = free_state.time
        world.set_prescribed_coordinates(out)
