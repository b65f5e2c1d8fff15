"""The matplotlib viewer: key frames side by side, and below them what happened over time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corekit.roles.component import BuildContext, Memory
from corekit.roles.viewer import Replay, Viewer
from corekit_view.camera import View, Window, automatic_azimuth, window
from corekit_view.config import PictureConfig
from corekit_view.contacts import arrow_scale
from corekit_view.frames import drawable, key_frames
from corekit_view.output import check_suffix, require_module, write_whole
from corekit_view.overlay import draw_contacts, draw_tip_path, draw_triad_and_scale, legend
from corekit_view.palette import INK
from corekit_view.scene import Scene, bounds
from corekit_view.shading import picture
from corekit_view.timeplots import draw_time_plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MatplotlibViewer"]

INCH = 0.0254
STYLE: Mapping[str, Mapping[str, Any]] = {
    "font": {"family": "sans-serif", "sans-serif": ["DejaVu Sans"], "size": 7.0},
    "axes": {"titlesize": 7.5, "labelsize": 7.0, "edgecolor": "#8A8A8A", "linewidth": 0.6, "labelcolor": INK},
    "text": {"color": INK},
    "xtick": {"color": INK, "labelsize": 6.5, "major.width": 0.6, "major.size": 2.5},
    "ytick": {"color": INK, "labelsize": 6.5, "major.width": 0.6, "major.size": 2.5},
}
"""matplotlib's settings by group; a user's own style file does not change the picture."""


@final
class MatplotlibViewer(Viewer):
    """Key frames of a replay with contacts and forces, and time plots, as one picture.

    Every panel has the same orthographic view at the same scale, so the panels can be compared and
    the scale bar holds for all. Surfaces are seen through a depth buffer (see `raster`).

    Args:
        config: options. context: not needed.
    Raises:
        PluginError: if matplotlib is not installed.
    """

    def __init__(self, config: PictureConfig, context: BuildContext | None = None) -> None:
        require_module("matplotlib", "matplotlib")
        self._config = config
        self._context = context or BuildContext()

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Only `.png`."""
        return (".png",)

    def memory(self) -> Memory:
        """Nothing is remembered."""
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Nothing is remembered."""

    def render(self, replay: Replay, path: Path) -> None:
        """Write the picture.

        Raises:
            ResultsError: if nothing can be drawn or the file cannot be written; no part of it is left.
        """
        import matplotlib as mpl

        path = Path(path)
        check_suffix(path, self.suffixes, "matplotlib")
        with mpl.rc_context():
            mpl.rcdefaults()
            for group, settings in STYLE.items():
                mpl.rc(group, **settings)
            figure = self._figure(drawable(replay))
            write_whole(path, lambda part: figure.savefig(part, format="png", dpi=self._config.dpi))

    def _figure(self, replay: Replay) -> Figure:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        config = self._config
        frames = key_frames(replay, config.panels, config.times)
        box = bounds(replay)
        azimuth = config.azimuth
        if azimuth is None:
            azimuth = automatic_azimuth(replay, box, frames, config.elevation)
        view = View(azimuth, config.elevation)
        frame = window(view, box)

        width = config.width / INCH
        rows, columns = _grid(len(frames), frame)
        panel_width = min(0.98 * width / columns, 0.62 * width)
        panel_height = panel_width * frame.height / frame.width
        title, head, foot = 0.26, 0.20, 0.30
        plots = config.plots and len(replay.time) > 1
        below = 1.45 if plots else 0.0
        height = title + rows * (panel_height + head) + foot + below

        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        figure.text(0.012, 1.0 - 0.10 / height, replay.title, fontsize=9, fontweight="bold", va="top")
        scale = arrow_scale(replay, box.extent, config.force_scale)
        scene = Scene(replay, box, sides=24, thinnest=0.004 * box.extent)
        left = 0.5 * (width - columns * panel_width)
        for i, k in enumerate(frames):
            row, column = divmod(i, columns)
            bottom = height - title - (row + 1) * (panel_height + head)
            place = (left + column * panel_width + 0.03, bottom, panel_width - 0.06, panel_height)
            axes = figure.add_axes((place[0] / width, place[1] / height, place[2] / width, place[3] / height))
            self._panel(axes, replay, scene, int(k), view, frame, place[2], place[3])
            label = chr(ord("a") + i)
            axes.set_title(f"$\\bf{{{label}}}$   t = {replay.time[k]:.3g} s", loc="left", pad=3)
            draw_contacts(axes, replay.contacts[int(k)], view, frame, scale)
            draw_tip_path(axes, replay, int(k), view)
            if i == 0:
                draw_triad_and_scale(axes, view, frame)
        legend(figure, replay, scale, panel_width / frame.width, (below + 0.15) / height)
        if plots:
            draw_time_plots(figure, replay, frames, height)
        return figure

    def _panel(
        self,
        axes: Axes,
        replay: Replay,
        scene: Scene,
        frame_index: int,
        view: View,
        frame: Window,
        width: float,
        height: float,
    ) -> None:
        across, down = round(width * self._config.dpi), round(height * self._config.dpi)
        image = picture(scene.soup(frame_index), view, frame, across, down)
        axes.imshow(
            image,
            extent=(frame.left, frame.right, frame.bottom, frame.top),
            interpolation="antialiased",
            aspect="auto",
        )
        axes.set_xlim(frame.left, frame.right)
        axes.set_ylim(frame.bottom, frame.top)
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set(color="#C8C8C8", linewidth=0.5)


def _grid(panels: int, frame: Window) -> tuple[int, int]:
    """Rows and columns: tall views stand in one row, wide ones in rows of three."""
    if panels <= 3:
        return 1, panels
    most = 6 if frame.width < 0.8 * frame.height else 3
    if panels == 4 and most == 3:
        return 2, 2
    rows = -(-panels // most)
    return rows, -(-panels // rows)
