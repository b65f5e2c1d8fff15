"""What holds a world, at a record: forces of its joints, and those that move prescribed coordinates as they must."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.simulation.loop import Simulation

__all__ = ["Reactions", "joint_names", "prescribed_entries"]


def joint_names(simulation: Simulation) -> list[str]:
    """Return the names of the joints; those of moving bases are `BODY.base`."""
    return [joint.name for joint in simulation.system.joints]


def prescribed_entries(simulation: Simulation) -> list[tuple[str, str]]:
    """Return `body.velocity` and the unit of the force of every prescribed velocity: N for m/s, N·m for rad/s."""
    units = {"m/s": "N", "rad/s": "N·m"}
    return [
        (f"{body.name}.{velocity.name}", units.get(velocity.unit, f"W/({velocity.unit})"))
        for body in simulation.bodies
        for velocity in (body.description.velocities[i] for i in body.description.prescribed_velocity_index)
    ]


@final
class Reactions:
    """Writes the rows `joint_force`, `joint_torque` and `reaction` of a record.

    A joint's force is the mean over the grid step that ended; that of a prescribed coordinate is the mean over the
    last step, which is the grid step unless a breakpoint cut that. No step ended at the first record: nan.
    """

    def __init__(self, simulation: Simulation, rows: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._rows = rows
        self._joints = joint_names(simulation) if "joint_force" in rows else []
        self._prescribed = "reaction" in rows

    def keep(self, simulation: Simulation, k: int, *, after_step: bool) -> None:
        """Write row k."""
        rows = self._rows
        for i, name in enumerate(self._joints):
            rows["joint_force"][k, i], rows["joint_torque"][k, i] = (
                simulation.joint_force(name) if after_step else (np.nan, np.nan)
            )
        if self._prescribed:
            step = simulation.report.step_size if after_step else 0.0
            rows["reaction"][k] = simulation.system.reaction() / step if step > 0.0 else np.nan
