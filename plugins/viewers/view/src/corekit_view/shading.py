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
OUTLINE = 0.42
"""What an outline multiplies the colour with."""


def picture(soup: Soup, view: View, frame: Window, width: int, height: int) -> Array:
    """The frame's picture on white, red green blue in 0…1, shape (height, width, 3)."""
    w, h = SUPERSAMPLES * width, SUPERSAMPLES * height
    image = np.ones((h * w, 3))
    if len(soup.corners):
        projected = view.project(soup.corners)
        pixels = frame.pixels(projected, w, h)
        scale = frame.width / w
        pixels[:, :, 2] += 1.5 * scale * soup.behind[:, None]
        shown = np.flatnonzero(~soup.closed | (_signed_area(pixels) < 0.0))
        depth, seen = rasterise(pixels[shown], w, h)
        seen = np.where(seen >= 0, shown[seen], -1) if len(shown) else seen
        at = np.flatnonzero(seen >= 0)
        face = seen.ravel()[at]
        weight = barycentric(pixels[face], (at % w).astype(float) + 0.5, (at // w).astype(float) + 0.5)
        image[at] = _lit(soup, view, projected, face, weight)
        normal = np.zeros((h * w, 3))
        normal[at] = np.einsum("ni,nij->nj", weight, soup.normals[face])
        lines = _outlines(depth, normal.reshape(h, w, 3), seen, soup.owner, scale)
        image[lines.ravel()] *= OUTLINE
    return image.reshape(height, SUPERSAMPLES, width, SUPERSAMPLES, 3).mean(axis=(1, 3))


def _signed_area(corners: Array) -> Array:
    """Twice the area of triangles in x, y; negative where y runs downwards and the outer side is seen."""
    ab, ac = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]


def _lit(soup: Soup, view: View, projected: Array, face: IntArray, weight: Array) -> Array:
    """Colours of seen points: half-Lambert light from the viewer's upper left, a sky, a faint gloss.

        colour·(ambient + key·shadow·((1 + n·l)/2)² + sky·(1 + n_z)/2 + lamp·n·t) + gloss·(n·half)⁴⁰     (1)

    with t towards the viewer.
    """
    right, up, toward = view.axes
    light = -0.45 * right + 0.60 * up + 0.80 * toward
    light[2] = max(light[2], 0.35)  # never from below: shadows fall on the ground
    light /= np.linalg.norm(light)
    normal = np.einsum("ni,nij->nj", weight, soup.normals[face])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    normal[normal @ toward < 0.0] *= -1.0  # an open surface shows its back
    colour = np.einsum("ni,nij->nj", weight, soup.colours[face])
    point = np.einsum("ni,nij->nj", weight, projected[face]) @ view.axes
    lambert = normal @ light
    shadow = _shadow(soup, light, point, lambert)
    half = light + toward
    half /= np.linalg.norm(half)
    on_body = soup.body[face]
    key = (0.5 + 0.5 * lambert) ** 2 * (1.0 - np.where(on_body, 0.35, 0.55) * shadow)
    facing = np.clip(normal @ toward, 0.0, 1.0)
    shade = 0.36 + 0.50 * key + 0.12 * (0.5 + 0.5 * normal[:, 2]) + 0.14 * facing
    gloss = 0.16 * np.clip(normal @ half, 0.0, 1.0) ** 40 * (1.0 - shadow) * on_body
    flat = soup.owner[face] < 0
    # the fading ground keeps its own colour, so that its rim melts into the paper
    shade = np.where(flat, 1.0 - 0.30 * shadow, shade)
    return np.clip(colour * shade[:, None] + gloss[:, None], 0.0, 1.0)


def _shadow(soup: Soup, light: Array, point: Array, lambert: Array) -> Array:
    """How much of the light is kept off each point, 0…1, from a depth buffer seen by the light."""
    casts = soup.owner >= 0
    if not casts.any():
        return np.zeros(len(point))
    first = np.cross(light, [0.0, 0.0, 1.0] if abs(light[2]) < 0.9 else [1.0, 0.0, 0.0])
    first /= np.linalg.norm(first)
    axes = np.stack([first, np.cross(light, first), -light])
    corners = soup.corners[casts] @ axes.T
    corners = corners[~soup.closed[casts] | (_signed_area(corners) < 0.0)]
    low = corners[:, :, :2].min(axis=(0, 1))
    size = float(np.max(corners[:, :, :2].max(axis=(0, 1)) - low)) or 1.0
    texel = size / SHADOW_PIXELS
    corners[:, :, :2] = (corners[:, :, :2] - low) / texel
    depth, _ = rasterise(corners, SHADOW_PIXELS, SHADOW_PIXELS)
    padded = np.pad(depth, BORDER, constant_values=np.inf)
    there = point @ axes.T
    texels = np.floor((there[:, :2] - low) / texel).astype(np.int64)
    column, row = np.moveaxis(np.clip(texels, -3, SHADOW_PIXELS + 2) + BORDER, 1, 0)
    slack = texel * (2.5 + 4.0 * (1.0 - np.clip(lambert, 0.0, 1.0)))
    hidden = np.zeros(len(point))
    for down in (-2, 0, 2):
        for across in (-2, 0, 2):
            hidden += padded[row + down, column + across] < there[:, 2] - slack
    # a surface turned away from the light is dark already
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
