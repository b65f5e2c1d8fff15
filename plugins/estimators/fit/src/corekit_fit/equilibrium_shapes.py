"""Equilibrium shapes as a function of curvatures, for both estimators of natural curvature.

The motion is quasi-static: the body is in equilibrium at every instant with markers. Its inputs are those of
the scenario, except for the fitted entries x of its curvature channels:

    0 = f(q, 0, u(x)) + (constraints and contacts),     p = p(q(x))                                   (1)

The search for a shape begins at the previous one.

Source: Choi et al. (2024), section V-B.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, final

import numpy as np
from attrs import evolve, frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.errors import ConfigError, Mistake, StaticsFailed
from corekit.roles.estimator import Estimate, EstimationTask, InputTrajectory
from corekit_fit.config import Markers
from corekit_fit.doubtful_units import doubt_units
from corekit_fit.marker_positions import marker_positions
from corekit_fit.misfit import compute_spread, misfit_notes
from corekit_fit.observations import read_markers
from corekit_fit.pictures import draw_fit

__all__ = ["EquilibriumShapes", "Match", "Shape", "fit_shapes"]

_HALVINGS = 12


class _Options(Protocol):
    @property
    def markers(self) -> Markers: ...
    @property
    def channels(self) -> tuple[str, ...]: ...
    @property
    def components(self) -> tuple[int, ...]: ...


@frozen(eq=False)
class Shape:
    """An equilibrium: the fitted values x, the state, and the positions of the markers [m], shape (m, 3)."""

    x: Array
    state: State
    markers: Array


@frozen(eq=False)
class Match:
    """Fit of one shape: the shape, whether the search converged, and its count of steps."""

    shape: Shape
    converged: bool
    iterations: int


@final
class EquilibriumShapes:
    """Equilibrium of the body as a function of x.

    Attributes:
        task: the body in its scenario.
        observed: observed markers.
        positions: positions of the markers on the body.
        index: indices of x in the stacked inputs.
        channels: fitted channels: name, first entry in the inputs, size.
    """

    def __init__(self, task: EstimationTask, options: _Options) -> None:
        self.task = task
        self.observed, self.deviation = read_markers(options.markers.file), options.markers.deviation
        doubt_units(task, self.observed)
        description = task.model.description
        self.positions = marker_positions(options.markers, self.observed, description)
        first, known = 0, {}
        for channel in description.inputs:
            known[channel.name] = (first, channel.size)
            first += channel.size
        names = options.channels or tuple(name for name in known if name.startswith("curvature"))
        mistakes = [name for name in names if name not in known]
        if mistakes or not names:
            channel_names = ", ".join(known) or "none"
            raise ConfigError(
                [Mistake("channels", mistakes, f"the body's channels are {channel_names}")], "the fit"
            )
        self.channels = [(name, *known[name]) for name in names]
        too_short = [name for name, _, size in self.channels if max(options.components) >= size]
        if too_short:
            reason = f"channel {too_short[0]!r} has {known[too_short[0]][1]} entries, counted from 0"
            raise ConfigError([Mistake("components", list(options.components), reason)], "the fit")
        self.index: IntArray = np.array(
            [start + i for _, start, _ in self.channels for i in options.components], dtype=np.int64
        )
        frames = len(description.frames)
        self._position, self._rotation = np.zeros((frames, 3)), np.zeros((frames, 3, 3))

    def inputs(self, x: Array, time: float) -> Array:
        """Return u(x) at a time [s], a new array."""
        u = self.task.inputs(time).copy()
        u[self.index] = x
        return u

    def solve(self, x: Array, previous: State, time: float) -> Shape:
        """Return the shape of x.

        Raises:
            StaticsFailed: no equilibrium found.
        """
        state = self.task.find_equilibrium(self.inputs(x, time), previous, time)
        return Shape(x.copy(), state, self._markers(state))

    def step_towards(self, shape: Shape, step: Array, time: float) -> tuple[Shape, float]:
        """Return the shape after a step, or after the largest fraction with an equilibrium, and this fraction."""
        fraction = 1.0
        for _ in range(_HALVINGS):
            try:
                return self.solve(shape.x + fraction * step, shape.state, time), fraction
            except StaticsFailed:
                fraction *= 0.5
        return self.solve(shape.x + fraction * step, shape.state, time), fraction

    def _markers(self, state: State) -> Array:
        self.task.model.compute_frame_poses(state, self._position, self._rotation)
        return self.positions.world(self._position, self._rotation)

    def marker_jacobian(self, state: State) -> Array:
        """Return the Jacobian ∂ṗ/∂v of the markers, shape (3m, nv)."""
        model: Any = self.task.model
        description = self.task.model.description
        frame = self.positions.frame.reshape(-1)
        local = self.positions.local.reshape(-1, 3)
        k, n = description.jacobian_width, len(description.velocities)
        dofs = np.zeros((len(frame), k), dtype=np.int64)
        values = np.zeros((len(frame), 3, k))
        model.compute_point_jacobians(state, frame, local, dofs, values)
        dense = np.zeros((len(frame), 3, n))
        for c in range(len(frame)):
            for axis in range(3):
                np.add.at(dense[c, axis], dofs[c], values[c, axis])
        weighted = self.positions.weight.reshape(-1)[:, None, None] * dense
        return weighted.reshape(-1, 2, 3, n).sum(axis=1).reshape(-1, n)


def fit_shapes(
    shapes: EquilibriumShapes,
    match: Callable[[Shape, Array, float], Match],
    progress: Callable[[dict[str, float]], None],
    name: str,
) -> tuple[Estimate, SolveInfo]:
    """Fit all shapes in order, each from the previous one, and return the curvatures over time.

    Args:
        shapes: the equilibrium shapes.
        match: function from a shape, the observed positions (m, 3) and the time to a match.
        progress: callback for every shape.
        name: name of the estimator.
    """
    observed, task = shapes.observed, shapes.task
    start = float(observed.time[0])
    current = shapes.solve(task.inputs(start)[shapes.index], task.start, start)
    matches: list[Match] = []
    for k, time in enumerate(observed.time):
        try:
            matches.append(match(current, observed.position[k], float(time)))
        except StaticsFailed as error:
            error.add_note(f"at the markers of {time:g} s, under curvatures {current.x.tolist()}")
            raise
        current = matches[-1].shape
        progress(
            {"shape": float(k + 1), "of": float(len(observed.time)), "steps": float(matches[-1].iterations)}
        )
    found = np.array([each.shape.markers for each in matches])
    error = np.linalg.norm(np.where(np.isfinite(observed.position), observed.position - found, 0.0), axis=2)
    unconverged = [float(t) for t, each in zip(observed.time, matches, strict=True) if not each.converged]
    spread = compute_spread((observed.position - found) / shapes.deviation, 0)
    notes = (
        (f"the search did not converge at {', '.join(f'{t:g} s' for t in unconverged)}",)
        if unconverged
        else ()
    )
    notes = (*misfit_notes(spread), *notes)
    estimate = Estimate(
        schedules=_schedules(shapes, matches),
        time=observed.time, markers=observed.names, observed=observed.position, predicted=found,
        metrics={"last_marker_mean_m": float(error[:, -1].mean()), "last_marker_largest_m": float(error[:, -1].max()),
                 "residual_rms_in_deviations": spread},
        notes=notes,
    )  # fmt: skip
    pictures, picture_notes = draw_fit(task, estimate, [each.shape.state for each in matches])
    estimate = evolve(estimate, pictures=pictures, notes=(*notes, *picture_notes))
    status = Status.ITERATION_LIMIT if unconverged else Status.CONVERGED
    return estimate, SolveInfo(status, sum(each.iterations for each in matches), Residuals(), name)


def _schedules(shapes: EquilibriumShapes, matches: Sequence[Match]) -> tuple[InputTrajectory, ...]:
    """Return the fitted channels over time; a single shape lasts one step, because a trajectory needs two instants."""
    times = shapes.observed.time
    inputs = np.array([shapes.inputs(each.shape.x, float(t)) for each, t in zip(matches, times, strict=True)])
    if len(times) == 1:
        times, inputs = np.array([times[0], times[0] + shapes.task.step]), np.repeat(inputs, 2, axis=0)
    return tuple(
        InputTrajectory(channel=name, times=times, values=inputs[:, first : first + size])
        for name, first, size in shapes.channels
    )
