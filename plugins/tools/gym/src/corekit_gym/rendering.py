"""An episode drawn: pictures as arrays, or a page in the browser that follows it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, final

import attrs
import numpy as np

from corekit.cli.terminal import make_console
from corekit.data.arrays import Array
from corekit.geometry.shapes import Shape
from corekit.roles.viewer import ObstacleTrack, Replay
from corekit.simulation.loop import Simulation
from corekit_gym.task import Task
from corekit_record.cli.pictures import viewer_with
from corekit_record.snapshot import Snapshot

__all__ = ["Picture", "Window"]

_MARK = 0.02
"""Radius of the sphere that marks a target, relative to the size of what is drawn at first."""


class _Drawn:
    """The world now with its targets of three numbers as spheres."""

    def __init__(self, simulation: Simulation, task: Task, targets: Mapping[str, Array]) -> None:
        self._snapshot = Snapshot(simulation, task.name)
        used = {each.relative_to for each in task.quantities if each.kind == "position"}
        self._targets = {name: value for name, value in targets.items() if len(value) == 3 and name in used}
        outlines = [track.outline.reshape(-1, 3) for track in self._snapshot.replay().bodies]
        points = np.vstack(outlines) if outlines else np.zeros((1, 3))
        self._radius = _MARK * max(float(np.ptp(points, axis=0).max()), 1e-3)

    def replay(self) -> Replay:
        world = self._snapshot.replay()
        marks = tuple(
            ObstacleTrack(name, Shape("sphere", (self._radius,)), value.copy()[None], np.eye(3)[None])
            for name, value in self._targets.items()
        )
        return attrs.evolve(world, obstacles=(*world.obstacles, *marks))


@final
class Picture:
    """Pictures by the installed viewer that draws into arrays; the camera stays, and moves back where something leaves.

    Args:
        simulation: of the task. targets: drawn vectors by name. size: width and height [pixels].
    Raises:
        PluginError: no such viewer is installed.
    """

    def __init__(
        self, simulation: Simulation, task: Task, targets: Mapping[str, Array], size: tuple[int, int]
    ) -> None:
        self._drawn = _Drawn(simulation, task, targets)
        self._canvas = viewer_with("pixels", "draws into arrays").viewer.canvas(*size)

    def show(self) -> np.ndarray[Any, Any]:
        """Return the picture of the state now, uint8, shape (height, width, 3)."""
        return self._canvas.draw(self._drawn.replay())

    def close(self) -> None:
        """Nothing is open."""


@final
class Window:
    """A page in the browser that shows the newest state, by the installed viewer that serves.

    Args:
        simulation: of the task. targets: drawn vectors by name.
    Raises:
        PluginError: no such viewer is installed.
    """

    def __init__(self, simulation: Simulation, task: Task, targets: Mapping[str, Array]) -> None:
        self._drawn = _Drawn(simulation, task, targets)
        self._open = ExitStack()
        viewer = viewer_with("serves", "shows a run in the browser").viewer
        self._session = self._open.enter_context(viewer.serve(self._drawn.replay(), "running", 0))
        make_console(stderr=True).print(f"{task.name}: {self._session.url}", soft_wrap=True)

    def show(self) -> None:
        """Show the state now."""
        self._session.update(self._drawn.replay(), "running")

    def close(self) -> None:
        """End the page."""
        self._open.close()
