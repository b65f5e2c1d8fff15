"""Runs of a scenario with other options of one body, and where that body's frames are at given instants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from corekit.data.arrays import Array
from corekit.scenario.dump import resolved_document
from corekit.scenario.load import from_document, with_values
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation

__all__ = ["ObservedRuns"]


class ObservedRuns:
    """A scenario that is run again and again.

    Args:
        scenario: as it was loaded.
        index: of the body whose options change and whose frames are looked at.
    """

    def __init__(self, scenario: Scenario, index: int) -> None:
        self._scenario, self._index = scenario, index
        self._changed: dict[tuple[str, ...], Scenario] = {}

    def simulate(
        self, changes: Sequence[str], values: Mapping[str, float], times: Array
    ) -> tuple[Array, Array]:
        """Run the scenario until the last instant; see `EstimationTask.simulate`."""
        name = self._scenario.bodies[self._index].name
        paths = {f"bodies.{name}.options.{path}": float(value) for path, value in values.items()}
        simulation = with_values(self.with_changes(changes), paths).compose()
        frames = len(simulation.bodies[self._index].description.frames)
        position, rotation = np.zeros((len(times), frames, 3)), np.zeros((len(times), frames, 3, 3))
        before, now = (np.zeros((frames, 3, 4)) for _ in range(2))
        self._place(simulation, now)
        begin, k = simulation.time, 0
        while k < len(times):
            end = simulation.time
            while k < len(times) and times[k] <= end:
                share = 1.0 if end == begin else (times[k] - begin) / (end - begin)
                between = before + share * (now - before)
                position[k], rotation[k] = between[:, :, 3], between[:, :, :3]
                k += 1
            if k < len(times):
                simulation.step()
                begin, before, now = end, now, before
                self._place(simulation, now)
        return position, rotation

    def _place(self, simulation: Simulation, out: Array) -> None:
        """Write rotation and position of every frame, shape (frames, 3, 4)."""
        body = simulation.bodies[self._index]
        position, rotation = np.zeros((len(out), 3)), np.zeros((len(out), 3, 3))
        body.model.compute_frame_poses(simulation.state.body_states[self._index], position, rotation)
        out[:, :, :3], out[:, :, 3] = rotation, position

    def with_changes(self, changes: Sequence[str]) -> Scenario:
        """Return the scenario with changes as in `--set`."""
        key = tuple(changes)
        if key not in self._changed:
            given = self._scenario
            made = from_document(resolved_document(given), key, given.source, allow_code=given.allow_code)
            self._changed[key] = made if key else given
        return self._changed[key]
