"""Steps of one of SciPy's solvers for the smooth dynamics, sampled at the grid, then one contact problem.

    ẏ = (v, a(q(t, y), v, t)),   y = (s, v),   q(t, y) by `configuration_path`                     (1)

a contains constraints, differentiated and stabilised with the time constant τ, and contact potentials. The solver
chooses its own steps, over as many grid points as they reach; there its dense output is the free state (q_f, v_f). It
continues until an impulse, new coordinates of a model or anybody else changes the state, or an input or an obstacle
has a breakpoint, at which a step ends; then it starts again. While impulses may act every step is a start, damping is
split off (`split_damping`), q_f = q₀ ⊕ ½h·(v₀ + v_f), and (q⁺, v⁺) follow as in every scheme of the split family: a
resting body is carried by exactly its weight, and does not move.

What `relative` and `absolute` mean: in each of the solver's steps the error of v_i must be within
absolute + relative·|v_i|, that of s_i within absolute + relative·|s_i|, s_i the displacement in this step, in the
solver's root mean square.
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
from corekit_timestep.config import ScipyBdfConfig, ScipyConfig
from corekit_timestep.configuration_path import ConfigurationPath
from corekit_timestep.scipy_solvers import METHODS, recentre, revive, saved
from corekit_timestep.split_damping import damping_theta

__all__ = ["ScipyIntegrator"]

_CONVERGED = SolveInfo(Status.CONVERGED, answered_by="factorisation")
_CLOSE = 1e-9
"""A breakpoint this near a grid point, in steps, is the grid point's."""
_AFTER = 1e-11
"""How long after a breakpoint an instant is certainly not that of the breakpoint, relative to 1 s + t."""
_LOOK_AHEAD = 1000
"""Steps for which breakpoints are collected at once."""


class _Refused(Exception):
    """Ends a solver's step from inside its right-hand side."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.value)
        self.status = status


class _Workspace:
    """Buffers for one system: the path, a trial state, the free state, the end of the last step.

    `after_jump` is the start of a step after a jump of prescribed rates.
    """

    def __init__(self, system: System) -> None:
        self.system, self.path = system, ConfigurationPath(system)
        self.trial, self.free_state, self.last, self.after_jump = (system.new_state() for _ in range(4))


@final
class ScipyIntegrator(Integrator):
    """Steps a world by (1); keeps a solver over steps.

    Args:
        config: names the solver, and gives its tolerances.
        context: gives the step size h of the grid.
    """

    def __init__(self, config: ScipyConfig | None = None, context: BuildContext | None = None) -> None:
        self._options = config or ScipyBdfConfig()
        self._method, self._step = METHODS[self._options.method], (context or BuildContext()).step
        self._solver: Any = None
        self._known: _Workspace | None = None
        self._restored: Memory = {}
        self._continues, self._hint, self._after = False, 0.0, -math.inf
        self._breaks = False
        self._frozen: Array | None = None
        self._may_have_impulses = self._is_local = False
        self._blank = False
        self._evaluations, self._finite = 0, True

    # — the step —

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        h, t_end = next_step(self._step, state.time, t_stop)
        if self._known is None or self._known.system is not system:
            self._known, self._continues = _Workspace(system), False
        work, split = self._known, system.split
        self._evaluations, self._finite = 0, True
        if split.apply_rate_jump(state, work.after_jump):
            state = work.after_jump
        note, status, theta = "", Status.CONVERGED, 0.0
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            try:
                theta = self._prepare(system, state, h, t_end)
                status, note = self._run(t_end)
            except _Refused as refused:
                status = refused.status
        free_state = work.free_state
        if status is not Status.CONVERGED:
            self._solver, self._continues = None, False
            out.copy_from(state)  # what is not finite there is named
            return StepReport(
                accepted=False, step=h, iterations=self._evaluations, solve=SolveInfo(status), note=note
            )
        solver = self._solver
        y = solver.y if t_end == solver.t else solver.dense_output()(t_end)
        work.path.state(t_end, y, free_state)
        if self._may_have_impulses:
            # an impulse over h would correct a displacement that is wrong by the tolerance
            system.integrate(state, 0.5 * (state.v + solver.y[len(state.v) :]), h, state, free_state)
            free_state.time = t_end
        system.smooth.end_step(free_state, self._frozen, self._options.settling)
        info, unchanged = _CONVERGED, True
        if split.is_impulse_free(free_state):
            out.copy_from(free_state)
        else:
            split.linearise(free_state, theta, self._frozen is not None)
            info = split.solve(out.v)
            if info.status is Status.SINGULAR:
                self._solver, self._continues = None, False
                return StepReport(accepted=False, step=h, iterations=self._evaluations, solve=info)
            split.apply_velocity_change(free_state, out.v, out)
            out.time = t_end
            # without impulses the problem gives v_f back, to rounding
            tiny = 1e-10 * (1.0 + float(np.max(np.abs(out.v), initial=0.0)))
            unchanged = float(np.max(np.abs(out.v - free_state.v), initial=0.0)) <= tiny
        self._continues = unchanged and not self._may_have_impulses
        work.last.copy_from(out)
        return StepReport(accepted=True, step=h, iterations=self._evaluations, solve=info)

    @property
    def _work(self) -> _Workspace:
        assert self._known is not None
        return self._known

    def _prepare(self, system: System, state: State, h: float, t_end: float) -> float:
        """Provide a solver that stands at the state or continues past it; θ of the split problem."""
        if not math.isfinite(float(np.sum(state.motion))):
            raise _Refused(Status.NON_FINITE)
        self._may_have_impulses, self._is_local = system.split.begin_step(state, h, 2.0 * h)
        if self._restored:
            given, self._restored = self._restored, {}
            self._restore(given)
        theta, self._frozen = 0.0, None
        if self._may_have_impulses:
            found = np.zeros(system.nv)
            if not system.smooth.compute_acceleration(state, found, None, self._options.settling):
                raise _Refused(Status.SINGULAR)
            theta, frozen = damping_theta(system.split, h, 0.0, self._may_have_impulses)
            self._frozen = state.v.copy() if frozen else None
            self._start(state, t_end, breaks=True)
            return theta
        if self._continues_from(state):
            self._look_ahead(t_end)
            if self._reaches(t_end) or self._solver.status == "running":
                return theta
        self._start(state, *self._bound(state.time, t_end))
        return theta

    def _continues_from(self, state: State) -> bool:
        """Whether the state is the end of the last step."""
        last = self._work.last
        return (
            self._continues
            and self._solver is not None
            and state.time == last.time
            and np.array_equal(state.q, last.q)
            and np.array_equal(state.v, last.v)
            and np.array_equal(state.aux, last.aux)
        )

    def _run(self, t_end: float) -> tuple[Status, str]:
        """Let the solver step until it reaches the end; what stopped it, and its message."""
        solver, path, n = self._solver, self._work.path, self._work.trial.v.size
        for _ in range(self._options.max_inner_steps):
            if self._reaches(t_end):
                return Status.CONVERGED, ""
            message = solver.step()
            if solver.status == "failed":
                return (Status.STALLED if self._finite else Status.NON_FINITE), f"SciPy says: {message}"
            solver.t = float(solver.t)
            path.move(solver.t, solver.y)
            recentre(solver, n)
        if self._reaches(t_end):
            return Status.CONVERGED, ""
        return Status.ITERATION_LIMIT, "(`max_inner_steps` of the solver in one step.)"

    def _reaches(self, t_end: float) -> bool:
        """Whether the solver stands at the end of the step or past it; rounding may put a breakpoint just before it."""
        return self._solver.t >= t_end - _CLOSE * self._step

    # — starting —

    def _bound(self, time: float, t_end: float) -> tuple[float, bool]:
        """Until when the inputs are smooth, at least to the end of the step, and whether a breakpoint is there."""
        close, horizon = _CLOSE * self._step, _LOOK_AHEAD * self._step
        known = self._work.system.smooth.smooth_until(time + close, horizon)
        if known <= t_end + close:
            return t_end, True
        return known, known < time + horizon

    def _look_ahead(self, t_end: float) -> None:
        """Move the bound of a solver that continues, in good time, unless a breakpoint is there."""
        solver = self._solver
        if self._breaks or solver.t_bound > t_end + _LOOK_AHEAD // 2 * self._step:
            return
        solver.t_bound, self._breaks = self._bound(solver.t, t_end)
        if solver.t < solver.t_bound:
            solver.status = "running"

    def _start(self, state: State, bound: float, breaks: bool) -> None:
        """Make a new solver from a state to a bound."""
        if self._solver is not None:
            self._hint = float(self._solver.h_abs)
        self._breaks, self._after = breaks, state.time + _AFTER * (1.0 + abs(state.time))
        self._work.path.begin(state)
        first = min(self._hint, bound - state.time) if self._method.one_step and self._hint else None
        y = np.concatenate([np.zeros(len(state.v)), state.v])
        self._solver = self._build(state.time, y, bound, first)
        if not self._finite:
            raise _Refused(Status.NON_FINITE)

    def _build(self, time: float, y: Array, bound: float, first: float | None) -> Any:
        method, options = self._method, self._options
        longest = self._step if self._is_local else math.inf
        jacobian = {"jac": self._jacobian} if method.needs_jacobian else {}
        solver = method.make(
            self._rate, time, y, bound, rtol=options.relative, atol=options.absolute, max_step=longest,
            first_step=first, **jacobian,
        )  # fmt: skip
        if hasattr(solver, "D"):
            solver.D[2:] = 0.0  # not read before they are written, but saved
        if hasattr(solver, "K"):
            solver.K[:] = 0.0
        return solver

    # — what the solver calls —

    def _trial_state(self, time: float, y: Array) -> State:
        """The trial state; at a breakpoint the values of the interval that begins there count at a start."""
        trial = self._work.trial
        self._work.path.state(time, y, trial)
        if time < self._after:
            trial.time = self._after
        self._work.system.smooth.set_prescribed_velocities(trial)
        return trial

    def _rate(self, time: float, y: Array) -> Array:
        """(1)."""
        n, out = len(y) // 2, np.zeros(len(y))
        if self._blank:
            return out
        trial, smooth = self._trial_state(time, y), self._work.system.smooth
        self._evaluations += 1
        if not smooth.compute_acceleration(trial, out[n:], self._frozen, self._options.settling):
            raise _Refused(Status.SINGULAR)
        out[:n] = trial.v
        self._finite = math.isfinite(float(np.sum(out)))
        return out

    def _jacobian(self, time: float, y: Array) -> Array:
        """∂ẏ/∂y = [[0, 1], [∂a/∂s, ∂a/∂v]]."""
        n, out = len(y) // 2, np.zeros((len(y), len(y)))
        out[np.arange(n), n + np.arange(n)] = 1.0
        if self._blank:
            return out
        trial, smooth = self._trial_state(time, y), self._work.system.smooth
        da_dq, da_dv = out[n:, :n], out[n:, n:]
        tau, damped = self._options.settling, self._frozen is None
        if not smooth.compute_acceleration_jacobian(trial, tau, damped, da_dq, da_dv):
            raise _Refused(Status.SINGULAR)
        if not math.isfinite(float(np.sum(out))):
            raise _Refused(Status.NON_FINITE)
        return out

    # — internal state —

    def memory(self) -> Memory:
        """The solver, its place, and the end of the last step."""
        if self._restored:
            return {name: array.copy() for name, array in self._restored.items()}
        kept: Memory = {"hint": np.array(self._hint)}
        if self._solver is not None:
            kept["hint"] = np.array(float(self._solver.h_abs))
        if self._solver is None or not self._continues:
            return kept
        last = self._work.last
        kept |= {f"solver.{name}": array for name, array in saved(self._method, self._solver).items()}
        kept |= self._work.path.memory()
        kept |= {"last.q": last.q.copy(), "last.v": last.v.copy(), "last.aux": last.aux.copy()}
        kept |= {"clock": np.array([last.time, self._after, float(self._breaks)])}
        return kept

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._solver, self._continues, self._frozen, self._hint = None, False, None, 0.0
        self._restored = {name: array.copy() for name, array in memory.items()}

    def _restore(self, given: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._hint = float(given["hint"])
        if "clock" not in given:
            return
        own = {name[7:]: array for name, array in given.items() if name.startswith("solver.")}
        time, bound = float(own["t"]), float(own["t_bound"])
        self._blank = True
        self._solver = self._build(time, own["y"], max(bound, time + self._step), self._step)
        self._blank = False
        revive(self._method, self._solver, own)
        self._work.path.remember(given, time)
        last = self._work.last
        last.q[:], last.v[:], last.aux[:] = given["last.q"], given["last.v"], given["last.aux"]
        last.time, self._after, breaks = given["clock"].tolist()
        self._breaks, self._continues = bool(breaks), True
