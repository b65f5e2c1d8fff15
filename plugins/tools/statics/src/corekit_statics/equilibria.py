"""Move a composed simulation to its equilibria, one for every time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

from attrs import evolve

from corekit.errors import StaticsFailed
from corekit.roles.model import Model
from corekit.simulation.loop import Simulation
from corekit_statics.equilibrium import Equilibrium, SearchOptions
from corekit_statics.equilibrium_search import find_equilibrium
from corekit_statics.equilibrium_system import EquilibriumSystem

if TYPE_CHECKING:
    from corekit_statics.equilibrium_path import EquilibriumPath

__all__ = ["Statics", "move_to_equilibrium"]


def move_to_equilibrium(
    simulation: Simulation,
    at: float | Sequence[float] = 0.0,
    *,
    load_steps: int = 1,
    models_without_gravity: Callable[[], Sequence[Model] | None] | None = None,
    options: SearchOptions | None = None,
    told: Callable[[Equilibrium], object] | None = None,
) -> tuple[Equilibrium, ...]:
    """Bring a simulation to rest: its state becomes the last equilibrium, with v = 0 at that time.

    Args:
        simulation: composed; where it is, is where the search begins.
        at: time of the loads [s]; or several, one equilibrium each.
        load_steps: equal steps of the load factor to the first of them.
        models_without_gravity: builds a second set of the models, so that gravity grows with the load.
        options: how to look; its `load_steps` is overruled.
        told: called with every equilibrium that is found.
    Raises:
        CompositionError: a model without `tangent`, or rows that cannot rest.
        StaticsFailed: one was not found; the simulation stays at the last that was.
    """
    times = [float(at)] if isinstance(at, (int, float)) else [float(each) for each in at]
    built = simulation.system
    system = EquilibriumSystem(
        built.bodies,
        built.pipeline,
        built.solver,
        simulation.obstacles,
        time=times[0],
        step=simulation.step_length,
    )
    options = evolve(options or SearchOptions(), load_steps=load_steps)
    system.models_without_gravity = models_without_gravity
    found: list[Equilibrium] = []

    def tell(each: Equilibrium) -> None:
        found.append(each)
        simulation.state.copy_from(each.state)
        if told is not None:
            told(each)

    try:
        for k, instant in enumerate(times):
            system.go_to(instant)
            own = options if k == 0 else evolve(options, load_steps=1)
            try:
                find_equilibrium(system, simulation.state, own, tell)
            except StaticsFailed as error:
                if len(times) > 1:
                    error.add_note(f"That was at t = {instant:g} s, time {k + 1} of {len(times)}.")
                raise
    finally:
        # what was remembered of contacts on the way belongs to no step
        for owner in (built, *simulation.components.values()):
            owner.remember({})
        simulation.start_time, simulation.step_index = simulation.time, 0
    return tuple(found)


@final
class Statics:
    """The equilibrium finder of the kernel, see `corekit.simulation.equilibrium`."""

    def move_to_equilibrium(
        self,
        simulation: Simulation,
        at: float = 0.0,
        *,
        models_without_gravity: Callable[[], Sequence[Model] | None] | None = None,
    ) -> Equilibrium:
        """Move a simulation to its equilibrium under the loads of a time [s]."""
        return move_to_equilibrium(simulation, at, models_without_gravity=models_without_gravity)[-1]

    def find_equilibria(self, scenario: Any, **options: Any) -> EquilibriumPath:
        """Compose a scenario and find its equilibria, as `find_equilibria` does."""
        from corekit_statics.scenario_equilibria import find_equilibria

        return find_equilibria(scenario, **options)
