"""Models of a scenario with other numbers among the options of bodies, and the start that they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, final

from corekit.data.state import State
from corekit.errors import ControlError
from corekit.roles.model import Model
from corekit.scenario.renew import Renewal

if TYPE_CHECKING:
    from corekit.scenario.scenario import Scenario
    from corekit.simulation.loop import Simulation

__all__ = ["MORE_THAN_NUMBERS", "OtherNumbers"]

MORE_THAN_NUMBERS: Final = (
    "{}: worlds of a batch differ in numbers among the options of bodies alone; make another batch for "
    "another world"
)
"""What is said of parameters that change more."""


@final
class OtherNumbers:
    """Makes models by a simulation of its own, which is composed when the first is asked for.

    Args:
        scenario: whose numbers they have but for those that are given.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._simulation: Simulation | None = None
        self._models: dict[str, Model] = {}

    def with_parameters(self, parameters: Mapping[str, Any]) -> tuple[tuple[Model, ...], State]:
        """Return the models with the values of paths in the scenario, and the state where they start.

        Raises:
            ControlError: a parameter is more than a number among the options of a body.
            CorekitError: as of `Simulation.reset`.
        """
        simulation = self._simulation
        if simulation is None:
            self._simulation = simulation = self._scenario.compose()
            self._models = {body.name: body.model for body in simulation.bodies}
        simulation.replace_models(self._models)
        world = simulation.system
        try:
            Renewal(self._scenario)(
                simulation, parameters
            )  # it knows nothing of the parameters of other worlds
        finally:
            if simulation.system is not world:
                self._simulation = None
        if simulation.system is not world:
            raise ControlError(MORE_THAN_NUMBERS.format(", ".join(parameters)))
        return tuple(body.model for body in simulation.bodies), simulation.state.copy()
