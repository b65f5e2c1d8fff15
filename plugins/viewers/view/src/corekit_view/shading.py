"""Light on what the depth buffer sees: soft directional light, cast shadows, drawn outlines."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit_view.camera import View, Window
from corekit_view.raster import barycentric, rasterise
from corekit_view.scene import Soup

__all__ = ["picture"]

SUPERSAMPLES = 2
SHADOW_PIXELS = 800
BORDER = 5
"""Empty texels about the shadow map: where points outside it look."""
BLOCK = 100_000
"""Pixels shaded at once: small enough for the processor's cache."""
OUTLINE = 0.42
"""What an outline multiplies the colour with."""


def picture(soup: Soup, view: View, frame: Window, width: int, height: int) -> Array:
    """The frame's picture on white, red green blue in 0…1, shape (height, width, 3)."""
    w, h = SUPERSAMPLES * width, SUPERSAMPLES * height
    image = np.ones((h * w, 3))
    if len(soup.corners):
        pixels = frame.pixels(view.project(soup.corners), w, h)
        scale = frame.width / w
        pixels[:, :, 2] += 1.5 * scale * soup.behind[:, None]
        shown = np.flatnonzero(~soup.closed | (_signed_area(pixels) < 0.0))
        depth, seen = rasterise(pixels[shown], w, h)
        seen = np.where(seen >= 0, shown[seen], -1) if len(shown) else seen
        light = _light(view)
        shadows = _ShadowMap(soup, light)
        normal = np.zeros((h * w, 3))
        everything = np.flatnonzero(seen >= 0)
        for at in np.array_split(everything, 1 + len(everything) // BLOCK):
            face = seen.ravel()[at]
            x, y = (at % w).astype(float) + 0.5, (at // w).astype(float) + 0.5
            weight = barycentric(pixels[face, :, :2], x, y)
            normal[at] = np.einsum("ni,nij->nj", weight, soup.normals[face])
            colour = np.einsum("ni,nij->nj", weight, soup.colours[face])
            plane = np.stack([frame.left + x * scale, frame.top - y * scale, -depth.ravel()[at]], axis=1)
            image[at] = _lit(colour, normal[at], plane @ view.axes, soup, face, view, light, shadows)
        lines = _outlines(depth, normal.reshape(h, w, 3), seen, soup.owner, scale)
        image[lines.ravel()] *= OUTLINE
    return image.reshape(height, SUPERSAMPLES, width, SUPERSAMPLES, 3).mean(axis=(1, 3))


def _signed_area(corners: Array) -> Array:
    """Twice the area of triangles in x, y; negative where y runs downwards and the outer side is seen."""
    ab, ac = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]


def _light(view: View) -> Array:
    """Unit vector to the light: from the viewer's upper left, never from below, so that shadows fall."""
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
    """Colours of seen points: half-Lambert light, a sky, a lamp at the viewer, a faint gloss.

        colour·(ambient + key·shadow·((1 + n·l)/2)² + sky·(1 + n_z)/2 + lamp·n·t) + gloss·(n·half)⁴⁰     (1)

    with t towards the viewer, l to the light. The fading ground keeps its own colour, so that its rim
    melts into the paper.
    """
    toward = view.axes[2]
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    normal[normal @ toward < 0.0] *= -1.0  # an open surface shows its back
    lambert = normal @ light
    shadow = shadows.at(point, lambert)
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
    """What the light sees: a depth buffer, asked at nine texels about a point for a soft rim.

    Args:
        soup: what casts shadows. light: unit vector to the light.
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

    def at(self, point: Array, lambert: Array) -> Array:
        """How much of the light is kept off points [m], 0…1; 0 where a surface is turned away and dark already."""
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


def _outlines(depth: Array, normal: Array, seen: IntArray, owner: IntArray, scale: float) -> BoolArray:
    """Pixels on the border of a thing, on its creases, and where it passes in front of itself."""
    number = np.where(seen >= 0, owner[seen], -1)
    lines = np.zeros(depth.shape, dtype=bool)
    for axis in (0, 1):
        a: tuple[slice, ...] = (slice(None, -1), slice(None)) if axis == 0 else (slice(None), slice(None, -1))
        b: tuple[slice, ...] = (slice(1, None), slice(None)) if axis == 0 else (slice(None), slice(1, None))
        with np.errstate(invalid="ignore"):
            jump = np.abs(depth[a] - depth[b]) > 14.0 * scale
        differs = number[a] != number[b]
        cos = np.einsum("ijk,ijk->ij", normal[a], normal[b])
        crease = ~differs & (number[a] >= 0) & ((cos < 0.72) | jump)
        nearer = depth[a] <= depth[b]
        lines[a] |= crease | (differs & nearer & (number[a] >= 0))
        lines[b] |= differs & ~nearer & (number[b] >= 0)
    return lines
