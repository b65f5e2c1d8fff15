"""Made-up replays whose geometry is known: nothing is simulated."""

import numpy as np

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
    """A constant-curvature arc that hangs from `base` and bends towards +y, with its tangents."""
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
    """An arm that uncurls over a box tilted by 45° and comes to lie along its upper face."""
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
        "arm", outline, np.full(points, 0.8 * RADIUS), np.zeros(1, dtype=np.int64), (shape,) * disks, position, rotations
    )
    box = ObstacleTrack("box", Shape("box", BOX), np.tile(BOX_CENTRE, (frames, 1)), np.tile(rotation, (frames, 1, 1)))
    return Replay("arm-on-inclined-box", time, (body,), (box,), tuple(tracks))
