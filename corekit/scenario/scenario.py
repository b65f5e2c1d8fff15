"""A scenario that was loaded, which can be composed, run, or moved to equilibrium."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
from attrs import frozen

from corekit.errors import CompositionError
from corekit.hooks.installed import installed_hooks
from corekit.roles.code import code_allowed
from corekit.scenario.component_selection import select_checked_components
from corekit.scenario.dump import plain, resolved_document
from corekit.scenario.schema import ScenarioTables

if TYPE_CHECKING:
    from corekit.roles.controller import Controller, Inputs
    from corekit.roles.model import Model
    from corekit.simulation.loop import Simulation

__all__ = ["Scenario"]

_CODE_ALLOWED = (
    "# Python functions named in this file were allowed to be imported; a new run must allow them again.\n"
)


@frozen(kw_only=True)
class Scenario(ScenarioTables):
    """Everything that decides a run, and what can be done with it.

    What is compiled is imported by `compose`, once nothing was refused.
    """

    def compose(self) -> Simulation:
        """Build the simulation of this scenario: import plugins, build components and check them against each other.

        Raises:
            CorekitError: what does not fit, or a world that needs more memory than there is.
        """
        with code_allowed(self.allow_code):
            selected = select_checked_components(self)
            from corekit.scenario.compose import compose

            try:
                simulation = compose(self, selected)
            except MemoryError as error:
                raise CompositionError(
                    f"the world needs more memory than there is: {error}; make it smaller"
                ) from error
            from corekit.scenario.renew import Renewal

            renewal = Renewal(self)
        simulation.mark_start(renewal)
        installed_hooks().report("corekit_scenario_composed", scenario=self, simulation=simulation)
        return simulation

    def with_controller(
        self,
        controller: Controller | Callable[[Any], Inputs],
        *,
        every: float | None = None,
        name: str = "controller",
    ) -> Scenario:
        """Return this scenario with a controller from Python, for `compose` and `run`.

        Args:
            controller, every, name: as for `Simulation.add_controller`.
        """
        from corekit.simulation.controllers import check_controller

        check_controller("Scenario.with_controller", controller, every, name)
        return attrs.evolve(self, added=(*self.added, (controller, every, name)))

    def given_text(self) -> str:
        """Return the text that it was read from, else its table as TOML, with overrides, templates and included files.

        A scenario made in Python has neither; its resolved form is returned.
        """
        import tomli_w

        if self.text:
            return self.text
        if not self.document:
            return self.resolved_text()
        document = tomli_w.dumps(plain(self.document, "", []))
        return document if self.source is None else f"# {self.source.name} with overrides applied\n{document}"

    def resolved_text(self) -> str:
        """Return the scenario as TOML with every default filled in, for `loads`.

        A comment says that code was allowed, but does not allow it.
        """
        return self._resolved

    @cached_property
    def _resolved(self) -> str:
        """Made once: a run asks for it three times, and of 2,000 bodies it takes a second."""
        import tomli_w

        return (_CODE_ALLOWED if self.allow_code else "") + tomli_w.dumps(resolved_document(self))

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

    def batch(self, count: int, **options: Any) -> Any:
        """Compose it `count` times, to be stepped in one call.

        Args:
            count: of worlds.
            options: of the installed batch; `threads` is how many step.
        Raises:
            PluginError: nothing that steps many worlds is installed.
        """
        from corekit.simulation.installed_tools import batch_class

        return batch_class()(self, count, **options)

    def objective(self, loss: Callable[[Any], float], variables: Any, **options: Any) -> Any:
        """Return a function x → (loss, gradient) for `scipy.optimize`; see `corekit_gradients.objective.Objective`.

        Raises:
            PluginError: nothing that differentiates runs is installed.
        """
        from corekit.simulation.installed_tools import gradient_tool

        return gradient_tool().objective(self, loss, variables, **options)

    def run(self, **options: Any) -> Any:
        """Compose and run it into a new folder, and return its `corekit.Results`.

        Args:
            options: of `corekit_run.running.run`; `directory` is the run's folder.
        Raises:
            PluginError: nothing that runs scenarios is installed.
        """
        from corekit.simulation.installed_tools import run_function

        return run_function()(self, **options)
