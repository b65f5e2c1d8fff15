"""Steps of one of SciPy's solvers for the smooth part, handed on at the grid, then one contact problem a step.

    ẏ = (v, a(q(t, y), v, t)),   y = (s, v),   q(t, y) by `scipy_path`                             (1)

a holds bilateral rows, differentiated and settled with the time constant τ, and contact potentials. The solver
chooses its own steps, over as many grid points as they reach; there its dense output is the end (q_f, v_f) of the
step. It goes on as it is until an impulse, a new chart or anybody else changes the state, or an input or an obstacle
kinks, on which a step lands; then it starts anew. While impulses may act every step is a start, damping is split off
(`split_damping`), q_f = q₀ ⊕ ½h·(v₀ + v_f), and (q⁺, v⁺) follow as in every scheme of the split family: what rests is
carried by its weight, and does not move.

What `relative` and `absolute` mean: in each of the solver's steps the error of v_i is to be within
absolute + relative·|v_i|, that of s_i within absolute + relative·|s_i|, s_i the way of this step, in the solver's
root mean square.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo, Status
from corekit.data.step import StepReport
from corekit.roles.component import Memory
from corekit.roles.integrator import System
from corekit_timestep.config import ScipyConfig
from corekit_timestep.landing import next_step
from corekit_timestep.scipy_path import Path
from corekit_timestep.scipy_solvers import Method, recentre, revive, saved
from corekit_timestep.split_damping import implicit_share

__all__ = ["ScipyStepper"]

_CONVERGED = SolveInfo(Status.CONVERGED, answered_by="factorisation")
_CLOSE = 1e-9
"""A kink this near a grid point, in steps, is the grid point's."""
_BEHIND = 1e-11
"""How far behind a kink an instant is certainly not that of the kink, relative to 1 s + t."""
_LOOK_AHEAD = 1000
"""Steps for which kinks are looked up at once."""


class _Refused(Exception):
    """Ends a solver's step from inside its right-hand side."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.value)
        self.status = status


class _Room:
    """Buffers for one system: the path, a trial state, the end of the smooth part, what was handed on last.

    `behind` is the start of a step behind a jump of prescribed rates.
    """

    def __init__(self, system: System) -> None:
        self.system, self.path = system, Path(system)
        self.trial, self.smooth, self.last, self.behind = (system.new_state() for _ in range(4))


class ScipyStepper:
    """Keeps a solver over steps.

    Args:
        method: which.
        options: tolerances.
        step: h of the grid [s].
    """

    def __init__(self, method: Method, options: ScipyConfig, step: float) -> None:
        self._method, self._options, self._step = method, options, step
        self._solver: Any = None
        self._known: _Room | None = None
        self._given: Memory = {}
        self._going, self._hint, self._after = False, 0.0, -math.inf
        self._kink = False
        self._held: Array | None = None
        self._pushed = self._is_local = False
        self._blank = False
        self._evaluations, self._finite = 0, True

    # — the step —

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        """One step to the grid, and contact."""
        h, t_end = next_step(self._step, state.time, t_stop)
        self._enter(system)
        self._evaluations, self._finite = 0, True
        if system.split.apply_rate_jump(state, self._room.behind):
            state = self._room.behind
        note, status, theta = "", Status.CONVERGED, 0.0
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            try:
                theta = self._prepare(system, state, h, t_end)
                status, note = self._advance(t_end)
            except _Refused as refused:
                status = refused.status
        room = self._room
        smooth = room.smooth
        if status is not Status.CONVERGED:
            self._solver, self._going = None, False
            out.copy_from(state)  # what is not finite there is named
            return StepReport(
                accepted=False, step=h, iterations=self._evaluations, solve=SolveInfo(status), note=note
            )
        solver = self._solver
        room.path.state(t_end, solver.y if t_end == solver.t else solver.dense_output()(t_end), smooth)
        held = self._held
        if self._pushed:
            # a way that is wrong by the tolerance would be pushed back by an impulse of that over h
            system.integrate(state, 0.5 * (state.v + solver.y[len(state.v) :]), h, state, smooth)
            smooth.time = t_end
        system.smooth.end_step(smooth, held, self._options.settling)
        info = _CONVERGED
        if system.split.is_impulse_free(smooth):
            out.copy_from(smooth)
            self._going = not self._pushed
        else:
            system.split.linearise(smooth, theta, held is not None)
            info = system.split.solve(out.v)
            if info.status is Status.SINGULAR:
                self._solver, self._going = None, False
                return StepReport(accepted=False, step=h, iterations=self._evaluations, solve=info)
            system.split.apply_velocity_change(smooth, out.v, out)
            out.time = t_end
            # without impulses the problem gives v_f back, to rounding
            tiny = 1e-10 * (1.0 + float(np.max(np.abs(out.v), initial=0.0)))
            same = float(np.max(np.abs(out.v - smooth.v), initial=0.0)) <= tiny
            self._going = same and not self._pushed
        room.last.copy_from(out)
        return StepReport(accepted=True, step=h, iterations=self._evaluations, solve=info)

    @property
    def _room(self) -> _Room:
        assert self._known is not None
        return self._known

    def _enter(self, system: System) -> None:
        """Allocate buffers for the system."""
        if self._known is None or self._known.system is not system:
            self._known, self._going = _Room(system), False

    def _prepare(self, system: System, state: State, h: float, t_end: float) -> float:
        """Have a solver that stands at the state or goes on past it; θ of the split problem."""
        if not math.isfinite(float(np.sum(state.motion))):
            raise _Refused(Status.NON_FINITE)
        self._pushed, self._is_local = system.split.begin_step(state, h, 2.0 * h)
        if self._given:
            given, self._given = self._given, {}
            self._restore(given)
        theta, self._held = 0.0, None
        if self._pushed:
            found = np.zeros(system.nv)
            if not system.smooth.compute_acceleration(state, found, None, self._options.settling):
                raise _Refused(Status.SINGULAR)
            theta, held = implicit_share(system.split, h, 0.0, self._pushed)
            self._held = state.v.copy() if held else None
            self._start(state, t_end, kink=True)
            return theta
        if self._goes_on_from(state):
            self._look_ahead(t_end)
            if self._reaches(t_end) or self._solver.status == "running":
                return theta
        self._start(state, *self._bound(state.time, t_end))
        return theta

    def _goes_on_from(self, state: State) -> bool:
        """Whether the state is the one that was handed on last."""
        last = self._room.last
        return (
            self._going
            and self._solver is not None
            and state.time == last.time
            and np.array_equal(state.q, last.q)
            and np.array_equal(state.v, last.v)
            and np.array_equal(state.aux, last.aux)
        )

    def _advance(self, t_end: float) -> tuple[Status, str]:
        """Have the solver step until it reaches the end; what stopped it, and what it said."""
        solver, path, n = self._solver, self._room.path, self._room.trial.v.size
        for _ in range(self._options.max_inner_steps):
            if self._reaches(t_end):
                return Status.CONVERGED, ""
            said = solver.step()
            if solver.status == "failed":
                return (Status.STALLED if self._finite else Status.NON_FINITE), f"SciPy says: {said}"
            solver.t = float(solver.t)
            path.move(solver.t, solver.y)
            recentre(solver, n)
        if self._reaches(t_end):
            return Status.CONVERGED, ""
        return Status.ITERATION_LIMIT, "(`max_inner_steps` of the solver in one step.)"

    def _reaches(self, t_end: float) -> bool:
        """Whether the solver stands at the end of the step or behind it; rounding may put a kink just before it."""
        return self._solver.t >= t_end - _CLOSE * self._step

    # — starting —

    def _bound(self, time: float, t_end: float) -> tuple[float, bool]:
        """Up to when the smooth part is known, at least to the end of the step, and whether it kinks there."""
        close, horizon = _CLOSE * self._step, _LOOK_AHEAD * self._step
        known = self._room.system.smooth.smooth_until(time + close, horizon)
        if known <= t_end + close:
            return t_end, True
        return known, known < time + horizon

    def _look_ahead(self, t_end: float) -> None:
        """Move the bound of a solver that goes on, in good time, unless a kink is there."""
        solver = self._solver
        if self._kink or solver.t_bound > t_end + _LOOK_AHEAD // 2 * self._step:
            return
        solver.t_bound, self._kink = self._bound(solver.t, t_end)
        if solver.t < solver.t_bound:
            solver.status = "running"

    def _start(self, state: State, bound: float, kink: bool) -> None:
        """A fresh solver from a state to a bound."""
        if self._solver is not None:
            self._hint = float(self._solver.h_abs)
        self._kink, self._after = kink, state.time + _BEHIND * (1.0 + abs(state.time))
        self._room.path.begin(state)
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

    # — what the solver asks —

    def _place(self, time: float, y: Array) -> State:
        """The trial state; at a kink the values of the interval that begins there count at a start."""
        trial = self._room.trial
        self._room.path.state(time, y, trial)
        if time < self._after:
            trial.time = self._after
        self._room.system.smooth.set_prescribed_velocities(trial)
        return trial

    def _rate(self, time: float, y: Array) -> Array:
        """(1)."""
        n, out = len(y) // 2, np.zeros(len(y))
        if self._blank:
            return out
        trial, smooth = self._place(time, y), self._room.system.smooth
        self._evaluations += 1
        if not smooth.compute_acceleration(trial, out[n:], self._held, self._options.settling):
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
        trial, smooth = self._place(time, y), self._room.system.smooth
        found = smooth.compute_acceleration_jacobian(
            trial, self._options.settling, self._held is None, out[n:, :n], out[n:, n:]
        )
        if not found:
            raise _Refused(Status.SINGULAR)
        if not math.isfinite(float(np.sum(out))):
            raise _Refused(Status.NON_FINITE)
        return out

    # — memory —

    def memory(self) -> Memory:
        """The solver, where it stands, and the state it handed on last."""
        if self._given:
            return {name: array.copy() for name, array in self._given.items()}
        kept: Memory = {"hint": np.array(self._hint)}
        if self._solver is not None:
            kept["hint"] = np.array(float(self._solver.h_abs))
        if self._solver is None or not self._going:
            return kept
        last = self._room.last
        kept |= {f"solver.{name}": array for name, array in saved(self._method, self._solver).items()}
        kept |= self._room.path.memory()
        kept |= {"last.q": last.q.copy(), "last.v": last.v.copy(), "last.aux": last.aux.copy()}
        kept |= {"clock": np.array([last.time, self._after, float(self._kink)])}
        return kept

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over what `memory` gave; an empty one means a fresh start."""
        self._solver, self._going, self._held, self._hint = None, False, None, 0.0
        self._given = {name: array.copy() for name, array in memory.items()}

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
        self._room.path.remember(given, time)
        last = self._room.last
        last.q[:], last.v[:], last.aux[:] = given["last.q"], given["last.v"], given["last.aux"]
        last.time, self._after, kink = given["clock"].tolist()
        self._kink, self._going = bool(kink), True
