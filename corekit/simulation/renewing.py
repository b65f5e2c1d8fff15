"""How a simulation that a scenario composed gets other parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from corekit.simulation.loop import Simulation

__all__ = ["Renewing"]


class Renewing(Protocol):
    """Parameters are named by their paths in the scenario."""

    def __call__(self, simulation: Simulation, parameters: Mapping[str, Any]) -> None:
        """Give a simulation at its start other parameters, path → value."""

    def twin(self, parameters: Mapping[str, Any]) -> Simulation:
        """Compose another simulation with them."""

    def value(self, path: str) -> Any:
        """What an entry of the scenario is now; ControlError where there is none."""
