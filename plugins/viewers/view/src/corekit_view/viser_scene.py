"""viser's scene: local server, camera, lamps, and instances."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from corekit.data.arrays import Array
from corekit_view.batches import Batch
from corekit_view.camera import View
from corekit_view.local_pages import refuse_foreign_pages
from corekit_view.normals import split_at_creases
from corekit_view.scene import Bounds

if TYPE_CHECKING:
    import viser

__all__ = ["add_instances", "light", "linear_bytes", "move_instances", "quiet_server", "set_camera"]

FIELD_OF_VIEW = math.radians(40.0)
ASPECT = 1.2
"""Aspect ratio that contains the scene; windows are rarely narrower."""


@contextlib.contextmanager
def quiet_server(port: int = 0, label: str | None = None) -> Iterator[viser.ViserServer]:
    """Yield a silent local viser server and stop it at the end; port 0 means any free port."""
    import viser

    with contextlib.redirect_stdout(io.StringIO()), refuse_foreign_pages():
        server = viser.ViserServer(host="127.0.0.1", port=port, label=label, verbose=False)
    try:
        yield server
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def set_camera(server: viser.ViserServer, view: View, box: Bounds) -> None:
    """Set the first camera to show the complete scene.

    With d the camera's distance to its target c and r, w, t as in `camera`, a point p is inside a picture of half
    angles φ (vertical) and ψ (horizontal) if

        d ≥ t·(p − c) + |w·(p − c)|/tan φ   and the same with r and ψ                      (1)
    """
    toward = view.axes[2]
    low, high = view.project(box.points).min(axis=0), view.project(box.points).max(axis=0)
    target = 0.5 * (low + high) @ view.axes
    away = np.abs((box.points - target) @ view.axes.T) + box.radius[:, None]
    tangent = math.tan(0.5 * FIELD_OF_VIEW)
    needed = (
        np.maximum(away[:, 1] / tangent, away[:, 0] / (tangent * ASPECT)) + (box.points - target) @ toward
    )
    distance = 1.12 * float(needed.max())
    camera = server.initial_camera
    camera.fov = FIELD_OF_VIEW
    camera.near, camera.far = 1e-2 * distance, 100.0 * distance
    camera.up = (0.0, 0.0, 1.0)
    camera.look_at = target
    camera.position = target + distance * toward


def light(server: viser.ViserServer, view: View) -> None:
    """Add ambient light, light from above, and two lamps beside the first camera.

    No lamp casts shadows: the browser's shadow maps are too coarse for small robots.
    """
    right, up, toward = view.axes
    scene = server.scene
    scene.configure_environment_map(hdri=None)
    scene.configure_default_lights(enabled=False)
    scene.add_light_ambient("/light/ambient", intensity=0.8)
    scene.add_light_hemisphere(
        "/light/sky", sky_color=(255, 255, 255), ground_color=(190, 185, 178), intensity=0.9
    )
    for name, direction, intensity in (
        ("left", -0.6 * right + 0.8 * up + toward, 1.9),
        ("right", right + 0.2 * up, 0.5),
    ):
        scene.add_light_directional(
            f"/light/{name}", intensity=intensity, position=tuple(direction), cast_shadow=False
        )


def add_instances(server: viser.ViserServer, batch: Batch) -> viser.BatchedMeshHandle:
    """Add a batch to the scene, in its first frame."""
    mesh = split_at_creases(batch.mesh)
    return server.scene.add_batched_meshes_simple(
        batch.name,
        vertices=mesh.vertices,
        faces=mesh.faces,
        batched_wxyzs=batch.quat_wxyz[0],
        batched_positions=batch.position[0],
        batched_scales=batch.scale[0],
        batched_colors=linear_bytes(batch.colour),
        lod="off",
        opacity=batch.opacity if batch.opacity < 1.0 else None,
        side="front" if mesh.closed else "double",
        cast_shadow=False,
        receive_shadow=False,
    )


def move_instances(handle: viser.BatchedMeshHandle, batch: Batch, frame: int) -> None:
    """Move the instances to a frame; viser sends only changes."""
    handle.batched_positions = batch.position[frame]
    handle.batched_wxyzs = batch.quat_wxyz[frame]
    handle.batched_scales = batch.scale[frame]


def linear_bytes(colour: Array) -> tuple[int, int, int]:
    """Return an sRGB colour as linear light, which viser expects for instances (not for other meshes).

        c_linear = c/12.92 up to 0.04045,   ((c + 0.055)/1.055)^2.4 above                  (1)

    Source: IEC 61966-2-1 (sRGB).
    """
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    red, green, blue = (round(255 * float(part)) for part in linear)
    return red, green, blue
