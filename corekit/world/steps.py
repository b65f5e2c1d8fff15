"""What integrators see of the world's steps: the families of `corekit.roles.steps`, answered by `StepSystem`."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.roles.steps import SplitOutlook
from corekit.world.smooth_motion import SmoothMotion

if TYPE_CHECKING:
    from corekit.world.step_problem import StepSystem

__all__ = ["SmoothDynamics", "SplitStep", "ThetaStep"]


@final
class ThetaStep:
    """One step of the θ family; see `corekit.roles.steps.ThetaStep`.

    Args:
        system: the world.
    """

    __slots__ = ("_start", "_step", "_system")

    def __init__(self, system: StepSystem) -> None:
        self._system = system
        self._start, self._step = system.trial, 0.0

    def begin_step(self, start: State, step: float) -> None:
        """Find the contact candidates of a step h from `start`."""
        self._start, self._step = start, step
        self._system.begin(start, step)

    def linearise_at_start(self, beta: float, damped: bool, shift: float = 0.0) -> None:
        """Build the one-solve problem at the start."""
        self._system.linearise_start(self._start, self._step, beta, damped, shift)

    def linearise(
        self, velocity: Array, theta: float, stiffness_factor: float = 1.0, shift: float = 0.0
    ) -> None:
        """Build the problem at an iterate."""
        self._system.linearise(self._start, velocity, self._step, theta, stiffness_factor, shift)

    def update_residual(self, velocity: Array, theta: float) -> None:
        """Compute the residual and the contacts at an iterate; A stays."""
        self._system.evaluate(self._start, velocity, self._step, theta)

    def compute_newton_increment(self, out: Array) -> SolveInfo | None:
        """Write −A⁻¹·ρ; None where impulses act."""
        return self._system.correction(out)

    def momentum_residual(self) -> float:
        """Return the largest momentum that is out of balance."""
        return self._system.residual()

    def solve(self, velocity: Array) -> SolveInfo:
        """Solve the current problem and write v⁺."""
        return self._system.solve(velocity)


@final
class SplitStep:
    """One step of the split family; see `corekit.roles.steps.SplitStep`.

    Args:
        system: the world.
        motion: its smooth dynamics.
    """

    __slots__ = ("_motion", "_start", "_step", "_system")

    def __init__(self, system: StepSystem, motion: SmoothMotion) -> None:
        self._system, self._motion = system, motion
        self._start, self._step = system.trial, 0.0

    def begin_step(self, start: State, step: float, lookahead: float = 0.0) -> SplitOutlook:
        """Find the contact candidates of a step h from `start`."""
        self._start, self._step = start, step
        self._motion.begin(start, step, max(step, lookahead))
        return SplitOutlook(self._motion.may_be_pushed, self._motion.is_local)

    def apply_rate_jump(self, state: State, out: State) -> bool:
        """Write the state after a jump of prescribed rates; False where none jumps."""
        return self._system.pass_kink(state, out)

    def max_damping_rate(self) -> float:
        """Evaluate D at the start and return the largest damping rate [1/s]."""
        return self._system.damping_rate(self._start)

    def linearise(self, free_state: State, theta: float = 0.0, frozen_damping: bool = False) -> None:
        """Build the problem about the free state."""
        self._system.linearise_split(self._start, free_state, self._step, theta, frozen_damping)

    def is_impulse_free(self, free_state: State) -> bool:
        """Return whether no impulse acts at the free state."""
        return self._system.ends_smoothly(free_state)

    def solve(self, velocity: Array) -> SolveInfo:
        """Solve the current problem and write v⁺."""
        return self._system.solve(velocity)

    def apply_velocity_change(self, free_state: State, velocity: Array, out: State) -> None:
        """Write the end of the step for v⁺ = `velocity`."""
        self._system.correct(free_state, velocity, self._step, out)


@final
class SmoothDynamics:
    """The motion without impulses; see `corekit.roles.steps.SmoothDynamics`.

    Args:
        system: the world.
        motion: its smooth dynamics.
    """

    __slots__ = ("_motion", "_system")

    def __init__(self, system: StepSystem, motion: SmoothMotion) -> None:
        self._system, self._motion = system, motion

    def smooth_until(self, time: float, horizon: float) -> float:
        """Return the first breakpoint in (time, time + horizon], or the end of it [s]."""
        return self._motion.known_until(time, horizon)

    def set_prescribed_velocities(self, state: State) -> None:
        """Set the prescribed velocities of a state to ṗ at its time."""
        self._motion.impose(state)

    def compute_acceleration(
        self,
        state: State,
        out: Array,
        frozen_damping_velocity: Array | None = None,
        baumgarte_time: float | None = None,
    ) -> bool:
        """Write the acceleration at a state; False if singular."""
        return self._system.acceleration(state, out, frozen_damping_velocity, baumgarte_time)

    def compute_acceleration_increment(
        self,
        state: State,
        acceleration: Array,
        damping_factor: float,
        stiffness_factor: float,
        out: Array,
        shift: float = 0.0,
        chord: bool = False,
    ) -> float | None:
        """Write Newton's increment of an acceleration; the largest entry of the right side, None if singular."""
        return self._system.smooth_correction(
            state, acceleration, damping_factor, stiffness_factor, out, shift, chord
        )

    def compute_acceleration_jacobian(
        self, state: State, baumgarte_time: float, damped: bool, da_dq: Array, da_dv: Array
    ) -> bool:
        """Write ∂a/∂δ and ∂a/∂v; False if singular."""
        return self._motion.jacobian(state, baumgarte_time, damped, da_dq, da_dv)

    def end_step(self, state: State, frozen_damping_velocity: Array | None, baumgarte_time: float) -> None:
        """Set the prescribed velocities of the free state, and evaluate there what a record needs."""
        self._motion.end(state, frozen_damping_velocity, baumgarte_time)
