"""The estimator `ipopt-fit`."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext
from corekit.roles.estimator import Estimate, EstimationTask, Estimator
from corekit_fit.confidence import compute_covariance
from corekit_fit.config import IpoptFitConfig
from corekit_fit.initial_guess import compute_initial_guess
from corekit_fit.marker_positions import MarkerPositions, marker_positions
from corekit_fit.observations import Observations, read_markers
from corekit_fit.pictures import draw_fit
from corekit_fit.profiles import assess_identifiability
from corekit_fit.program import Program, Solution, resolve_unknowns

__all__ = ["IpoptFit"]

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

    def estimate(
        self, task: EstimationTask, progress: Callable[[Mapping[str, float]], None]
    ) -> tuple[Estimate, SolveInfo]:
        """Fit; the status is that of IPOPT, the residual the largest violation of an equation.

        Raises:
            ConfigError: inconsistent markers, frames or parameters.
            CompositionError: a body with unsupported equations.
        """
        config = self._config
        observed = read_markers(config.markers.file)
        positions = marker_positions(config.markers, observed, task.model.description)
        model: Any = task.model
        unknowns = resolve_unknowns(config.parameters, model.symbolic().parameters)
        program = Program(task, config, unknowns, observed, positions)
        guess = compute_initial_guess(task, config, observed, program)
        # thread time, which depends little on other work of the machine
        start_time = clock.thread_time()
        best = program.solve(guess)
        solve_time = clock.thread_time() - start_time
        progress({"iteration": float(best.iterations), "objective": best.objective})
        fitted = ()
        if best.solved:
            deviation = np.sqrt(np.diag(compute_covariance(program, best)))
            fitted = tuple(
                assess_identifiability(
                    program, best, i, float(deviation[i]), config.profile, config.profile_points
                )
                for i in range(len(unknowns))
            )
        states = [_state_at(task, program, best, float(time)) for time in observed.time]
        found = np.array([_marker_positions(task, state, positions) for state in states])
        estimate = Estimate(
            fitted=fitted, time=observed.time, markers=observed.names, observed=observed.position, predicted=found,
            metrics={**_figures(program, best, observed, found), "solve_cpu_s": solve_time},
        )  # fmt: skip
        pictures, notes = draw_fit(task, estimate, states)
        estimate = evolve(estimate, pictures=pictures, notes=notes)
        status = Status.CONVERGED if best.solved else _STATUS.get(best.status, Status.INACCURATE)
        info = SolveInfo(status, best.iterations, Residuals(equation=best.violation), f"IPOPT: {best.status}")
        return estimate, info


def _marker_positions(task: EstimationTask, state: State, positions: MarkerPositions) -> Array:
    """Return the positions of the markers in a state from the model, (m, 3) [m]."""
    frames = len(task.model.description.frames)
    position, rotation = np.zeros((frames, 3)), np.zeros((frames, 3, 3))
    task.model.compute_frame_poses(state, position, rotation)
    return positions.world(position, rotation)


def _state_at(task: EstimationTask, program: Program, at: Solution, time: float) -> State:
    """Return the fitted state at a time [s], with linear interpolation of the coordinates."""
    k, fraction = program.between(time)
    state = task.start.copy()
    after = min(k + 1, len(program.times) - 1)
    state.q[:] = (1.0 - fraction) * at.x[program.state[k, 0]] + fraction * at.x[program.state[after, 0]]
    state.v[:] = at.x[program.state[k, 1]]
    state.time = time
    return state


def _figures(program: Program, best: Solution, observed: Observations, found: Array) -> dict[str, float]:
    """Return the metrics: errors of the last marker, unmodelled force, count of coordinates, contact force."""
    error = np.abs(observed.position - found)
    figures = {"objective": best.objective}
    for axis, name in enumerate("xyz"):
        last = error[:, -1, axis]
        if np.isfinite(last).any():
            figures[f"last_marker_mean_{name}_m"] = float(np.nanmean(last))
    unmodelled = np.concatenate([best.x[each] for each in program.unmodelled_forces] or [np.zeros(0)])
    if unmodelled.size:
        figures["missed_force_rms_deviations"] = math.sqrt(float(np.mean(unmodelled**2)))
    shifts = np.concatenate([best.x[each] for each in program.shifts] or [np.zeros(0)])
    if shifts.size:
        figures["shift_rms_deviations"] = math.sqrt(float(np.mean(shifts**2)))
    count = int(np.isfinite(observed.position).sum())
    figures["marker_coordinates"] = float(count)
    contact_forces = [best.x[each] for each in program.contact_forces if len(each)]
    if contact_forces:
        figures["contact_force_mean_N"] = float(np.mean(np.concatenate(contact_forces)))
    return figures
