"""Shading of the visible triangles: soft directional light, shadows and outlines."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit_view.camera import View, Window
from corekit_view.raster import barycentric, rasterise
from corekit_view.scene import Soup

__all__ = ["picture"]

SUPERSAMPLES = 2
NOTHING = -2
"""Owner of an empty sample."""
SHADOW_PIXELS = 800
BORDER = 5
"""Empty texels around the shadow map, for points outside it."""
BLOCK = 100_000
"""Pixels per batch; fits into the processor's cache."""
OUTLINE = 0.42
"""Factor of an outline on the colour."""


def picture(soup: Soup, view: View, frame: Window, width: int, height: int) -> Array:
    """Return the picture of a frame on white, red green blue in 0…1, shape (height, width, 3).

    Every pixel has 2 × 2 samples. If all four show the same object without an outline, only one is shaded; otherwise
    all are. This smooths borders at little additional cost.
    """
    w, h = SUPERSAMPLES * width, SUPERSAMPLES * height
    if not len(soup.corners):
        return np.ones((height, width, 3))
    pixels = frame.pixels(view.project(soup.corners), w, h)
    scale = frame.width / w
    pixels[:, :, 2] += 1.5 * scale * soup.behind[:, None]
    shown = np.flatnonzero(~soup.closed | (_signed_area(pixels) < 0.0))
    depth, found = rasterise(pixels[shown], w, h)
    # −1, no triangle, is the last entry
    seen = np.append(shown, -1)[found]
    number = np.append(soup.owner, NOTHING)[seen]
    lines = _outlines(depth, seen, number, _facing(soup.corners), scale)

    mixed = _mixed(number, lines)
    corner = SUPERSAMPLES * np.arange(width) + SUPERSAMPLES * w * np.arange(height)[:, None]
    inside = (np.arange(SUPERSAMPLES) + w * np.arange(SUPERSAMPLES)[:, None]).ravel()
    plain = ~mixed & (seen[::SUPERSAMPLES, ::SUPERSAMPLES] >= 0)
    at = np.concatenate([corner[plain], (corner[mixed][:, None] + inside).ravel()])
    lit = np.ones((len(at), 3))
    light = _light(view)
    shadows = _ShadowMap(soup, light)
    something = np.flatnonzero(seen.ravel()[at] >= 0)
    for part in np.array_split(something, 1 + len(something) // BLOCK):
        place = at[part]
        face = seen.ravel()[place]
        x, y = (place % w).astype(float) + 0.5, (place // w).astype(float) + 0.5
        weight = barycentric(pixels[face, :, :2], x, y)
        normal = np.einsum("ni,nij->nj", weight, soup.normals[face])
        colour = np.einsum("ni,nij->nj", weight, soup.colours[face])
        plane = np.stack([frame.left + x * scale, frame.top - y * scale, -depth.ravel()[place]], axis=1)
        lit[part] = _lit(colour, normal, plane @ view.axes, soup, face, view, light, shadows)
    lit[lines.ravel()[at]] *= OUTLINE
    alone = int(np.count_nonzero(plain))
    image = np.ones((height, width, 3))
    image[plain] = lit[:alone]
    image[mixed] = lit[alone:].reshape(-1, len(inside), 3).mean(axis=1)
    return image


def _mixed(number: IntArray, lines: BoolArray) -> BoolArray:
    """Return the pixels with different owners or an outline in their samples."""
    first = number[::SUPERSAMPLES, ::SUPERSAMPLES]
    mixed = np.zeros(first.shape, dtype=bool)
    for down in range(SUPERSAMPLES):
        for across in range(SUPERSAMPLES):
            mixed |= number[down::SUPERSAMPLES, across::SUPERSAMPLES] != first
            mixed |= lines[down::SUPERSAMPLES, across::SUPERSAMPLES]
    return mixed


def _facing(corners: Array) -> Array:
    """Return unit normals of the faces, zero for faces without area, shape (m, 3)."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return normal / np.where(length > 0.0, length, 1.0)


def _signed_area(corners: Array) -> Array:
    """Return twice the signed area of triangles in x, y; negative for a visible outer side, as y is downwards."""
    ab, ac = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]


def _light(view: View) -> Array:
    """Return the unit vector to the light: upper left of the viewer, never below, so that shadows fall down."""
    right, up, toward = view.axes
    light = -0.45 * right + 0.60 * up + 0.80 * toward
    light[2] = max(light[2], 0.35)
    return light / np.linalg.norm(light)


def _lit(
    colour: Array,
    normal: Array,
    point: Array,
    soup: Soup,
    face: IntArray,
    view: View,
    light: Array,
    shadows: _ShadowMap,
) -> Array:
    """Return colours of visible points: half-Lambert light, sky, a lamp at the viewer, and a faint gloss.

        colour·(ambient + key·shadow·((1 + n·l)/2)² + sky·(1 + n_z)/2 + lamp·n·t) + gloss·(n·half)⁴⁰     (1)

    with t towards the viewer and l to the light. The ground keeps its colour, so that its rim fades into the paper.
    """
    toward = view.axes[2]
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    normal[normal @ toward < 0.0] *= -1.0  # the back of an open surface is visible
    lambert = normal @ light
    shadow = shadows.shadow_at(point, lambert)
    half = light + toward
    half /= np.linalg.norm(half)
    on_body = soup.body[face]
    key = (0.5 + 0.5 * lambert) ** 2 * (1.0 - np.where(on_body, 0.35, 0.55) * shadow)
    facing = np.clip(normal @ toward, 0.0, 1.0)
    shade = 0.36 + 0.50 * key + 0.12 * (0.5 + 0.5 * normal[:, 2]) + 0.14 * facing
    shade = np.where(soup.owner[face] < 0, 1.0 - 0.30 * shadow, shade)
    gloss = 0.16 * np.clip(normal @ half, 0.0, 1.0) ** 40 * (1.0 - shadow) * on_body
    return np.clip(colour * shade[:, None] + gloss[:, None], 0.0, 1.0)


class _ShadowMap:
    """Depth buffer of the light, sampled at nine texels around a point for soft shadows.

    Args:
        soup: triangles that cast shadows.
        light: unit vector to the light.
    """

    def __init__(self, soup: Soup, light: Array) -> None:
        first = np.cross(light, [0.0, 0.0, 1.0] if abs(light[2]) < 0.9 else [1.0, 0.0, 0.0])
        first /= np.linalg.norm(first)
        self._axes = np.stack([first, np.cross(light, first), -light])
        corners = soup.corners @ self._axes.T
        corners = corners[(soup.owner >= 0) & (~soup.closed | (_signed_area(corners) < 0.0))]
        flat = corners[:, :, :2]
        self._low = flat.min(axis=(0, 1), initial=np.inf) if len(flat) else np.zeros(2)
        size = float(np.max(flat.max(axis=(0, 1), initial=-np.inf) - self._low)) if len(flat) else 1.0
        self._texel = max(size, 1e-12) / SHADOW_PIXELS
        corners[:, :, :2] = (flat - self._low) / self._texel
        depth, _ = rasterise(corners, SHADOW_PIXELS, SHADOW_PIXELS)
        self._depth = np.pad(depth, BORDER, constant_values=np.inf)

    def shadow_at(self, point: Array, lambert: Array) -> Array:
        """Return the shadow at points [m], 0…1; 0 on surfaces that face away from the light."""
        there = point @ self._axes.T
        texels = np.floor((there[:, :2] - self._low) / self._texel).astype(np.int64)
        texels = np.clip(texels, -3, SHADOW_PIXELS + 2) + BORDER
        pixel = texels[:, 1] * self._depth.shape[1] + texels[:, 0]
        reached = there[:, 2] - self._texel * (2.5 + 4.0 * (1.0 - np.clip(lambert, 0.0, 1.0)))
        depth = self._depth.ravel()
        hidden = np.zeros(len(point))
        for down in (-2, 0, 2):
            for across in (-2, 0, 2):
                hidden += depth[pixel + (down * self._depth.shape[1] + across)] < reached
        return hidden / 9.0 * np.clip(4.0 * lambert + 0.4, 0.0, 1.0)


def _outlines(depth: Array, seen: IntArray, number: IntArray, facing: Array, scale: float) -> BoolArray:
    """Return the samples on borders and creases of objects, and at jumps in depth.

    Args:
        depth, seen, number: depth [m], face and owner of each sample.
        facing: normals of the faces.
        scale: size of a sample [m].
    """
    lines = np.zeros(depth.shape, dtype=bool)
    flat, depths, faces, things = lines.ravel(), depth.ravel(), seen.ravel(), number.ravel()
    index = np.arange(depth.size).reshape(depth.shape)
    for step, inner in ((depth.shape[1], index[:-1]), (1, index[:, :-1])):
        # two samples of one face have no outline between them
        a = inner[(seen[:-1] != seen[1:]) if step > 1 else (seen[:, :-1] != seen[:, 1:])]
        b = a + step
        differs = things[a] != things[b]
        with np.errstate(invalid="ignore"):
            jump = np.abs(depths[a] - depths[b]) > 14.0 * scale
        bent = np.einsum("ij,ij->i", facing[faces[a]], facing[faces[b]]) < 0.72
        crease = ~differs & (things[a] >= 0) & (bent | jump)
        nearer = depths[a] <= depths[b]
        flat[a] |= crease | (differs & nearer & (things[a] >= 0))
        flat[b] |= differs & ~nearer & (things[b] >= 0)
    return lines
