"""The viser viewer: a replay as one stand-alone web page with a time slider."""

from __future__ import annotations

import contextlib
import html
import io
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.roles.component import BuildContext, Memory
from corekit.roles.viewer import Replay, Viewer
from corekit_view.batches import Batch, batches
from corekit_view.camera import View, automatic_azimuth
from corekit_view.config import PageConfig
from corekit_view.contacts import arrow_scale, counts
from corekit_view.frames import coarser, drawable, key_frames, thinned
from corekit_view.normals import split_at_creases
from corekit_view.output import check_suffix, require_module, write_whole
from corekit_view.palette import INK, MODES, body_colour, hexadecimal
from corekit_view.scene import Bounds, bounds

if TYPE_CHECKING:
    import viser

__all__ = ["ViserViewer"]

FIELD_OF_VIEW = math.radians(40.0)
ASPECT = 1.2
"""Width over height that the scene fits into; a window is rarely narrower."""
PLAYER_MEGABYTES = 0.9
"""What the page's own program weighs."""
MEGABYTES_A_POINT = 3.6e-5
"""What one outline point in one frame adds to a page: measured on rods that shake in all directions."""
LEAST_FRAMES = 50


@final
class ViserViewer(Viewer):
    """A replay that opens in any browser from a single file, without a server or a network.

    viser's scene server records the messages it would send; it listens on a free local port chosen
    by the system for the moment of the recording and is stopped before the file is written.

    Args:
        config: options. context: not needed.
    Raises:
        PluginError: if viser is not installed.
    """

    def __init__(self, config: PageConfig, context: BuildContext | None = None) -> None:
        require_module("viser", "viser")
        self._config = config
        self._context = context or BuildContext()

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Only `.html`."""
        return (".html",)

    def memory(self) -> Memory:
        """Nothing is remembered."""
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Nothing is remembered."""

    def render(self, replay: Replay, path: Path) -> None:
        """Write the page.

        Raises:
            ResultsError: if nothing can be drawn or the file cannot be written; no part of it is left.
        """
        path = Path(path)
        check_suffix(path, self.suffixes, "viser")
        page = self._page(drawable(replay))

        def write(part: Path) -> None:
            part.write_text(page, encoding="utf-8")

        write_whole(path, write)

    def _page(self, replay: Replay) -> str:
        config = self._config
        box = bounds(replay)
        scale = arrow_scale(replay, box.extent, config.force_scale)
        azimuth = config.azimuth
        if azimuth is None:
            azimuth = automatic_azimuth(replay, box, key_frames(replay, 6), config.elevation)
        replay = economical(replay, config.frames, config.megabytes)
        things = [settled(batch, box.extent) for batch in batches(replay, box, scale, 0.003 * box.extent)]
        with recording_server() as server:
            aim(server, View(azimuth, config.elevation), box)
            light(server, View(azimuth, config.elevation))
            page = record(server, things, replay.time, config.speed)
        return with_legend(page, replay)


@contextlib.contextmanager
def recording_server() -> Iterator[viser.ViserServer]:
    """A viser server on a free port of this machine alone, silent, and stopped at the end."""
    import viser

    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
        try:
            yield server
        finally:
            server.stop()


def aim(server: viser.ViserServer, view: View, box: Bounds) -> None:
    """Put the first camera where the whole scene is seen.

    A point p is in a picture of half angles φ (up) and ψ (across) if, with d the camera's distance to
    its target c and r, w, t as in `camera`,

        d ≥ t·(p − c) + |w·(p − c)|/tan φ   and the same with r and ψ                      (1)
    """
    toward = view.axes[2]
    low, high = view.project(box.points).min(axis=0), view.project(box.points).max(axis=0)
    target = 0.5 * (low + high) @ view.axes
    away = np.abs((box.points - target) @ view.axes.T) + box.reach[:, None]
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
    """Even light from all around, more from above, and two lamps at the first camera's shoulders.

    No lamp casts shadows: the browser's shadow maps are made for rooms, not for arms of a hand's length.
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


def economical(replay: Replay, frames: int, megabytes: float) -> Replay:
    """Fewer frames, then fewer outline points, then again fewer frames, until the page is small enough."""
    replay = thinned(replay, frames)
    afford = max(megabytes - PLAYER_MEGABYTES, 0.1) / MEGABYTES_A_POINT
    if load(replay) > afford:
        stride = math.ceil(load(replay) / afford)
        replay = coarser(replay, stride)
    share = afford / max(load(replay), 1.0)
    return replay if share >= 1.0 else thinned(replay, max(LEAST_FRAMES, int(share * len(replay.time))))


def load(replay: Replay) -> float:
    """Points, shapes and contacts over all frames, as outline points."""
    a_frame = sum(body.outline.shape[1] + 0.5 * len(body.shapes) for body in replay.bodies)
    return a_frame * len(replay.time) + 2.0 * sum(len(contact.mode) for contact in replay.contacts)


def settled(batch: Batch, extent: float) -> Batch:
    """The batch on a grid far below what is seen: digits that mean nothing do not compress.

    Lengths are rounded to 2⁻ᵏ m ≤ 2·10⁻⁵ of the scene, quaternions to 2⁻¹².
    """
    grid = 2.0 ** math.floor(math.log2(2e-5 * extent))
    return evolve(
        batch,
        position=np.round(batch.position / grid) * grid,
        scale=np.round(batch.scale / grid) * grid if np.max(np.abs(batch.scale - 1.0)) > 0 else batch.scale,
        quat_wxyz=np.round(batch.quat_wxyz * 4096) / 4096,
    )


def record(server: viser.ViserServer, things: list[Batch], time: Array, speed: float) -> str:
    """Play the batches through the server's recorder and return the page."""
    handles = []
    for thing in things:
        mesh = split_at_creases(thing.mesh)
        handle = server.scene.add_batched_meshes_simple(
            thing.name,
            vertices=mesh.vertices,
            faces=mesh.faces,
            batched_wxyzs=thing.quat_wxyz[0],
            batched_positions=thing.position[0],
            batched_scales=thing.scale[0],
            batched_colors=linear_bytes(thing.colour),
            lod="off",
            side="front" if mesh.closed else "double",
            cast_shadow=False,
            receive_shadow=False,
        )
        handles.append(handle)
    serializer = server.get_scene_serializer()
    for k in range(1, len(time)):
        serializer.insert_sleep(float(time[k] - time[k - 1]) / speed)
        for thing, handle in zip(things, handles, strict=True):
            # only what changed is sent: viser compares with what it has
            handle.batched_positions = thing.position[k]
            handle.batched_wxyzs = thing.quat_wxyz[k]
            handle.batched_scales = thing.scale[k]
    if len(time) > 1:
        serializer.insert_sleep(0.5)  # the end stays for a moment before the player starts again
    return serializer.as_html()


def linear_bytes(colour: Array) -> tuple[int, int, int]:
    """An sRGB colour as the linear light that viser's instances take theirs for (its other meshes do not).

        c_linear = c/12.92 up to 0.04045,   ((c + 0.055)/1.055)^2.4 above                  (1)

    Source: IEC 61966-2-1 (sRGB).
    """
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    red, green, blue = (round(255 * float(part)) for part in linear)
    return red, green, blue


def with_legend(page: str, replay: Replay) -> str:
    """The page with its title and the meaning of its colours."""
    entries = [(word, colour) for mode, word, colour, _ in MODES if counts(replay, mode).any()]
    bodies = [(body.name, hexadecimal(body_colour(i))) for i, body in enumerate(replay.bodies)][:8]
    rows = [(f"contact: {word}", colour) for word, colour in entries]
    rows = (bodies if len(bodies) > 1 else []) + rows
    items = "".join(
        f'<div><span style="display:inline-block;width:.7em;height:.7em;border-radius:50%;margin-right:.5em;'
        f'background:{colour}"></span>{html.escape(word)}</div>'
        for word, colour in rows
    )
    title = html.escape(replay.title)
    legend = (
        f'<div style="position:fixed;right:1.2em;top:1em;z-index:50;pointer-events:none;color:{INK};'
        f'font:13px/1.6 system-ui,sans-serif"><b style="font-size:16px">{title}</b>{items}</div>'
    )
    page = page.replace("<title>Viser</title>", f"<title>{title}</title>", 1)
    end = page.rindex("</body>")
    return page[:end] + legend + page[end:]
