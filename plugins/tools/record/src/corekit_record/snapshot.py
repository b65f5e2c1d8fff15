"""The state of a simulation now, as a replay of one frame."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactRecord
from corekit.roles.body import Body
from corekit.roles.collision_scene import CollisionScene
from corekit.roles.viewer import BodyTrack, ObstacleTrack, Replay
from corekit.simulation.loop import Simulation
from corekit_record.replay_data import contact_track, shape_poses

__all__ = ["Snapshot"]


@final
class Snapshot:
    """Draws a simulation at its present state.

    Args:
        simulation: at any state. title: of what is drawn.
    """

    def __init__(self, simulation: Simulation, title: str) -> None:
        self._simulation, self._title = simulation, title
        self._scene = CollisionScene(simulation.bodies, simulation.obstacles)

    def replay(self) -> Replay:
        """Return the frame; without contacts before the first step."""
        simulation, scene = self._simulation, self._scene
        scene.update_poses(simulation.state)
        first = len(scene.table) - len(simulation.obstacles)
        record = simulation.contacts() if simulation.step_index else ContactRecord()
        return Replay(
            title=self._title,
            time=np.array([simulation.time]),
            bodies=tuple(
                self._body_track(body, scene.poses.frame_position, scene.poses.frame_rotation)
                for body in simulation.bodies
            ),
            obstacles=tuple(
                ObstacleTrack(
                    obstacle.name,
                    obstacle.shape,
                    scene.poses.position[first + i][None].copy(),
                    scene.poses.rotation[first + i][None].copy(),
                )
                for i, obstacle in enumerate(simulation.obstacles)
            ),
            contacts=(
                contact_track(
                    record.point, record.normal, record.tangent, record.normal_impulse,
                    record.tangential_impulse, record.mode, record.step_size,
                ),
            ),
        )  # fmt: skip

    def _body_track(self, body: Body, position: Array, rotation: Array) -> BodyTrack:
        outline = body.model.compute_outline(self._simulation.state.body_states[body.index])
        shapes = body.description.shapes
        placed, turned = shape_poses(
            shapes, position[None, body.first_frame :], rotation[None, body.first_frame :]
        )
        return BodyTrack(
            name=body.name,
            outline=np.array(outline.points, dtype=float)[None],
            radius=np.asarray(outline.radius),
            starts=np.asarray(outline.starts),
            shapes=tuple(shapes),
            shape_position=placed,
            shape_rotation=turned,
        )
