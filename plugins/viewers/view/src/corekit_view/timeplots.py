"""Time plots below the key frames: tip, contacts by mode, and contact force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from corekit.data.arrays import IntArray
from corekit.roles.viewer import Replay
from corekit_view.contacts import compute_total_force, count_contacts
from corekit_view.palette import INK, MODES, body_colour, darker, hexadecimal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_time_plots"]

COMPONENTS = (("x", "#4477AA", "-"), ("y", "#AA3377", (0, (4, 1.4))), ("z", "#2B2B2B", (0, (1.2, 1.0))))

_EDGE = 0.03
"""Between a plot's label and what is left of it [inches]."""


def draw_time_plots(figure: Figure, replay: Replay, frames: IntArray, height: float) -> None:
    """Draw the plots at the bottom of a figure of `height` inches; without contacts only that of the tip."""
    touching = any(count_contacts(replay, mode).any() for mode, _, _, _ in MODES)
    drawers = [_tips, _counts, _force] if touching else [_tips]
    width = figure.get_figwidth()
    left, right, gap = 0.52, 0.10, 0.56
    each = (width - left - right - gap * (len(drawers) - 1)) / len(drawers)
    for i, draw in enumerate(drawers):
        place = (left + i * (each + gap), 0.36, each, 0.88)
        axes = figure.add_axes((place[0] / width, place[1] / height, place[2] / width, place[3] / height))
        draw(axes, replay)
        axes.set_xlim(replay.time[0], replay.time[-1])
        axes.set_xlabel("t [s]", labelpad=1)
        axes.spines[["top", "right"]].set_visible(False)
        low, high = axes.get_ylim()
        for k, frame in enumerate(frames):
            time = replay.time[int(frame)]
            axes.axvline(time, color="#BDBDBD", linewidth=0.5, zorder=0)
            axes.text(time, high + 0.02 * (high - low), chr(ord("a") + k), fontsize=5.5, ha="center", va="bottom",
                      fontweight="bold", color="#6A6A6A")  # fmt: skip
        axes.set_ylim(low, high)
        # wide numbers, as −0.015, push the label out of the picture or into the plot before
        box = axes.yaxis.get_tightbbox()
        begin = place[0] if box is None else box.x0 / figure.dpi
        lacking = place[0] - (left if i == 0 else gap) + _EDGE - begin
        if lacking > 0.0:
            across, wide = (place[0] + lacking) / width, (place[2] - lacking) / width
            axes.set_position((across, place[1] / height, wide, place[3] / height))


def _tips(axes: Axes, replay: Replay) -> None:
    """Draw the tip's coordinates of one body, or the displacements of several tips."""
    bodies = [(i, body) for i, body in enumerate(replay.bodies) if body.outline.shape[1]]
    if len(bodies) == 1:
        for k, (name, colour, dash) in enumerate(COMPONENTS):
            axes.plot(
                replay.time,
                bodies[0][1].outline[:, -1, k],
                color=colour,
                linestyle=dash,
                linewidth=1.0,
                label=name,
            )
        axes.legend(ncols=3, **_SMALL)
        axes.set_ylabel("tip position [m]")
        return
    for index, body in bodies[:12]:
        away = np.linalg.norm(body.outline[:, -1] - body.outline[0, -1], axis=1)
        axes.plot(replay.time, away, color=hexadecimal(darker(body_colour(index), 0.8)), linewidth=1.0)
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("tip displacement [m]")


def _counts(axes: Axes, replay: Replay) -> None:
    from matplotlib.ticker import MaxNLocator

    modes = [entry for entry in MODES if count_contacts(replay, entry[0]).any()]
    stacked = [count_contacts(replay, mode) for mode, _, _, _ in modes]
    axes.stackplot(
        replay.time, *stacked, step="post", colors=[colour for _, _, colour, _ in modes],
        labels=[word for _, word, _, _ in modes], alpha=0.85, linewidth=0,
    )  # fmt: skip
    most = float(np.sum(stacked, axis=0).max())
    axes.set_ylim(0.0, 1.12 * most)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axes.legend(ncols=2, **_SMALL)
    axes.set_ylabel("contacts")


def _force(axes: Axes, replay: Replay) -> None:
    total = compute_total_force(replay)
    axes.fill_between(replay.time, total, color=INK, alpha=0.12, linewidth=0)
    axes.plot(replay.time, total, color=INK, linewidth=0.9)
    axes.set_ylim(0.0, 1.08 * float(total.max()) or 1.0)
    axes.set_ylabel("Σ‖contact force‖ [N]", fontsize=6.5)


_SMALL: dict[str, Any] = {
    "loc": "best", "fontsize": 6, "frameon": True, "framealpha": 0.8, "edgecolor": "none", "handlelength": 1.5,
    "columnspacing": 0.9, "handletextpad": 0.4, "borderpad": 0.2,
}  # fmt: skip
