"""Installed tools that do what the kernel does not: run into a folder, read the results, and find equilibria.

The hook `corekit_runner` names the function that runs a scenario, `corekit_results` the class that reads records,
`corekit_equilibrium_finder` the one that moves a simulation to where all forces balance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from corekit.errors import PluginError
from corekit.hooks.installed import installed_hooks
from corekit.registry.first_party import BATCH, FIRST_PARTY_VERBS, GRADIENTS, RECORDER
from corekit.registry.resolve import load_target

if TYPE_CHECKING:  # `corekit.Results` is loaded without numba
    from corekit.roles.model import Model
    from corekit.simulation.loop import Simulation

__all__ = [
    "EquilibriumFinder",
    "advance",
    "batch_class",
    "equilibrium_finder",
    "gradient_tool",
    "open_function",
    "results_class",
    "run_function",
    "steps_ahead",
]


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

    def find_equilibria(self, scenario: Any, **options: Any) -> Any:
        """Compose a `Scenario` and find its equilibria; options are the finder's own."""


def equilibrium_finder() -> EquilibriumFinder:
    """Return the installed equilibrium finder.

    Raises:
        PluginError: none is installed, or it cannot be imported; so do the others.
    """
    without = (
        'no installed distribution finds equilibria, which `start = "equilibrium"`, `Scenario.statics` and '
        f"some estimators need: pip install {FIRST_PARTY_VERBS['statics']}"
    )
    return _installed("corekit_equilibrium_finder", without)()


def batch_class() -> Any:
    """Return the installed class that steps many worlds of a scenario at once, which `Scenario.batch` makes."""
    without = f"no installed distribution steps many worlds at once: pip install {BATCH}"
    return _installed("corekit_batch", without)


def steps_ahead(simulation: Simulation, count: int) -> Callable[[int], int] | None:
    """Return what makes steps of a simulation at once that nothing looks at, or None.

    It advances the simulation at most to a number of grid steps, and returns how many it made: none where the next one
    must be made by `Simulation.step`.

    Args:
        count: steps that are to be made: a few are not worth it.
    """
    target = installed_hooks().target("corekit_batch")
    return load_target(target).ahead(simulation, count) if target else None


def advance(simulation: Simulation, step_index: int) -> None:
    """Make grid steps up to a number; the last, whose contacts and forces are reported, is an ordinary one."""
    ahead = steps_ahead(simulation, step_index - simulation.step_index)
    while simulation.step_index < step_index:
        if ahead is not None:
            simulation.steps_ahead += ahead(step_index - 1)
        simulation.step()


def gradient_tool() -> Any:
    """Return the installed module that differentiates runs, for `Simulation.gradient` and `Scenario.objective`."""
    without = f"no installed distribution differentiates runs: pip install {GRADIENTS}"
    return _installed("corekit_gradient_tool", without)


def results_class() -> Any:
    """Return the installed class that reads records, which is `corekit.Results`."""
    without = f"corekit.Results reads records, and no recorder is installed: pip install {RECORDER}"
    return _installed("corekit_results", without)


def open_function() -> Callable[..., Any]:
    """Return the installed function that opens runs and sweeps for analysis, which is `corekit.open`."""
    without = (
        "corekit.open makes trees of xarray, and what does is not installed: "
        f"pip install {FIRST_PARTY_VERBS['export']}"
    )
    return _installed("corekit_open", without)


def run_function() -> Callable[..., Any]:
    """Return the installed function that runs a scenario into a new folder, which `Scenario.run` calls."""
    without = (
        "no installed distribution runs scenarios into folders; without one they are composed and stepped: "
        f"pip install {FIRST_PARTY_VERBS['run']}"
    )
    return _installed("corekit_runner", without)


def _installed(hook: str, without: str) -> Any:
    """Import what answers a hook; raise PluginError with a sentence if nothing does."""
    target = installed_hooks().target(hook)
    if not target:
        raise PluginError(without)
    return load_target(target)
