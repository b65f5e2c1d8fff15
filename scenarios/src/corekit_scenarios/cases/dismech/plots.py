"""Pictures of the rods' cases, drawn where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from corekit.data.arrays import Array
from corekit_record.results import Results

__all__ = ["draw_lines", "draw_shapes"]


def _pyplot() -> Any:
    if find_spec("matplotlib") is None:
        return None
    import_module("matplotlib").use("Agg")
    return import_module("matplotlib.pyplot")


def draw_lines(
    path: Path, lines: Mapping[str, tuple[Array, Array]], across: str, up: str, *, dots: Sequence[str] = ()
) -> None:
    """Lines (x, y) by name; those in `dots` as points, one called theory dashed on top of what it hides else."""
    pyplot = _pyplot()
    if pyplot is None:
        return
    figure, axes = pyplot.subplots(figsize=(7.0, 4.0), layout="constrained")
    for name, (x, y) in lines.items():
        style = "o" if name in dots else "k--" if name == "theory" else "-"
        axes.plot(x, y, style, label=name, linewidth=1.0, markersize=4.0)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(visible=True, alpha=0.3)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def draw_shapes(path: Path, runs: Mapping[str, Results], instants: Sequence[float]) -> None:
    """How rods lie at some instants [s], one row a run, all seen from the same side at one scale."""
    pyplot = _pyplot()
    if pyplot is None:
        return
    size = (3.2 * len(instants), 3.6 * len(runs))
    figure = pyplot.figure(figsize=size, layout="constrained")
    for row, (name, results) in enumerate(runs.items()):
        replay = results.replay()
        for column, instant in enumerate(instants):
            place = row * len(instants) + column + 1
            axes = figure.add_subplot(len(runs), len(instants), place, projection="3d")
            record = int(abs(results.time - instant).argmin())
            for track in replay.bodies:
                for first, end in pairwise([*track.starts.tolist(), track.outline.shape[1]]):
                    axes.plot(*track.outline[record, first:end].T, linewidth=2.0)
            limits = (axes.get_xlim3d(), axes.get_ylim3d(), axes.get_zlim3d())
            axes.set_box_aspect([last - first for first, last in limits], zoom=0.8)
            axes.set_title(f"{name}, {results.time[record]:.3g} s", fontsize=9)
            axes.tick_params(labelsize=6)
            axes.locator_params(nbins=4)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
