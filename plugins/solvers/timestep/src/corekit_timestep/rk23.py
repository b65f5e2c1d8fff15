"""Runge–Kutta 3(2) of Bogacki and Shampine for the smooth part, then one contact problem a step.

Smooth part over [t, t + h], in inner steps τ that keep the pair's own estimate of its error within

    max_i |e_i| / (absolute + relative·max(|v_i|, |v_i⁺|)) ≤ 1,   τ ← τ·clip(0.9·|e|^(−1/3), ⅕, 5)      (1)

for v, and for q as the displacement's share of h. It gives (q_f, v_f); then, with A = M(q_f) + θh·D,

    A·v⁺ = M·v_f + θh·D·v₀ + J_bᵀλ_b + J_cᵀλ_c,   q⁺ = integrate(q_f, ½·(v⁺ − v_f), h)                 (2)

Damping. Its largest rate d = |λ|_max(M⁻¹D) is estimated every step. Where h·d ≤ `split_above` and no contact
is near the pair takes damping along, and the smooth motion is of order three. Else D is split off
(`split_damping`): the pair sees f + D·(v − v₀), and (2) damps v⁺ linearly implicitly.

With contact the step as a whole is of order one at impacts, like every scheme that solves contact once a
step. Springs stay explicit: inner steps follow them, contact needs h·ω < 2. Nothing is remembered between
steps, so what a model recharts after a step needs no restart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo, Status
from corekit.data.step import StepReport
from corekit.roles.component import BuildContext, Memory
from corekit.roles.integrator import Integrator, System
from corekit.roles.step_landing import next_step
from corekit_timestep.bogacki_shampine import BogackiShampine
from corekit_timestep.config import Rk23Config
from corekit_timestep.split_damping import implicit_share

__all__ = ["Rk23"]

_SAFETY, _SLOWER, _FASTER = 0.9, 0.2, 5.0


@final
class Rk23(Integrator):
    """Steps a world by (1)–(2).

    Args:
        config: tolerances, most inner steps, when damping is split off.
        context: gives the step h.
    """

    def __init__(self, config: Rk23Config | None = None, context: BuildContext | None = None) -> None:
        self._config = config or Rk23Config()
        self._step = (context or BuildContext()).step
        self._pair: BogackiShampine | None = None
        self._buffers: tuple[State, State] | None = None

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        h, t_end = next_step(self._step, state.time, t_stop)
        if self._pair is None or self._buffers is None:
            self._pair, self._buffers = BogackiShampine(system), (system.new_state(), system.new_state())
        pair, split = self._pair, system.split
        may_have_impulses = split.begin_step(state, h).may_have_impulses
        if not pair.begin(system, state):
            return StepReport(accepted=False, step=h, solve=SolveInfo(Status.SINGULAR))
        theta, held = implicit_share(split, h, self._config.split_above, may_have_impulses)
        smooth, inner, failure = self._smooth(system, state, h, state.v if held else None)
        if failure is not None:
            return StepReport(accepted=False, step=h, iterations=inner, solve=SolveInfo(failure))
        smooth.time = t_end
        split.linearise(smooth, theta, held)
        info = split.solve(out.v)
        if info.status is Status.SINGULAR:
            return StepReport(accepted=False, step=h, iterations=inner, solve=info)
        split.apply_velocity_change(smooth, out.v, out)
        out.time = t_end
        return StepReport(accepted=True, step=h, iterations=inner, solve=info)

    def _smooth(
        self, system: System, state: State, h: float, held: Array | None
    ) -> tuple[State, int, Status | None]:
        """The end of the smooth part by (1), how many inner steps were tried, and what went wrong, if anything."""
        pair, buffers = self._pair, self._buffers
        assert pair is not None and buffers is not None
        one, other = buffers
        here, there, left, tau = state, one, h, h
        for tried in range(1, self._config.max_inner_steps + 1):
            last = tau >= left * (1.0 - 1e-9)
            if last:
                tau = left
            if not pair.step(system, here, tau, there, held):
                return there, tried, Status.SINGULAR
            error = self._error(here.v, there.v, h, tau)
            if error <= 1.0:
                if last:
                    return there, tried, None
                pair.turn_over()
                left -= tau
                here, there = there, other if there is one else one
            tau *= _factor(error)
        return there, self._config.max_inner_steps, _why(there)

    def _error(self, before: Array, after: Array, h: float, tau: float) -> float:
        """The left side of (1); nan and infinity count as infinite."""
        pair, config = self._pair, self._config
        assert pair is not None
        allowed = config.absolute + config.relative * np.maximum(np.abs(before), np.abs(after))
        error = np.maximum(np.abs(pair.velocity_error), np.abs(pair.displacement_error) * (1.0 / h))
        worst = float(np.max(error / allowed, initial=0.0))
        return math.inf if math.isnan(worst) else worst

    def memory(self) -> Memory:
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        pass


def _factor(error: float) -> float:
    """By how much the next inner step is longer than the last."""
    if error == 0.0:
        return _FASTER
    return min(_FASTER, max(_SLOWER, _SAFETY * error ** (-1.0 / 3.0)))


def _why(end: State) -> Status:
    """Why inner steps did not reach the end."""
    finite = np.isfinite(end.v).all() and np.isfinite(end.q).all()
    return Status.ITERATION_LIMIT if finite else Status.NON_FINITE
