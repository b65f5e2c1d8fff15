"""The equilibrium at full load, reached at once or in steps of the load factor.

Every load step begins at the equilibrium before. A load step that fails is halved. As K is made definite, the search
moves downhill: it finds a stable equilibrium where there is one. It does not leave an exact unstable one, which
`Equilibrium.stability` reports.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from corekit.data.state import State
from corekit.errors import StaticsFailed
from corekit_statics.equilibrium import Equilibrium, SearchOptions
from corekit_statics.equilibrium_system import EquilibriumSystem
from corekit_statics.newton_search import NewtonSearch

__all__ = ["find_equilibrium"]

_SMALLEST_INCREMENT = 1.0 / 256.0


def find_equilibrium(
    system: EquilibriumSystem,
    start: State,
    options: SearchOptions | None = None,
    report: Callable[[Equilibrium], object] | None = None,
) -> Equilibrium:
    """Find the equilibrium at full load from a state.

    Args:
        system: the world at its time T.
        start: where the search begins; it is not changed, and its velocities do not count.
        options: tolerance, iterations and load steps.
        report: called with the equilibrium of every load step.
    Raises:
        StaticsFailed: none was found; its text says why and what to try.
    """
    options = options or SearchOptions()
    search = NewtonSearch(system, start, options)
    regular = 1.0 / options.load_steps
    found: Equilibrium | None = None
    load_factor, increment, state = 0.0, regular, start
    while load_factor < 1.0:
        target = load_factor + increment
        if target > 1.0 - 1e-9:
            target = 1.0
        try:
            found = search.find(state, target)
        except StaticsFailed as error:
            increment *= 0.5
            if increment < _SMALLEST_INCREMENT or search.is_hopeless:
                if load_factor > 0.0:
                    error.add_note(f"Up to the load factor {load_factor:.4g} an equilibrium was found.")
                raise
            search.rewind()
            continue
        search.keep()
        load_factor, state = target, found.state
        if increment < regular:
            smaller = f"the load had to grow in steps of {increment:.3g}"
            found = evolve(found, note=f"{found.note}; {smaller}" if found.note else smaller)
        found = evolve(found, iterations=search.iterations)
        is_regular = abs(load_factor * options.load_steps - round(load_factor * options.load_steps)) < 1e-6
        if report is not None and is_regular:
            report(found)
            search.iterations = 0
    assert found is not None
    return found
