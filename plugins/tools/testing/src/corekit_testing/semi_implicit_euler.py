"""Reference integrator: semi-implicit Euler, one solve a step.

(M + h·D + β·h²·K)·v⁺ = M·v₀ + h·(f + D·v₀) + impulses,     q⁺ = integrate(q₀, v⁺, h)    (1)
"""

from __future__ import annotations

from typing import final

from attrs import frozen

from corekit.data.state import State
from corekit.data.status import Status, StepReport
from corekit.roles.component import BuildContext
from corekit.roles.integrator import Integrator, System, next_step
from corekit.roles.options import option

__all__ = ["SemiImplicitEuler", "SemiImplicitEulerConfig"]

_SINGULAR = Status.SINGULAR


@frozen(kw_only=True)
class SemiImplicitEulerConfig:
    """Options of the reference semi-implicit Euler."""

    beta: float = option(1.0, "share of the stiffness taken implicitly, 0: explicit", low=0, high=1)
    damping: bool = option(True, "whether damping is taken implicitly")


@final
class SemiImplicitEuler(Integrator):
    """Implements (1); where A is not positive definite it drops K and says so."""

    def __init__(
        self, config: SemiImplicitEulerConfig | None = None, context: BuildContext | None = None
    ) -> None:
        config = config or SemiImplicitEulerConfig()
        self._beta, self._damping = config.beta, config.damping
        self._step = (context or BuildContext()).step

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        h, t_end = next_step(self._step, state.time, t_stop)
        step = system.theta
        step.begin_step(state, h, contacts_at_start=True)
        step.linearise_at_start(self._beta, self._damping)
        info, note = step.solve(out.v), ""
        if info.status is _SINGULAR and self._beta:
            note = "stiffness dropped"
            step.linearise_at_start(0.0, self._damping)
            info = step.solve(out.v)
        system.integrate(state, out.v, h, state, out)
        out.time = t_end
        return StepReport(accepted=info.status.solved, step_size=h, solve_info=info, note=note)
