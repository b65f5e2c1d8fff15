"""Runge–Kutta 3(2) of Bogacki and Shampine for the smooth dynamics, then one contact problem per step.

The smooth dynamics over [t, t + h], in inner steps τ that keep the pair's own estimate of its error within

    max_i r_i·|e_i| / (a + relative·r_i·max(|v_i|, |v_i⁺|)) ≤ 1,   τ ← τ·clip(0.9·|e|^(−1/3), ⅕, 5)      (1)

for v, and for q as the displacement divided by h. r is the `velocity_scale`, by which all of them are speeds of the
surface, and a is `absolute`, or a hundredth of `relative` of the largest of the step, |g|·h among them. τ of rounding
of t is kept, whatever the error. They give (q_f, v_f); then, with A = M(q_f) + θh·D,

    A·v⁺ = M·v_f + θh·D·v₀ + J_bᵀλ_b + J_cᵀλ_c,   q⁺ = integrate(q_f, ½·(v⁺ − v_f), h)                 (2)

Damping. Its largest rate d = |λ|_max(M⁻¹D) is estimated in every step. Where h·d ≤ `split_above` and no contact
is near, the pair contains the damping, and the smooth motion is of order three. Otherwise D is split off
(`split_damping`): the pair integrates f + D·(v − v₀), and (2) damps v⁺ linearly implicitly.

With contact the whole step is of order one at impacts, like every scheme that solves contact once per step. A
contact potential acts in (2): its springs are of order two, its friction and dashpots of order one.
Springs stay explicit: inner steps resolve them, contact needs h·ω < 2. There is no internal state, so a model
may change its coordinates between steps.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.instants import same_instant
from corekit.data.state import State
from corekit.data.status import SolveInfo, Status, StepReport
from corekit.roles.component import BuildContext
from corekit.roles.integrator import Integrator, System, next_step
from corekit_timestep.bogacki_shampine import BogackiShampine
from corekit_timestep.config import Rk23Config
from corekit_timestep.split_damping import damping_theta, solve_split_step

__all__ = ["Rk23"]

_STIFF_NOTE = "`max_inner_steps` was reached, as with stiff models, which implicit integrators suit better"
_SLOW = 0.01
"""Share of the largest speed of a step to which `relative` is relative at least."""
_SAFETY, _MAX_SHRINK, _MAX_GROWTH = 0.9, 0.2, 5.0


@final
class Rk23(Integrator):
    """Steps a world by (1)–(2).

    Args:
        config: tolerances, largest number of inner steps, threshold of split damping.
        context: supplies the step size h.
    """

    def __init__(self, config: Rk23Config | None = None, context: BuildContext | None = None) -> None:
        self._config = config or Rk23Config()
        context = context or BuildContext()
        self._step, self._weight = context.step, float(np.linalg.norm(context.gravity))
        self._pair: BogackiShampine | None = None
        self._buffers: tuple[State, State] | None = None
        self._after_jump: State | None = None

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        h, t_end = next_step(self._step, state.time, t_stop)
        if self._pair is None or self._buffers is None or self._after_jump is None:
            self._pair, self._buffers = BogackiShampine(system), (system.new_state(), system.new_state())
            self._after_jump = system.new_state()
        pair, split = self._pair, system.split
        if split.apply_rate_jump(state, self._after_jump):
            state = self._after_jump
        may_have_impulses = split.begin_step(state, h, potential_last=True).may_have_impulses
        if not pair.begin(system, state):
            return StepReport(accepted=False, step_size=h, solve_info=SolveInfo(Status.SINGULAR))
        theta, frozen = damping_theta(split, h, self._config.split_above, may_have_impulses)
        free_state, inner, failure = self._integrate(system, state, h, state.v if frozen else None)
        if failure is not None:
            note = _STIFF_NOTE if failure is Status.ITERATION_LIMIT else ""
            return StepReport(False, h, inner, SolveInfo(failure), note)
        info = solve_split_step(split, free_state, t_end, theta, frozen, out)
        return StepReport(
            accepted=info.status is not Status.SINGULAR, step_size=h, iterations=inner, solve_info=info
        )

    def _integrate(
        self, system: System, state: State, h: float, frozen: Array | None
    ) -> tuple[State, int, Status | None]:
        """Compute the free state by (1); return it, the number of inner steps, and the status of a failure or None."""
        pair, buffers = self._pair, self._buffers
        assert pair is not None and buffers is not None
        first, second = buffers
        current, end, remaining, tau = state, first, h, h
        finest = same_instant(state.time + h)  # between instants that are the same no input is known better
        for inner_steps in range(1, self._config.max_inner_steps + 1):
            last = tau >= remaining * (1.0 - 1e-9)
            if last:
                tau = remaining
            if not pair.step(system, current, tau, end, frozen):
                return end, inner_steps, Status.SINGULAR
            error = self._error(system, current.v, end.v, h)
            if error <= 1.0 or (tau <= finest and error < math.inf):
                if last:
                    return end, inner_steps, None
                pair.accept()
                remaining -= tau
                current, end = end, second if end is first else first
            tau *= _factor(error)
        return end, self._config.max_inner_steps, _failure_status(end)

    def _error(self, system: System, before: Array, after: Array, h: float) -> float:
        """Return the left side of (1); nan and infinity count as infinite."""
        pair, config, scale = self._pair, self._config, system.velocity_scale
        assert pair is not None
        least = config.absolute
        if least is None:
            share = _SLOW * config.relative
            # what is held at rest balances its weight up to rounding
            least = max(system.error_bound(after, share), share * self._weight * h)
        error = np.maximum(np.abs(pair.velocity_error), np.abs(pair.displacement_error) * (1.0 / h))
        speed = np.maximum(np.abs(before), np.abs(after))
        if scale is not None:
            error, speed = scale * error, scale * speed
        allowed = least + config.relative * speed
        # what rests before and after in a world without any speed is off by rounding alone
        ratio = np.divide(error, allowed, out=np.zeros_like(error), where=allowed != 0.0)
        largest = float(np.max(ratio, initial=0.0))
        return math.inf if math.isnan(largest) else largest


def _factor(error: float) -> float:
    """Return the ratio of the next inner step size to the last."""
    if error == 0.0:
        return _MAX_GROWTH
    return min(_MAX_GROWTH, max(_MAX_SHRINK, _SAFETY * error ** (-1.0 / 3.0)))


def _failure_status(end: State) -> Status:
    """Return the status of inner steps that did not end at the end of the step."""
    finite = np.isfinite(end.v).all() and np.isfinite(end.q).all()
    return Status.ITERATION_LIMIT if finite else Status.NON_FINITE
