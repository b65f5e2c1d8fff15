"""Verlet's scheme in its two forms, then one contact problem per step.

    velocity:  a₀ = a(q₀, v₀),   q_f = integrate(q₀, v₀ + ½·h·a₀, h),   a₁ = a(q_f, v₀ + h·a₀)
               v_f = v₀ + ½·h·(a₀ + a₁)                                                    (1)
    position:  q_m = integrate(q₀, v₀, ½·h),   a_m = a(q_m, v₀ + ½·h·a(q_m, v₀)),   v_f = v₀ + h·a_m
               q_f = integrate(q_m, v_f, ½·h)                                                (2)
    contact about (q_f, v_f) gives v⁺,   q⁺ = integrate(q_f, ½·(v⁺ − v_f), h)                (3)

a is the acceleration of the smooth dynamics, with constraints. Second order, symplectic if forces do not depend
on velocity; stable for h·ω < 2. With contact a step is of order one at impacts. A contact potential acts in (3),
its springs in the middle of the step, its friction and dashpots with v⁺: those are of order one. (1) evaluates
accelerations at the ends of the step, (2) in its middle, where a force that jumps at a grid point has the value
of its own interval.

Damping with a stiff rate d, h·d > `split_above`, and near contacts any damping, is frozen at v₀ in (1) and
(2) and solved linearly implicitly in (3) (`split_damping`). A step is then stable for every h·d, and exactly
its weight supports a resting body.

Source: Swope et al. (1982), J. Chem. Phys. 76(1); Hairer, Lubich and Wanner (2006), "Geometric Numerical
Integration", I.1.4.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo, Status, StepReport
from corekit.roles.component import BuildContext
from corekit.roles.integrator import Integrator, System, next_step
from corekit_timestep.config import VerletConfig
from corekit_timestep.split_damping import damping_theta, solve_split_step

__all__ = ["Verlet"]


@final
class Verlet(Integrator):
    """Steps a world by (1) or (2), and (3).

    Args:
        config: the form, and the threshold of split damping.
        context: supplies the step size h.
    """

    def __init__(self, config: VerletConfig | None = None, context: BuildContext | None = None) -> None:
        self._config = config or VerletConfig()
        self._step = (context or BuildContext()).step
        self._states: tuple[State, State, State] | None = None

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        h, t_end = next_step(self._step, state.time, t_stop)
        if self._states is None:
            self._states = system.new_state(), system.new_state(), system.new_state()
        free_state, middle, after_jump = self._states
        split = system.split
        if split.apply_rate_jump(state, after_jump):
            state = after_jump
        may_have_impulses = split.begin_step(state, h, potential_last=True).may_have_impulses
        theta, frozen = 0.0, False
        start_acceleration, is_regular = np.zeros(system.nv), True
        splits = self._config.split_above < math.inf or may_have_impulses
        if splits or self._config.form == "velocity":
            is_regular = system.smooth.compute_acceleration(state, start_acceleration)
        if is_regular and splits:
            theta, frozen = damping_theta(split, h, self._config.split_above, may_have_impulses)
        if is_regular:
            frozen_velocity = state.v if frozen else None
            is_regular = (
                _apply_position_form(system, state, h, frozen_velocity, middle, free_state)
                if self._config.form == "position"
                else _apply_velocity_form(system, state, h, start_acceleration, frozen_velocity, free_state)
            )
        if not is_regular:
            return StepReport(accepted=False, step_size=h, solve_info=SolveInfo(Status.SINGULAR))
        info = solve_split_step(split, free_state, t_end, theta, frozen, out)
        return StepReport(accepted=info.status is not Status.SINGULAR, step_size=h, solve_info=info)


def _apply_velocity_form(
    system: System, state: State, h: float, start_acceleration: Array, frozen: Array | None, free_state: State
) -> bool:
    """Apply (1); return False if the mass matrix is singular."""
    end_acceleration = np.zeros(system.nv)
    system.integrate(state, state.v + 0.5 * h * start_acceleration, h, state, free_state)
    free_state.v[:] = state.v + h * start_acceleration
    if not system.smooth.compute_acceleration(free_state, end_acceleration, frozen):
        return False
    free_state.v[:] = state.v + 0.5 * h * (start_acceleration + end_acceleration)
    return True


def _apply_position_form(
    system: System, state: State, h: float, frozen: Array | None, middle: State, free_state: State
) -> bool:
    """Apply (2); return False if the mass matrix is singular."""
    acceleration = np.zeros(system.nv)
    system.integrate(state, state.v, 0.5 * h, state, middle)
    middle.v[:] = state.v
    if not system.smooth.compute_acceleration(middle, acceleration, frozen):
        return False
    if frozen is None:
        middle.v[:] = state.v + 0.5 * h * acceleration
        if not system.smooth.compute_acceleration(middle, acceleration):
            return False
    end_velocity = state.v + h * acceleration
    system.integrate(middle, end_velocity, 0.5 * h, middle, free_state)
    free_state.v[:] = end_velocity
    return True
