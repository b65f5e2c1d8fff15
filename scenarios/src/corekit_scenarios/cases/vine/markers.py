"""Markers along a vine robot, made from runs, and fits to them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from corekit.data.arrays import Array
from corekit_study.case_run import CaseRun
from corekit_study.fit import FitResult, fit
from corekit_study.fit_file import load_fit
from corekit_study.reference import analytic

__all__ = ["MARKERS", "NOISE", "TRUTH", "along", "parameter", "run_fit", "write_markers"]

MARKERS, NOISE = 21, 5e-4
"""How many, and the standard deviation of a coordinate [m]."""
TRUTH = analytic("the robot whose motion made the synthetic markers")


def along(frames: Array) -> Array:
    """Evenly spaced points of the line through frames (T, f, 3), shape (T, 21, 3)."""
    share = np.linspace(0.0, frames.shape[1] - 1.0, MARKERS)
    before = np.minimum(share.astype(int), frames.shape[1] - 2)
    w = (share - before)[None, :, None]
    return (1.0 - w) * frames[:, before] + w * frames[:, before + 1]


def write_markers(path: Path, time: Array, place: Array) -> None:
    """Write places (T, 21, 3) [m] at times (T,) [s], in the x–z plane."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["time", "marker", "x", "z"])
        table.writerows(
            [t, i, place[k, i, 0], place[k, i, 2]] for k, t in enumerate(time) for i in range(MARKERS)
        )


def run_fit(case: CaseRun, name: str, text: str) -> FitResult:
    """Fit by `ipopt-fit` in a folder of its own; `text` is the file below its first lines."""
    file = case.folder / f"{name}.toml"
    file.write_text(f'format = "corekit-fit/1"\nname = "{name}"\nuse = "ipopt-fit"\n{text}', encoding="utf-8")
    into = case.folder / name
    into.mkdir(exist_ok=True)
    return fit(load_fit(file), into)


def parameter(name: str, start: float, low: float, high: float) -> str:
    """A parameter of a fit's file."""
    return f'[[options.parameters]]\nname = "{name}"\nstart = {start}\nlow = {low}\nhigh = {high}\n'
