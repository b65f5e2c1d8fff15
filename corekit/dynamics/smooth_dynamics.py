"""The motion without impulses as integrators see it; see `corekit.roles.steps.SmoothDynamics`."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.signal_base import Still
from corekit.data.state import State
from corekit.dynamics.acceleration_jacobian import acceleration_jacobian
from corekit.dynamics.smooth_accelerations import SmoothAccelerations
from corekit.dynamics.world_terms import WorldTerms

__all__ = ["SmoothDynamics"]


@final
class SmoothDynamics:
    """Implements the protocol for a world.

    Args:
        world: the world's terms.
        accelerations: of the world.
    """

    def __init__(self, world: WorldTerms, accelerations: SmoothAccelerations) -> None:
        self._world, self._accelerations = world, accelerations
        self._scratch = np.zeros(world.nv)

    def smooth_until(self, time: float, horizon: float) -> float:
        """Return the first breakpoint in (time, time + horizon], or its end [s]; `time` if an input is set outside."""
        until = time + horizon
        bodies = [terms.body for terms in self._world.bodies]
        signals = [signal for body in bodies for signal in body.inputs.signals]
        if any(isinstance(signal, Still) and not signal.constant for signal in signals):
            return time
        breakpoints = [each for body in bodies for each in body.breakpoints(time, until)]
        if self._world.pipeline is not None:
            for obstacle in self._world.pipeline.scene.obstacles:
                breakpoints += obstacle.breakpoints(time, until)
        return min(breakpoints, default=until)

    def set_prescribed_velocities(self, state: State) -> None:
        """Set the prescribed velocities of a state to ṗ at its time."""
        self._world.set_prescribed_rates(state)

    def compute_acceleration(
        self,
        state: State,
        out: Array,
        frozen_damping_velocity: Array | None = None,
        baumgarte_time: float | None = None,
    ) -> bool:
        """Write the acceleration at a state; False if the mass matrix is singular on the constraints' kernel."""
        return self._accelerations.compute(state, out, frozen_damping_velocity, baumgarte_time)

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
        return self._accelerations.compute_increment(
            state, acceleration, damping_factor, stiffness_factor, out, shift, chord
        )

    def compute_acceleration_jacobian(
        self, state: State, baumgarte_time: float, damped: bool, da_dq: Array, da_dv: Array
    ) -> bool:
        """Write ∂a/∂δ and ∂a/∂v; False if singular."""
        self._world.set_prescribed_rates(state)
        if not self._accelerations.compute(state, self._scratch, None, baumgarte_time):
            return False
        acceleration_jacobian(self._world, state, self._scratch, baumgarte_time, da_dq, da_dv, damped=damped)
        return True

    def end_step(self, state: State, frozen_damping_velocity: Array | None, baumgarte_time: float) -> None:
        """Set the prescribed velocities of the free state, and evaluate there what a record needs."""
        self._world.set_prescribed_rates(state)
        if self._world.forces is not None or self._world.has_prescribed:
            # of all evaluations in the step only this one gives the reaction
            self._accelerations.forget_reactions()
            self._accelerations.compute(state, self._scratch, frozen_damping_velocity, baumgarte_time)
