"""The matrix as a picture: one panel a model, contact solvers across, integrators down.

The shade of a cell is the time of its step, on a logarithmic scale from 0.1 to 10 ms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

__all__ = ["ProgressDisplay", "draw_matrix"]

_MISSED, _FAILED, _REFUSED, _INK = "#e08214", "#c0392b", "#f4f4f2", "#20303a"
_FASTEST, _SLOWEST = 1e-4, 1e-2
"""Times of a step between which the shade changes [s]."""


class ProgressDisplay(Protocol):
    """What is drawn of a cell."""

    @property
    def model(self) -> str: ...
    @property
    def solver(self) -> str: ...
    @property
    def integrator(self) -> str: ...
    @property
    def ran(self) -> bool: ...
    @property
    def failed(self) -> bool: ...
    @property
    def good(self) -> bool: ...
    @property
    def step_s(self) -> float | None: ...
    @property
    def away(self) -> float: ...


def draw_matrix(path: Path, cells: Sequence[ProgressDisplay], layer: float) -> None:
    """Time per step and distance of the rest from the best cell's; nothing is drawn without matplotlib."""
    if find_spec("matplotlib") is None:
        return
    import_module("matplotlib").use("Agg")
    pyplot = import_module("matplotlib.pyplot")
    models, solvers, integrators = (
        list(dict.fromkeys(getattr(cell, name) for cell in cells))
        for name in ("model", "solver", "integrator")
    )
    size = (1.6 + 2.05 * len(models), 1.1 + 0.42 * len(integrators))
    figure, panels = pyplot.subplots(
        1, len(models), figsize=size, layout="constrained", sharey=True, squeeze=False
    )
    shades = pyplot.get_cmap("YlGnBu")
    for axes, model in zip(panels[0], models, strict=True):
        for cell in cells:
            if cell.model == model:
                _draw(axes, cell, (solvers.index(cell.solver), integrators.index(cell.integrator)), shades)
        axes.set_xlim(-0.5, len(solvers) - 0.5)
        axes.set_ylim(len(integrators) - 0.5, -0.5)
        axes.set_xticks(range(len(solvers)), solvers, fontsize=9)
        axes.set_yticks(range(len(integrators)), integrators, fontsize=9)
        axes.tick_params(length=0, colors=_INK)
        axes.set_title(model, fontsize=12, fontweight="bold", color=_INK)
        for side in axes.spines.values():
            side.set_visible(False)
    good = sum(cell.ran and cell.good for cell in cells)
    figure.suptitle(
        f"{good} of {sum(cell.ran or cell.failed for cell in cells)} cells come to the rest of their model's best one "
        f"within {1e3 * layer:g} mm, carry the weight, and solve every step",
        fontsize=10, color=_INK,
    )  # fmt: skip
    said = (
        "time of a step, with a run on each core; distance from the best cell's rest; – refused by contract"
    )
    figure.supxlabel(said, fontsize=8, color="0.35")
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def _draw(axes: Any, cell: ProgressDisplay, at: tuple[int, int], shades: Callable[[float], Any]) -> None:
    x, y = at
    pyplot = import_module("matplotlib.pyplot")
    share = _share(cell.step_s)
    face = shades(0.08 + 0.72 * share) if cell.ran else _FAILED if cell.failed else _REFUSED
    missed = cell.ran and not cell.good
    axes.add_patch(
        pyplot.Rectangle(
            (x - 0.47, y - 0.46), 0.94, 0.92, facecolor=face, edgecolor=_MISSED if missed else "none", linewidth=2.5
        )
    )  # fmt: skip
    ink = "white" if cell.failed or (cell.ran and share > 0.55) else _INK
    if not cell.ran:
        words = "failed" if cell.failed else "–"
        axes.text(x, y, words, ha="center", va="center", fontsize=8, color=ink if cell.failed else "0.6")
        return
    axes.text(
        x, y - 0.16, _time(cell.step_s), ha="center", va="center", fontsize=8.5, fontweight="bold", color=ink
    )
    axes.text(x, y + 0.23, _distance(cell.away), ha="center", va="center", fontsize=6.5, color=ink)


def _share(step_s: float | None) -> float:
    """Where a time lies between the fastest and the slowest, 0 to 1."""
    if not step_s:
        return 0.0
    return min(1.0, max(0.0, math.log(step_s / _FASTEST) / math.log(_SLOWEST / _FASTEST)))


def _time(step_s: float | None) -> str:
    if step_s is None:
        return ""
    if step_s < 9.995e-4:
        return f"{1e6 * step_s:.0f} µs"
    return f"{1e3 * step_s:.1f} ms" if step_s < 9.95e-3 else f"{1e3 * step_s:.0f} ms"


def _distance(away: float) -> str:
    return "< 1 µm" if away < 1e-6 else f"{1e6 * away:.0f} µm"
