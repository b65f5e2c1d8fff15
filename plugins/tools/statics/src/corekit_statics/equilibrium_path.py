"""The equilibria of a scenario in the order in which they were found, and their report."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.data.contacts import ContactMode
from corekit.data.state import State
from corekit.roles.collision_scene import CollisionScene
from corekit.simulation.loop import Simulation
from corekit_record.replay_data import nearest_frame
from corekit_record.results import Results
from corekit_statics.equilibrium import Equilibrium

__all__ = ["EquilibriumPath", "frame_positions"]


@final
@frozen(eq=False)
class EquilibriumPath:
    """Equilibria of a world in the order in which they were found.

    Args:
        simulation: the world; its state is the last equilibrium, from which steps continue.
        path: the equilibria, at least one.
        frames: positions of all frames before the search, (frames, 3) [m].
        wall: wall time of the search [s].
        results: of the folder that was written, or None.
    """

    simulation: Simulation
    path: tuple[Equilibrium, ...]
    frames: Array = field(repr=False)
    wall: float
    results: Results | None = None

    @property
    def equilibrium(self) -> Equilibrium:
        """The last one: of the full load, or of the last time."""
        return self.path[-1]

    @property
    def q(self) -> Array:
        """Coordinates of the last one, shape (nq,)."""
        return self.equilibrium.state.q

    @property
    def stable(self) -> bool:
        """Whether the last one is stable."""
        return self.equilibrium.stability.stable

    def frame_position(self, which: Equilibrium | None = None) -> Array:
        """Origins of all frames in an equilibrium, the last if None, (frames, 3) [m]."""
        return frame_positions(self.simulation, (which or self.equilibrium).state)

    def as_data(self) -> dict[str, Any]:
        """The path as JSON."""
        return {
            "equilibria": [self._as_data(each) for each in self.path],
            "wall_s": self.wall,
            "folder": None if self.results is None else str(self.results.path),
            "results": None if self.results is None else str(self.results.file),
        }

    def _as_data(self, found: Equilibrium) -> dict[str, Any]:
        bodies, stability = self.simulation.bodies, found.stability
        position = frame_positions(self.simulation, found.state)
        record, first = found.contacts, 0
        force = np.zeros(3)
        for c in range(record.count):
            second = np.cross(record.normal[c], record.tangent[c])
            across = record.tangential_impulse[c]
            force += (
                record.normal_impulse[c] * record.normal[c]
                + across[0] * record.tangent[c]
                + across[1] * second
            )
        reactions: dict[str, float] = {}
        tips: dict[str, Any] = {}
        for body in bodies:
            for i in body.description.prescribed_velocity_index:
                reactions[f"{body.name}.{body.description.velocities[i].name}"] = float(
                    found.reactions[first]
                )
                first += 1
            if frames := body.description.frames:
                ends = body.model.compute_outline(found.state.body_states[body.index]).points[-1:]
                origins = position[body.first_frame : body.first_frame + len(frames)]
                own = nearest_frame(origins, ends[0]) if len(ends) else len(frames) - 1
                tip = body.first_frame + own
                tips[f"{body.name}.{frames[own]}"] = {
                    "position_m": position[tip].tolist(),
                    "moved_m": (position[tip] - self.frames[tip]).tolist(),
                }
        pairs = zip(bodies, found.constraint_forces, strict=True)
        rows = {body.name: forces.tolist() for body, forces in pairs if len(forces)}
        return {
            "time_s": found.state.time,
            "load": found.load_factor,
            "iterations": found.iterations,
            "unbalanced": dict(found.residual),
            "largest_force": found.scale,
            "row_error_m": found.constraint_error,
            "gap_error_m": found.gap_error,
            "energy_J": _number(found.energy),
            "stability": {
                "word": stability.verdict,
                "smallest_1_per_s2": _number(stability.smallest),
                "error_1_per_s2": _number(stability.error),
                "unstable_modes": stability.modes,
                "neutral_modes": stability.neutral,
                "sentence": str(stability),
            },
            "tips": tips,
            "contacts": {
                "pressing": int(np.count_nonzero(record.mode != ContactMode.SEPARATE)),
                "near": record.count,
                "force_N": force.tolist(),
            },
            "reactions": reactions,
            "row_forces": rows,
            "q": found.state.q.tolist(),
            "note": found.note,
        }


def frame_positions(simulation: Simulation, state: State) -> Array:
    """Origins of all frames of a simulation's bodies at a state, (frames, 3) [m]."""
    scene = CollisionScene(simulation.bodies, ())
    scene.update_poses(state)
    return scene.poses.frame_position.copy()


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
