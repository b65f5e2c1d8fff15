"""The matplotlib viewer: key frames side by side, and time plots below them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.component import BuildContext
from corekit.roles.viewer import Canvas, LineChart, Replay, Viewer
from corekit_view.camera import Window, automatic_view, window
from corekit_view.canvas import PictureCanvas
from corekit_view.charts import chart_figure
from corekit_view.config import PictureConfig
from corekit_view.contacts import select_arrows
from corekit_view.frames import drop_non_finite, key_frames
from corekit_view.output import check_suffix, require_module, write_whole
from corekit_view.overlay import draw_contacts, draw_tip_path, draw_triad_and_scale, legend
from corekit_view.plot_style import set_plot_style
from corekit_view.scene import Scene, bounds
from corekit_view.shading import picture
from corekit_view.timeplots import draw_time_plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MatplotlibViewer"]

INCH = 0.0254
TITLE, HEAD, FOOT, PLOTS = 0.26, 0.20, 0.30, 1.45
"""Heights in inches: above all panels, above each row, below them for the legend, and of the time plots."""
GAP = 0.06
"""Inches between panels."""


@final
class MatplotlibViewer(Viewer):
    """Key frames of a replay with contacts and forces, and time plots, as one picture.

    All panels have the same orthographic view and scale, so they are comparable and one scale bar is enough. A depth
    buffer decides the visible surfaces (see `raster`).

    Args:
        config: options.
        context: not used.
    Raises:
        PluginError: matplotlib is not installed.
    """

    def __init__(self, config: PictureConfig, context: BuildContext | None = None) -> None:
        require_module("matplotlib", "matplotlib")
        self._config = config
        self._context = context or BuildContext()

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Only `.png`."""
        return (".png",)

    def prepare(self) -> None:
        """Import matplotlib, and what finds the hulls of obstacles."""
        import matplotlib.backends.backend_agg
        import matplotlib.figure  # noqa: F401
        import scipy.spatial  # noqa: F401

    def render(self, replay: Replay, path: Path) -> None:
        """Write the picture.

        Raises:
            ResultsError: no drawable frame, or the file is not writable; no partial file remains.
        """
        from matplotlib import rc_context

        path = Path(path)
        check_suffix(path, self.suffixes, "matplotlib")
        with rc_context():
            set_plot_style()
            figure = self._figure(drop_non_finite(replay))
            save(figure, path, self._config.dpi)

    def canvas(self, width: int, height: int) -> Canvas:
        """Return what draws instants into arrays, the ability `pixels`."""
        config = self._config
        return PictureCanvas(width, height, config.azimuth, config.elevation, config.force_scale)

    def chart(self, chart: LineChart, path: Path) -> None:
        """Write a line chart, the ability `charts`.

        Raises:
            ResultsError: no line to draw, or the file is not writable; no partial file remains.
        """
        from matplotlib import rc_context

        path = Path(path)
        check_suffix(path, self.suffixes, "matplotlib")
        with rc_context():
            set_plot_style()
            figure = chart_figure(chart, self._config.width)
            save(figure, path, self._config.dpi)

    def _figure(self, replay: Replay) -> Figure:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        config = self._config
        frames = key_frames(replay, config.panels, config.times)
        box = bounds(replay)
        view = automatic_view(replay, box, frames, config.azimuth, config.elevation)
        frame = window(view, box)

        width = config.width / INCH
        rows, columns = grid(len(frames), frame)
        panel_width = min(0.98 * width / columns, 0.62 * width) - GAP
        panel_height = panel_width * frame.height / frame.width
        plots = config.plots and len(replay.time) > 2  # two, as of an equilibrium, are no course
        below = PLOTS if plots else 0.0
        height = TITLE + rows * (panel_height + HEAD) + FOOT + below

        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        top = 1.0 - 0.10 / height
        figure.text(0.012, top, replay.title, fontsize=9, fontweight="bold", va="top", parse_math=False)
        arrows = select_arrows(replay, box.extent, config.force_scale)
        scene = Scene(replay, box, sides=24, thinnest=0.004 * box.extent, towards=view.axes[2])
        left = 0.5 * (width - columns * (panel_width + GAP) + GAP)
        pixels = (round(panel_width * config.dpi), round(panel_height * config.dpi))
        # NumPy works on two panels at once; more would only want more memory
        with ThreadPoolExecutor(2) as pool:
            images = list(pool.map(lambda k: picture(scene.soup(int(k)), view, frame, *pixels), frames))
        for i, k in enumerate(frames):
            row, column = divmod(i, columns)
            across = left + column * (panel_width + GAP)
            up = height - TITLE - (row + 1) * (panel_height + HEAD)
            axes = figure.add_axes((across / width, up / height, panel_width / width, panel_height / height))
            show(axes, images[i], frame)
            head(axes, chr(ord("a") + i), f"t = {replay.time[k]:.3g} s")
            draw_contacts(axes, replay.contacts[int(k)], view, frame, arrows)
            draw_tip_path(axes, replay, int(k), view)
            if i == 0:
                draw_triad_and_scale(axes, view, frame)
        legend(figure, replay, arrows, panel_width / frame.width, (below + 0.15) / height)
        if plots:
            draw_time_plots(figure, replay, frames, height)
        return figure


def save(figure: Figure, path: Path, dpi: float) -> None:
    """Write a figure as PNG; more compression takes twice the time for a tenth of the size."""
    write_whole(
        path,
        lambda part: figure.savefig(part, format="png", dpi=dpi, pil_kwargs={"compress_level": 3}),
    )


def head(axes: Axes, letter: str, words: str) -> None:
    """Write a bold letter and words above a panel; a formula in bold would take longer than all other texts."""
    for text, right, weight in ((letter, 0.0, "bold"), (words, 12.0, "normal")):
        axes.annotate(
            text,
            (0.0, 1.0),
            xytext=(right, 3.0),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=7.5,
            fontweight=weight,
        )


def show(axes: Axes, image: Array, frame: Window) -> None:
    """Draw a panel's image on axes in coordinates of the view plane [m]."""
    # bytes, one for one: matplotlib would check, scale and smooth numbers
    pixels = np.rint(255.0 * image).astype(np.uint8)
    extent = (frame.left, frame.right, frame.bottom, frame.top)
    axes.imshow(pixels, extent=extent, aspect="auto", interpolation="nearest")
    axes.set_xlim(frame.left, frame.right)
    axes.set_ylim(frame.bottom, frame.top)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(color="#C8C8C8", linewidth=0.5)


def grid(panels: int, frame: Window) -> tuple[int, int]:
    """Return rows and columns: rows of six for tall views, rows of three for wide ones."""
    if panels <= 3:
        return 1, panels
    most = 6 if frame.width < 0.8 * frame.height else 3
    if panels == 4 and most == 3:
        return 2, 2
    rows = -(-panels // most)
    return rows, -(-panels // rows)
