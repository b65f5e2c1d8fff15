"""Line charts as data, and the ability `charts` of viewers that draw them."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from attrs import frozen

from corekit.data.arrays import Array

__all__ = ["ChartDrawer", "Line", "LineChart", "Panel"]


@frozen(eq=False)
class Line:
    """One line: its words in the legend and its points, x and y of shape (n,); nan leaves a gap."""

    label: str
    x: Array
    y: Array


@frozen(eq=False)
class Panel:
    """Lines over common axes, whose labels carry the units, for example `t [s]`."""

    x_label: str
    y_label: str
    lines: tuple[Line, ...]


@frozen(eq=False)
class LineChart:
    """Panels one above the other; a line of the same label looks the same in all of them."""

    title: str
    panels: tuple[Panel, ...]


class ChartDrawer(Protocol):
    """A viewer with the ability `charts`."""

    def chart(self, chart: LineChart, path: Path) -> None:
        """Write the chart into a file with one of the viewer's endings; parent folders exist."""
        ...
