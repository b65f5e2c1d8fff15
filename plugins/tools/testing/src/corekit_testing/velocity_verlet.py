"""Reference integrator of the split family: velocity Verlet, then one contact problem.

    a₀ = a(q₀, v₀),   q_f = integrate(q₀, v₀ + ½·h·a₀, h),   a₁ = a(q_f, v₀ + h·a₀)         (1)
    v_f = v₀ + ½·h·(a₀ + a₁)                                                           (2)
    contact about (q_f, v_f) gives v⁺,   q⁺ = integrate(q_f, ½·(v⁺ − v_f), h)               (3)

Where impulses may act the damping is held at v₀ in (1)–(2) and solved in (3), with the least share θ of its rate d at
which no speed changes its sign: else it would act on the speed that an impulse then stops, and a body at rest would
be carried by less than its weight.

    θ = max(½, 1 − 1/(h·d))                                                                (4)

Source for (1)–(2): Swope et al. (1982), J. Chem. Phys. 76(1).
"""

from __future__ import annotations

from typing import final

import numpy as np
from attrs import frozen

from corekit.data.state import State
from corekit.data.status import SolveInfo, Status, StepReport
from corekit.roles.component import BuildContext
from corekit.roles.integrator import Integrator, System, next_step

__all__ = ["VelocityVerlet", "VelocityVerletConfig"]


_UNDERESTIMATE = 1.1
"""Factor on d in (4): the power method comes to it from below."""


@frozen(kw_only=True)
class VelocityVerletConfig:
    """Velocity Verlet has no options."""


@final
class VelocityVerlet(Integrator):
    """Implements (1)–(4)."""

    def __init__(
        self, config: VelocityVerletConfig | None = None, context: BuildContext | None = None
    ) -> None:
        self._step = (context or BuildContext()).step
        self._states: tuple[State, State] | None = None

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        h, t_end = next_step(self._step, state.time, t_stop)
        if self._states is None:
            self._states = system.new_state(), system.new_state()
        smooth, after_jump = self._states
        before, after = np.zeros(system.nv), np.zeros(system.nv)
        split, dynamics = system.split, system.smooth
        start = after_jump if split.apply_rate_jump(state, after_jump) else state
        outlook = split.begin_step(start, h)
        if not dynamics.compute_acceleration(start, before):
            return StepReport(accepted=False, step_size=h, solve_info=SolveInfo(Status.SINGULAR))
        rate = split.max_damping_rate() if outlook.may_have_impulses else 0.0
        theta = max(0.5, 1.0 - 1.0 / (_UNDERESTIMATE * h * rate)) if rate else 0.0
        system.integrate(start, start.v + 0.5 * h * before, h, start, smooth)
        smooth.v[:] = start.v + h * before
        if not dynamics.compute_acceleration(smooth, after, start.v if rate else None):
            return StepReport(accepted=False, step_size=h, solve_info=SolveInfo(Status.SINGULAR))
        smooth.v[:] = start.v + 0.5 * h * (before + after)
        split.linearise(smooth, theta, frozen_damping=bool(rate))
        info = split.solve(out.v)
        split.apply_velocity_change(smooth, out.v, out)
        out.time = t_end
        return StepReport(accepted=info.status.solved, step_size=h, solve_info=info)
