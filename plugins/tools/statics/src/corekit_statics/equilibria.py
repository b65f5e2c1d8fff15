"""Move a composed simulation to its equilibria, one for every time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve

from corekit.errors import CompositionError, StaticsFailed
from corekit.roles.component import restore_states
from corekit.roles.model import Model
from corekit.simulation.loop import Simulation
from corekit_statics.equilibrium import Equilibrium, SearchOptions
from corekit_statics.equilibrium_search import find_equilibrium
from corekit_statics.equilibrium_system import EquilibriumSystem

__all__ = ["move_to_equilibrium"]


def move_to_equilibrium(
    simulation: Simulation,
    at: float | Sequence[float] = 0.0,
    *,
    load_steps: int = 1,
    models_without_gravity: Callable[[], Sequence[Model] | None] | None = None,
    options: SearchOptions | None = None,
    report: Callable[[Equilibrium], object] | None = None,
) -> tuple[Equilibrium, ...]:
    """Move a simulation to its equilibria: its state becomes the last one, with v = 0 at that time.

    Args:
        simulation: composed; the search begins at its state.
        at: time of the loads [s]; or several, one equilibrium each.
        load_steps: equal steps of the load factor to the first of them.
        models_without_gravity: builds a second set of the models, so that gravity grows with the load.
        options: tolerance and iterations; its `load_steps` is not used.
        report: called with every equilibrium that is found.
    Raises:
        CompositionError: a model without `force-derivatives`, constraints that cannot be at rest, or joints.
        StaticsFailed: one was not found; the simulation stays at the last one that was.
    """
    times = [float(at)] if isinstance(at, (int, float)) else [float(each) for each in at]
    built = simulation.system
    if built.joints:
        raise CompositionError(
            "statics finds no equilibria of bodies that joints hold to each other or to a moving base: let a run with "
            "damping come to rest instead."
        )
    system = EquilibriumSystem(
        built,
        simulation.obstacles,
        time=times[0],
        step=simulation.step_length,
        models_without_gravity=models_without_gravity,
    )
    options = evolve(options or SearchOptions(), load_steps=load_steps)
    found: list[Equilibrium] = []

    def keep(each: Equilibrium) -> None:
        found.append(each)
        simulation.state.copy_from(each.state)
        if report is not None:
            report(each)

    try:
        for k, instant in enumerate(times):
            system.set_time(instant)
            own = options if k == 0 else evolve(options, load_steps=1)
            try:
                find_equilibrium(system, simulation.state, own, keep)
            except StaticsFailed as error:
                if len(times) > 1:
                    error.add_note(f"That was at t = {instant:g} s, time {k + 1} of {len(times)}.")
                raise
    finally:
        # the contacts on the way belong to no step
        built.restore({})
        restore_states(simulation.components, {})
        simulation.start_time, simulation.step_index = simulation.time, 0
    return tuple(found)
