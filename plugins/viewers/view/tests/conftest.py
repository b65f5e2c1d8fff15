"""Replays with known geometry, without simulation."""

import numpy as np
import pytest

from corekit.data.contacts import ContactMode
from corekit.geometry.frames import rotation_from_rpy
from corekit.geometry.shapes import Shape
from corekit.roles.viewer import BodyTrack, ContactTrack, ObstacleTrack, Replay

TILT = np.pi / 4
BOX = (0.2, 0.2, 0.05)
BOX_CENTRE = np.array([0.0, 0.2, -0.3])
RADIUS = 0.025


def no_contacts() -> ContactTrack:
    return ContactTrack(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, dtype=np.int64))


def arc(curvature, length, points, base):
    """Return a constant-curvature arc that hangs from `base` and bends towards +y, with its tangents."""
    s = np.linspace(0.0, length, points)
    angle = curvature * s
    small = abs(curvature) < 1e-9
    y = np.zeros_like(s) if small else (1.0 - np.cos(angle)) / curvature
    z = -s if small else -np.sin(angle) / curvature
    tangent = np.stack([np.zeros_like(s), np.sin(angle), -np.cos(angle)], axis=1)
    return base + np.stack([np.zeros_like(s), y, z], axis=1), tangent


def disk_rotation(tangent):
    first = np.array([1.0, 0.0, 0.0])
    return np.stack([first, np.cross(tangent, first), tangent], axis=1)


def arm_over_box(frames=60, points=41, disks=10, contacts=True):
    """An arm that uncurls over a box tilted by 45° and finally lies on its upper face."""
    time = np.linspace(0.0, 2.0, frames)
    base = np.array([0.0, 0.25, 0.12])
    rotation = rotation_from_rpy([TILT, 0.0, 0.0])
    normal, along = rotation[:, 2], rotation[:, 1]
    outer = 1.35 * RADIUS
    outline = np.zeros((frames, points, 3))
    position, rotations = np.zeros((frames, disks, 3)), np.zeros((frames, disks, 3, 3))
    carriers = np.linspace(points // disks, points - 1, disks).round().astype(int)
    tracks = []
    for k, t in enumerate(time):
        bend = -4.5 + 3.7 * (0.5 - 0.5 * np.cos(np.pi * min(t / 1.7, 1.0)))
        line, _ = arc(bend, 0.6, points, base)
        depth = (line - BOX_CENTRE) @ normal - BOX[2] - outer
        over = (np.abs((line - BOX_CENTRE) @ along) < BOX[1]) & (depth < 0)
        line = line - np.where(over, depth, 0.0)[:, None] * normal
        tangent = np.gradient(line, axis=0)
        tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
        outline[k], position[k] = line, line[carriers]
        rotations[k] = [disk_rotation(v) for v in tangent[carriers]]
        touching = carriers[over[carriers]] if contacts else np.zeros(0, dtype=int)
        push = np.clip(-depth[touching], 0.002, 0.05) * 60.0
        slides = touching > 0.72 * points
        force = push[:, None] * (normal + np.where(slides, 0.5, 0.1)[:, None] * along)
        mode = np.where(slides, ContactMode.SLIDE, ContactMode.STICK).astype(np.int64)
        tracks.append(ContactTrack(line[touching] - outer * normal, force, mode))
    shape = Shape("cylinder", (outer, 0.004))
    body = BodyTrack(
        "arm",
        outline,
        np.full(points, 0.8 * RADIUS),
        np.zeros(1, dtype=np.int64),
        (shape,) * disks,
        position,
        rotations,
    )
    box = ObstacleTrack(
        "box", Shape("box", BOX), np.tile(BOX_CENTRE, (frames, 1)), np.tile(rotation, (frames, 1, 1))
    )
    return Replay("arm-on-inclined-box", time, (body,), (box,), tuple(tracks))


def fallen_bodies(count=8, frames=5):
    """Crossed rods above inclined ground, with obstacles of every kind."""
    time = np.linspace(0.0, 1.0, frames)
    ground = rotation_from_rpy([0.15, 0.0, 0.0])
    bodies = []
    for i in range(count):
        angle = np.pi * i / count
        along = np.linspace(-0.4, 0.4, 15)
        rest = np.stack(
            [along * np.cos(angle), along * np.sin(angle), 0.12 + 0.03 * i + 0.1 * along**2], axis=1
        )
        outline = rest + 0.3 * (1.0 - time)[:, None, None] * np.array([0.0, 0.0, 1.0])
        shape = Shape("sphere", (0.03,)) if i % 2 else Shape("capsule", (0.025, 0.04))
        ends = outline[:, [0, -1]]
        turned = np.tile(rotation_from_rpy([np.pi / 2, 0.0, angle + np.pi / 2]), (frames, 2, 1, 1))
        starts = np.zeros(1, dtype=np.int64)
        bodies.append(
            BodyTrack(f"rod {i}", outline, np.full(15, 0.012), starts, (shape, shape), ends, turned)
        )
    corner = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.07
    octahedron = 0.1 * np.concatenate([np.eye(3), -np.eye(3)])
    soup = np.array([[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0.05], [0.2, 0, 0], [0.2, 0.2, 0.05], [0, 0.2, 0.05]])
    kinds = [
        (Shape("half-space", ()), [0, 0, 0], ground),
        (Shape("sphere", (0.09,)), [0.3, -0.3, 0.05], np.eye(3)),
        (Shape("capsule", (0.05, 0.1)), [-0.35, -0.3, 0.06], rotation_from_rpy([0, np.pi / 2, 0.5])),
        (Shape("cylinder", (0.06, 0.1)), [-0.4, 0.3, 0.15], np.eye(3)),
        (Shape("polytope", (), vertices=octahedron), [0.4, 0.35, 0.15], np.eye(3)),
        (Shape("mesh", (), vertices=soup), [0.1, -0.6, 0.05], np.eye(3)),
        (Shape("polytope", (), vertices=corner), [0.0, 0.5, 0.16], rotation_from_rpy([0.2, 0.3, 0.4])),
    ]
    obstacles = tuple(
        ObstacleTrack(
            f"{shape.kind} {i}",
            shape,
            np.tile(np.array(at, dtype=float), (frames, 1)),
            np.tile(turn, (frames, 1, 1)),
        )
        for i, (shape, at, turn) in enumerate(kinds)
    )
    return Replay("fallen bodies", time, tuple(bodies), obstacles, tuple(no_contacts() for _ in time))


def planar_rod(frames=50, points=60, radius=0.0015):
    """A thin rod that swings in the x–z plane above level ground."""
    time = np.linspace(0.0, 3.0, frames)
    angle = 0.9 * np.cos(2.0 * time)
    s = np.linspace(0.0, 0.8, points)
    bend = angle[:, None] * (1.0 + 0.5 * s)
    step = np.diff(s, prepend=0.0)
    outline = np.stack(
        [np.cumsum(np.sin(bend) * step, 1), np.zeros_like(bend), 1.0 - np.cumsum(np.cos(bend) * step, 1)], 2
    )
    empty = (np.zeros((frames, 0, 3)), np.zeros((frames, 0, 3, 3)))
    body = BodyTrack("rod", outline, np.full(points, radius), np.zeros(1, dtype=np.int64), (), *empty)
    still = (np.zeros((frames, 3)), np.tile(np.eye(3), (frames, 1, 1)))
    ground = ObstacleTrack("floor", Shape("half-space", ()), *still)
    return Replay("swinging rod", time, (body,), (ground,), tuple(no_contacts() for _ in time))


@pytest.fixture(name="arm_over_box", scope="session")
def _arm_over_box():
    return arm_over_box


@pytest.fixture(name="fallen_bodies", scope="session")
def _fallen_bodies():
    return fallen_bodies


@pytest.fixture(name="planar_rod", scope="session")
def _planar_rod():
    return planar_rod
