"""Orthographic views of a replay, with an automatic azimuth that shows the motion.

A view has an orthonormal triad: right r, up w, and t from the scene to the viewer,

    t = (cos ε·cos α, cos ε·sin α, sin ε),   r = (−sin α, cos α, 0),   w = t × r           (1)

with azimuth α and elevation ε. The view plane has the coordinates (r·x, w·x) [m], so lengths in
the picture are lengths in the scene and a scale bar is exact.
"""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.roles.viewer import Replay
from corekit_view.frames import thin_outlines
from corekit_view.raster import rasterise
from corekit_view.scene import Bounds, Scene, Soup

__all__ = ["View", "Window", "automatic_azimuth", "automatic_view", "window"]

ELEVATION = 0.35
"""Of the camera where nothing else is given [rad]."""
PLANAR = frozenset({"half-plane", "circle", "ring", "polygon", "segments"})
HIDDEN = 1.15
"""By how much more of the bodies the view face on must show."""
CANDIDATES = 24
PROBE = 96
"""Pixels along a side of the small pictures for the score of candidates."""


@frozen(eq=False)
class View:
    """An orthographic view by (1).

    Args:
        azimuth, elevation: α, ε of the direction to the viewer [rad].
    """

    azimuth: float
    elevation: float

    @property
    def axes(self) -> Array:
        """Rows r, w, t, shape (3, 3)."""
        ca, sa = math.cos(self.azimuth), math.sin(self.azimuth)
        ce, se = math.cos(self.elevation), math.sin(self.elevation)
        return np.array([[-sa, ca, 0.0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]])

    def project(self, points: Array) -> Array:
        """Return coordinates in the view plane and towards the viewer [m], shape (..., 3)."""
        return points @ self.axes.T


@frozen(eq=False)
class Window:
    """A rectangle of the view plane [m]."""

    left: float
    right: float
    bottom: float
    top: float

    @property
    def width(self) -> float:
        """Width [m]."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Height [m]."""
        return self.top - self.bottom

    def pixels(self, projected: Array, width: int, height: int) -> Array:
        """Return pixel x (to the right), y (downwards) and depth [m] of projected points."""
        out = np.empty_like(projected)
        out[..., 0] = (projected[..., 0] - self.left) * (width / self.width)
        out[..., 1] = (self.top - projected[..., 1]) * (height / self.height)
        out[..., 2] = -projected[..., 2]
        return out


def window(view: View, box: Bounds, margin: float = 0.06) -> Window:
    """Return the rectangle around the scene with a margin and an aspect ratio of at most about 1 : 2."""
    flat, reach = view.project(box.points)[:, :2], box.radius[:, None]
    low, high = (flat - reach).min(axis=0), (flat + reach).max(axis=0)
    centre, half = 0.5 * (low + high), 0.5 * (high - low) + margin * float(np.max(high - low))
    half = np.maximum(np.maximum(half, half[::-1] * 0.55), 1e-9)
    return Window(centre[0] - half[0], centre[0] + half[0], centre[1] - half[1], centre[1] + half[1])


def automatic_view(
    replay: Replay, box: Bounds, frames: IntArray, azimuth: float | None, elevation: float | None
) -> View:
    """Return the view with given angles, or the best one.

    If neither is given, a plane in which all bodies stay is seen face on where all obstacles are planar shapes, or
    where they hide more of the bodies from the usual elevation.

    Args:
        replay, box, frames: as for `automatic_azimuth`.
        azimuth, elevation: α, ε [rad] or None.
    """
    usual = ELEVATION if elevation is None else elevation
    found = View(automatic_azimuth(replay, box, frames, usual) if azimuth is None else azimuth, usual)
    is_planar = {obstacle.shape.kind for obstacle in replay.obstacles} <= PLANAR
    given = azimuth is not None or elevation is not None or not replay.obstacles
    normal = None if given else _common_normal(replay, is_planar=is_planar)
    if normal is None:
        return found
    level = math.hypot(normal[0], normal[1]) > 1e-9
    # seen from straight above, the picture would have no upward direction
    up = float(np.clip(math.asin(np.clip(normal[2], -1.0, 1.0)), -1.5, 1.5))
    face_on = View(math.atan2(normal[1], normal[0]) if level else -0.5 * math.pi, up)
    if is_planar:
        return face_on
    scene = Scene(replay, box, sides=6, thinnest=0.015 * box.extent)
    soups = [scene.soup(int(frame)) for frame in frames[np.unique([0, len(frames) // 2, len(frames) - 1])]]
    return face_on if _shown(soups, face_on, box) > HIDDEN * _shown(soups, found, box) else found


def _shown(soups: list[Soup], view: View, box: Bounds) -> float:
    """Return the area of bodies that no obstacle hides, summed over frames [m²]."""
    frame = window(view, box)
    return sum(_body_pixels(soup, view, frame) for soup in soups) * frame.width * frame.height


def _common_normal(replay: Replay, *, is_planar: bool) -> Array | None:
    """Return the normal of a plane in which all bodies stay, towards a viewer who sees x to the right; None without."""
    places = np.concatenate([np.zeros((0, 3)), *(body.outline.reshape(-1, 3) for body in replay.bodies)])
    if len(places) < 3:
        return None
    _, size, axes = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)
    if size[2] > 1e-6 * size[0]:
        return None
    if is_planar:
        normals = np.concatenate([obstacle.rotation[:, :, 1] for obstacle in replay.obstacles])
        normal = normals[0]
        if np.abs(normals @ normal).min() < 1.0 - 1e-9 or np.ptp(places @ normal) > 1e-6 * size[0]:
            return None
    elif size[1] < 1e-3 * size[0]:  # a straight line lies in many planes
        return None
    else:
        normal = axes[2]
    leading = next(each for each in (-normal[1], normal[0], normal[2]) if abs(each) > 1e-9)
    return normal * np.sign(leading)


def automatic_azimuth(replay: Replay, box: Bounds, frames: IntArray, elevation: float) -> float:
    """Return the azimuth with the best view of bodies, motion and slopes of obstacles.

    The score of a candidate is the sum of
      - the picture area of bodies that no obstacle hides,
      - the projected motion of outline and shape points between `frames`,
      - the side view of slopes of half-spaces and boxes,
    each relative to the best candidate, and a small preference for the common three-quarter view.

    Args:
        replay: the run.
        box: bounds of the scene.
        frames: the key frames.
        elevation: elevation of the camera [rad].
    Returns:
        α in −π…π, a multiple of 15°.
    """
    longest = max([1, *(body.outline.shape[1] for body in replay.bodies)])
    replay = thin_outlines(replay, longest // 60)
    scene = Scene(replay, box, sides=6, thinnest=0.015 * box.extent)
    soups = [scene.soup(int(frame)) for frame in frames[np.unique([0, len(frames) // 2, len(frames) - 1])]]
    motion = _displacements(replay, frames)
    slopes = _slopes(replay)
    azimuths = 2.0 * np.pi * np.arange(CANDIDATES) / CANDIDATES - np.pi
    area, moved, side = np.zeros(CANDIDATES), np.zeros(CANDIDATES), np.zeros(CANDIDATES)
    for k, azimuth in enumerate(azimuths):
        view = View(float(azimuth), elevation)
        frame = window(view, box)
        area[k] = sum(_body_pixels(soup, view, frame) for soup in soups) * frame.width * frame.height
        moved[k] = np.linalg.norm(motion @ view.axes[:2].T, axis=1).sum()
        side[k] = np.abs(slopes @ view.axes[0]).sum()
    usual = np.cos(azimuths + np.pi / 3.0)
    # scores above 92 % count alike, which allows views that are not perpendicular to an axis
    shown = 0.6 * np.minimum(_relative(moved), 0.92) + 0.6 * np.minimum(_relative(side), 0.92)
    score = np.minimum(_relative(area), 0.92) + shown + 0.03 * usual
    return float(azimuths[int(np.argmax(score))])


def _body_pixels(soup: Soup, view: View, frame: Window) -> int:
    _, seen = rasterise(frame.pixels(view.project(soup.corners), PROBE, PROBE), PROBE, PROBE)
    return int(np.count_nonzero(soup.body[seen[seen >= 0]]))


def _displacements(replay: Replay, frames: IntArray) -> Array:
    """Return the displacements of points between successive frames [m], shape (n, 3)."""
    moves = [np.zeros((0, 3))]
    for body in replay.bodies:
        tracks = (body.outline[frames], body.shape_position[frames])
        moves.extend(np.diff(points, axis=0).reshape(-1, 3) for points in tracks)
    return np.concatenate(moves)


def _slopes(replay: Replay) -> Array:
    """Return the horizontal parts of the initial normals of tilted half-spaces and box faces, (n, 3)."""
    found = [np.zeros(3)]
    for obstacle in replay.obstacles:
        rotation = obstacle.rotation[0]
        if obstacle.shape.kind == "half-space":
            normals = rotation[:, 2:].T
        elif obstacle.shape.kind == "box":
            normals = rotation.T
        else:
            continue
        upward = normals[int(np.argmax(np.abs(normals[:, 2])))]
        if abs(upward[2]) < 1.0 - 1e-6:
            found.append(upward * [1.0, 1.0, 0.0])
    return np.array(found)


def _relative(score: Array) -> Array:
    best = float(score.max())
    return score / best if best > 0 else score
