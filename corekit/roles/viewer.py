"""The viewer role: pictures and replays of a finished or running run, and line charts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.geometry.shapes import Shape
from corekit.roles.component import Component

__all__ = [
    "BodyTrack",
    "Canvas",
    "ChartDrawer",
    "ContactTrack",
    "InteractiveSession",
    "InteractiveViewer",
    "Line",
    "LineChart",
    "ObstacleTrack",
    "Panel",
    "PixelDrawer",
    "ProgressViewer",
    "Replay",
    "ReplayServer",
    "ReplaySession",
    "Requests",
    "Slider",
    "Viewer",
]


@frozen(eq=False)
class BodyTrack:
    """A body over time (T frames of the replay).

    Args:
        name: of the body.
        outline: points of its polylines [m], shape (T, n, 3).
        radius: of the tube at each point [m], shape (n,).
        starts: first point of each polyline, shape (k,).
        shapes: its collision shapes.
        shape_position, shape_rotation: their world poses, (T, s, 3) [m] and (T, s, 3, 3).
    """

    name: str
    outline: Array
    radius: Array
    starts: IntArray
    shapes: tuple[Shape, ...]
    shape_position: Array
    shape_rotation: Array


@frozen(eq=False)
class ObstacleTrack:
    """An obstacle over time: its shape and world poses, (T, 3) [m] and (T, 3, 3)."""

    name: str
    shape: Shape
    position: Array
    rotation: Array


@frozen(eq=False)
class ContactTrack:
    """Contacts of one frame: points [m] (n, 3), forces on the first body [N] (n, 3), modes (n,)."""

    point: Array
    force: Array
    mode: IntArray


@frozen(eq=False)
class Replay:
    """Everything needed to draw a run, free of files and models.

    Args:
        title: name of the scenario.
        time: of each frame [s], shape (T,).
        bodies, obstacles: what moves.
        contacts: one entry a frame.
    """

    title: str
    time: Array
    bodies: tuple[BodyTrack, ...]
    obstacles: tuple[ObstacleTrack, ...]
    contacts: tuple[ContactTrack, ...]


class Viewer(Component, ABC):
    """Draws a replay into a file."""

    @property
    @abstractmethod
    def suffixes(self) -> tuple[str, ...]:
        """File name endings it can write, for example `(".png",)`."""

    def prepare(self) -> None:
        """Import what `render` needs; called where there is time for it before a run ends."""

    @abstractmethod
    def render(self, replay: Replay, path: Path) -> None:
        """Write the picture or replay; parent folders exist. Works without a display."""


class ProgressViewer(Protocol):
    """A viewer with the ability `progress`: it works for long and reports how far it is."""

    def render(self, replay: Replay, path: Path, progress: Callable[[float], None] | None = None) -> None:
        """As `Viewer.render`; `progress` is handed the share that is done, rising to 1."""


class ReplaySession(Protocol):
    """A replay that people look at while it is served."""

    @property
    def url(self) -> str:
        """Where it is seen, on this machine alone."""

    def update(self, replay: Replay, run_status: str) -> None:
        """Go on with a later replay of the same run.

        A browser at the newest instant moves on to the new one, a browser at another instant stays there.

        Args:
            replay: all of it, with at least one frame.
            run_status: `running`, `finished`, …
        """


class ReplayServer(Protocol):
    """A viewer with the ability `serves`: it shows a replay in every browser that opens an address.

    The kernel looks after the run and hands on what is new; the viewer plays, from threads of its own.
    """

    def serve(self, replay: Replay, run_status: str, port: int) -> AbstractContextManager[ReplaySession]:
        """Serve until the context ends, then leave no thread and no open port behind.

        Args:
            replay, run_status: as in `ReplaySession.update`.
            port: to listen on, on this machine alone; 0 means any free one, and so does a port that is in use.
        Raises:
            ResultsError: nothing of the replay can be drawn.
        """


@frozen(eq=False)
class Slider:
    """One number of an input channel that a person may drive.

    Args:
        body, channel, entry: where it is, `inputs[body][channel][entry]`.
        label: what to call it. unit: of the number.
        lower, upper: its range.
    """

    body: str
    channel: str
    entry: int
    label: str
    unit: str
    lower: float
    upper: float


@frozen
class Requests:
    """What a person wanted since the last call.

    Args:
        moved: sliders that were moved → where to.
        running: whether time goes on. speed: simulated seconds per second.
        reset: whether to go back to the start, where no slider is moved.
    """

    moved: Mapping[int, float]
    running: bool = True
    speed: float = 1.0
    reset: bool = False


class InteractiveSession(Protocol):
    """A simulation that a person looks at and drives."""

    @property
    def url(self) -> str:
        """Where it is seen, on this machine alone."""

    def pop_requests(self) -> Requests:
        """Return what a person wanted since the last call."""

    def show(self, replay: Replay, values: Sequence[float], words: str) -> None:
        """Show the state now.

        Args:
            replay: of one frame.
            values: of the sliders; one that a person holds is left where it is.
            words: what to show, a few lines of text.
        """


class InteractiveViewer(Protocol):
    """A viewer with the ability `interactive`: a simulation goes on while a person drives its inputs."""

    def interact(
        self, replay: Replay, sliders: Sequence[Slider], port: int
    ) -> AbstractContextManager[InteractiveSession]:
        """Serve until the context ends, as `ReplayServer.serve` does; the replay has one frame, the start."""


@frozen(eq=False)
class Line:
    """One line: its words in the legend and its points, x and y of shape (n,); nan leaves a gap."""

    label: str
    x: Array
    y: Array


@frozen(eq=False)
class Panel:
    """Lines over common axes, whose labels carry the units, for example `t [s]`."""

    x_label: str
    y_label: str
    lines: tuple[Line, ...]


@frozen(eq=False)
class LineChart:
    """Panels one above the other; a line of the same label looks the same in all of them."""

    title: str
    panels: tuple[Panel, ...]


class ChartDrawer(Protocol):
    """A viewer with the ability `charts`."""

    def chart(self, chart: LineChart, path: Path) -> None:
        """Write the chart into a file with one of the viewer's endings; parent folders exist."""


class Canvas(Protocol):
    """Pictures of a world that goes on, one after the other: the view stays, and widens where something leaves it."""

    def draw(self, replay: Replay) -> np.ndarray[Any, Any]:
        """Return the picture of a replay of one frame, uint8, shape (height, width, 3)."""


class PixelDrawer(Protocol):
    """A viewer with the ability `pixels`."""

    def canvas(self, width: int, height: int) -> Canvas:
        """Return a canvas of a size in pixels, at least 160 by 160."""
