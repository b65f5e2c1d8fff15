"""The estimator `simulation-fit`: parameters by least squares over simulated motion.

With θ = θ(z) the parameters, p_k(θ) the markers of a whole simulation at the observed instants, p̂ what was observed,
σ its deviation and z̄, s mean and deviation of priors,

    min_z ½·Σ_k |(p_k(θ(z)) − p̂_k)/σ|² + ½·Σ_i ((z_i − z̄_i)/s_i)²     within bounds                        (1)

by the trust-region method of Branch, Coleman and Li. Its Jacobian S needs one simulation per parameter, by forward
differences over δ = 10⁻⁴ in z, and two by central ones at the end. Whatever can be simulated can be fitted: any model,
contact and integrator, of any size; what is stored is one row of numbers a marker. The covariance of z is

    Σ = (Sᵀ·S + diag(1/s²))⁻¹                                                                          (2)

by singular values, so that parameters which the markers do not distinguish have none. Of a direction r in which the
motion does not change, as that of modulus, density and viscosity together, differences leave an S·r of their own error.
Over 2·δ that is another one, so that a singular value is known only where

    |S_δ·r| > 3·|(S_2δ − S_δ)·r|                                                                       (3)

A parameter is not identifiable either where its interval reaches both of its bounds, or without bounds a factor of a
thousand to both sides: the markers exclude nothing then.

(1) has many minima where motions get out of phase. Then several starts, spread between the bounds, find the best one.

Source: Branch, Coleman, Li (1999), SIAM J. Sci. Comput. 21(1); Seber, Wild (1989), Nonlinear Regression, section 2.1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np
from attrs import evolve, frozen

from corekit.data.arrays import Array, BoolArray
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.errors import CompositionError, ConfigError, Mistake, StepFailed
from corekit.roles.component import BuildContext
from corekit.roles.estimator import Estimate, EstimationTask, Estimator, FittedParameter
from corekit_fit.config import SimulationFitConfig
from corekit_fit.doubtful_units import doubt_units
from corekit_fit.marker_positions import MarkerPositions, marker_positions
from corekit_fit.misfit import combine_experiments, compute_spread, misfit_notes, with_misfit
from corekit_fit.observations import Observations, read_markers
from corekit_fit.pictures import draw_fit
from corekit_fit.profiles import MAX_RELATIVE_DEVIATION
from corekit_fit.unknowns import Unknown, bounds, resolve_unknowns, spread_starts

__all__ = ["SimulationFit"]

_DIFFERENCE = 1e-4
"""δ of z, which is relative where θ is positive: far above the tolerances of steps, far below a change of S."""
_NO_INFORMATION = 1e-8
"""Singular value of S, relative to the largest, that differences cannot distinguish from zero."""
_CERTAIN = 3.0
"""Of (3)."""
_UNBOUNDED = math.log(1e3)
_STUCK = 0.02
"""Share of the range between bounds that a search has at least to leave a bound at which it began."""
_STEP = re.compile(r"[^.\[\]]+|\[\d+\]")


@frozen(eq=False)
class _Experiment:
    """One run that was observed: its markers, where they are on the body, and what differs in the scenario."""

    observed: Observations
    positions: MarkerPositions
    deviation: float
    changes: tuple[str, ...]


@frozen
class _Number:
    value: float
    unit: str = ""


class _Numbers(dict[str, _Number]):
    """Options of the body by their paths, looked up in the scenario's table; a list of one entry is that entry."""

    def __init__(self, options: Mapping[str, Any], unit_of: Callable[[str], str]) -> None:
        self._options, self._unit_of = options, unit_of
        super().__init__({name: self[name] for name in options if name in self})

    def __contains__(self, path: object) -> bool:
        return self._find(str(path)) is not None

    def __getitem__(self, path: str) -> _Number:
        return _Number(float(self._find(path) or 0.0), self._unit_of(path))

    def _find(self, path: str) -> float | None:
        found: Any = self._options
        for part in _STEP.findall(path):
            try:
                found = found[int(part[1:-1]) if part[0] == "[" else part]
            except (KeyError, IndexError, TypeError):
                return None
        if isinstance(found, list | tuple) and len(found) == 1:
            found = found[0]
        return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


@final
class SimulationFit(Estimator):
    """Least squares over whole simulations, (1), for any model, with or without contact."""

    def __init__(self, config: SimulationFitConfig, context: BuildContext | None = None) -> None:
        self._config = config

    def estimate(
        self, task: EstimationTask, progress: Callable[[Mapping[str, float | str]], None]
    ) -> tuple[Estimate, SolveInfo]:
        """Fit from every start; the best is the answer.

        Raises:
            ConfigError: inconsistent markers, frames or parameters.
            StepFailed: the scenario cannot be simulated with the first start.
        """
        config = self._config
        experiments = tuple(_experiment(each, task) for each in config.runs)
        unknowns = resolve_unknowns(config.parameters, _Numbers(task.options, task.unit_of))
        for each in experiments:
            doubt_units(task, each.observed)
        search = _Search(task, experiments, unknowns, config, progress)
        found = search.best()
        estimate = _estimate(search, found)
        pictures, notes = draw_fit(task, estimate, ())
        estimate = evolve(estimate, pictures=pictures, notes=(*estimate.notes, *notes))
        status = Status.CONVERGED if found.status > 0 else Status.ITERATION_LIMIT
        slope = Residuals(equation=float(found.optimality))
        return estimate, SolveInfo(status, int(found.njev), slope, "SciPy: trust-region reflective")


def _experiment(given: Any, task: EstimationTask) -> _Experiment:
    observed = read_markers(given.markers.file)
    positions = marker_positions(given.markers, observed, task.model.description)
    return _Experiment(observed, positions, given.markers.deviation, given.changes)


class _Search:
    """The sum (1) and its Jacobian in z.

    Attributes:
        failed: simulations that could not go on. simulations: how many were made.
        costs: (1) at the end of the search from every start.
    """

    def __init__(
        self,
        task: EstimationTask,
        experiments: tuple[_Experiment, ...],
        unknowns: tuple[Unknown, ...],
        config: SimulationFitConfig,
        progress: Callable[[Mapping[str, float | str]], None],
    ) -> None:
        self.task, self.experiments, self.unknowns, self.config = task, experiments, unknowns, config
        self._progress = progress
        self.low, self.high = bounds(unknowns)
        self.simulations = self.failed = 0
        self.costs: list[float] = []
        self._start = 0
        self._last: tuple[bytes, Array] | None = None

    def predicted(self, z: Array) -> list[Array]:
        """Markers of every experiment, each (T, m, 3) [m]."""
        values = {
            each.name: float(each.value(float(own))) for each, own in zip(self.unknowns, z, strict=True)
        }
        found = []
        for each in self.experiments:
            position, rotation = self.task.simulate(each.changes, values, each.observed.time)
            self.simulations += 1
            found.append(
                np.array([each.positions.world(p, r) for p, r in zip(position, rotation, strict=True)])
            )
        return found

    def residual(self, z: Array) -> Array:
        """The terms of (1); those of priors last."""
        parts = [
            ((mine - each.observed.position) / each.deviation)[np.isfinite(each.observed.position)]
            for mine, each in zip(self.predicted(z), self.experiments, strict=True)
        ]
        prior = [
            ((math.log(each.value(float(own))) if each.log else each.value(float(own))) - _mean(each))
            / each.deviation
            for each, own in zip(self.unknowns, z, strict=True)
            if math.isfinite(each.prior)
        ]
        return np.concatenate([*parts, np.array(prior)])

    def try_residual(self, z: Array) -> Array:
        """As `residual`, nan where the simulation cannot be made: the search comes nearer then."""
        try:
            found = self.residual(z)
        except (StepFailed, ConfigError, CompositionError):
            self.failed += 1
            return np.full(self._size, np.nan)
        self._last = z.tobytes(), found
        values = {
            "start": self._start,
            "simulations": self.simulations,
            "objective": 0.5 * float(found @ found),
        }
        self._progress({name: float(value) for name, value in values.items()})
        return found

    def jacobian(self, z: Array) -> Array:
        """S, shape (N, n), by differences away from the nearer bound; on the other side where one cannot be made."""
        last = self._last
        base = last[1] if last is not None and last[0] == z.tobytes() else self.residual(z)
        out = np.zeros((len(base), len(z)))
        for i in range(len(z)):
            side = 1.0 if self.high[i] - z[i] >= z[i] - self.low[i] else -1.0
            for step in (side * _DIFFERENCE, -side * _DIFFERENCE):
                beside = z.copy()
                beside[i] += step
                if not self.low[i] <= beside[i] <= self.high[i]:
                    continue
                there = self.try_residual(beside)
                if np.isfinite(there).all():
                    out[:, i] = (there - base) / step
                    break
            else:
                raise _no_slope(self.unknowns[i])
        self._last = z.tobytes(), base
        return out

    def last_jacobians(self, z: Array) -> tuple[Array, Array]:
        """Return S by differences over δ and over 2·δ: central ones, where both sides can be simulated."""
        base = self.residual(z)
        found = np.zeros((2, len(base), len(z)))
        for i in range(len(z)):
            for out, step in zip(found, (_DIFFERENCE, 2.0 * _DIFFERENCE), strict=True):
                sides = []
                for side in (step, -step):
                    beside = z.copy()
                    beside[i] += side
                    if self.low[i] <= beside[i] <= self.high[i]:
                        there = self.try_residual(beside)
                        if np.isfinite(there).all():
                            sides.append((there - base) / side)
                out[:, i] = np.mean(sides, axis=0) if sides else 0.0
        return found[0], found[1]

    def best(self) -> Any:
        """Search from every start and return SciPy's answer of the least cost.

        Raises:
            ConfigError: no bounds to spread the starts over.
        """
        from scipy.optimize import least_squares

        config = self.config
        answers = []
        for z in spread_starts(self.unknowns, config.starts, config.seed, config.only_start):
            self._start += 1
            first = self.residual(z) if not answers else self.try_residual(z)
            self._size = len(first)
            if not np.isfinite(first).all():
                self.costs.append(math.inf)
                continue
            answers.append(
                least_squares(
                    self.try_residual, z, self.jacobian, (self.low, self.high), ftol=config.tolerance,
                    xtol=config.tolerance, gtol=None, max_nfev=config.max_iterations,
                )
            )  # fmt: skip
            self.costs.append(float(answers[-1].cost))
        return min(answers, key=lambda each: float(each.cost))


def _mean(unknown: Unknown) -> float:
    return math.log(unknown.prior) if unknown.log else unknown.prior


def _no_slope(unknown: Unknown) -> ConfigError:
    said = "cannot be simulated on either side of it: give a narrower low and high"
    return ConfigError([Mistake(unknown.name, unknown.start, said)], "the fit")


def _deviations(jacobian: Array, wider: Array, at_bound: BoolArray) -> Array:
    """Standard deviations of z by (2), inf without information; nan at a bound, where the others count as free.

    Args:
        jacobian, wider: S by differences over δ and over 2·δ.
    """
    free = np.flatnonzero(~at_bound)
    out = np.full(len(at_bound), np.nan)
    if not len(free):
        return out
    _, values, rows = np.linalg.svd(jacobian[:, free], full_matrices=False)
    error = np.linalg.norm((wider - jacobian)[:, free] @ rows.T, axis=0)
    known = (values > _NO_INFORMATION * max(float(values[0]), 1e-300)) & (values > _CERTAIN * error)
    variance = np.sum((rows[known] / values[known, None]) ** 2, axis=0)
    blind = np.sum(rows[~known] ** 2, axis=0) > 1e-6
    out[free] = np.where(blind, np.inf, np.sqrt(variance))
    return out


def _estimate(search: _Search, found: Any) -> Estimate:
    """What was found, with verdicts."""
    z, unknowns = np.asarray(found.x), search.unknowns
    near = 1e-6 * (1.0 + np.abs(z))
    at_bound = (z - search.low <= near) | (search.high - z <= near)
    count = sum(int(np.isfinite(each.observed.position).sum()) for each in search.experiments)
    spread = compute_spread(found.fun[:count], len(z))
    deviation = _deviations(*search.last_jacobians(z), at_bound)
    fitted = tuple(
        _fitted(unknown, float(own), float(sigma), at_bound=bool(bound))
        for unknown, own, sigma, bound in zip(unknowns, z, deviation, at_bound, strict=True)
    )
    notes = [*misfit_notes(spread)]
    if notes and (stuck := _stuck(search, z)):
        fitted = tuple(evolve(each, verdict="not identifiable", note=stuck) for each in fitted)
        notes = [f"residuals are {spread:.3g} times their stated deviation, and {stuck}"]
    if search.failed:
        notes.append(
            f"{search.failed} of {search.simulations + search.failed} simulations could not be finished"
        )
    best = min(search.costs)
    agreeing = sum(cost <= best + 1e-3 * (1.0 + best) for cost in search.costs)
    metrics = {
        "objective": best,
        "residual_rms_in_deviations": spread,
        "simulations": float(search.simulations),
    }
    if len(search.costs) > 1:
        metrics["starts_that_end_at_the_best"] = float(agreeing)
    time, names, observed, predicted = combine_experiments(
        [each.observed for each in search.experiments], search.predicted(z)
    )
    return Estimate(
        fitted=with_misfit(fitted, spread), time=time, markers=names, observed=observed, predicted=predicted,
        metrics=metrics, notes=tuple(notes),
    )  # fmt: skip


def _stuck(search: _Search, z: Array) -> str:
    """Name the parameters that are where they began, at a bound: of the model their misfit says nothing."""
    names = [
        each.name
        for each, own, low, high in zip(search.unknowns, z, search.low, search.high, strict=True)
        for end in (low, high)
        if math.isfinite(high - low) and max(abs(own - end), abs(end)) <= _STUCK * (high - low)
    ]
    said = "the search did not leave the bound at which it began: give another start, or `starts = 5`"
    return f"{said} ({', '.join(names)})" if names else ""


def _fitted(unknown: Unknown, z: float, deviation: float, *, at_bound: bool) -> FittedParameter:
    """One parameter with interval and verdict."""
    value = float(unknown.value(z))
    low, high = (float(unknown.value(z + side * 1.96 * deviation)) for side in (-1.0, 1.0))
    relative = deviation if unknown.log else deviation * unknown.scale / abs(value or unknown.scale)
    ends = [unknown.coordinate(end) for end in (unknown.low, unknown.high)]
    room = [abs(end - z) if math.isfinite(end) else _UNBOUNDED for end in ends]
    if at_bound:
        verdict, note = "not identifiable", "it ends at its bound, and might go on beyond"
    elif math.isinf(deviation):
        low, high = unknown.low, unknown.high
        verdict, note = (
            "not identifiable",
            "the markers do not tell it from other parameters, or do not move with it",
        )
    elif 1.96 * deviation >= max(room):
        low, high = unknown.low, unknown.high
        verdict, note = "not identifiable", "its interval by (2) is all that its bounds allow"
    elif relative < MAX_RELATIVE_DEVIATION:
        verdict, note = "identified", f"standard deviation {100 * relative:.2g} %"
    else:
        verdict, note = "weakly identified", f"standard deviation {100 * relative:.2g} %, from (2) alone"
    return FittedParameter(
        name=unknown.name, unit=unknown.unit, value=value, start=unknown.start, low=low, high=high, verdict=verdict,
        note=note,
    )  # fmt: skip
