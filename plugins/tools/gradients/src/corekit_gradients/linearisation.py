"""A step, linearised: δx₁ = A·δx₀ + B·δu with x = (δ, v), for control."""

from __future__ import annotations

from typing import NamedTuple

from corekit.data.arrays import Array
from corekit.simulation.loop import Simulation
from corekit_gradients.adjoint.world_derivatives import derivatives_of

__all__ = ["Linearisation", "linearise"]


class Linearisation(NamedTuple):
    """Of the next grid step of a simulation.

    Args:
        A: by displacements and velocities of the start, shape (2·nv, 2·nv).
        B: by inputs that are held in the step, stacked over bodies, shape (2·nv, nu).
        is_degenerate: whether the step is at a kink of contact; both are then of one side.
    """

    A: Array
    B: Array
    is_degenerate: bool


def linearise(simulation: Simulation) -> Linearisation:
    """Linearise the next grid step; the simulation stays where it is.

    Memory of contacts, tangents and impulses, counts as constant.

    Raises:
        GradientError: the step has no derivative.
    """
    system, before, start = simulation.system, simulation.internal_state(), simulation.state.copy()
    try:
        with simulation.record_steps() as tape:
            simulation.step()
        found = derivatives_of(system, start).linearise(tape)
    finally:
        simulation.restore(before)
    return Linearisation(found.by_state, found.by_inputs, found.is_degenerate)
