"""Draw the data flow of a step, docs/images/data_flow.svg: `python docs/data_flow.py`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from attrs import frozen

__all__ = ["draw"]

TARGET = Path(__file__).parent / "images" / "data_flow.svg"
_KERNEL, _PLUGIN, _DATA, _INK, _FAINT = "#dfe7ee", "#fbe3c4", "#ffffff", "#22303c", "#5b6b78"


@frozen
class Box:
    """A box about (x, y): its colour shows its owner."""

    x: float
    y: float
    width: float
    colour: str
    title: str
    text: str = ""
    height: float = 0.78

    @property
    def east(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y

    @property
    def west(self) -> tuple[float, float]:
        return self.x - self.width / 2, self.y

    @property
    def north(self) -> tuple[float, float]:
        return self.x, self.y + self.height / 2

    @property
    def south(self) -> tuple[float, float]:
        return self.x, self.y - self.height / 2


FILE = Box(1.25, 7.1, 1.9, _DATA, "scenario.toml")
SCENARIO = Box(4.2, 7.1, 2.5, _KERNEL, "Scenario", "checked, all mistakes at once")
SIMULATION = Box(8.0, 7.1, 2.9, _KERNEL, "Simulation", "composed, or refused in a sentence")
RUNS = Box(12.4, 7.1, 3.0, _KERNEL, "Recorder, Checkpoint", "results.nc; to go on bit for bit")
INTEGRATOR = Box(8.0, 5.15, 2.9, _PLUGIN, "Integrator", "trial states, Newton, acceptance")
PROBLEM = Box(8.0, 3.2, 3.2, _KERNEL, "Step equation", "A·v⁺ = b + J_bᵀλ_b + J_cᵀλ_c")
SOLVER = Box(12.4, 3.2, 2.6, _PLUGIN, "Contact solver", "impulses, or a potential")
MODEL = Box(2.3, 3.2, 3.4, _PLUGIN, "Model", "M, f, K, D, constraints, poses")
DETECTOR = Box(5.2, 1.35, 3.2, _PLUGIN, "Contact detector", "which pairs; gap, normal, point")
PROBLEM_SOLVER = Box(12.4, 1.35, 2.6, _PLUGIN, "LCP or QP solver", "residuals in physical units")
BOXES = (
    FILE, SCENARIO, SIMULATION, RUNS, INTEGRATOR, PROBLEM, SOLVER, MODEL, DETECTOR, PROBLEM_SOLVER,
)  # fmt: skip


def draw(target: Path = TARGET) -> None:
    """Write the picture, in the format of its ending."""
    matplotlib = import_module("matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "corekit", "font.family": "DejaVu Sans"}
    )
    pyplot = import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(11.0, 6.0))
    axes.set(xlim=(0.0, 14.2), ylim=(0.0, 7.7), aspect="equal")
    axes.axis("off")
    axes.add_patch(_rounded(0.25, 0.65, 13.75, 5.15, "#f6f8fa", "#c9d3db"))
    axes.text(0.5, 5.45, "one step, each iterate", fontsize=8.5, style="italic", color=_FAINT)
    for box in BOXES:
        _draw_box(axes, box)
    _arrow(axes, FILE.east, SCENARIO.west, "load")
    _arrow(axes, SCENARIO.east, SIMULATION.west, "compose")
    _arrow(axes, SIMULATION.east, RUNS.west, "every kept step")
    _arrow(axes, (7.6, 6.71), (7.6, 5.54), "state(t), t_stop", (-0.85, 0.12))
    _arrow(axes, (8.4, 5.54), (8.4, 6.71), "state(t + h), report", (1.05, 0.12))
    _arrow(axes, (7.6, 4.76), (7.6, 3.59), "linearise at v_k", (-0.85, 0.0))
    _arrow(axes, (8.4, 3.59), (8.4, 4.76), "v⁺, residual", (0.72, 0.0))
    _arrow(axes, (9.6, 3.35), (11.1, 3.35), "W or A, gaps, μ", (0.0, 0.17))
    _arrow(axes, (11.1, 3.05), (9.6, 3.05), "λ, modes", (0.0, -0.2))
    _arrow(axes, (12.2, 2.81), (12.2, 1.74), "problem", (-0.5, 0.0))
    _arrow(axes, (12.6, 1.74), (12.6, 2.81), "solution", (0.5, 0.0))
    _arrow(axes, MODEL.east, PROBLEM.west, "M, f, K, D, rows")
    _arrow(axes, (2.7, 2.81), (4.4, 1.74), "poses of frames", (-0.95, -0.1))
    _arrow(axes, (6.2, 1.74), (7.4, 2.81), "contact set", (0.75, -0.1))
    for x, colour, words in ((0.5, _KERNEL, "the kernel's"), (2.8, _PLUGIN, "a plugin's, swapped by a word")):
        axes.add_patch(_rounded(x, 0.15, 0.34, 0.22, colour, _INK, 0.04))
        axes.text(x + 0.48, 0.26, words, fontsize=8, va="center", color=_INK)
    figure.savefig(
        target, bbox_inches="tight", dpi=130, metadata={"Date": None} if target.suffix == ".svg" else None
    )
    pyplot.close(figure)


def _rounded(
    x: float, y: float, width: float, height: float, face: str, edge: str, radius: float = 0.12
) -> Any:
    patches = import_module("matplotlib.patches")
    style = f"round,pad=0,rounding_size={radius}"
    return patches.FancyBboxPatch(
        (x, y), width, height, boxstyle=style, facecolor=face, edgecolor=edge, linewidth=0.9
    )


def _draw_box(axes: Any, box: Box) -> None:
    x, y = box.west[0], box.south[1]
    axes.add_patch(_rounded(x, y, box.width, box.height, box.colour, _INK))
    lift = 0.13 if box.text else 0.0
    axes.text(
        box.x, box.y + lift, box.title, ha="center", va="center", fontsize=9.2, fontweight="bold", color=_INK
    )
    if box.text:
        axes.text(box.x, box.y - 0.17, box.text, ha="center", va="center", fontsize=6.6, color=_INK)


def _arrow(
    axes: Any,
    start: tuple[float, float],
    end: tuple[float, float],
    words: str,
    shift: tuple[float, float] = (0.0, 0.14),
) -> None:
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": _INK, "linewidth": 1.1})
    x, y = (start[0] + end[0]) / 2 + shift[0], (start[1] + end[1]) / 2 + shift[1]
    axes.text(x, y, words, ha="center", va="center", fontsize=7, color=_FAINT)


if __name__ == "__main__":
    draw()
