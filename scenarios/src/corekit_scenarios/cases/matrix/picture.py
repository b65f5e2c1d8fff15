"""The matrix as a picture: one panel a model, contact solvers across, integrators down."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

__all__ = ["Shown", "draw_matrix"]

_GOOD, _MISSED, _FAILED, _REFUSED = "#cfe8d5", "#f6d9a8", "#eeb0a8", "#ececec"


class Shown(Protocol):
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


def draw_matrix(path: Path, cells: Sequence[Shown], layer: float) -> None:
    """Time per step and distance of the rest from the best cell's; nothing is drawn without matplotlib."""
    if find_spec("matplotlib") is None:
        return
    import_module("matplotlib").use("Agg")
    pyplot = import_module("matplotlib.pyplot")
    models, solvers, integrators = (
        list(dict.fromkeys(getattr(cell, name) for cell in cells))
        for name in ("model", "solver", "integrator")
    )
    size = (1.9 + 2.3 * len(models), 0.9 + 0.46 * len(integrators))
    figure, panels = pyplot.subplots(
        1, len(models), figsize=size, layout="constrained", sharey=True, squeeze=False
    )
    for axes, model in zip(panels[0], models, strict=True):
        for cell in cells:
            if cell.model != model:
                continue
            x, y = solvers.index(cell.solver), integrators.index(cell.integrator)
            axes.add_patch(
                pyplot.Rectangle((x - 0.5, y - 0.5), 1.0, 1.0, facecolor=_colour(cell), edgecolor="white")
            )
            axes.text(x, y, _words(cell), ha="center", va="center", fontsize=7)
        axes.set_xlim(-0.5, len(solvers) - 0.5)
        axes.set_ylim(len(integrators) - 0.5, -0.5)
        axes.set_xticks(range(len(solvers)), solvers)
        axes.set_yticks(range(len(integrators)), integrators)
        axes.tick_params(length=0)
        axes.set_title(model)
        for side in axes.spines.values():
            side.set_visible(False)
    figure.suptitle(
        f"time per step, and how far from the model's best cell it rests (green: within {1e3 * layer:g} mm, "
        "weight carried, every step solved)", fontsize=9,
    )  # fmt: skip
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def _colour(cell: Shown) -> str:
    if cell.failed:
        return _FAILED
    if not cell.ran:
        return _REFUSED
    return _GOOD if cell.good else _MISSED


def _words(cell: Shown) -> str:
    if cell.failed:
        return "failed"
    if not cell.ran:
        return "refused"
    step = "" if cell.step_s is None else f"{1e6 * cell.step_s:.0f} µs\n"
    return f"{step}{1e3 * cell.away:.2g} mm"
