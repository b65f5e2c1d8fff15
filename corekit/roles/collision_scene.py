"""Where every collision shape of the world is at a state: the shape table, poses, and how obstacles move."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.state import State
from corekit.geometry.shape_specs import shape_spec
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit.roles.body import Body
from corekit.roles.joint import BodyFrame, Joint
from corekit.roles.obstacles import GivenMotion, Obstacle

__all__ = ["CollisionScene", "max_closing", "max_probe_displacement", "update_shape_poses"]


def _held_pairs(bodies: Sequence[Body], obstacles: Sequence[Obstacle], joints: Sequence[Joint]) -> IntArray:
    """Pairs of shapes on the two frames that a joint holds, or on one and an obstacle: they meet by design."""
    first_obstacle = bodies[-1].first_shape + len(bodies[-1].description.shapes)

    def carried(end: BodyFrame | GivenMotion) -> list[int]:
        if isinstance(end, BodyFrame):
            description = end.body.description
            own = [i for i, shape in enumerate(description.shapes) if shape.frame == end.frame]
            own += description.joined_shapes[description.joined_shapes[:, 0] == end.frame, 1].tolist()
            return [end.body.first_shape + i for i in own]
        return [first_obstacle + i for i, obstacle in enumerate(obstacles) if obstacle is end]

    pairs = [(a, b) for joint in joints for a in carried(joint.first) for b in carried(joint.second)]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _table(bodies: Sequence[Body], obstacles: Sequence[Obstacle], joints: Sequence[Joint]) -> ShapeTable:
    shapes = [(b, shape) for b, body in enumerate(bodies) for shape in body.description.shapes]
    never = [body.description.excluded_pairs.reshape(-1, 2) + body.first_shape for body in bodies]
    never.append(_held_pairs(bodies, obstacles, joints))
    everything = [shape for _, shape in shapes] + [obstacle.shape for obstacle in obstacles]
    n, carried = len(everything), len(shapes)
    size = np.zeros((n, 3))
    for i, shape in enumerate(everything):
        size[i, : len(shape.size)] = shape.size
    owner, frame, second_frame = np.full((3, n), -1, dtype=np.int64)
    for i, (b, shape) in enumerate(shapes):
        first = bodies[b].first_frame
        owner[i], frame[i] = b, first + shape.frame
        if shape.second_frame >= 0:
            second_frame[i] = first + shape.second_frame
    return ShapeTable(
        kind=tuple(shape.kind for shape in everything),
        size=size,
        body=owner,
        frame=frame,
        second_frame=second_frame,
        offset_position=np.array([each.offset.position for each in everything], dtype=float).reshape(n, 3),
        offset_rotation=np.array([each.offset.rotation for each in everything], dtype=float).reshape(n, 3, 3),
        obstacle=np.array([-1] * carried + list(range(n - carried)), dtype=np.int64),
        vertices=tuple(shape.vertices for shape in everything),
        excluded_pairs=np.sort(np.concatenate(never), axis=1),
        self_contact=np.array([body.description.self_contact for body in bodies], dtype=bool),
    )


def _distance_from_origin(table: ShapeTable, i: int) -> float:
    """Distance from its frame's origin at which a carried shape moves when the frame turns [m].

    A round shape turns about its own centre without moving, and of one without end no point is the farthest.
    """
    spec, offset = shape_spec(table.kind[i]), float(np.linalg.norm(table.offset_position[i]))
    radius = spec.bounding_radius(table.size[i, : len(spec.sizes)].tolist(), table.vertices[i])
    return offset if spec.is_round or math.isinf(radius) else offset + radius


class CollisionScene:
    """The world's shape table and the poses of its shapes at one state.

    Attributes:
        table: every shape, bodies' first.
        poses: at the state of the last `update_poses`. placements: how often they were computed.
        probe_radius: distance from its frame at which a shape moves when the frame turns, shape (frames,) [m].
        is_shifted: whether a shape stands elsewhere than its frame.
        frame_body: body index of every world frame, shape (frames,).
        obstacles: the surroundings. moving: indices of those that move.
    """

    def __init__(
        self, bodies: Sequence[Body], obstacles: Sequence[Obstacle], joints: Sequence[Joint] = ()
    ) -> None:
        self._bodies = tuple(bodies)
        self.obstacles = tuple(obstacles)
        self.table = table = _table(bodies, obstacles, joints)
        frames = sum(len(body.description.frames) for body in bodies)
        n = len(table)
        self.poses = ShapePoses(
            position=np.zeros((n, 3)),
            rotation=np.tile(np.eye(3), (n, 1, 1)),
            end=np.zeros((n, 3)),
            frame_position=np.zeros((frames, 3)),
            frame_rotation=np.tile(np.eye(3), (frames, 1, 1)),
        )
        self.frame_body: IntArray = np.repeat(
            np.arange(len(bodies)), [len(body.description.frames) for body in bodies]
        )
        self.placements = 0
        self._carried = carried = n - len(obstacles)
        offset, turned = table.offset_position[:carried], table.offset_rotation[:carried]
        self.is_shifted = bool(np.any(offset != 0) or np.any(turned != np.eye(3)))
        self._views: list[tuple[Body, Array, Array]] = []
        for body in bodies:
            own = slice(body.first_frame, body.first_frame + len(body.description.frames))
            self._views.append((body, self.poses.frame_position[own], self.poses.frame_rotation[own]))
        self.probe_radius = np.zeros(frames)
        for i in range(carried):
            frame = table.frame[i]
            self.probe_radius[frame] = max(self.probe_radius[frame], _distance_from_origin(table, i))
        self.moving = [i for i, obstacle in enumerate(obstacles) if obstacle.moving]
        for i, obstacle in enumerate(obstacles):
            obstacle.place(0.0, self.poses.position[carried + i], self.poses.rotation[carried + i])
        self.poses.end[carried:] = self.poses.position[carried:]
        normals = [shape_spec(obstacle.shape.kind).plane_normal for obstacle in obstacles]
        self._has_curved_obstacles = None in normals
        self._plane_normal = np.array(
            [self.poses.rotation[carried + i] @ each for i, each in enumerate(normals) if each is not None]
        ).reshape(-1, 3)

    def new_probes(self) -> Array:
        """Points that move at least about as far as any point of a body's shape, a new (4·frames, 3) [m]."""
        now = np.zeros((4 * len(self.probe_radius), 3))
        self.update_probes(now, now)
        return now

    def update_probes(self, before: Array, now: Array) -> float:
        """Write the probe points into `now`; the largest distance of one from `before` [m]."""
        poses = self.poses
        return max_probe_displacement(
            poses.frame_position, poses.frame_rotation, self.probe_radius, before, now
        )

    def closing_distance(self, before: Array, now: Array) -> float:
        """How far two shapes came closer, or parted, at most, while probes moved and no obstacle did [m]."""
        return max_closing(before, now, self._plane_normal, self._has_curved_obstacles)

    def update_poses(self, state: State) -> None:
        """Compute every frame and shape pose at a world state and its time."""
        self.placements += 1
        for body, position, rotation in self._views:
            body.model.compute_frame_poses(state.body_states[body.index], position, rotation)
        self.place_shapes()
        if self.moving:
            self._place_obstacles(state.time)

    def place_shapes(self) -> None:
        """Compute the poses of the shapes that frames carry from those of the frames."""
        table, poses = self.table, self.poses
        if self._carried:
            update_shape_poses(
                table.frame, table.offset_position, table.offset_rotation, self.is_shifted, table.second_frame,
                poses.frame_position, poses.frame_rotation, poses.position, poses.rotation, poses.end,
            )  # fmt: skip

    def _place_obstacles(self, time: float) -> None:
        poses, carried = self.poses, self._carried
        for i in self.moving:
            self.obstacles[i].place(time, poses.position[carried + i], poses.rotation[carried + i])

    def obstacle_displacement(self, obstacle: int, point: Array, time: float, t0: float, t1: float) -> Array:
        """Displacement from t0 to t1 of the obstacle's material points that are at `point` (n, 3) at `time` [m]."""
        mover = self.obstacles[obstacle]
        p, p0, p1 = np.zeros(3), np.zeros(3), np.zeros(3)
        r, r0, r1 = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3))
        mover.place(time, p, r)
        mover.place(t0, p0, r0)
        mover.place(t1, p1, r1)
        local = (point - p) @ r
        return (local @ r1.T + p1) - (local @ r0.T + p0)

    def obstacle_velocities(
        self, contacts: ContactSet, time: float, t0: float, t1: float, *, instant: bool
    ) -> Array:
        """Velocity of the obstacles at contacts that were found at a time, world axes, (m, 3) [m/s].

        Over the step from t0 to t1 (displacement/h), or, if `instant`, at t1.
        """
        m = contacts.count
        owner, velocity = self.table.obstacle[contacts.shape[:m, 1]], np.zeros((m, 3))
        for o in self.moving:
            own = owner == o
            if not own.any():
                continue
            point = contacts.point[:m][own]
            if instant:
                velocity[own] = self.obstacle_velocity(o, point, time, t1)
            else:
                velocity[own] = self.obstacle_displacement(o, point, time, t0, t1) / (t1 - t0)
        return velocity

    def obstacle_velocity(self, obstacle: int, point: Array, time: float, at: float) -> Array:
        """Velocity at another time of the obstacle's material points that are at `point` (n, 3) at `time` [m/s]."""
        mover = self.obstacles[obstacle]
        p, p1, r, r1 = np.zeros(3), np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
        mover.place(time, p, r)
        mover.place(at, p1, r1)
        velocity, spin = mover.twist(at)
        return velocity + np.cross(spin, (point - p) @ r @ r1.T)


@compiled
def update_shape_poses(
    frame: IntArray, offset_position: Array, offset_rotation: Array, shifted: bool, second_frame: IntArray,
    frame_position: Array, frame_rotation: Array, position: Array, rotation: Array, end: Array,
) -> None:  # fmt: skip
    """Poses of the shapes that frames carry, and the far ends of edges; obstacles, on no frame, stay."""
    for s in range(len(frame)):
        f = frame[s]
        if f < 0:
            continue
        for i in range(3):
            position[s, i] = frame_position[f, i]
            for j in range(3):
                rotation[s, i, j] = frame_rotation[f, i, j]
        if shifted:
            for i in range(3):
                for j in range(3):
                    position[s, i] += frame_rotation[f, i, j] * offset_position[s, j]
                    turned = 0.0
                    for k in range(3):
                        turned += frame_rotation[f, i, k] * offset_rotation[s, k, j]
                    rotation[s, i, j] = turned
        for i in range(3):
            end[s, i] = frame_position[second_frame[s], i] if second_frame[s] >= 0 else position[s, i]


@compiled
def max_probe_displacement(
    frame_position: Array, frame_rotation: Array, radius: Array, before: Array, now: Array
) -> float:
    """Write the probe points (4·frames, 3) and return the largest distance of one from `before` [m].

    Probes move at least about as far as any point of a shape: each frame's origin, and three points
    around it at the radius of its shapes. The distance is nan where a pose is not finite.
    """
    worst, total = 0.0, 0.0
    for f in range(len(frame_position)):
        for p in range(4):
            square = 0.0
            for i in range(3):
                value = frame_position[f, i]
                if p:
                    value += radius[f] * frame_rotation[f, i, p - 1]
                now[4 * f + p, i] = value
                moved = value - before[4 * f + p, i]
                square += moved * moved
            total += square
            if square > worst:
                worst = square
    return math.sqrt(worst) if total < math.inf else math.nan


@compiled
def max_closing(before: Array, now: Array, normal: Array, all_around: bool) -> float:
    """How far two shapes came closer, or parted, at most, while probe points moved from `before` to `now` [m].

    What all points do alike changes no gap between bodies; what slides along a plane changes no gap to it:

        max(2·max_i |d_i − d̄|, max_{i,k} |n_k·d_i|, max_i |d_i| where other surfaces stand around)

    Args:
        before, now: shape (p, 3) [m].
        normal: n_k of fixed planes, shape (k, 3).
        all_around: whether there are fixed surfaces that are no planes.
    """
    count = len(now)
    mean = np.zeros(3)
    for p in range(count):
        for i in range(3):
            mean[i] += (now[p, i] - before[p, i]) / count
    own, apart, along = 0.0, 0.0, 0.0
    for p in range(count):
        square, other = 0.0, 0.0
        for i in range(3):
            moved = now[p, i] - before[p, i]
            square += moved * moved
            other += (moved - mean[i]) ** 2
        own, apart = max(own, square), max(apart, other)
        for k in range(len(normal)):
            onto = 0.0
            for i in range(3):
                onto += normal[k, i] * (now[p, i] - before[p, i])
            along = max(along, abs(onto))
    closing = max(2.0 * math.sqrt(apart), along)
    return max(closing, math.sqrt(own)) if all_around else closing
