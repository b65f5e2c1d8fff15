"""Line charts: stacked panels with one legend; colours and dashes distinguish the lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from corekit.errors import ResultsError
from corekit.roles.viewer import LineChart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["chart_figure", "line_style"]

INCH = 0.0254
TITLE, PANEL, FOOT, LEGEND_ROW = 0.30, 1.25, 0.34, 0.16
"""Heights in inches: above the panels, of a panel, below the panels, and of a row of the legend."""
LEFT, RIGHT, LABEL = 0.72, 0.1, 0.17
"""Widths in inches: left and right of the panels, and to the common position of the labels."""
COLOURS = ("#332288", "#CC6677", "#117733", "#DDAA33", "#88CCEE", "#AA4499")
"""Colours for colour-blind readers: Tol (2021), "Colour schemes", muted scheme."""
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.6)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))
"""Dashes; after six lines the colours repeat with the next dashes."""


def chart_figure(chart: LineChart, width: float) -> Figure:
    """Return the figure of a chart.

    Args:
        chart: the chart.
        width: width on paper [m].
    Raises:
        ResultsError: the chart has no line with two finite points.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    labels = list(dict.fromkeys(line.label for panel in chart.panels for line in panel.lines))
    if not any(_drawable(line.x, line.y) for panel in chart.panels for line in panel.lines):
        raise ResultsError(f"the chart {chart.title!r} has no line to draw")
    columns = _columns(labels)
    legend = LEGEND_ROW * -(-len(labels) // columns)
    inches = (width / INCH, TITLE + legend + PANEL * len(chart.panels) + FOOT)
    figure = Figure(figsize=inches)
    FigureCanvasAgg(figure)
    top = 1.0 - (TITLE + legend) / inches[1]
    axes = figure.subplots(len(chart.panels), 1, squeeze=False)[:, 0]
    figure.subplots_adjust(
        left=LEFT / inches[0], right=1 - RIGHT / inches[0], top=top, bottom=FOOT / inches[1]
    )
    for place, panel in zip(axes, chart.panels, strict=True):
        for line in panel.lines:
            place.plot(line.x, line.y, linewidth=1.0, **line_style(labels.index(line.label)))
        _dress(place, panel.x_label if place is axes[-1] else "", panel.y_label)
        place.yaxis.set_label_coords((LABEL - LEFT) / (inches[0] - LEFT - RIGHT), 0.5)
    _share_time(list(axes), chart)
    _calm(list(axes))
    figure.text(
        0.012, 1 - 0.1 / inches[1], chart.title, fontsize=9, fontweight="bold", va="top", parse_math=False
    )
    _legend(figure, labels, columns, 1.0 - 0.24 / inches[1])
    return figure


def _drawable(x: Any, y: Any) -> bool:
    return int(np.count_nonzero(np.isfinite(x) & np.isfinite(y))) > 1


def line_style(index: int) -> dict[str, Any]:
    """Return colour and dashes of the line with this index; 24 are different."""
    turn = index // len(COLOURS)
    return {"color": COLOURS[index % len(COLOURS)], "linestyle": DASHES[(turn + index) % len(DASHES)]}


def _columns(labels: list[str]) -> int:
    longest = max(len(label) for label in labels)
    return max(1, min(len(labels), 90 // (longest + 8)))


def _dress(axes: Axes, x_label: str, y_label: str) -> None:
    from matplotlib.ticker import StrMethodFormatter

    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="#E4E4E4", linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_ylabel(y_label)
    axes.set_xlabel(x_label, labelpad=1)
    # each number is whole: a common power of ten, above the panel, would run into the legend
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:.7g}"))
    if not x_label:
        axes.tick_params(labelbottom=False)


def _share_time(axes: list[Axes], chart: LineChart) -> None:
    """Set the same range of x in all panels, without margins."""
    x = [line.x for panel in chart.panels for line in panel.lines if len(line.x)]
    low, high = min(float(np.nanmin(each)) for each in x), max(float(np.nanmax(each)) for each in x)
    if low < high:
        for each in axes:
            each.set_xlim(low, high)


def _calm(axes: list[Axes]) -> None:
    """Set a least range of y, so that a nearly constant panel does not show rounding errors."""
    least = 1e-3 * max(float(np.ptp(each.get_ylim())) for each in axes)
    for each in axes:
        low, high = each.get_ylim()
        if high - low < least:
            each.set_ylim(0.5 * (low + high - least), 0.5 * (low + high + least))


def _legend(figure: Figure, labels: list[str], columns: int, top: float) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], linewidth=1.2, **line_style(i)) for i in range(len(labels))]
    # matplotlib treats a dollar sign as mathematics and omits labels with a leading underscore
    words = [label.replace("$", r"\$") for label in labels]
    figure.legend(
        handles, words, loc="upper left", bbox_to_anchor=(0.008, top), ncols=columns, frameon=False,
        fontsize=6.5, handlelength=2.2, columnspacing=1.4, borderaxespad=0.0,
    )  # fmt: skip
