"""Reference integrator of the split family: velocity Verlet, then one contact problem.

    a₀ = a(q₀, v₀),   q_f = integrate(q₀, v₀ + ½·h·a₀, h),   a₁ = a(q_f, v₀ + h·a₀)         (1)
    v_f = v₀ + ½·h·(a₀ + a₁)                                                           (2)
    contact about (q_f, v_f) gives v⁺,   q⁺ = integrate(q_f, ½·(v⁺ − v_f), h)               (3)

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


@frozen(kw_only=True)
class VelocityVerletConfig:
    """Velocity Verlet has no options."""


@final
class VelocityVerlet(Integrator):
    """Implements (1)–(3)."""

    def __init__(
        self, config: VelocityVerletConfig | None = None, context: BuildContext | None = None
    ) -> None:
        self._step = (context or BuildContext()).step
        self._smooth: State | None = None

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        h, t_end = next_step(self._step, state.time, t_stop)
        smooth = self._smooth = self._smooth or system.new_state()
        before, after = np.zeros(system.nv), np.zeros(system.nv)
        split, dynamics = system.split, system.smooth
        split.begin_step(state, h)
        if not dynamics.compute_acceleration(state, before):
            return StepReport(accepted=False, step_size=h, solve_info=SolveInfo(Status.SINGULAR))
        system.integrate(state, state.v + 0.5 * h * before, h, state, smooth)
        smooth.v[:] = state.v + h * before
        if not dynamics.compute_acceleration(smooth, after):
            return StepReport(accepted=False, step_size=h, solve_info=SolveInfo(Status.SINGULAR))
        smooth.v[:] = state.v + 0.5 * h * (before + after)
        split.linearise(smooth)
        info = split.solve(out.v)
        split.apply_velocity_change(smooth, out.v, out)
        out.time = t_end
        return StepReport(accepted=info.status.solved, step_size=h, solve_info=info)
