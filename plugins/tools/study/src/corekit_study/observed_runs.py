"""Runs of a scenario with other options of one body, and where that body's frames are at given instants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.estimator import FrameMisfit
from corekit.scenario.dump import resolved_document
from corekit.scenario.load import from_document, with_values
from corekit.scenario.overrides import path_steps
from corekit.scenario.scenario import Scenario
from corekit.simulation.installed_tools import gradient_tool
from corekit.simulation.loop import Simulation

__all__ = ["ObservedRuns", "ParameterNames"]


class ParameterNames:
    """What parameters of a body are called: by their paths among its options, or else by those in the scenario.

    Args:
        document: the resolved scenario.
        index: of the body.
    """

    def __init__(self, document: Mapping[str, Any], index: int) -> None:
        self._document, self._body = document, document["bodies"][index]

    def is_of_scenario(self, name: str) -> bool:
        """Whether it is no option of the body, which has one name, but another entry of the scenario."""
        if name.startswith(f"bodies.{self._body['name']}.options."):
            return False
        return (
            _entry(self._body.get("options", {}), name) is None and _entry(self._document, name) is not None
        )

    def path(self, name: str) -> str:
        """Where it is in the scenario."""
        return name if self.is_of_scenario(name) else f"bodies.{self._body['name']}.options.{name}"

    def number(self, name: str) -> float | None:
        """What it is, of a list of one entry that entry; None if it is no number."""
        place = self._document if self.is_of_scenario(name) else self._body.get("options", {})
        found = _entry(place, name)
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def _entry(place: Any, path: str) -> Any:
    """What a path leads to, None if nothing."""
    for step in path_steps(path):
        try:
            if isinstance(place, list) and isinstance(step, str):
                place = next(each for each in place if each.get("name") == step)
            else:
                place = place[step]
        except (AttributeError, LookupError, TypeError, StopIteration):
            return None
    return place


class ObservedRuns:
    """A scenario that is run again and again.

    Args:
        scenario: as it was loaded.
        index: of the body whose options change and whose frames are looked at.
    """

    def __init__(self, scenario: Scenario, index: int) -> None:
        self._scenario, self._index = scenario, index
        self._names = ParameterNames(resolved_document(scenario), index)
        self._changed: dict[tuple[str, ...], Scenario] = {}

    def simulate(
        self, changes: Sequence[str], values: Mapping[str, float], times: Array
    ) -> tuple[Array, Array]:
        """Run the scenario until the last instant; see `EstimationTask.simulate`."""
        simulation = self._compose(changes, values)
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

    def differentiate(
        self, changes: Sequence[str], values: Mapping[str, float], times: Array, misfit: FrameMisfit
    ) -> tuple[float, dict[str, float]]:
        """Run and sweep back; see `EstimationTask.differentiate`."""
        tool, paths = gradient_tool(), [self._names.path(name) for name in values]
        simulation = self._compose(changes, values)
        value, slopes = tool.find_frame_gradient(simulation, self._index, times, paths, misfit)
        return value, dict(zip(values, slopes, strict=True))

    def _compose(self, changes: Sequence[str], values: Mapping[str, float]) -> Simulation:
        paths = {self._names.path(name): float(value) for name, value in values.items()}
        return with_values(self.with_changes(changes), paths).compose()

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
