"""The estimator `ipopt-fit`."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext
from corekit.roles.estimator import Estimate, EstimationTask, Estimator, FittedParameter
from corekit_fit.casadi_output import without_casadi_lines
from corekit_fit.confidence import compute_covariance
from corekit_fit.config import IpoptFitConfig
from corekit_fit.doubtful_units import doubt_units
from corekit_fit.initial_guess import guess_motion
from corekit_fit.marker_positions import marker_positions
from corekit_fit.misfit import combine_experiments, compute_spread, misfit_notes, with_misfit
from corekit_fit.motion import Motion
from corekit_fit.observations import read_markers
from corekit_fit.observed_motion import ObservedMotion
from corekit_fit.pictures import draw_fit
from corekit_fit.profiles import assess_identifiability
from corekit_fit.program import Program, Solution
from corekit_fit.unknowns import Unknown, resolve_unknowns, spread_starts

__all__ = ["IpoptFit"]

Progress = Callable[[Mapping[str, float | str]], None]
_STATUS = {
    "Maximum_Iterations_Exceeded": Status.ITERATION_LIMIT,
    "Infeasible_Problem_Detected": Status.INFEASIBLE,
    "Invalid_Number_Detected": Status.NON_FINITE,
}


@final
class IpoptFit(Estimator):
    """Joint fit of motion and parameters, (16) of the paper, for any model with `symbolic-parameters`.

    Constraints need `symbolic-constraints`. Objective: `program`; equations: `motion`; intervals: `confidence` and
    `profiles`.

    Source: Jitosho et al. (2021), section III.
    """

    def __init__(self, config: IpoptFitConfig, context: BuildContext | None = None) -> None:
        self._config = config

    def estimate(self, task: EstimationTask, progress: Progress) -> tuple[Estimate, SolveInfo]:
        """Fit from every start; the best is the answer, its status that of IPOPT, its residual the largest violation.

        Raises:
            ConfigError: inconsistent markers, frames or parameters.
            CompositionError: a body with unsupported equations.
        """
        with without_casadi_lines():
            return self._estimate(task, progress)

    def _estimate(self, task: EstimationTask, progress: Progress) -> tuple[Estimate, SolveInfo]:
        config = self._config
        model: Any = task.model
        unknowns = resolve_unknowns(config.parameters, model.symbolic().parameters)
        starts = spread_starts(unknowns, config.starts, config.seed, config.only_start)
        begin = clock.thread_time()
        progress({"phase": "deriving the equations of a step"})
        runs = _observed_motions(task, config, unknowns)
        program = Program(config, unknowns, runs, progress)
        build_time = clock.thread_time() - begin
        # thread time, which depends little on other work of the machine
        begin = clock.thread_time()
        solutions = [_solve(program, z, progress) for z in starts]
        solve_time = clock.thread_time() - begin
        best = min(solutions, key=lambda each: (not each.solved, each.objective))
        predicted = [_predicted(run, best) for run in runs]
        spreads = _spreads(program, best, predicted)
        notes = tuple(note for what, spread in spreads.items() for note in misfit_notes(spread, what))
        progress({"phase": "judging what the markers identify"})
        fitted = with_misfit(_fitted(program, best, config), max(spreads.values())) if best.solved else ()
        time, names, observed, found = combine_experiments([run.observed for run in runs], predicted)
        figures = {
            **_figures(program, best, observed, found), "residual_rms_in_deviations": spreads["markers"],
            "build_cpu_s": build_time, "solve_cpu_s": solve_time,
        }  # fmt: skip
        if len(starts) > 1:
            limit = best.objective + 1e-3 * (1.0 + best.objective)
            figures["starts_that_end_at_the_best"] = float(
                sum(each.solved and each.objective <= limit for each in solutions)
            )
        estimate = Estimate(
            fitted=fitted,
            time=time,
            markers=names,
            observed=observed,
            predicted=found,
            metrics=figures,
            notes=notes,
        )
        states = [_state_at(runs[0], best, float(each)) for each in time] if len(runs) == 1 else []
        pictures, picture_notes = draw_fit(task, estimate, states)
        estimate = evolve(estimate, pictures=pictures, notes=(*notes, *picture_notes))
        status = Status.CONVERGED if best.solved else _STATUS.get(best.status, Status.INACCURATE)
        hessian = "exact Hessian" if program.exact else "Gauss-Newton"
        solver = f"IPOPT: {best.status}, {hessian}"
        return estimate, SolveInfo(status, best.iterations, Residuals(equation=best.violation), solver)


def _observed_motions(
    task: EstimationTask, config: IpoptFitConfig, unknowns: Sequence[Unknown]
) -> list[ObservedMotion]:
    """Return the runs with their numbers; runs of the same scenario, markers and contacts share their functions."""
    tasks: dict[tuple[str, ...], EstimationTask] = {(): task}
    motions: dict[Any, Motion] = {}
    runs: list[ObservedMotion] = []
    for number, each in enumerate(config.runs, 1):
        if each.changes not in tasks:
            tasks[each.changes] = task.with_changes(each.changes)
        own = tasks[each.changes]
        observed = read_markers(each.markers.file)
        doubt_units(task, observed)
        positions = marker_positions(each.markers, observed, own.model.description)
        contacts = tuple(contact for contact in config.contacts if contact.experiment in (0, number))
        key = (
            each.changes,
            contacts,
            *(array.tobytes() for array in (positions.frame, positions.local, positions.weight)),
        )
        if key not in motions:
            motions[key] = Motion(own, config, contacts, unknowns, positions)
        first = runs[-1].end if runs else len(unknowns)
        runs.append(
            ObservedMotion(
                own, motions[key], observed, positions, each.markers.deviation, first,
                start_is_free=config.start == "free",
            )
        )  # fmt: skip
    return runs


def _solve(program: Program, z: Array, progress: Progress) -> Solution:
    """Search from a start."""
    progress({"phase": "bending shapes through the markers"})
    guess = np.zeros(program.size)
    guess[program.parameters] = z
    for run in program.runs:
        guess_motion(run, z, guess)
    return program.solve(guess)


def _fitted(program: Program, best: Solution, config: IpoptFitConfig) -> tuple[FittedParameter, ...]:
    deviation = np.sqrt(np.diag(compute_covariance(program, best)))
    return tuple(
        assess_identifiability(program, best, i, float(each), config.profile, config.profile_points)
        for i, each in enumerate(deviation)
    )


def _predicted(run: ObservedMotion, best: Solution) -> Array:
    """Return the places of the markers from the model, (T, m, 3) [m]."""
    frames = len(run.task.model.description.frames)
    position, rotation = np.zeros((frames, 3)), np.zeros((frames, 3, 3))
    places = []
    for time in run.observed.time:
        run.task.model.compute_frame_poses(_state_at(run, best, float(time)), position, rotation)
        places.append(run.positions.world(position, rotation))
    return np.array(places)


def _state_at(run: ObservedMotion, at: Solution, time: float) -> State:
    """Return the fitted state at a time [s], with linear interpolation of the coordinates."""
    k, fraction = run.between(time)
    state = run.task.start.copy()
    after = min(k + 1, len(run.times) - 1)
    state.q[:] = (1.0 - fraction) * at.x[run.state[k, 0]] + fraction * at.x[run.state[after, 0]]
    state.v[:] = at.x[run.state[k, 1]]
    state.time = time
    return state


def _spreads(program: Program, best: Solution, predicted: Sequence[Array]) -> dict[str, float]:
    """Return the root mean squares of what has a stated deviation, in deviations: of the markers, of ρ and of ς."""
    off = [
        ((run.observed.position - mine) / run.deviation).ravel()
        for run, mine in zip(program.runs, predicted, strict=True)
    ]
    spreads = {"markers": compute_spread(np.concatenate(off), len(program.unknowns))}
    return spreads | {
        what: compute_spread(best.x[index], 0) for what, index in _unmodelled(program).items() if len(index)
    }


def _unmodelled(program: Program) -> dict[str, Array]:
    """Return the indices of ρ and ς."""
    return {
        "equations of motion": np.concatenate([run.unmodelled_forces.ravel() for run in program.runs]),
        "coordinates of a step": np.concatenate([run.shifts.ravel() for run in program.runs]),
    }


def _figures(program: Program, best: Solution, observed: Array, found: Array) -> dict[str, float]:
    """Return the metrics: errors of the last marker, unmodelled force, count of coordinates, contact force."""
    error = np.abs(observed - found)
    figures = {"objective": best.objective}
    for axis, name in enumerate("xyz"):
        last = error[:, -1, axis]
        if np.isfinite(last).any():
            figures[f"last_marker_mean_{name}_m"] = float(np.nanmean(last))
    for name, index in zip(
        ("missed_force_rms_deviations", "shift_rms_deviations"), _unmodelled(program).values(), strict=True
    ):
        if len(index):
            figures[name] = math.sqrt(float(np.mean(best.x[index] ** 2)))
    figures["marker_coordinates"] = float(np.isfinite(observed).sum())
    contact = np.concatenate([run.contact_forces.ravel() for run in program.runs])
    if (contact >= 0).any():
        figures["contact_force_mean_N"] = float(np.mean(best.x[contact[contact >= 0]]))
    return figures
