"""The viser viewer: a replay as one stand-alone web page with a time slider, or served while it grows."""

from __future__ import annotations

import contextlib
import html
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.roles.component import BuildContext, InternalState
from corekit.roles.viewer import Replay, Viewer
from corekit_view.batches import Batch, batches
from corekit_view.camera import View, automatic_azimuth
from corekit_view.config import PageConfig
from corekit_view.contacts import Arrows, arrows_of, counts, longest_arrow
from corekit_view.frames import coarser, drawable, key_frames, thinned
from corekit_view.output import check_suffix, require_module, write_whole
from corekit_view.palette import INK, MODES, body_colour, hexadecimal
from corekit_view.scene import bounds
from corekit_view.stage import add_instances, aim, light, move_instances, quiet_server

if TYPE_CHECKING:
    import viser

    from corekit_view.served import ServedReplay

__all__ = ["ViserViewer", "legend_items"]

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

    def internal_state(self) -> InternalState:
        """Nothing is remembered."""
        return {}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
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

    @contextlib.contextmanager
    def serve(self, replay: Replay, standing: str, port: int) -> Iterator[ServedReplay]:
        """Show a replay to whoever opens the address, the ability `serves`.

        Raises:
            ResultsError: if nothing can be drawn.
        """
        from corekit_view.served import ServedReplay

        with quiet_server(port, replay.title) as server:
            served = ServedReplay(server, replay, standing, self._config)
            try:
                yield served
            finally:
                served.close()

    def _page(self, replay: Replay) -> str:
        config = self._config
        box = bounds(replay)
        arrows = arrows_of(replay, box.extent, config.force_scale)
        azimuth = config.azimuth
        if azimuth is None:
            azimuth = automatic_azimuth(replay, box, key_frames(replay, 6), config.elevation)
        replay = economical(replay, config.frames, config.megabytes)
        things = [settled(batch, box.extent) for batch in batches(replay, box, arrows, 0.003 * box.extent)]
        with quiet_server() as server:
            aim(server, View(azimuth, config.elevation), box)
            light(server, View(azimuth, config.elevation))
            page = record(server, things, replay.time, config.speed)
        return with_legend(page, replay, arrows)


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
    handles = [add_instances(server, thing) for thing in things]
    serializer = server.get_scene_serializer()
    for k in range(1, len(time)):
        serializer.insert_sleep(float(time[k] - time[k - 1]) / speed)
        for thing, handle in zip(things, handles, strict=True):
            move_instances(handle, thing, k)
    if len(time) > 1:
        serializer.insert_sleep(0.5)  # the end stays for a moment before the player starts again
    return serializer.as_html()


def legend_items(replay: Replay, arrows: Arrows) -> str:
    """The meaning of the colours and of the longest arrow, as lines of HTML."""
    modes = [(word, colour) for mode, word, colour, _ in MODES if counts(replay, mode).any()]
    bodies = [(body.name, hexadecimal(body_colour(i))) for i, body in enumerate(replay.bodies)][:8]
    rows = bodies if len(bodies) > 1 else []
    rows += [(f"contact: {word}", colour) for word, colour in modes]
    items = "".join(
        f'<div><span style="display:inline-block;width:.7em;height:.7em;border-radius:50%;margin-right:.5em;'
        f'background:{colour}"></span>{html.escape(word)}</div>'
        for word, colour in rows
    )
    words = longest_arrow(replay, arrows)
    return items + (f"<div>{html.escape(words)}</div>" if words else "")


def with_legend(page: str, replay: Replay, arrows: Arrows) -> str:
    """The page with its title and the meaning of what it shows."""
    title = html.escape(replay.title)
    legend = (
        f'<div style="position:fixed;right:1.2em;top:1em;z-index:50;pointer-events:none;color:{INK};'
        f'font:13px/1.6 system-ui,sans-serif"><b style="font-size:16px">{title}</b>'
        f"{legend_items(replay, arrows)}</div>"
    )
    page = page.replace("<title>Viser</title>", f"<title>{title}</title>", 1)
    end = page.rindex("</body>")
    return page[:end] + legend + page[end:]
