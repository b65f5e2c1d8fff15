"""The viser viewer: a replay as a stand-alone web page with a time slider, or a live view of a run."""

from __future__ import annotations

import contextlib
import html
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.roles.component import BuildContext
from corekit.roles.viewer import Replay, Slider, Viewer
from corekit_view.batches import Batch, batches
from corekit_view.camera import automatic_view
from corekit_view.config import PageConfig
from corekit_view.contacts import Arrows, select_arrows
from corekit_view.frames import drop_non_finite, key_frames, thin_frames, thin_outlines
from corekit_view.legend import legend_items
from corekit_view.output import check_suffix, require_module, write_whole
from corekit_view.page_forces import force_numbers, force_script
from corekit_view.palette import INK
from corekit_view.scene import bounds
from corekit_view.viser_scene import add_instances, light, move_instances, quiet_server, set_camera

if TYPE_CHECKING:
    import viser

    from corekit_view.live_inputs import LiveInputs
    from corekit_view.live_replay import LiveReplay

__all__ = ["ViserViewer"]

PLAYER_MEGABYTES = 0.9
"""Size of the player in a page [MB]."""
MEGABYTES_A_POINT = 3.6e-5
"""Size of one outline point in one frame [MB], measured with rods in random motion."""
LEAST_FRAMES = 50


@final
class ViserViewer(Viewer):
    """A replay that opens in any browser from a single file, without a server or a network.

    viser's scene server records its messages. It listens on a free local port during the recording and stops before
    the file is written.

    Args:
        config: options.
        context: not used.
    Raises:
        PluginError: viser is not installed.
    """

    def __init__(self, config: PageConfig, context: BuildContext | None = None) -> None:
        require_module("viser", "viser")
        self._config = config
        self._context = context or BuildContext()

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Only `.html`."""
        return (".html",)

    def prepare(self) -> None:
        """Import viser."""
        import viser  # noqa: F401

    def render(self, replay: Replay, path: Path) -> None:
        """Write the page.

        Raises:
            ResultsError: no drawable frame, or the file is not writable; no partial file remains.
        """
        path = Path(path)
        check_suffix(path, self.suffixes, "viser")
        page = self._page(drop_non_finite(replay))

        def write(part: Path) -> None:
            part.write_text(page, encoding="utf-8")

        write_whole(path, write)

    @contextlib.contextmanager
    def serve(self, replay: Replay, run_status: str, port: int) -> Iterator[LiveReplay]:
        """Serve a replay at a local address, the ability `serves`.

        Raises:
            ResultsError: no drawable frame.
        """
        from corekit_view.live_replay import LiveReplay

        with quiet_server(port, replay.title) as server:
            served = LiveReplay(server, replay, run_status, self._config)
            try:
                yield served
            finally:
                served.close()

    @contextlib.contextmanager
    def interact(self, replay: Replay, sliders: Sequence[Slider], port: int) -> Iterator[LiveInputs]:
        """Serve a simulation with sliders at a local address, the ability `interactive`.

        Raises:
            ResultsError: the start cannot be drawn.
        """
        from corekit_view.live_inputs import LiveInputs

        with quiet_server(port, replay.title) as server:
            yield LiveInputs(server, replay, sliders, self._config)

    def _page(self, replay: Replay) -> str:
        config = self._config
        box = bounds(replay)
        arrows = select_arrows(replay, box.extent, config.force_scale)
        view = automatic_view(replay, box, key_frames(replay, 6), config.azimuth, config.elevation)
        replay = reduce_to_size(replay, config.frames, config.megabytes)
        things = [
            round_to_grid(batch, box.extent) for batch in batches(replay, box, arrows, 0.003 * box.extent)
        ]
        with quiet_server() as server:
            set_camera(server, view, box)
            light(server, view)
            page = record_page(server, things, replay.time, config.speed)
        return add_legend(page, replay, arrows, config.speed)


def reduce_to_size(replay: Replay, frames: int, megabytes: float) -> Replay:
    """Reduce frames, then outline points, then frames again, to the target size of the page."""
    replay = thin_frames(replay, frames)
    afford = max(megabytes - PLAYER_MEGABYTES, 0.1) / MEGABYTES_A_POINT
    if count_points(replay) > afford:
        stride = math.ceil(count_points(replay) / afford)
        replay = thin_outlines(replay, stride)
    share = afford / max(count_points(replay), 1.0)
    return replay if share >= 1.0 else thin_frames(replay, max(LEAST_FRAMES, int(share * len(replay.time))))


def count_points(replay: Replay) -> float:
    """Return the count of points, shapes and contacts over all frames, in outline points."""
    a_frame = sum(body.outline.shape[1] + 0.5 * len(body.shapes) for body in replay.bodies)
    return a_frame * len(replay.time) + 3.0 * sum(len(contact.mode) for contact in replay.contacts)


def round_to_grid(batch: Batch, extent: float) -> Batch:
    """Round a batch to an invisibly fine grid, because insignificant digits do not compress.

    The grid of lengths is 2⁻ᵏ m ≤ 2·10⁻⁵ of the scene, that of quaternions 2⁻¹².
    """
    grid = 2.0 ** math.floor(math.log2(2e-5 * extent))
    return evolve(
        batch,
        position=np.round(batch.position / grid) * grid,
        scale=np.round(batch.scale / grid) * grid if np.max(np.abs(batch.scale - 1.0)) > 0 else batch.scale,
        quat_wxyz=np.round(batch.quat_wxyz * 4096) / 4096,
    )


def record_page(server: viser.ViserServer, things: list[Batch], time: Array, speed: float) -> str:
    """Record the batches with the server and return the page."""
    handles = [add_instances(server, thing) for thing in things]
    serializer = server.get_scene_serializer()
    for k in range(1, len(time)):
        serializer.insert_sleep(float(time[k] - time[k - 1]) / speed)
        for thing, handle in zip(things, handles, strict=True):
            move_instances(handle, thing, k)
    return serializer.as_html()


def add_legend(page: str, replay: Replay, arrows: Arrows, speed: float) -> str:
    """Return the page with its title, which folds and unfolds legend and forces in numbers.

    The corner lies over the scene: it shows what is behind it, and passes pointers on.
    """
    title, forces = html.escape(replay.title), force_numbers(replay, arrows, speed)
    legend = (
        f'<details open style="position:fixed;right:.6em;top:.6em;z-index:50;pointer-events:none;color:{INK};'
        f'padding:.3em .7em;border-radius:6px;background:#ffffff99;font:13px/1.6 system-ui,sans-serif">'
        f'<summary title="fold or unfold" style="pointer-events:auto;cursor:pointer;font-size:16px;font-weight:bold">'
        f"{title}</summary>{legend_items(replay, arrows)}{forces}</details>"
    )
    page = page.replace("<title>Viser</title>", f"<title>{title}</title>", 1)
    if forces:
        page = page.replace("<head>", f"<head>{force_script()}", 1)
    end = page.rindex("</body>")
    return page[:end] + legend + page[end:]
