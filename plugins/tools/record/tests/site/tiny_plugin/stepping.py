"""Semi-implicit Euler, which can be made slow."""

from __future__ import annotations

import time

from attrs import frozen

from corekit.data.status import Status, StepReport
from corekit.roles.component import BuildContext
from corekit.roles.integrator import Integrator
from corekit.roles.options import option


@frozen(kw_only=True)
class EulerConfig:
    nap: float = option(0.0, "pause in each step", unit="s", low=0)
    prints: bool = option(False, "whether to print a line when the first step begins")


class Euler(Integrator):
    def __init__(self, config, context=None):
        self._config, self._step = config, (context or BuildContext()).step
        self._begun = False

    def step(self, system, state, t_stop, out):
        if self._config.prints and not self._begun:
            self._begun = True
            print("stepping", flush=True)
        if self._config.nap:
            time.sleep(self._config.nap)
        last = t_stop - state.time <= self._step * (1.0 + 1e-9)
        h = t_stop - state.time if last else self._step
        system.theta.begin_step(state, h)
        system.theta.linearise_at_start(0.0, False)
        info = system.theta.solve(out.v)
        if info.status is Status.SINGULAR:
            return StepReport(accepted=False, step_size=h, solve_info=info)
        system.integrate(state, out.v, h, state, out)
        if last:
            out.time = t_stop
        return StepReport(accepted=True, step_size=h, solve_info=info)
