"""Pictures of a fit with Matplotlib: markers over the fitted body, residuals and profiles."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.estimator import Estimate, EstimationTask, FittedParameter
from corekit_fit.profiles import LIMIT

__all__ = ["draw_fit"]

_MAX_INSTANTS = 6
"""Largest count of overlaid instants."""


def draw_fit(
    task: EstimationTask, estimate: Estimate, states: Sequence[State]
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Draw `overlay.png`, `residuals.png` and `profile-<parameter>.png` into the task's folder.

    Args:
        task: the task.
        estimate: the estimate.
        states: fitted states, one per instant of the estimate; or none, and the markers stand for the body.
    Returns:
        The files, and a note if Matplotlib is missing.
    """
    if task.folder is None:
        return (), ()
    if find_spec("matplotlib") is None:
        return (), ("no pictures without Matplotlib: pip install corekit-fit[plots]",)
    import_module("matplotlib").use("Agg")
    pyplot: Any = import_module("matplotlib.pyplot")
    drawn = [
        _overlay(pyplot, task, estimate, states, task.folder / "overlay.png"),
        _residuals(pyplot, estimate, task.folder / "residuals.png"),
    ]
    drawn += [
        _profile(pyplot, each, task.folder / f"profile-{each.name}.png")
        for each in estimate.fitted
        if each.profile is not None
    ]
    return tuple(drawn), ()


def _save(pyplot: Any, figure: Any, path: Path) -> Path:
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
    return path


def _widest_axes(estimate: Estimate) -> tuple[int, int]:
    """Return the two axes with the largest range of the markers."""
    observed = estimate.observed.reshape(-1, 3)
    first, second = sorted(np.argsort([_span(each) for each in observed.T])[-2:].tolist())
    return first, second


def _span(numbers: Array) -> float:
    """Between the largest and the smallest that are finite; −1 if none is."""
    finite = numbers[np.isfinite(numbers)]
    return float(np.ptp(finite)) if finite.size else -1.0


def _overlay(
    pyplot: Any, task: EstimationTask, estimate: Estimate, states: Sequence[State], path: Path
) -> Path:
    """Draw the body and the markers at a few instants."""
    a, b = _widest_axes(estimate)
    wide, high = (max(_span(estimate.predicted[..., axis]), 1e-9) for axis in (a, b))
    # aspect ratio of the fitted markers, with space for the legend
    figure, axes = pyplot.subplots(figsize=(6.5, min(max(6.5 * high / wide, 3.0), 7.5)), layout="constrained")
    count = len(estimate.time)
    chosen = np.unique(np.linspace(0, count - 1, min(_MAX_INSTANTS, count)).round().astype(int))
    colours = pyplot.get_cmap("viridis")(np.linspace(0.0, 0.85, len(chosen)))
    for k, colour in zip(chosen, colours, strict=True):
        style, lines = ("-", _outline(task, states[k])) if states else (".", [estimate.predicted[k]])
        for points in lines:
            axes.plot(points[:, a], points[:, b], style, color=colour, label=f"fit, {estimate.time[k]:.3g} s")
        observed = estimate.observed[k]
        axes.plot(observed[:, a], observed[:, b], "x", color=colour, markersize=4)
    handles, labels = axes.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    figure.legend(
        list(unique.values()), list(unique), title="crosses: markers", fontsize="small", loc="outside right upper"
    )  # fmt: skip
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel(f"{'xyz'[a]} [m]")
    axes.set_ylabel(f"{'xyz'[b]} [m]")
    axes.grid(visible=True, alpha=0.3)
    return _save(pyplot, figure, path)


def _outline(task: EstimationTask, state: State) -> list[Any]:
    """The lines of the body in a state."""
    outline = task.model.compute_outline(state)
    return list(np.split(outline.points, outline.starts[1:]))


def _residuals(pyplot: Any, estimate: Estimate, path: Path) -> Path:
    """Draw the distances of markers over time: mean, largest, and that of the last marker."""
    distance = 1e3 * estimate.distance
    figure, axes = pyplot.subplots(figsize=(6.5, 3.5), layout="constrained")
    observed = np.isfinite(distance).any(axis=1)
    time = estimate.time[observed]
    axes.plot(time, np.nanmean(distance[observed], axis=1), "o-", markersize=3, label="mean of all markers")
    axes.plot(time, np.nanmax(distance[observed], axis=1), ".--", color="0.5", label="largest")
    axes.plot(estimate.time, distance[:, -1], "s-", markersize=3, label=f"marker {estimate.markers[-1]}")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("distance from fit to marker [mm]")
    axes.set_ylim(bottom=0.0)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    return _save(pyplot, figure, path)


def _profile(pyplot: Any, fitted: FittedParameter, path: Path) -> Path:
    """Draw the profile of a parameter with the estimate and the limit of 95 %."""
    assert fitted.profile is not None
    values, cost = fitted.profile.values, fitted.profile.cost
    figure, axes = pyplot.subplots(figsize=(6.0, 3.8), layout="constrained")
    axes.plot(values, cost, "o-", label="profile")
    axes.axhline(LIMIT, color="0.5", linestyle="--", label="95 %")
    axes.axvline(fitted.value, color="C1", linestyle=":", label=f"estimate {fitted.value:.3g}")
    if values.min() > 0.0 and values.max() > 30.0 * values.min():
        axes.set_xscale("log")
    # clip values far above the limit
    axes.set_ylim(-0.2, min(float(np.nanmax(cost)) + 0.5, 8.0 * LIMIT))
    axes.set_xlabel(f"{fitted.name} [{fitted.unit}]")
    axes.set_ylabel("rise of −log likelihood")
    axes.set_title(f"{fitted.name}: {fitted.verdict}")
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    return _save(pyplot, figure, path)
