"""Steps of one of SciPy's solvers for the smooth dynamics, sampled at the grid, then one contact problem.

    ẏ = (v, a(q(t, y), v, t)),   y = (s, v),   q(t, y) by `configuration_path`                     (1)

a contains constraints, differentiated and stabilised with the time constant τ, and contact potentials. The
solver chooses its own steps, over any number of grid points; there its dense output is the free state (q_f,
v_f). It continues until the state changes otherwise (an impulse, new coordinates of a model, an assignment)
or an input or an obstacle has a breakpoint. A step ends there, and the solver starts again. While impulses
may act, every step is a new start, damping is split off (`split_damping`), and q_f = q₀ ⊕ ½h·(v₀ + v_f). (q⁺,
v⁺) follow as in every scheme of the split family: exactly its weight supports a resting body, which does not
move.

`relative` and `absolute` bound the root mean square error of each of the solver's steps. The error of v_i
must be within absolute + relative·|v_i|, that of s_i, the displacement in this step, within absolute +
relative·|s_i|.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.instants import beside_grid, same_instant
from corekit.data.state import State
from corekit.data.status import SolveInfo, Status, StepReport
from corekit.roles.component import BuildContext, InternalState, Stateful
from corekit.roles.integrator import Integrator, System, next_step
from corekit.roles.stage_solver import UNCHANGED, surface_speed
from corekit_timestep.config import ScipyBdfConfig, ScipyConfig
from corekit_timestep.configuration_path import ConfigurationPath
from corekit_timestep.scipy_solvers import METHODS, drop_rounding, recentre, restore_solver, solver_state
from corekit_timestep.split_damping import damping_theta

__all__ = ["ScipyIntegrator"]

_CONVERGED = SolveInfo(Status.CONVERGED, answered_by="factorisation")
_CUT = 1e-9
"""Share of h by which a step that was cut is shorter at least."""
_START_MARGIN = 10.0
"""Time after a breakpoint at which it is certainly past, relative to that which rounding may confuse."""
_MANY = 100
"""Evaluations in a step of an explicit solver from which on contact is said to be stiff: it needs six or so else."""
_DRAG_NOTE = (
    "over 100 evaluations a step: what sticks to a contact potential has the drag of friction below its slip "
    "tolerance, which an explicit solver resolves, at the rate 2·μ·N/(ν·m); scipy-radau needs some ten"
)
_LOOKAHEAD_STEPS = 1000
"""Number of steps for which breakpoints are collected at once."""


class _StepFailure(Exception):
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
class ScipyIntegrator(Integrator, Stateful):
    """Steps a world by (1); continues one solver over steps.

    Args:
        config: the solver and its tolerances.
        context: supplies the step size h of the grid.
    """

    def __init__(self, config: ScipyConfig | None = None, context: BuildContext | None = None) -> None:
        self._options = config or ScipyBdfConfig()
        self._method, self._step = METHODS[self._options.method], (context or BuildContext()).step
        self._solver: Any = None
        self._workspace: _Workspace | None = None
        self._restored: InternalState = {}
        self._continues, self._last_step_size, self._start_margin_end = False, 0.0, -math.inf
        self._ends_at_breakpoint = False
        self._frozen: Array | None = None
        self._may_have_impulses = self._is_local = False
        self._is_restoring = False
        self._evaluations, self._finite = 0, True

    # — the step —

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        h, t_end = next_step(self._step, state.time, t_stop)
        if self._workspace is None or self._workspace.system is not system:
            self._workspace, self._continues = _Workspace(system), False
        workspace, split = self._workspace, system.split
        self._evaluations, self._finite = 0, True
        if split.apply_rate_jump(state, workspace.after_jump):
            state = workspace.after_jump
        note, status, theta = "", Status.CONVERGED, 0.0
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            try:
                theta = self._prepare(system, state, h, t_end)
                status, note = self._advance_solver(t_end)
            except _StepFailure as failure:
                status = failure.status
        free_state = workspace.free_state
        if status is not Status.CONVERGED:
            self._solver, self._continues = None, False
            out.copy_from(state)  # the error report names the values that are not finite
            return StepReport(
                accepted=False,
                step_size=h,
                iterations=self._evaluations,
                solve_info=SolveInfo(status),
                note=note,
            )
        solver = self._solver
        y = solver.y if t_end == solver.t else solver.dense_output()(t_end)
        workspace.path.compute_state(t_end, y, free_state)
        if self._may_have_impulses:
            # otherwise the contact problem would correct the displacement's error by an impulse
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
                return StepReport(accepted=False, step_size=h, iterations=self._evaluations, solve_info=info)
            split.apply_velocity_change(free_state, out.v, out)
            out.time = t_end
            # without impulses the problem returns v_f to rounding
            unchanged = surface_speed(system, out.v - free_state.v) <= system.error_bound(out.v, UNCHANGED)
        self._continues = unchanged and not self._may_have_impulses
        workspace.last.copy_from(out)
        many = self._is_local and not self._method.needs_jacobian and self._evaluations > _MANY
        return StepReport(True, h, self._evaluations, info, _DRAG_NOTE if many else "")

    @property
    def _ready_workspace(self) -> _Workspace:
        assert self._workspace is not None
        return self._workspace

    def _prepare(self, system: System, state: State, h: float, t_end: float) -> float:
        """Provide a solver at the state or past it; return θ of the split problem."""
        if not math.isfinite(float(np.sum(state.qv))):
            raise _StepFailure(Status.NON_FINITE)
        self._may_have_impulses, self._is_local = system.split.begin_step(state, h, 2.0 * h)
        if self._restored:
            restored, self._restored = self._restored, {}
            self._restore(restored)
        theta, self._frozen = 0.0, None
        if self._may_have_impulses:
            acceleration = np.zeros(system.nv)
            if not system.smooth.compute_acceleration(state, acceleration, None, self._options.settling):
                raise _StepFailure(Status.SINGULAR)
            theta, frozen = damping_theta(system.split, h, 0.0, self._may_have_impulses)
            self._frozen = state.v.copy() if frozen else None
            self._start(state, t_end, at_breakpoint=True)
            return theta
        if self._is_local and h < (1.0 - _CUT) * self._step:
            # cut for what a potential sees, whose stiffness is chosen between steps: nothing beyond is known
            self._start(state, t_end, at_breakpoint=True)
            return theta
        if self._continues_from(state):
            self._extend_bound(t_end)
            if self._has_reached(t_end) or self._solver.status == "running":
                return theta
        self._start(state, *self._find_bound(state.time, t_end))
        return theta

    def _continues_from(self, state: State) -> bool:
        """Whether the state is the end of the last step."""
        last = self._ready_workspace.last
        return (
            self._continues
            and self._solver is not None
            and state.time == last.time
            and np.array_equal(state.q, last.q)
            and np.array_equal(state.v, last.v)
            and np.array_equal(state.aux, last.aux)
        )

    def _advance_solver(self, t_end: float) -> tuple[Status, str]:
        """Step the solver until the end of the step; return the status and the solver's message."""
        solver, path, n = self._solver, self._ready_workspace.path, self._ready_workspace.trial.v.size
        for _ in range(self._options.max_inner_steps):
            if self._has_reached(t_end):
                return Status.CONVERGED, ""
            message = solver.step()
            if solver.status == "failed":
                return (Status.STALLED if self._finite else Status.NON_FINITE), f"SciPy says: {message}"
            solver.t = float(solver.t)
            path.advance_origin(solver.t, solver.y)
            recentre(solver, n)
        if self._has_reached(t_end):
            return Status.CONVERGED, ""
        return Status.ITERATION_LIMIT, "`max_inner_steps` was reached"

    def _has_reached(self, t_end: float) -> bool:
        """Whether the solver is at the end of the step or past it; rounding may put a breakpoint just before it."""
        return self._solver.t >= t_end - beside_grid(t_end, self._step)

    # — starting —

    def _find_bound(self, time: float, t_end: float) -> tuple[float, bool]:
        """Return the end of the smooth inputs, at least the end of the step, and whether it is a breakpoint."""
        behind, horizon = time + beside_grid(time, self._step), _LOOKAHEAD_STEPS * self._step
        smooth_until = self._ready_workspace.system.smooth.smooth_until(behind, horizon)
        if smooth_until <= t_end + beside_grid(t_end, self._step):
            return t_end, True
        return smooth_until, smooth_until < time + horizon

    def _extend_bound(self, t_end: float) -> None:
        """Extend the bound of a continuing solver before the solver needs it, unless it is a breakpoint."""
        solver = self._solver
        if self._ends_at_breakpoint or solver.t_bound > t_end + _LOOKAHEAD_STEPS // 2 * self._step:
            return
        solver.t_bound, self._ends_at_breakpoint = self._find_bound(solver.t, t_end)
        if solver.t < solver.t_bound:
            solver.status = "running"

    def _start(self, state: State, bound: float, at_breakpoint: bool) -> None:
        """Make a new solver from a state to a bound."""
        if self._solver is not None:
            self._last_step_size = float(self._solver.h_abs)
        self._ends_at_breakpoint, self._start_margin_end = (
            at_breakpoint,
            state.time + _START_MARGIN * same_instant(state.time),
        )
        self._ready_workspace.path.set_origin(state)
        first_step = (
            min(self._last_step_size, bound - state.time)
            if self._method.one_step and self._last_step_size
            else None
        )
        y = np.concatenate([np.zeros(len(state.v)), state.v])
        self._solver = self._build(state.time, y, bound, first_step)
        if not self._finite:
            raise _StepFailure(Status.NON_FINITE)

    def _build(self, time: float, y: Array, bound: float, first_step: float | None) -> Any:
        method, options = self._method, self._options
        max_step = self._step if self._is_local else math.inf
        jacobian = {"jac": self._jacobian} if method.needs_jacobian else {}
        solver = method.make(
            self._rate, time, y, bound, rtol=options.relative, atol=options.absolute, max_step=max_step,
            first_step=first_step, **jacobian,
        )  # fmt: skip
        if method.needs_jacobian:
            drop_rounding(solver)
        if hasattr(solver, "D"):
            solver.D[2:] = (
                0.0  # SciPy writes these before it reads them, but the internal state contains them
            )
        if hasattr(solver, "K"):
            solver.K[:] = 0.0
        return solver

    # — callbacks of the solver —

    def _trial_state(self, time: float, y: Array) -> State:
        """Return the trial state; at a start the values after a breakpoint count, not those at it."""
        trial = self._ready_workspace.trial
        self._ready_workspace.path.compute_state(time, y, trial)
        if time < self._start_margin_end:
            trial.time = self._start_margin_end
        self._ready_workspace.system.smooth.set_prescribed_velocities(trial)
        return trial

    def _rate(self, time: float, y: Array) -> Array:
        """Evaluate (1)."""
        n, out = len(y) // 2, np.zeros(len(y))
        if self._is_restoring:
            return out
        trial, smooth = self._trial_state(time, y), self._ready_workspace.system.smooth
        self._evaluations += 1
        if not smooth.compute_acceleration(trial, out[n:], self._frozen, self._options.settling):
            raise _StepFailure(Status.SINGULAR)
        out[:n] = trial.v
        self._finite = math.isfinite(float(np.sum(out)))
        return out

    def _jacobian(self, time: float, y: Array) -> Array:
        """Evaluate ∂ẏ/∂y = [[0, 1], [∂a/∂s, ∂a/∂v]]."""
        n, out = len(y) // 2, np.zeros((len(y), len(y)))
        out[np.arange(n), n + np.arange(n)] = 1.0
        if self._is_restoring:
            return out
        trial, smooth = self._trial_state(time, y), self._ready_workspace.system.smooth
        da_dq, da_dv = out[n:, :n], out[n:, n:]
        tau, damped = self._options.settling, self._frozen is None
        if not smooth.compute_acceleration_jacobian(trial, tau, damped, da_dq, da_dv):
            raise _StepFailure(Status.SINGULAR)
        if not math.isfinite(float(np.sum(out))):
            raise _StepFailure(Status.NON_FINITE)
        return out

    # — internal state —

    def internal_state(self) -> InternalState:
        """Return the state of the solver, its origin, and the end of the last step."""
        if self._restored:
            return {name: array.copy() for name, array in self._restored.items()}
        arrays: InternalState = {"hint": np.array(self._last_step_size)}
        if self._solver is not None:
            arrays["hint"] = np.array(float(self._solver.h_abs))
        if self._solver is None or not self._continues:
            return arrays
        last = self._ready_workspace.last
        arrays |= {
            f"solver.{name}": array for name, array in solver_state(self._method, self._solver).items()
        }
        arrays |= self._ready_workspace.path.internal_state()
        arrays |= {"last.q": last.q.copy(), "last.v": last.v.copy(), "last.aux": last.aux.copy()}
        arrays |= {"clock": np.array([last.time, self._start_margin_end, float(self._ends_at_breakpoint)])}
        return arrays

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._solver, self._continues, self._frozen, self._last_step_size = None, False, None, 0.0
        self._restored = {name: array.copy() for name, array in internal_state.items()}

    def _restore(self, restored: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._last_step_size = float(restored["hint"])
        if "clock" not in restored:
            return
        solver_arrays = {name[7:]: array for name, array in restored.items() if name.startswith("solver.")}
        time, bound = float(solver_arrays["t"]), float(solver_arrays["t_bound"])
        self._is_restoring = True
        # any bound and first step that SciPy allows: the next line restores both
        self._solver = self._build(time, solver_arrays["y"], max(bound, time + 2.0 * self._step), self._step)
        self._is_restoring = False
        restore_solver(self._method, self._solver, solver_arrays)
        self._ready_workspace.path.restore(restored, time)
        last = self._ready_workspace.last
        last.q[:], last.v[:], last.aux[:] = restored["last.q"], restored["last.v"], restored["last.aux"]
        last.time, self._start_margin_end, at_breakpoint = restored["clock"].tolist()
        self._ends_at_breakpoint, self._continues = bool(at_breakpoint), True
