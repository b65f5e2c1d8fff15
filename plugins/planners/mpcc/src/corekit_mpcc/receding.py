"""Receding horizon: a plan for every step, with a warm start from the last plan.

Let (z_0 … z_{N−1}) be the motion planned from z_{−1}. The horizon `by` steps later starts from the measured state and
from

    z_k ← z_{k+by},   λ_k ← λ_{k+by},   the last step repeated at rest                         (1)

It uses the final relaxation and an equally small barrier. Near the last solution this needs few iterations; a larger
barrier would lose the multipliers. If this fails, a cold start solves the same horizon, by homotopy if necessary.
`answered_by` names the start.

Source: for (1), Diehl, Bock, Schlöder et al. (2002), "Real-time optimization and nonlinear model predictive control".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit.roles.planner import PlanningTask
from corekit_mpcc.complementarity.certificate import Certificate
from corekit_mpcc.complementarity.solution import MpccSolution, SearchOutcome, SolveOptions
from corekit_mpcc.config import MpccConfig
from corekit_mpcc.motion import Motion
from corekit_mpcc.resolved_task import resolve_task
from corekit_mpcc.transcription.initial_guess import find_touching_coordinates
from corekit_mpcc.transcription.parameters import shared_parameters
from corekit_mpcc.two_phase_search import PreparedPrograms, TwoPhaseSearch

__all__ = ["HorizonSolution", "RecedingHorizon", "shift_rows"]

Progress = Callable[[Mapping[str, float]], None]


def _ignore(_report: object) -> None:
    pass


def shift_rows(values: Array, by: int) -> Array:
    """Return the rows from `by` on; the last one repeats, shape (N, …)."""
    by = min(by, len(values))
    return np.concatenate([values[by:], np.repeat(values[-1:], by, axis=0)])


@frozen(eq=False, kw_only=True)
class HorizonSolution:
    """Solution of one horizon.

    Attributes:
        inputs: constant inputs over the next step by body, shape (nu,).
        motion: motion from now to the end of the horizon.
        outcome: outcome of the search.
        certificate: certificate of the motion.
        answered_by: "warm" or "cold".
        iterations, seconds: effort of the search.
    """

    inputs: Mapping[str, Array]
    motion: Motion
    outcome: SearchOutcome
    certificate: Certificate
    answered_by: str
    iterations: int
    seconds: float


@final
class RecedingHorizon:
    """Planner that solves a shifted horizon at every step.

    Args:
        config: the task; every horizon has its length and ends at its target. It must be dynamic.
        task: the world.
        iterations: largest count of iterations after a warm start.
        time_limit: wall time of one search [s]; afterwards the best point is the solution.
        progress: callback for every iterate.
    Raises:
        ConfigError: a kinematic task, which has no inputs.
        ConfigError, CompositionError: as in `IpoptMpcc.plan`.

    Attributes:
        current: the last solution; after construction that of the first search, from rest.
    """

    def __init__(
        self,
        config: MpccConfig,
        task: PlanningTask,
        *,
        iterations: int = 50,
        time_limit: float = float("inf"),
        progress: Progress = _ignore,
    ) -> None:
        if config.search.stages != "dynamic":
            reason = "must be 'dynamic': a kinematic plan has no inputs"
            raise ConfigError([Mistake("search.stages", config.search.stages, reason)], "the task")
        self._settings, self._iterations, self._time_limit = config.search, iterations, time_limit
        self._progress = progress
        self._resolved_task = resolve_task(config, task)
        programs = PreparedPrograms()
        q = find_touching_coordinates(self._resolved_task)
        search = TwoPhaseSearch(self._resolved_task, programs, q, progress)
        self._stage, motion = search.run()
        self._prepared = programs.get(self._resolved_task, dynamic=True)[1]
        self._multipliers = search.multipliers
        self._shared = shared_parameters(self._stage, self._resolved_task, q)
        excluded = self._stage.excluded
        certificate = self._prepared.certificate(
            motion.x, shared=self._shared, own=self._stage.own(), start=motion.start, excluded=excluded
        )
        self.current = HorizonSolution(
            inputs=self._inputs(motion),
            motion=motion,
            outcome=search.outcome,
            certificate=certificate,
            answered_by="cold",
            iterations=sum(int(entry["iterations"]) for entry in search.record),
            seconds=sum(float(entry["seconds"]) for entry in search.record),
        )

    def advance(self, measured: Mapping[str, Array] | None = None, by: int = 1) -> HorizonSolution:
        """Shift the horizon and solve it.

        Args:
            measured: measured state by name of the variables (l, v, quat, omega, …), physical; other variables
                have their planned values.
            by: count of passed steps.
        Raises:
            ConfigError: an unknown variable or a wrong shape.
        """
        previous = self.current.motion
        start = previous.x[min(by, len(previous.x)) - 1].copy()
        mistakes = []
        for name, value in (measured or {}).items():
            if name not in previous.variables or np.shape(value) != (previous.variables.block(name).size,):
                known = ", ".join(f"{block.name} ({block.size})" for block in previous.variables)
                mistakes.append(Mistake(f"measured.{name}", np.shape(value), f"one of {known}"))
            else:
                start[previous.variables[name]] = value
        if mistakes:
            raise ConfigError(mistakes, "receding horizon")
        motion = Motion(previous.variables, start, previous.shift(by))
        multipliers = {name: shift_rows(value, by) for name, value in self._multipliers.items()}
        warm = bool(multipliers)
        solution = self._solve(motion, multipliers) if warm else None
        seconds, iterations = (solution.seconds, solution.iterations) if solution is not None else (0.0, 0)
        out_of_time = solution is not None and solution.outcome is SearchOutcome.TIME_LIMIT
        if solution is None or not (solution.outcome.solved or out_of_time):
            warm = False
            solution = self._solve(motion, None)
            seconds, iterations = seconds + solution.seconds, iterations + solution.iterations
        self._multipliers = solution.multipliers
        new_motion = Motion(motion.variables, start, solution.x)
        self.current = HorizonSolution(
            inputs=self._inputs(new_motion),
            motion=new_motion,
            outcome=solution.outcome,
            certificate=solution.certificate,
            answered_by="warm" if warm else "cold",
            iterations=iterations,
            seconds=seconds,
        )
        return self.current

    def _inputs(self, motion: Motion) -> dict[str, Array]:
        efforts = motion["tau"][0]
        bodies = self._resolved_task.bodies
        return {name: efforts[bodies.slices(name)[1]].copy() for name in bodies.layouts}

    def _solve(self, motion: Motion, multipliers: Mapping[str, Array] | None) -> MpccSolution:
        settings, stage = self._settings, self._stage
        warm = multipliers is not None
        program_settings: dict[str, Any] = (
            {
                "schedule": "direct",
                "warm": True,
                "barrier": settings.final_relaxation,
                "iterations": self._iterations,
            }
            if warm
            else {"schedule": "direct-then-homotopy", "barrier": 1e-4, "iterations": settings.iterations}
        )
        options = SolveOptions(
            backend=settings.backend,
            first_relaxation=max(settings.first_relaxation, settings.final_relaxation),
            final_relaxation=settings.final_relaxation,
            tolerance=settings.tolerance,
            objective_scale=settings.dynamic_scale,
            time_limit=self._time_limit,
            excluded=stage.excluded,
            **program_settings,
        )
        return self._prepared.solve(
            motion.x,
            shared=self._shared,
            own=stage.own(),
            start=motion.start,
            options=options,
            progress=self._progress,
            multipliers=multipliers,
        )
