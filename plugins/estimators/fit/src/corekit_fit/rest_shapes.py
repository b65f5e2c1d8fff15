"""Shapes at rest under sought curvatures: what both estimators of natural curvature stand on.

The body is taken to be at rest at every instant at which markers were seen (quasi-static motion), under the inputs of
the scenario but for the sought entries x of its curvature channels:

    0 = f(q, 0, u(x)) + (rows and contacts),     p = p(q(x))                                          (1)

Every shape is looked for from the one before.

Source: Choi et al. (2024), section V-B.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.errors import ConfigError, Mistake, StaticsFailed
from corekit.roles.estimator import Estimate, EstimationTask, InputTrajectory
from corekit_fit.config import Markers
from corekit_fit.observations import read_markers
from corekit_fit.pictures import draw_fit
from corekit_fit.places import marker_places

__all__ = ["Match", "RestShapes", "Shape", "fit_shapes"]

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
    """A shape at rest: the sought values x, the state, and the places of the markers [m], shape (m, 3)."""

    x: Array
    state: State
    markers: Array


@frozen(eq=False)
class Match:
    """How one shape was matched: the shape, whether the search settled, and in how many steps."""

    shape: Shape
    settled: bool
    iterations: int


@final
class RestShapes:
    """The body at rest as a function of x.

    Attributes:
        task: the body. seen: what was observed. places: of the markers on the body.
        where: places of x in the stacked inputs.
        channels: sought channels: name, first entry in the inputs, size.
    """

    def __init__(self, task: EstimationTask, options: _Options) -> None:
        self.task = task
        self.seen = read_markers(options.markers.file)
        description = task.model.description
        self.places = marker_places(options.markers, self.seen, description)
        first, known = 0, {}
        for channel in description.inputs:
            known[channel.name] = (first, channel.size)
            first += channel.size
        names = options.channels or tuple(name for name in known if name.startswith("curvature"))
        wrong = [name for name in names if name not in known]
        if wrong or not names:
            offered = ", ".join(known) or "none"
            raise ConfigError([Mistake("channels", wrong, f"the body's channels are {offered}")], "the fit")
        self.channels = [(name, *known[name]) for name in names]
        short = [name for name, _, size in self.channels if max(options.components) >= size]
        if short:
            said = f"channel {short[0]!r} has {known[short[0]][1]} entries, counted from 0"
            raise ConfigError([Mistake("components", list(options.components), said)], "the fit")
        self.where: IntArray = np.array(
            [start + i for _, start, _ in self.channels for i in options.components], dtype=np.int64
        )
        frames = len(description.frames)
        self._position, self._rotation = np.zeros((frames, 3)), np.zeros((frames, 3, 3))

    def inputs(self, x: Array, time: float) -> Array:
        """u(x) at a time [s], a new array."""
        u = self.task.inputs(time).copy()
        u[self.where] = x
        return u

    def at(self, x: Array, near: State, time: float) -> Shape:
        """The shape of x; raises StaticsFailed where there is none."""
        state = self.task.find_equilibrium(self.inputs(x, time), near, time)
        return Shape(x.copy(), state, self._markers(state))

    def towards(self, shape: Shape, step: Array, time: float) -> tuple[Shape, float]:
        """The shape after a step, or after as much of it as statics can follow; and that share."""
        share = 1.0
        for _ in range(_HALVINGS):
            try:
                return self.at(shape.x + share * step, shape.state, time), share
            except StaticsFailed:
                share *= 0.5
        return self.at(shape.x + share * step, shape.state, time), share

    def _markers(self, state: State) -> Array:
        self.task.model.compute_frame_poses(state, self._position, self._rotation)
        return self.places.world(self._position, self._rotation)

    def marker_rows(self, state: State) -> Array:
        """How the markers move with the velocities, ∂ṗ/∂v, shape (3m, nv)."""
        model: Any = self.task.model
        description = self.task.model.description
        frame = self.places.frame.reshape(-1)
        local = self.places.local.reshape(-1, 3)
        k, n = description.jacobian_width, len(description.velocities)
        dofs = np.zeros((len(frame), k), dtype=np.int64)
        values = np.zeros((len(frame), 3, k))
        model.compute_point_jacobians(state, frame, local, dofs, values)
        dense = np.zeros((len(frame), 3, n))
        for c in range(len(frame)):
            for axis in range(3):
                np.add.at(dense[c, axis], dofs[c], values[c, axis])
        weighted = self.places.weight.reshape(-1)[:, None, None] * dense
        return weighted.reshape(-1, 2, 3, n).sum(axis=1).reshape(-1, n)


def fit_shapes(
    shapes: RestShapes,
    match: Callable[[Shape, Array, float], Match],
    progress: Callable[[dict[str, float]], None],
    name: str,
) -> tuple[Estimate, SolveInfo]:
    """Match shape after shape, each from the one before; curvatures over time, and how it went.

    Args:
        match: from a shape, the observed places (m, 3) and the time to a match.
        name: of the estimator.
    """
    seen, task = shapes.seen, shapes.task
    start = float(seen.time[0])
    now = shapes.at(task.inputs(start)[shapes.where], task.start, start)
    matches: list[Match] = []
    for k, time in enumerate(seen.time):
        try:
            matches.append(match(now, seen.place[k], float(time)))
        except StaticsFailed as error:
            error.add_note(f"at the markers of {time:g} s, under curvatures {now.x.tolist()}")
            raise
        now = matches[-1].shape
        progress({"shape": float(k + 1), "of": float(len(seen.time)), "steps": float(matches[-1].iterations)})
    found = np.array([each.shape.markers for each in matches])
    apart = np.linalg.norm(np.where(np.isfinite(seen.place), seen.place - found, 0.0), axis=2)
    unsettled = [float(t) for t, each in zip(seen.time, matches, strict=True) if not each.settled]
    notes = (f"the search did not settle at {', '.join(f'{t:g} s' for t in unsettled)}",) if unsettled else ()
    estimate = Estimate(
        schedules=_schedules(shapes, matches), time=seen.time, markers=seen.names, observed=seen.place, predicted=found,
        metrics={"last_marker_mean_m": float(apart[:, -1].mean()), "last_marker_largest_m": float(apart[:, -1].max())},
        notes=notes,
    )  # fmt: skip
    pictures, more = draw_fit(task, estimate, [each.shape.state for each in matches])
    estimate = Estimate(
        schedules=estimate.schedules, time=seen.time, markers=seen.names, observed=seen.place, predicted=found,
        metrics=estimate.metrics, pictures=pictures, notes=(*notes, *more),
    )  # fmt: skip
    status = Status.ITERATION_LIMIT if unsettled else Status.CONVERGED
    return estimate, SolveInfo(status, sum(each.iterations for each in matches), Residuals(), name)


def _schedules(shapes: RestShapes, matches: Sequence[Match]) -> tuple[InputTrajectory, ...]:
    """The sought channels over time; a single shape is held for a step, as a schedule needs two instants."""
    times = shapes.seen.time
    inputs = np.array([shapes.inputs(each.shape.x, float(t)) for each, t in zip(matches, times, strict=True)])
    if len(times) == 1:
        times, inputs = np.array([times[0], times[0] + shapes.task.step]), np.repeat(inputs, 2, axis=0)
    return tuple(
        InputTrajectory(channel=name, times=times, values=inputs[:, first : first + size])
        for name, first, size in shapes.channels
    )
