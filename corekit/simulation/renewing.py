"""How a simulation that a scenario composed gets other parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from corekit.data.state import State
    from corekit.roles.model import Model
    from corekit.simulation.loop import Simulation

__all__ = ["Renewing"]


class Renewing(Protocol):
    """Parameters are named by their paths in the scenario."""

    def __call__(self, simulation: Simulation, parameters: Mapping[str, Any]) -> None:
        """Give a simulation at its start other parameters, path → value."""

    def twin(self, parameters: Mapping[str, Any]) -> Simulation:
        """Compose another simulation with them."""

    def other_models(
        self, simulation: Simulation, parameters: Mapping[str, Any]
    ) -> tuple[Mapping[str, Model], State] | None:
        """Models of bodies, by their names, and the start with them; None where more than models changes."""

    def value(self, path: str) -> Any:
        """What an entry of the scenario is now; ControlError where there is none."""
