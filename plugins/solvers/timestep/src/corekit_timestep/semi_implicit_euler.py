"""Semi-implicit Euler: one solve per step, positions integrated with the new velocity.

Explicit:            M·(v⁺ − v₀) = h·f(q₀, v₀, t) + J_bᵀλ_b + J_cᵀλ_c                    (1)
Linearly implicit:   (M + h·D + β·h²·K)·v⁺ = M·v₀ + h·(f + D·v₀) + J_bᵀλ_b + J_cᵀλ_c      (2)
Both:                q⁺ = integrate(q₀, v⁺, h)                                            (3)

(1) is stable while h·λ_max(M⁻¹D) < 2 and h·ω_max < 2; (2) with β ≥ ½ for every h of a linear model. A contact
potential, stiff by design, is solved by (2) in both, with β = 1 in (1). Order one in h.

Inertia forces turn a body that tumbles without giving it energy. (1) has them as they are at the start, and a
free capsule at 100 rad/s gains energy without bound at h = 1 ms. (2) has them with their whole derivative, which
loses some, or where the model separates them from damping (its ability `dissipation`) in the middle of the step, which
keeps it; see `corekit.engine.bodies.body_terms`.

The matrix of (2) may not be positive definite (a compressed spring destabilises sideways: K has negative
eigenvalues). Then σ·M·(v⁺ − v₀) is added on the left with the first sufficient σ = 1, 4, 16, …. σ is of the
order h²·|K₋|/M, so the order in h stays. The step's note reports σ.

Source: Stewart and Trinkle (1996); (2) is one Newton step of implicit Euler from v = 0 in K and v₀ in D.
"""

from __future__ import annotations

from typing import final

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo, Status, StepReport
from corekit.roles.component import BuildContext
from corekit.roles.integrator import Integrator, System, next_step
from corekit.roles.steps import ThetaStep
from corekit_timestep.config import SemiImplicitEulerConfig

__all__ = ["SemiImplicitEuler"]

_LARGEST_SHIFT = 1e12
_SINGULAR = Status.SINGULAR


@final
class SemiImplicitEuler(Integrator):
    """Steps a world by (1) or (2), and (3).

    Args:
        config: form and β.
        context: supplies the step size h.
    """

    def __init__(self, config: SemiImplicitEulerConfig, context: BuildContext | None = None) -> None:
        self._step = (context or BuildContext()).step
        self._damping = config.form == "linearly-implicit"
        self._beta = (1.0 if config.beta is None else config.beta) if self._damping else 0.0

    def single_solve(self) -> tuple[float, bool]:
        """Return β and whether (2) is solved."""
        return self._beta, self._damping

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        h, t_end = next_step(self._step, state.time, t_stop)
        step = system.theta
        step.begin_step(state, h, contacts_at_start=True)
        step.linearise_at_start(self._beta, self._damping)
        v, note = out.v, ""
        info = step.solve(v)
        if info.status is _SINGULAR:
            info, shift = self._solve_with_shift(step, v, info)
            if info.status is _SINGULAR:
                return StepReport(accepted=False, step_size=h, solve_info=info)
            note = f"step matrix not positive definite: shifted by {shift:g} times the mass"
        system.integrate(state, v, h, state, out)
        out.time = t_end
        # positional, because named arguments would cost as much as the report
        return StepReport(True, h, 1, info, note)

    def _solve_with_shift(self, step: ThetaStep, velocity: Array, info: SolveInfo) -> tuple[SolveInfo, float]:
        """Solve with the first σ that makes the matrix of (2) positive definite; return the solve information and σ."""
        shift = 0.0
        while info.status is _SINGULAR and self._beta and shift < _LARGEST_SHIFT:
            shift = max(1.0, 4.0 * shift)
            step.linearise_at_start(self._beta, self._damping, shift)
            info = step.solve(velocity)
        return info, shift
