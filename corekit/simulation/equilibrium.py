"""The equilibrium finder: an installed distribution that moves a simulation to where all forces balance.

The kernel finds no equilibrium itself. The hook `corekit_equilibrium_finder` names the class that does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from corekit.errors import PluginError
from corekit.hooks.installed import installed_hooks
from corekit.registry.first_party import FIRST_PARTY_VERBS
from corekit.registry.resolve import load_target
from corekit.roles.model import Model
from corekit.simulation.loop import Simulation

__all__ = ["EquilibriumFinder", "equilibrium_finder"]


class EquilibriumFinder(Protocol):
    """What the class that `corekit_equilibrium_finder` names must offer; it is built without arguments."""

    def move_to_equilibrium(
        self,
        simulation: Simulation,
        at: float = 0.0,
        *,
        models_without_gravity: Callable[[], Sequence[Model] | None] | None = None,
    ) -> Any:
        """Move a simulation from its state to the equilibrium under the loads of a time `at` [s], with v = 0.

        Args:
            models_without_gravity: builds a second set of the models, so that gravity can grow with the load.
        Raises:
            CompositionError: the world cannot be at rest, or a model lacks what this needs.
            StaticsFailed: no equilibrium was found; the simulation keeps its state.
        """
        ...

    def find_equilibria(self, scenario: Any, **options: Any) -> Any:
        """Compose a `Scenario` and find its equilibria; options are the finder's own."""
        ...


def equilibrium_finder() -> EquilibriumFinder:
    """Return the installed equilibrium finder.

    Raises:
        PluginError: none is installed, or it cannot be imported.
    """
    target = installed_hooks().equilibrium_finder()
    if not target:
        raise PluginError(
            'no installed distribution finds equilibria, which `start = "equilibrium"`, `Scenario.statics` and '
            f"some estimators need: pip install {FIRST_PARTY_VERBS['statics']}"
        )
    return load_target(target)()
