"""What a sweep's table knows of a run: its end, contact forces by pair, and what joints and clamps carry.

A force is the mean over a grid step, impulse by step length. That of a pair of bodies, or of a body and an obstacle,
is the sum over their contacts, on the first of the two, in world axes [N]; `largest` is the largest size of this
vector in any grid step of the run, recorded or not. A reaction is what holds a prescribed coordinate [N or N·m].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactRecord
from corekit.data.instants import beside_grid
from corekit.data.state import State
from corekit.data.status import StepReport
from corekit.geometry.frames import quat_wxyz_from_rotation
from corekit.roles.collision_scene import CollisionScene
from corekit.simulation.loop import Simulation
from corekit_record.replay_data import nearest_frame

__all__ = ["RunWatch", "end_of", "forces_of_pairs", "layout_of", "reactions_of", "state_of", "tip_of"]


@final
class RunWatch:
    """Observer of a run's forces.

    Args:
        simulation: at its initial state; it is observed from now on.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._tip = tip_of(simulation)
        self._joints = tuple(joint.name for joint in simulation.system.joints)
        self._largest: dict[str, float] = {}
        self._largest_joint = dict.fromkeys(self._joints, 0.0)
        simulation.observe(self._look)

    def _look(self, simulation: Simulation, _report: StepReport) -> None:
        target = simulation.start_time + (simulation.step_index + 1) * simulation.step_length
        if simulation.time < target - beside_grid(target, simulation.step_length):
            return  # a part of a grid step, which may end at a breakpoint beside the grid point
        pipeline = simulation.system.pipeline
        if pipeline is not None and pipeline.contacts.count:
            for pair, force in forces_of_pairs(simulation.contacts()).items():
                size = float(np.linalg.norm(force))
                if size > self._largest.get(pair, 0.0):
                    self._largest[pair] = size
        for name in self._joints:
            size = float(np.linalg.norm(simulation.joint_force(name).force))
            self._largest_joint[name] = max(self._largest_joint[name], size)

    def end(self) -> dict[str, float | str]:
        """Return energy and tip at the end of the run; see `end_of`."""
        return end_of(self._simulation, self._simulation.state, self._tip)

    def forces(self) -> dict[str, dict[str, list[float]]]:
        """Return what pushes and holds, as JSON can hold it.

        `contacts`: pair → force at the end and largest; `joints`: name → force and torque at the end, largest force;
        `reactions`: coordinate → reaction at the end.
        """
        simulation = self._simulation
        ends = forces_of_pairs(simulation.contacts())
        none = np.zeros(3)
        contacts = {
            pair: [*map(float, ends.get(pair, none)), largest] for pair, largest in self._largest.items()
        }
        joints = {}
        for name in self._joints:
            held = simulation.joint_force(name)
            joints[name] = [*map(float, held.force), *map(float, held.torque), self._largest_joint[name]]
        reactions: dict[str, list[float]] = {}
        if simulation.report.step_size > 0.0:
            reactions = reactions_of(simulation, simulation.system.reaction() / simulation.report.step_size)
        return {"contacts": contacts, "joints": joints, "reactions": reactions}


def forces_of_pairs(record: ContactRecord) -> dict[str, Array]:
    """Return the force of every pair that is near, `ball/floor` → (3,) [N], on the first in world axes."""
    found: dict[str, Array] = {}
    for (first, second), force in zip(record.names, record.force, strict=True):
        pair = f"{first}/{second}"
        found[pair] = found[pair] + force if pair in found else force
    return found


def reactions_of(simulation: Simulation, reactions: Array) -> dict[str, list[float]]:
    """Return reactions, stacked over bodies, by the names of their coordinates, `rod.x0` → [value]."""
    names = [
        f"{body.name}.{body.description.velocities[i].name}"
        for body in simulation.bodies
        for i in body.description.prescribed_velocity_index
    ]
    return {name: [float(value)] for name, value in zip(names, reactions, strict=True)}


def tip_of(simulation: Simulation) -> int | None:
    """Return the index among all frames of the one that tables call the tip, as `Results.tip`."""
    bodies = [body for body in simulation.bodies if body.description.frames]
    if not bodies:
        return None
    body = next((each for each in bodies if len(each.description.frames) > 1), bodies[0])
    points = body.model.compute_outline(simulation.state.body_states[body.index]).points[-1:]
    count = len(body.description.frames)
    origins = _poses(simulation, simulation.state)[0][body.first_frame : body.first_frame + count]
    return body.first_frame + (nearest_frame(origins, points[0]) if len(points) else count - 1)


def end_of(simulation: Simulation, state: State, tip: int | None) -> dict[str, float | str]:
    """Return energy of all bodies and place of the tip in a state, what of it is finite."""
    parts = []
    for body, part in zip(simulation.bodies, state.body_states, strict=True):
        own = body.abilities.energy
        parts.append(np.nan if own is None else np.sum(own.compute_energies(part)))
    numbers, found = {"energy_J": np.sum(parts)}, dict[str, float | str]()
    if tip is not None:
        found["tip_frame"] = _frames(simulation)[tip]
        place = _poses(simulation, state)[0][tip]
        numbers |= dict(zip(("tip_x_m", "tip_y_m", "tip_z_m"), place, strict=True))
    return found | {name: float(value) for name, value in numbers.items() if np.isfinite(value)}


def layout_of(simulation: Simulation) -> dict[str, Any]:
    """Return the names and units of what `state_of` lists, as JSON can hold it."""
    descriptions = [(body.name, body.description) for body in simulation.bodies]
    return {
        "coordinate": [[f"{name}.{each.name}", each.unit] for name, it in descriptions for each in it.coordinates],
        "dof": [[f"{name}.{each.name}", each.unit] for name, it in descriptions for each in it.velocities],
        "frame": [[each, "m"] for each in _frames(simulation)],
    }  # fmt: skip


def state_of(simulation: Simulation, state: State) -> dict[str, Any]:
    """Return time, q, v, and origins [m] and quaternions of the frames, as JSON can hold it."""
    position, rotation = _poses(simulation, state)
    quat_wxyz = quat_wxyz_from_rotation(rotation) if len(rotation) else np.zeros((0, 4))
    return {
        "time": float(state.time), "q": state.q.tolist(), "v": state.v.tolist(),
        "frame_position": position.tolist(), "frame_quat_wxyz": quat_wxyz.tolist(),
    }  # fmt: skip


def _frames(simulation: Simulation) -> Sequence[str]:
    return [f"{body.name}.{frame}" for body in simulation.bodies for frame in body.description.frames]


def _poses(simulation: Simulation, state: State) -> tuple[Array, Array]:
    """Return origins (n, 3) [m] and rotations (n, 3, 3) of all frames."""
    scene = CollisionScene(simulation.bodies, ())
    scene.update_poses(state)
    return scene.poses.frame_position.copy(), scene.poses.frame_rotation.copy()
