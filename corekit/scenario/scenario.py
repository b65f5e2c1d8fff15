"""A scenario that was loaded, which can be composed, run, or moved to equilibrium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from corekit.hooks.installed import installed_hooks
from corekit.roles.code import code_allowed
from corekit.scenario.component_selection import select_checked_components
from corekit.scenario.dump import dump_given, dump_resolved
from corekit.scenario.schema import ScenarioTables

if TYPE_CHECKING:
    from corekit.roles.model import Model
    from corekit.simulation.loop import Simulation

__all__ = ["Scenario"]


@frozen(kw_only=True)
class Scenario(ScenarioTables):
    """Everything that decides a run, and what can be done with it.

    What is compiled is imported by `compose`, once nothing was refused.
    """

    def compose(self) -> Simulation:
        """Build the simulation of this scenario: import plugins, build components and check them against each other."""
        with code_allowed(self.allow_code):
            selected = select_checked_components(self)
            from corekit.scenario.compose import compose

            simulation = compose(self, selected)
        installed_hooks().scenario_composed(self, simulation)
        return simulation

    def given_text(self) -> str:
        """Return the file from which it was read, word for word; with overrides, the changed table as TOML."""
        return dump_given(self)

    def resolved_text(self) -> str:
        """Return the scenario as TOML with every default filled in."""
        return dump_resolved(self)

    def models_without_gravity(self) -> list[Model] | None:
        """Build the models without gravity, for loads that grow; None if the scenario has no gravity."""
        from corekit.scenario.compose import models_without_gravity

        with code_allowed(self.allow_code):
            return models_without_gravity(self)

    def statics(self, **options: Any) -> Any:
        """Find its equilibrium, or several; options as in `find_equilibria` of the installed equilibrium finder.

        Raises:
            PluginError: no equilibrium finder is installed.
        """
        from corekit.simulation.installed_tools import equilibrium_finder

        return equilibrium_finder().find_equilibria(self, **options)

    def run(self, **options: Any) -> Any:
        """Compose and run it into a new folder; its results, see `corekit.scenario.running.run`."""
        from corekit.scenario.running import run

        return run(self, **options)
