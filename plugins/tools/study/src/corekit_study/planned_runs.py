"""Runs of a scenario with inputs that a planner tries, and how all bodies move in them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import PluginError
from corekit.roles.planner import BodyTrajectory
from corekit.scenario.dump import resolved_document
from corekit.scenario.load import from_document
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation

__all__ = ["PlannedRuns"]

_OFF = 1e-6
"""How far an instant may be from a step of the scenario, in steps."""


class PlannedRuns:
    """A scenario without its controllers, composed at the first run and begun anew by every other one."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._simulation: Simulation | None = None

    def simulate(self, inputs: Mapping[str, Array], times: Array) -> dict[str, BodyTrajectory]:
        """Run the scenario until the last instant; see `PlanningTask.simulate`."""
        simulation = self._composed()
        times = np.asarray(times, dtype=float)
        steps = times / simulation.step_length
        on_steps = steps.ndim == 1 and bool(np.all(np.abs(steps - np.round(steps)) <= _OFF))
        if not (on_steps and len(steps) and steps[0] == 0.0 and np.all(np.diff(steps) > 0.5)):
            raise PluginError(
                "the instants of a planner's simulation must begin at 0, grow, and be whole numbers of the "
                f"scenario's steps of {simulation.step_length:g} s"
            )
        given = {name: np.asarray(values, dtype=float) for name, values in inputs.items()}
        for name, values in given.items():
            wanted = (len(times), simulation.body(name).description.input_size)
            if values.shape != wanted:
                raise PluginError(
                    f"a planner's inputs of {name!r} have the shape {values.shape} instead of {wanted}"
                )
        simulation.reset()
        q = {body.name: np.zeros((len(times), body.nq)) for body in simulation.bodies}
        v = {body.name: np.zeros((len(times), body.nv)) for body in simulation.bodies}
        for k, time in enumerate(times):
            if k:
                self._set(simulation, given, k)
                simulation.run(float(time))
            for body, state in zip(simulation.bodies, simulation.state.body_states, strict=True):
                q[body.name][k], v[body.name][k] = state.q, state.v
        return {name: BodyTrajectory(q=q[name], v=v[name], inputs=given.get(name)) for name in q}

    def _set(self, simulation: Simulation, given: Mapping[str, Array], k: int) -> None:
        """Hold the inputs of the interval that ends at instant k."""
        for name, values in given.items():
            first = 0
            for channel in simulation.body(name).description.inputs:
                simulation.inputs[name][channel.name] = values[k, first : first + channel.size]
                first += channel.size

    def _composed(self) -> Simulation:
        if self._simulation is None:
            document = resolved_document(self._scenario)
            document.pop("controllers", None)
            given = self._scenario
            own = from_document(document, source=given.source, allow_code=given.allow_code)
            self._simulation = own.compose()
        return self._simulation
