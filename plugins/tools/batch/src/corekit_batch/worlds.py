"""Worlds that stand where a simulation stands."""

from __future__ import annotations

import numpy as np

from corekit.simulation.loop import Simulation
from corekit_batch.layout import Layout
from corekit_batch.schedule import Schedule
from corekit_batch.tables import Worlds

__all__ = ["new_worlds"]


def new_worlds(simulation: Simulation, count: int, layout: Layout | None, schedule: Schedule) -> Worlds:
    """Allocate worlds at the state of a simulation, with its inputs by signals.

    Args:
        layout: of the world, or None where the driver steps none.
        schedule: of its grid steps.
    """
    state = simulation.state
    nu = sum(body.description.input_size for body in simulation.bodies)
    numbers = np.zeros(0) if layout is None else layout.numbers
    return Worlds(
        q=np.tile(state.q, (count, 1)), v=np.tile(state.v, (count, 1)), aux=np.tile(state.aux, (count, 1)),
        step=np.zeros(count, dtype=np.int64), until=np.zeros(count, dtype=np.int64),
        status=np.zeros(count, dtype=np.int64), numbers=numbers[None].copy(), written=np.zeros((count, nu)),
        is_written=np.zeros(nu, dtype=np.bool_), first_step=schedule.first_step,
        length=simulation.step_length, time=schedule.time, is_cut=schedule.is_cut, inputs=schedule.inputs,
    )  # fmt: skip
