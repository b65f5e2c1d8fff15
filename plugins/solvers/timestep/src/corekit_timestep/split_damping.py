"""Damping that explicit split schemes solve linearly implicitly, together with the contact impulses.

    (M + θh·D)·v⁺ = M·v_f + θh·D·v₀ + Jᵀλ                                                 (1)

The smooth dynamics with the force f + D·(v − v₀) give v_f; they are no stiffer than the springs. With the
largest rate d = |λ|_max(M⁻¹D)

    θ = max(½, 1 − 1/(h·d))                                                               (2)

is the least θ ≥ ½ at which no mode changes its sign in a step: the amplification (1 − (1 − θ)hd)/(1 + θhd) is
never negative. The damping is of order two as h → 0 and stable for every h·d. A body that rests or creeps at
f = D·v continues exactly so, and the impulse exactly balances f.

Damping inside the smooth dynamics would act on the speed v_f = h·f·(1 − ½hd + …)/M that the impulse then
stops. The impulse would be h·f·(1 − ½hd + …), or with θ = ½ in (1) at best h·f·(1 − (hd)²/12 + …). Damping is
therefore split off wherever an impulse may act.
"""

from __future__ import annotations

from corekit.data.state import State
from corekit.data.status import SolveInfo, Status
from corekit.roles.steps import SplitStep

__all__ = ["damping_theta", "solve_split_step"]

_UNDERESTIMATE = 1.1
"""Factor on the rate d in (2), because d is estimated from below."""


def damping_theta(
    step: SplitStep, h: float, split_above: float, may_have_impulses: bool
) -> tuple[float, bool]:
    """Return θ of (1), and whether the smooth dynamics must freeze the damping at its start.

    If h·d ≤ `split_above` and no impulse may act, the smooth dynamics contain the damping. Near contacts and
    with bounded constraints it is always frozen. Otherwise it would act on the speed that the impulse then
    stops, and the impulse on a resting body would be up to ½·h·d too small. The last acceleration must be
    that of the start.
    """
    stiffness = h * step.max_damping_rate()
    if not stiffness:
        return 0.0, False
    if stiffness <= split_above and not may_have_impulses:
        return 0.5, False
    return max(0.5, 1.0 - 1.0 / (_UNDERESTIMATE * stiffness)), True


def solve_split_step(
    step: SplitStep, free_state: State, t_end: float, theta: float, frozen: bool, out: State
) -> SolveInfo:
    """Solve (1) about the free state and write the end of the step, unless the matrix is singular."""
    free_state.time = t_end
    step.linearise(free_state, theta, frozen)
    info = step.solve(out.v)
    if info.status is not Status.SINGULAR:
        step.apply_velocity_change(free_state, out.v, out)
        out.time = t_end
    return info
