"""What is kept of a state that a search accepts."""

from __future__ import annotations

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit_statics.equilibrium import Equilibrium
from corekit_statics.equilibrium_diagnostics import largest_by_unit
from corekit_statics.equilibrium_system import EquilibriumSystem
from corekit_statics.stability import stability_of

__all__ = ["equilibrium_of"]


def equilibrium_of(
    system: EquilibriumSystem,
    state: State,
    force: Array,
    load_factor: float,
    iterations: int,
    scale: float,
    note: str,
) -> Equilibrium:
    """The equilibrium at which a system was evaluated last.

    Args:
        system: evaluated at `state`.
        force: the out-of-balance force there, shape (nv,) [N or N·m].
        load_factor, iterations, scale, note: as in `Equilibrium`.
    """
    if not note and system.contacts.potential is not None and system.contacts.count:
        note = "a contact potential's friction is a drag: at rest it holds nothing"
    return Equilibrium(
        state=state.copy(),
        load_factor=load_factor,
        iterations=iterations,
        out_of_balance_force=force,
        residual=largest_by_unit(system, force),
        constraint_error=system.constraint_error(),
        gap_error=system.contacts.gap_error(),
        scale=scale,
        energy=system.energy(state),
        reactions=system.reactions(),
        constraint_forces=system.constraint_forces(),
        contacts=system.contacts.record(),
        stability=stability_of(system, state),
        note=note,
    )
