"""What markers say against a simulated motion, and its slopes.

With θ = θ(z) the parameters, p_k(θ) the markers of a whole simulation at the observed instants, p̂ what was observed,
σ its deviation and z̄, s mean and deviation of priors, the misfit is

    Q(z) = ½·Σ_k |(p_k(θ(z)) − p̂_k)/σ|² + ½·Σ_i ((z_i − z̄_i)/s_i)²                                        (1)

The Jacobian S of its terms needs one simulation per parameter, by forward differences over δ = 10⁻⁴ in z, and two by
central ones. The gradient of Q alone needs one run that is swept back, whatever their number: Q depends on places of
frames through p, and the task knows what those depend on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import CompositionError, ConfigError, GradientError, Mistake, StepFailed
from corekit.roles.estimator import EstimationTask
from corekit_fit.config import AdjointConfig, Experiment, SimulationFitConfig
from corekit_fit.doubtful_units import doubt_units
from corekit_fit.marker_positions import MarkerPositions, marker_positions
from corekit_fit.observations import Observations, read_markers
from corekit_fit.unknowns import Unknown, bounds, resolve_unknowns, spread_starts

__all__ = ["RunMisfit"]

_DIFFERENCE = 1e-4
"""δ of z, which is relative where θ is positive: far above the tolerances of steps, far below a change of S."""


@frozen(eq=False)
class _Experiment:
    """One run that was observed: its markers, where they are on the body, and what differs in the scenario."""

    observed: Observations
    positions: MarkerPositions
    deviation: float
    changes: tuple[str, ...]

    def misfit_of_frames(self, position: Array, rotation: Array) -> tuple[float, Array, Array]:
        """½·Σ_k |(p_k − p̂_k)/σ|², and its derivatives by places of frames (T, F, 3), (T, F, 3, 3)."""
        found = np.array([self.positions.world(p, r) for p, r in zip(position, rotation, strict=True)])
        term = np.nan_to_num((found - self.observed.position) / self.deviation)
        return 0.5 * float(np.sum(term**2)), *self.positions.pull(term / self.deviation, position.shape[1])


@frozen
class _Number:
    value: float
    unit: str = ""


class _Numbers(dict[str, _Number]):
    """Numbers of the task by their names; those of options of the body are listed."""

    def __init__(self, task: EstimationTask) -> None:
        self._task = task
        super().__init__({name: self[name] for name in task.options if name in self})

    def __contains__(self, name: object) -> bool:
        return self._task.number_of(str(name)) is not None

    def __getitem__(self, name: str) -> _Number:
        return _Number(self._task.number_of(name) or 0.0, self._task.unit_of(name))


@final
class RunMisfit:
    """Q of (1), its terms and its slopes in z.

    Args:
        task: of the fit. config: what was observed and what is sought.
        progress: called with the number of the start, of simulations, and Q.

    Attributes:
        experiments: what was observed. unknowns: what is sought. low, high: bounds of z.
        simulations: how many were made. gradients: of them, with a sweep back. failed: that could not go on.
        costs: Q at the end of the search from every start.

    Raises:
        ConfigError: inconsistent markers, frames or parameters.
    """

    def __init__(
        self,
        task: EstimationTask,
        config: SimulationFitConfig | AdjointConfig,
        progress: Callable[[Mapping[str, float | str]], None],
    ) -> None:
        self.task, self._progress = task, progress
        self.experiments = tuple(_experiment(each, task) for each in config.runs)
        self.unknowns = resolve_unknowns(config.parameters, _Numbers(task))
        for each in self.experiments:
            doubt_units(task, each.observed)
        self.low, self.high = bounds(self.unknowns)
        self._starts = spread_starts(self.unknowns, config.starts, config.seed, config.only_start)
        self.simulations = self.gradients = self.failed = 0
        self.costs: list[float] = []
        self._last: tuple[bytes, Array] | None = None

    def starts(self) -> Iterator[Array]:
        """Yield z of every start that can be simulated; the cost of the others is infinite.

        Raises:
            StepFailed: so far there is none.
        """
        found = False
        for z in self._starts:
            first = self.try_residual(z) if found else self.residual(z)
            if np.isfinite(first).all():
                found, self._size = True, len(first)
                yield z
            else:
                self.costs.append(math.inf)

    def predicted(self, z: Array) -> list[Array]:
        """Markers of every experiment, each (T, m, 3) [m]."""
        values, found = self._values(z), []
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
        prior = [each.prior_term(float(own)) for each, own in zip(self.unknowns, z, strict=True)]
        return np.concatenate([*parts, [term for term, _ in prior if math.isfinite(term)]])

    def _values(self, z: Array) -> dict[str, float]:
        return {each.name: float(each.value(float(own))) for each, own in zip(self.unknowns, z, strict=True)}

    def try_gradient(self, z: Array) -> tuple[float, Array]:
        """Q and its gradient in z, by one run that is swept back an experiment; nan where it cannot be made.

        Raises:
            GradientError, StepFailed: the first one cannot. PluginError: nothing installed differentiates runs.
        """
        value, slope, values, is_first = 0.0, np.zeros(len(z)), self._values(z), not self.gradients
        try:
            for each in self.experiments:
                own, by_name = self.task.differentiate(
                    each.changes, values, each.observed.time, each.misfit_of_frames
                )
                self.simulations, self.gradients = self.simulations + 1, self.gradients + 1
                value += own
                slope += [by_name[one.name] for one in self.unknowns]
        except (StepFailed, ConfigError, CompositionError, GradientError):
            if is_first:
                raise
            self.failed += 1
            return math.nan, np.full(len(z), math.nan)
        slope *= [each.slope(float(own)) for each, own in zip(self.unknowns, z, strict=True)]
        for i, (each, own) in enumerate(zip(self.unknowns, z, strict=True)):
            term, by_z = each.prior_term(float(own))
            if math.isfinite(term):
                value, slope[i] = value + 0.5 * term**2, slope[i] + term * by_z
        self._report(value)
        return value, slope

    def try_residual(self, z: Array) -> Array:
        """As `residual`, nan where the simulation cannot be made: the search comes nearer then."""
        try:
            found = self.residual(z)
        except (StepFailed, ConfigError, CompositionError):
            self.failed += 1
            return np.full(self._size, math.nan)
        self._last = z.tobytes(), found
        self._report(0.5 * float(found @ found))
        return found

    def _report(self, objective: float) -> None:
        start = min(len(self.costs) + 1, len(self._starts))
        values = {"start": start, "simulations": self.simulations, "objective": objective}
        self._progress({name: float(value) for name, value in values.items()})

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


def _no_slope(unknown: Unknown) -> ConfigError:
    said = "cannot be simulated on either side of it: give a narrower low and high"
    return ConfigError([Mistake(unknown.name, unknown.start, said)], "the fit")


def _experiment(given: Experiment, task: EstimationTask) -> _Experiment:
    observed = read_markers(given.markers.file)
    positions = marker_positions(given.markers, observed, task.model.description)
    return _Experiment(observed, positions, given.markers.deviation, given.changes)
