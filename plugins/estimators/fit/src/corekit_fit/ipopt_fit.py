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
from corekit_fit.confidence import covariance
from corekit_fit.config import IpoptFitConfig
from corekit_fit.guess import first_guess
from corekit_fit.observations import Observations, read_markers
from corekit_fit.pictures import draw_fit
from corekit_fit.places import MarkerPlaces, marker_places
from corekit_fit.profiles import judge
from corekit_fit.program import Program, Solution, unknowns_of

__all__ = ["IpoptFit"]

_STATUS = {
    "Maximum_Iterations_Exceeded": Status.ITERATION_LIMIT,
    "Infeasible_Problem_Detected": Status.INFEASIBLE,
    "Invalid_Number_Detected": Status.NON_FINITE,
}


@final
class IpoptFit(Estimator):
    """Motion and parameters fitted together, equation (16) of the paper, for any model with `symbolic-parameters`.

    Constraints need `symbolic-constraints`. What is minimised stands in `program`, the equations in `motion`, intervals
    in `confidence` and `profiles`.

    Source: Jitosho et al. (2021), section III.
    """

    def __init__(self, config: IpoptFitConfig, context: BuildContext | None = None) -> None:
        self._config = config

    def estimate(
        self, task: EstimationTask, progress: Callable[[Mapping[str, float]], None]
    ) -> tuple[Estimate, SolveInfo]:
        """Fit; the status is IPOPT's, the residual the largest violation of an equation.

        Raises:
            ConfigError: markers, frames or parameters that do not fit together.
            CompositionError: a body whose equations cannot be held.
        """
        config = self._config
        seen = read_markers(config.markers.file)
        places = marker_places(config.markers, seen, task.model.description)
        model: Any = task.model
        unknowns = unknowns_of(config.parameters, model.symbolic().parameters)
        program = Program(task, config, unknowns, seen, places)
        guess = first_guess(task, config, seen, program)
        # of this thread, so that other work on the machine counts little
        began = clock.thread_time()
        best = program.solve(guess)
        solve_time = clock.thread_time() - began
        progress({"iteration": float(best.iterations), "objective": best.objective})
        fitted = ()
        if best.solved:
            spread = np.sqrt(np.diag(covariance(program, best)))
            fitted = tuple(
                judge(program, best, i, float(spread[i]), config.profile, config.profile_points)
                for i in range(len(unknowns))
            )
        states = [_state_at(task, program, best, float(time)) for time in seen.time]
        found = np.array([_markers_of(task, state, places) for state in states])
        estimate = Estimate(
            fitted=fitted, time=seen.time, markers=seen.names, observed=seen.place, predicted=found,
            metrics={**_figures(program, best, seen, found), "solve_cpu_s": solve_time},
        )  # fmt: skip
        pictures, notes = draw_fit(task, estimate, states)
        estimate = evolve(estimate, pictures=pictures, notes=notes)
        status = Status.CONVERGED if best.solved else _STATUS.get(best.status, Status.INACCURATE)
        info = SolveInfo(status, best.iterations, Residuals(equation=best.violation), f"IPOPT: {best.status}")
        return estimate, info


def _markers_of(task: EstimationTask, state: State, places: MarkerPlaces) -> Array:
    """Where the markers are in a state, by the model's own numbers, (m, 3) [m]."""
    frames = len(task.model.description.frames)
    position, rotation = np.zeros((frames, 3)), np.zeros((frames, 3, 3))
    task.model.compute_frame_poses(state, position, rotation)
    return places.world(position, rotation)


def _state_at(task: EstimationTask, program: Program, at: Solution, time: float) -> State:
    """The fitted state of a time [s]; between instants coordinates are joined by straight lines."""
    k, share = program.between(time)
    state = task.start.copy()
    after = min(k + 1, len(program.times) - 1)
    state.q[:] = (1.0 - share) * at.x[program.state[k, 0]] + share * at.x[program.state[after, 0]]
    state.v[:] = at.x[program.state[k, 1]]
    state.time = time
    return state


def _figures(program: Program, best: Solution, seen: Observations, found: Array) -> dict[str, float]:
    """Mean distances, also of the last marker and coordinate by coordinate, and how much was missed."""
    apart = np.abs(seen.place - found)
    figures = {"objective": best.objective}
    for axis, name in enumerate("xyz"):
        last = apart[:, -1, axis]
        if np.isfinite(last).any():
            figures[f"last_marker_mean_{name}_m"] = float(np.nanmean(last))
    missed = np.concatenate([best.x[each] for each in program.misses] or [np.zeros(0)])
    if missed.size:
        figures["missed_force_rms_deviations"] = math.sqrt(float(np.mean(missed**2)))
    count = int(np.isfinite(seen.place).sum())
    figures["marker_coordinates"] = float(count)
    pushes = [best.x[each] for each in program.pushes if len(each)]
    if pushes:
        figures["contact_force_mean_N"] = float(np.mean(np.concatenate(pushes)))
    return figures
