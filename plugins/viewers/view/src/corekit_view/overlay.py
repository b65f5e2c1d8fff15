"""Overlays of the shaded panels: contacts, forces, tip paths, axes, scale bar, legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.viewer import ContactTrack, Replay
from corekit_view.camera import View, Window
from corekit_view.contacts import Arrows, compute_total_force, count_contacts, round_down, select_mode
from corekit_view.palette import INK, MODES, body_colour, darker, hexadecimal

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_contacts", "draw_tip_path", "draw_triad_and_scale", "force_arrows", "legend"]

ARROW = 1.0
"""Width of a force arrow's shaft in points."""
HEAD = 4.4
"""Width of its head in shafts."""
THINNEST = 0.25
"""Least part of these widths, where contacts are dense."""
ROOM = (36.0, 12.0)
"""Width and height of a force label, in points."""


def force_arrows(contact: ContactTrack, view: View, arrows: Arrows) -> list[tuple[str, Array, Array, Array]]:
    """Return the arrows in the view plane per mode: colour, tails and vectors [m] (n, 2), forces [N] (n, 3).

    An arrow starts at its contact point and has the direction of the force on the first body.
    """
    found = []
    for mode, _, colour, _ in MODES:
        point, force = select_mode(contact, mode)
        vector = view.project(arrows.vectors(force))[:, :2]
        found.append((colour, view.project(point)[:, :2], vector, force))
    return found


def draw_contacts(axes: Axes, contact: ContactTrack, view: View, frame: Window, arrows: Arrows) -> None:
    """Draw contact points by mode and force arrows over everything, because bodies would hide them.

    A shortened arrow has a label with its force in N. Where points are nearer to each other than heads are wide, all
    are drawn thinner, so that arrows in a row can be told apart.
    """
    drawn = np.concatenate([view.project(select_mode(contact, mode)[0])[:, :2] for mode, *_ in MODES])
    thin = _thinness(axes, drawn)
    for colour, tail, vector, force in force_arrows(contact, view, arrows):
        long = np.linalg.norm(vector, axis=1) > 0.004 * frame.width
        for ink, halo, order in (("white", 1.2, 5), (colour, 0.0, 6)):
            axes.quiver(
                *tail[long].T, *vector[long].T, color=ink, edgecolor=ink, linewidth=thin * halo, zorder=order,
                angles="xy", scale_units="xy", scale=1.0, units="inches", width=thin * ARROW / 72,
                headwidth=HEAD, headlength=1.15 * HEAD, headaxislength=1.05 * HEAD, minlength=0.1,
            )  # fmt: skip
        for at in np.flatnonzero(arrows.cut(force) & long):
            _label(axes, tail[at] + vector[at], vector[at], f"{np.linalg.norm(force[at]):.3g} N", colour)
    for mode, _, colour, marker in MODES:
        point, _ = select_mode(contact, mode)
        flat = view.project(point)
        axes.scatter(
            flat[:, 0],
            flat[:, 1],
            s=9 * thin**2,
            c=colour,
            marker=marker,
            edgecolors="white",
            linewidths=0.45 * thin,
            zorder=7,
        )


def _thinness(axes: Axes, points: Array) -> float:
    """Return by what part widths shrink for points in the view plane, (n, 2) [m]: 1 where they stand apart.

    Points are dense where most have two others nearer than a head is wide, as in a row.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    if len(points) < 3:
        return 1.0
    place = axes.transData.transform(points) * 72.0 / figure.dpi
    apart = np.linalg.norm(place[:, None] - place[None], axis=2)
    second = np.partition(apart, 2, axis=1)[:, 2]  # the point itself, its neighbour, the next one
    return float(np.clip(np.median(second) / (HEAD * ARROW), THINNEST, 1.0))


def _label(axes: Axes, tip: Array, vector: Array, words: str, colour: str) -> None:
    """Draw a label with a white rim beyond an arrow's tip, or beside it at the border of the axes."""
    from matplotlib.patheffects import withStroke

    figure = axes.get_figure(root=True)
    assert figure is not None
    x, y = vector / np.linalg.norm(vector)
    panel, place, points = axes.bbox, axes.transData.transform(tip), figure.dpi / 72.0
    left, right = place[0] - panel.x0 < ROOM[0] * points, panel.x1 - place[0] < ROOM[0] * points
    low, high = place[1] - panel.y0 < ROOM[1] * points, panel.y1 - place[1] < ROOM[1] * points
    up, down = "bottom", "top"
    if (high and y > -0.4) or (low and y <= -0.4):  # no space beyond the tip: beside it
        side, offset = ("right", (-5.0, 0.0)) if right else ("left", (5.0, 0.0))
        level = up if low else down
    elif left or right:
        side, level = ("left" if left else "right"), (up if y > -0.4 else down)
        offset = (0.0, 4.0 if y > -0.4 else -4.0)
    else:
        side = "left" if x > 0.4 else "right" if x < -0.4 else "center"
        level, offset = (up if y > -0.4 else down), (5.0 * x, 5.0 * y)
    axes.annotate(
        words, (float(tip[0]), float(tip[1])), offset, textcoords="offset points", color=colour, fontsize=6,
        zorder=8, annotation_clip=False, ha=side, va=level,
        path_effects=[withStroke(linewidth=1.6, foreground="white")],
    )  # fmt: skip


def draw_tip_path(axes: Axes, replay: Replay, frame: int, view: View) -> None:
    """Draw the past path of the last point of each outline."""
    for index, body in enumerate(replay.bodies):
        if frame == 0 or body.outline.shape[1] == 0:
            continue
        path = view.project(body.outline[: frame + 1, -1])
        colour = hexadecimal(darker(body_colour(index), 0.55))
        axes.plot(path[:, 0], path[:, 1], color=colour, linewidth=0.6, dashes=(4, 2), alpha=0.75, zorder=4)


def draw_triad_and_scale(axes: Axes, view: View, frame: Window) -> None:
    """Draw the world's axes at the lower left and a scale bar at the lower right."""
    side = min(frame.width, frame.height)
    size = 0.11 * side
    ends = size * view.project(np.eye(3))[:, :2]
    reach = 1.45 * np.concatenate([ends, np.zeros((1, 2))])
    corner = np.array([frame.left, frame.bottom]) + 0.05 * side - reach.min(axis=0)
    for name, end in zip("xyz", ends, strict=True):
        if np.linalg.norm(end) < 0.2 * size:
            continue
        axes.annotate(
            "", corner + end, corner, zorder=9,
            arrowprops={
                "arrowstyle": "-|>,head_width=0.12,head_length=0.25", "lw": 0.7, "color": INK,
                "shrinkA": 0, "shrinkB": 0,
            },
        )  # fmt: skip
        axes.text(
            corner[0] + 1.3 * end[0],
            corner[1] + 1.3 * end[1],
            name,
            fontsize=6,
            ha="center",
            va="center",
            style="italic",
            zorder=9,
        )
    length = round_down(0.35 * side)
    right = frame.right - 0.06 * side
    base = frame.bottom + 0.05 * side
    axes.plot(
        [right - length, right], [base, base], color=INK, linewidth=1.4, solid_capstyle="butt", zorder=9
    )
    text = f"{length:g} m" if length >= 0.1 else f"{1000 * length:g} mm"
    axes.text(right - 0.5 * length, base + 0.018 * side, text, fontsize=6, ha="center", va="bottom", zorder=9)


_MANY = 12
"""Number of bodies up to which a legend names them."""
_WORDS, _LEAST = 7.0, 4.5
"""Size of the words of a legend, and where many bodies have long names the least [pt]."""


def legend(figure: Figure, replay: Replay, arrows: Arrows, inches_per_metre: float, height: float) -> None:
    """Draw one row with several bodies, modes of the run, the tip path, and a reference force.

    Args:
        figure: the figure.
        replay: the replay.
        arrows: lengths of force arrows.
        inches_per_metre: scale of the panels.
        height: lower edge of the row, relative to the height of the figure.
    """
    from matplotlib.lines import Line2D
    from matplotlib.offsetbox import AnchoredOffsetbox, DrawingArea, HPacker, TextArea
    from matplotlib.patches import FancyArrow, Rectangle

    words: list[TextArea] = []

    def entry(label: str, width: float, *artists: Artist) -> HPacker:
        area = DrawingArea(width, 6.0, 0.0, 0.0)
        for artist in artists:
            area.add_artist(artist)
        words.append(TextArea(label, textprops={"size": _WORDS, "parse_math": False}))
        return HPacker(
            children=[area, words[-1]],
            align="center",
            pad=0,
            sep=4,
        )

    entries: list[Artist] = []
    if 1 < len(replay.bodies) <= _MANY:
        for i, body in enumerate(replay.bodies[:6]):
            colour = hexadecimal(body_colour(i))
            entries.append(
                entry(body.name, 8, Rectangle((0, 0), 8, 6, facecolor=colour, edgecolor=INK, linewidth=0.4))
            )
        if len(replay.bodies) > 6:
            entries.append(entry(f"and {len(replay.bodies) - 6} more bodies", 0))
    elif len(replay.bodies) > _MANY:  # colours repeat, and none is to be found by its name
        entries.append(entry(f"{len(replay.bodies)} bodies", 0))
    for mode, word, colour, marker in MODES:
        if count_contacts(replay, mode).any():
            dot = Line2D(
                [3],
                [3],
                marker=marker,
                markersize=4.4,
                color=colour,
                markeredgecolor="white",
                markeredgewidth=0.4,
            )
            entries.append(entry(f"contact: {word}", 6, dot))
    if any(body.outline.shape[1] for body in replay.bodies) and len(replay.time) > 1:
        dashes = Line2D([0, 18], [3, 3], color=INK, linewidth=0.6, dashes=(4, 2), alpha=0.75)
        entries.append(entry("tip path", 18, dashes))
    if arrows.scale > 0 and compute_total_force(replay).any():
        force = round_down(min(0.4 / (arrows.scale * inches_per_metre), arrows.most))
        points = 72 * force * arrows.scale * inches_per_metre
        head = min(1.15 * HEAD * ARROW, points)
        arrow = FancyArrow(
            0, 3, points, 0, width=ARROW, head_width=HEAD * ARROW, head_length=head, length_includes_head=True,
            color=INK, linewidth=0,
        )  # fmt: skip
        cut = any(arrows.cut(contact.force).any() for contact in replay.contacts)
        more = f" (arrows end at {arrows.most:.2g} N)" if cut else ""
        entries.append(entry(f"force on the body, {force:g} N{more}", points, arrow))
    if entries:
        row = HPacker(children=entries, align="center", pad=0, sep=14)
        figure.add_artist(
            AnchoredOffsetbox(
                "lower center", child=row, frameon=False, pad=0, borderpad=0,
                bbox_to_anchor=(0.5, height), bbox_transform=figure.transFigure,
            )
        )  # fmt: skip
        _fit(figure, row, words)


def _fit(figure: Figure, row: Any, words: Sequence[Any]) -> None:
    """Shrink the words of a row until none is cut at the edge of the figure; symbols keep their size."""
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    size = _WORDS
    while size > _LEAST and row.get_bbox(renderer).width > 0.98 * figure.bbox.width:
        size -= 0.25
        row.sep *= 0.94
        for word in words:
            word.get_children()[0].set(size=size)
