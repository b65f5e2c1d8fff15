"""Search in two phases: a kinematic motion, then a dynamic one from it, each with a record.

    1  rest with touching bodies → kinematic rolling                     an initial guess, converged or not
       (if rolling is infeasible or off: the kinematic program with complementarity, ε from large to small)
    2  efforts by inverse dynamics → dynamic rolling                     an initial guess, converged or not
    3  dynamic program with complementarity at the final ε, by homotopy if that fails                      (1)
       (with `rolling_last`, 2 to the final tolerance is the answer: it is the branch of (1) without slip)

Rolling is a smooth program. Its feasible points are feasible for (1) with all products zero. Programs with equal
structure are prepared once, with their derivatives, for every target, friction, weight and start.

Source: CUSP, sections IV-B and V-C, for the two phases.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit_mpcc.complementarity.solution import MpccSolution, SearchOutcome, SolveOptions
from corekit_mpcc.complementarity.solve import PreparedMpcc
from corekit_mpcc.motion import Motion
from corekit_mpcc.resolved_task import ResolvedTask
from corekit_mpcc.transcription.initial_guess import compute_inverse_dynamics, compute_rest_variables
from corekit_mpcc.transcription.parameters import shared_parameters
from corekit_mpcc.transcription.stage import Stage

__all__ = ["PreparedPrograms", "TwoPhaseSearch"]

Progress = Callable[[Mapping[str, float]], None]


@final
class PreparedPrograms:
    """Prepared programs of one planner by structure.

    Attributes:
        preparing: wall time of all preparations [s].
    """

    def __init__(self) -> None:
        self._prepared: dict[Any, tuple[Stage, PreparedMpcc]] = {}
        self.preparing = 0.0

    def __len__(self) -> int:
        return len(self._prepared)

    def get(self, resolved_task: ResolvedTask, *, dynamic: bool) -> tuple[Stage, PreparedMpcc]:
        """Return the stage of a task and its prepared program."""
        stage = Stage(resolved_task, dynamic=dynamic)
        search = resolved_task.config.search
        program = stage.program
        numeric_key = np.concatenate([*program.bounds, program.scales]).tobytes()
        key = (dynamic, program.stages, search.relaxation, search.batched, stage.fingerprint, numeric_key)
        if key not in self._prepared:
            start_time = time.perf_counter()
            prepared = PreparedMpcc(program, search.relaxation, search.batched)
            self._prepared[key] = stage, prepared
            self.preparing += time.perf_counter() - start_time
        return self._prepared[key]


@frozen(kw_only=True)
class _ProgramSettings:
    """Settings of one program beside the options of the search.

    Attributes:
        only_guess: whether the motion only starts another program, and so has the rounder edge and is not polished.
        keep_last: whether the last point is returned, not the best certified one, which may be the initial guess.
    """

    tolerance: float
    scale: float
    barrier: float
    rolling: bool = False
    only_guess: bool = False
    keep_last: bool = False
    schedule: Literal["direct", "homotopy", "direct-then-homotopy"] = "direct"
    warm: bool = False


@final
class TwoPhaseSearch:
    """Search for one task.

    Args:
        resolved_task: the task in its world.
        programs: prepared programs.
        q: coordinates at the start.
        progress: callback for every iterate.

    Attributes:
        record: one entry per solved program.
        outcome: outcome of the last program.
        multipliers: multipliers of the last program.
    """

    def __init__(
        self, resolved_task: ResolvedTask, programs: PreparedPrograms, q: Array, progress: Progress
    ) -> None:
        self._resolved_task, self._programs, self._q, self._progress = resolved_task, programs, q, progress
        self._settings = resolved_task.config.search
        self._start_time = time.perf_counter() - programs.preparing
        self.record: list[dict[str, Any]] = []
        self.outcome = SearchOutcome.FAILED
        self._certified = False
        self._last_certified_x: Array | None = None
        self.multipliers: Mapping[str, Array] = {}

    def run(
        self, initial_guess: Motion | None = None, multipliers: Mapping[str, Array] | None = None
    ) -> tuple[Stage, Motion]:
        """Search and return the motion with its stage.

        Args:
            initial_guess: motion that replaces the kinematic phase.
            multipliers: multipliers of `initial_guess`, for a warm start of the dynamic program.
        """
        dynamic = self._settings.stages == "dynamic"
        if initial_guess is None or not dynamic:
            stage, motion = self._kinematic(initial_guess)
            # a kinematically infeasible task is dynamically infeasible too
            if not dynamic or self.outcome is SearchOutcome.INFEASIBLE:
                return stage, motion
            initial_guess = motion
        return self._dynamic(initial_guess, multipliers)

    @property
    def _can_roll(self) -> bool:
        return self._settings.rolling_first and all(
            shape.holds for shape in self._resolved_task.contact_shapes
        )

    def _kinematic(self, initial_guess: Motion | None) -> tuple[Stage, Motion]:
        settings = self._settings
        stage, program = self._programs.get(self._resolved_task, dynamic=False)
        start = self._start(stage)
        motion = Motion(stage.variables, start, np.tile(start, (program.program.stages, 1)))
        if initial_guess is not None:
            motion = self._convert(initial_guess, stage, start)
        is_last = settings.stages == "kinematic"
        tolerance = settings.tolerance if is_last else settings.seed_tolerance
        if self._can_roll:
            program_settings = _ProgramSettings(
                tolerance=tolerance,
                scale=settings.kinematic_scale,
                barrier=0.1,
                rolling=True,
                only_guess=not is_last,
                keep_last=not is_last,
            )
            motion = self._solve("kinematic rolling", stage, program, motion, program_settings)
            if self.outcome.solved or (not is_last and self.outcome is not SearchOutcome.INFEASIBLE):
                return stage, motion
        program_settings = _ProgramSettings(
            tolerance=tolerance,
            scale=settings.kinematic_scale,
            barrier=1e-4 if self._can_roll else 0.1,
            schedule="direct-then-homotopy" if is_last else "homotopy",
            only_guess=not is_last,
        )
        return stage, self._solve(
            "kinematic", stage, program, self._loosen_slip(stage, motion), program_settings
        )

    def _dynamic(self, guess: Motion, multipliers: Mapping[str, Array] | None) -> tuple[Stage, Motion]:
        settings = self._settings
        stage, program = self._programs.get(self._resolved_task, dynamic=True)
        start = self._start(stage)
        has_efforts = "tau" in guess.variables
        motion = self._convert(guess, stage, start)
        if multipliers and has_efforts:
            program_settings = _ProgramSettings(
                tolerance=settings.tolerance,
                scale=settings.dynamic_scale,
                barrier=10.0 * settings.final_relaxation,
                warm=True,
            )
            solved_motion = self._solve(
                "dynamic, warm", stage, program, motion, program_settings, multipliers
            )
            if self.outcome.solved:
                return stage, solved_motion
        if not has_efforts:
            shared = self._shared(stage, self._guess_smoothing)
            motion.x[:, stage.variables["tau"]] = compute_inverse_dynamics(stage, motion.x, start, shared)
        if self._can_roll:
            is_last = settings.rolling_last
            program_settings = _ProgramSettings(
                tolerance=settings.tolerance if is_last else settings.seed_tolerance,
                scale=settings.dynamic_scale,
                barrier=1e-2,
                rolling=True,
                only_guess=not is_last,
                keep_last=not is_last,
            )
            motion = self._solve("dynamic rolling", stage, program, motion, program_settings)
            if is_last and self.outcome.solved:
                return stage, motion
        program_settings = _ProgramSettings(
            tolerance=settings.tolerance,
            scale=settings.dynamic_scale,
            barrier=1e-4 if self._can_roll else 1e-2,
            schedule="direct-then-homotopy",
        )
        solved_motion = self._solve(
            "dynamic", stage, program, self._loosen_slip(stage, motion), program_settings
        )
        return stage, self._last_certified(solved_motion)

    def _last_certified(self, solved_motion: Motion) -> Motion:
        """Return the last certified motion of the search if the solution is not certified."""
        if self._certified or self._last_certified_x is None:
            return solved_motion
        return Motion(solved_motion.variables, solved_motion.start, self._last_certified_x)

    def _start(self, stage: Stage) -> Array:
        return stage.variables.pack(compute_rest_variables(stage, self._resolved_task, self._q))

    def _convert(self, initial_guess: Motion, stage: Stage, start: Array) -> Motion:
        steps = stage.program.stages
        if len(initial_guess.x) != steps:
            initial_guess = Motion(
                initial_guess.variables, initial_guess.start, initial_guess.resample(steps)
            )
        return initial_guess.convert_to(stage, start)

    @property
    def _guess_smoothing(self) -> float:
        """ε of programs that only give an initial guess [m²]."""
        return self._settings.seed_smoothing or self._settings.smoothing

    def _shared(self, stage: Stage, smoothing: float) -> Array:
        return shared_parameters(stage, self._resolved_task, self._q, smoothing=smoothing)

    def _loosen_slip(self, stage: Stage, motion: Motion) -> Motion:
        """Return the motion with slip variables away from their bound, as an interior point."""
        x = motion.x.copy()
        for shape in stage.contact_shapes:
            columns = stage.variables[f"gamma.{shape.name}"]
            x[:, columns] = np.maximum(x[:, columns], 1e-4)
        return Motion(motion.variables, motion.start, x)

    def _solve(
        self,
        name: str,
        stage: Stage,
        prepared: PreparedMpcc,
        motion: Motion,
        program_settings: _ProgramSettings,
        multipliers: Mapping[str, Array] | None = None,
    ) -> Motion:
        settings = self._settings
        remaining = settings.time_limit - (time.perf_counter() - self._start_time - self._programs.preparing)
        low, high = stage.program.bounds
        high, x = np.tile(high, (stage.program.stages, 1)), motion.x.copy()
        if program_settings.rolling:
            for shape in stage.contact_shapes:
                columns = stage.variables[f"gamma.{shape.name}"]
                high[:, columns] = x[:, columns] = 0.0
        only_guess = program_settings.only_guess
        check_modes = settings.check_modes and not (only_guess or program_settings.rolling)
        options = SolveOptions(
            backend=settings.backend,
            schedule=program_settings.schedule,
            first_relaxation=max(settings.first_relaxation, settings.final_relaxation),
            final_relaxation=settings.final_relaxation,
            tolerance=program_settings.tolerance,
            iterations=settings.iterations,
            time_limit=max(remaining, 1e-3),
            objective_scale=program_settings.scale,
            barrier=program_settings.barrier,
            later_barrier=1e-3,
            warm=program_settings.warm,
            returned_point="last" if program_settings.keep_last else "certified",
            polish="never" if only_guess else "needed",
            check_modes=check_modes,
            excluded=stage.pairs if program_settings.rolling else stage.excluded,
        )

        def report(values: Mapping[str, float]) -> None:
            self._progress({**values, "stage": float(len(self.record))})

        exact, rounder = (self._shared(stage, each) for each in (settings.smoothing, self._guess_smoothing))
        start_time = time.process_time()
        solution: MpccSolution = prepared.solve(
            x,
            shared=rounder if only_guess else exact,
            relaxed_shared=rounder if only_guess or check_modes else exact,
            own=stage.own(),
            start=motion.start,
            low=np.tile(low, (len(x), 1)),
            high=high,
            options=options,
            progress=report,
            multipliers=multipliers,
        )
        self.outcome, self.multipliers = solution.outcome, solution.multipliers
        self._certified = solution.certificate.certified
        if stage.dynamic and solution.best is not None:
            self._last_certified_x = solution.best
        self.record.append(
            {**_to_record(name, solution), "processor_seconds": time.process_time() - start_time}
        )
        return Motion(stage.variables, motion.start, solution.x)


def _to_record(name: str, solution: MpccSolution) -> dict[str, Any]:
    """Return one solve as plain data."""
    return {
        "stage": name,
        "ending": solution.outcome.name.lower(),
        "said": solution.outcome.value,
        "iterations": solution.iterations,
        "seconds": round(solution.seconds, 3),
        "cost": solution.cost,
        "infeasibility": solution.certificate.infeasibility,
        "complementarity": solution.certificate.complementarity,
        "culprit": solution.certificate.culprit,
        "gap": solution.gap,
        "derivatives": solution.derivatives,
        "programs": [
            {
                "what": attempt.kind, "relaxation": attempt.relaxation, "outcome": attempt.outcome,
                "said": attempt.solver_message, "iterations": attempt.iterations, "seconds": round(attempt.seconds, 3),
            }
            for attempt in solution.attempts
        ],
    }  # fmt: skip
