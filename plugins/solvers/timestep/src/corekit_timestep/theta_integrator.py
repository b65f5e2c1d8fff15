"""The θ family: implicit Euler (θ = 1) and implicit midpoint (θ = ½), with shorter steps if Newton's method fails.

    M·(v⁺ − v₀) = h·f(q_θ, v̄, t + θh) + J_bᵀλ_b + J_cᵀλ_c
    v̄ = θ·v⁺ + (1 − θ)·v₀,   q_θ = integrate(q₀, v̄, θh),   q⁺ = integrate(q₀, v̄, h)        (1)

M and the directions of contacts and constraints are those at θh; gaps and constraints hold at the end of the
step.

θ = 1 is of first order and damps fast modes (a mode ω loses exp(−½·h·ω²·t) of its amplitude), so it suits
stiff models and contact. θ = ½ is of second order, symplectic and undamped: the amplitude of a linear mode is
constant for every h, and its phase is late by (ω·h)²/12 of its period. There a mode with h·ω ≫ 1 has the
frequency (2/h)·atan(½·h·ω) ≈ π/h: it changes its sign from step to step for ever. All such modes have nearly
one frequency. A slow motion of a non-linear model therefore couples them in resonance and feeds them, faster
for larger steps: check the energy. `generalized-alpha` damps ringing modes and loses (h·ω)³ of slow ones; θ =
1 damps all.

`corekit.roles.stage_solver` solves (1) from the initial guesses of `velocity_predictor`. A step that fails
from all of them is halved, down to h/2¹⁰; after five easy steps the step size doubles again up to h. An
integer number of steps ends at the next stop, so the scenario's grid stays.

Where contacts lie at the end of a step may depend on it without continuity: a coin that settles on its face touches
with the lowest point of its rim, which runs around the faster, the less it is tilted, until no step is short enough
to follow it. From h/16 on a step that fails is solved once more with the contacts, tangents and gaps of its start,
whose impulses act from its start on, and the report says so. That is of first order at these contacts.

With a bound e on the local error, a step is also cut if

    ½·h·|v⁺ − v₀| > e   (θ = 1),        (h²/12)·|a − a_before|·2h/(h + h_before) > e   (θ = ½)      (2)

a = (v⁺ − v₀)/h: the leading terms ½h²·q̈ and h³/12·q⃛ of the error of one step, weighed as motions of the surface.

Source: Hairer, Lubich and Wanner (2006), "Geometric Numerical Integration", II.1, VI.4; Mandziuk and Schlick
(1995), "Resonance in the dynamics of chemical systems simulated by the implicit-midpoint scheme"; for (2):
Hairer, Nørsett and Wanner (1993), "Solving Ordinary Differential Equations I", II.4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo, StepReport
from corekit.roles.component import BuildContext, InternalState, Rehearsed, Stateful
from corekit.roles.integrator import Integrator, System, step_towards
from corekit.roles.stage_solver import (
    FIRST_CONTRACTION,
    StageSettings,
    StageSolution,
    StageSolver,
    surface_speed,
)
from corekit_timestep.config import ImplicitEulerConfig, ThetaConfig
from corekit_timestep.factorisation_cache import FactorisationCache
from corekit_timestep.velocity_predictor import VelocityPredictor, rehearse_guess

__all__ = ["ThetaIntegrator"]

_EASY_ITERATIONS = 3
_EASY_STEPS = 5
_SHORTEST = 2.0**-10
_HELD = 2.0**-4
"""Share of h from which on the contacts of the start are held where those of the end do not settle."""
_HELD_NOTE = "step cut, and solved with the contacts of its start, since those of its end did not settle"
_UNSOLVED = StageSolution(False, SolveInfo(), 0, 0.0)


@final
class ThetaIntegrator(Integrator, Stateful, Rehearsed):
    """Steps a world by (1); stores the size of the next step, and for (2) the last acceleration.

    Args:
        config: θ, and the options of Newton's method and of the step size.
        context: supplies the step size h.
    """

    def __init__(self, config: ThetaConfig | None = None, context: BuildContext | None = None) -> None:
        config = config or ImplicitEulerConfig()
        self._config, self._step, self._theta = config, (context or BuildContext()).step, config.theta
        self._settings = StageSettings(config.tolerance, config.max_iterations, config.reuse)
        self._bounded = math.isfinite(config.local_error)
        self._step_size, self._easy = self._step, 0
        self._acceleration: Array | None = None
        self._last_step_size = self._step
        self._predictor = VelocityPredictor(self._theta)
        self._cache = FactorisationCache(self._theta)
        self._system: System | None = None
        self._solver: StageSolver | None = None
        self._mean = np.zeros(0)
        self._after_jump: State | None = None
        self._contraction = FIRST_CONTRACTION

    def internal_state(self) -> InternalState:
        """Return the next step size [s], easy steps so far, acceleration of the last step, Newton's contraction."""
        if self._system is not None:
            self._cache.drop_replaced(self._system)
        arrays: InternalState = {
            "step_size": np.array([self._step_size, self._last_step_size]),
            "easy": np.array(self._easy),
            "contraction": np.array(self._contraction if self._solver is None else self._solver.contraction),
        }
        if self._acceleration is not None:
            arrays["acceleration"] = self._acceleration.copy()
        return arrays | self._predictor.internal_state() | self._cache.internal_state()

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._step_size, self._easy, self._acceleration, self._last_step_size = (
            self._step,
            0,
            None,
            self._step,
        )
        if internal_state:
            self._step_size, self._last_step_size = (float(value) for value in internal_state["step_size"])
            self._easy = int(internal_state["easy"])
            if "acceleration" in internal_state:
                self._acceleration = internal_state["acceleration"].copy()
        rate, count, with_impulses = internal_state.get("contraction", FIRST_CONTRACTION)
        self._contraction = float(rate), int(count), float(with_impulses)
        if self._solver is not None:
            self._solver.contraction = self._contraction
        self._predictor.restore(internal_state)
        self._cache.restore(internal_state)

    def rehearse(self, width: int, *, many_contacts: bool) -> None:
        """Load what guesses from the steps before call."""
        rehearse_guess()

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        solver = self._stage_solver(system)
        if (
            self._theta < 1.0
            and self._after_jump is not None
            and system.split.apply_rate_jump(state, self._after_jump)
        ):
            state = self._after_jump  # the mean of the velocities before and behind a jump would ring
        adaptive = self._config.adaptive
        shortest = min(self._step, t_stop - state.time) * _SHORTEST
        # stored only after an accepted step, so that a failed step can be repeated
        step_size, easy = self._step_size, self._easy
        unsettled: tuple[int, int] | None = None
        while True:
            h, t_end = step_towards(self._step, step_size, state.time, t_stop)
            solution, note = self._solve(system, state, h, solver), ""
            if adaptive and solution.had_impulses and h <= _HELD * self._step:
                held = self._solve(system, state, h, solver, contacts_at_start=True)
                solution, note = (held, _HELD_NOTE) if held.converged else (solution, "")
            change = solution.last_change
            least = None if change is None else system.unsettled_contact(change)
            unsettled = unsettled or least
            error = self._local_error(system, state, solver.velocity, h) if solution.converged else 0.0
            is_shortest = h <= shortest * (1.0 + 1e-9)
            if solution.converged and (error <= self._config.local_error or is_shortest or not adaptive):
                break
            if not adaptive or is_shortest:
                note = _note(solution, cut=False)
                return StepReport(False, h, solution.iterations, solution.info, note, least)
            step_size, easy = max(shortest, 0.5 * h), 0
        v, mean = solver.velocity, self._mean
        self._update_step_size(step_size, easy, solution, error)
        if self._bounded:
            self._acceleration, self._last_step_size = (v - state.v) / h, h
        out.v[:] = v
        np.multiply(v, solver.theta, out=mean)
        mean += (1.0 - solver.theta) * state.v
        self._predictor.add_step(state.v, mean, v, h, system.velocity_scale)
        system.integrate(state, mean, h, state, out)
        out.time = t_end
        note = note or _note(solution, cut=step_size < self._step)
        return StepReport(True, h, solution.iterations, solution.info, note, unsettled)

    def _stage_solver(self, system: System) -> StageSolver:
        """Return the stage solver of this world; make a new one if the world is not that of the last step."""
        solver = self._solver
        if solver is None or self._system is not system:
            contraction = self._contraction if solver is None else solver.contraction
            self._system, self._mean, self._after_jump = system, np.zeros(system.nv), system.new_state()
            solver = self._solver = StageSolver(system, self._theta, self._settings)
            solver.contraction = contraction
        return solver

    def _solve(
        self, system: System, state: State, h: float, solver: StageSolver, *, contacts_at_start: bool = False
    ) -> StageSolution:
        """Run Newton's method from every initial guess in turn until one converges."""
        iterations, step = 0, system.theta
        try_chord = not contacts_at_start and self._settings.reuse > 0.0 and self._cache.is_usable(system, h)
        solution = _UNSOLVED
        for guess in self._predictor.guesses(state.v, h):
            step.begin_step(state, h, contacts_at_start=contacts_at_start, tolerance=self._settings.tolerance)
            solver.velocity[:] = guess
            if try_chord:
                try_chord = False
                chord = solver.solve_by_chord_steps()
                if chord is not None:
                    self._cache.on_success(chord.chord_steps)
                    return chord
                self._cache.on_failure()
            solution = solver.solve()
            iterations += solution.iterations
            if solution.converged:
                self._cache.store(system, state, solver.linearised_at, h, solution.shift)
                break
        return solution._replace(iterations=iterations)

    def _local_error(self, system: System, state: State, velocity: Array, h: float) -> float:
        """Return the left side of (2) [m]; 0 without a bound."""
        if not self._bounded:
            return 0.0
        change = velocity - state.v
        before = self._acceleration
        # without a previous step, the bound of first order is the cautious one
        if self._theta == 1.0 or before is None:
            return 0.5 * h * surface_speed(system, change)
        jerk = (change / h - before) * (2.0 / (h + self._last_step_size))
        return h**3 / 12.0 * surface_speed(system, jerk)

    def _update_step_size(self, step_size: float, easy: int, solution: StageSolution, error: float) -> None:
        """Store the size of the next step; a cut one doubles after five easy steps in a row."""
        if step_size < self._step:
            is_easy = solution.iterations <= _EASY_ITERATIONS and error <= 0.25 * self._config.local_error
            easy = easy + 1 if is_easy else 0
            if easy >= _EASY_STEPS:
                step_size, easy = min(self._step, 2.0 * step_size), 0
        self._step_size, self._easy = step_size, easy


def _note(solution: StageSolution, *, cut: bool) -> str:
    if solution.shift:
        return f"step matrix not positive definite: shifted by {solution.shift:g} times the mass"
    return "steps cut, so that they converge and satisfy any bound on their error" if cut else ""
