"""A robot swims with four flagella and grips a rod: linear elements against Legendre polynomials.

The hull touches the rod where the distance of its axis (half-spheres at its ends) from the rod's, seen along the rod,
falls to the sum of the radii:

    gap = min_{|s| ≤ l/2} ‖P·(p + s·a) − r‖ − (R_hull + R_rod),   P onto the plane across the rod          (1)

Source: Mathew et al. (2024), section 5.2 and last table; the hull is that of the published linkage.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit_record.results import Results
from corekit_scenarios.cases.gvs.pairs import (
    frame_path,
    mismatch,
    mismatch_rows,
    nearest,
    picture,
    solved_row,
    write_mismatch,
)
from corekit_study.case_run import CaseRun, Row
from corekit_study.reference import paper

__all__ = ["first_touch", "hull_gap", "underwater"]

_HULL = "hull.base"
_SHELL = 0.2
"""Length by which the paper divides the mismatch of the hull's centre [m]."""
_TOUCH = 19.5
"""When the paper's hull touches the rod, approximately [s]."""
_MINUTES = {"FEM": 52.47, "Legendre": 113.05}
_SWIMS, _DOCKS = (0, 3, 6, 9, 14), (14, 16, 17, 18, 20)
_ROD, _ROD_RADIUS = np.array([0.02, 0.22]), 0.02
_HALF_AXIS, _HULL_RADIUS = 0.015, 0.09
"""The scenario's rod in x and z, and the hull [m]."""


def hull_gap(centre: Array, axis: Array) -> Array:
    """(1) for centres and axes of the hull, shapes (k, 3) → (k,) [m]."""
    place, along = centre[:, ::2] - _ROD, axis[:, ::2]
    share = -np.sum(place * along, axis=1) / np.maximum(np.sum(along * along, axis=1), 1e-12)
    nearest_point = place + np.clip(share, -_HALF_AXIS, _HALF_AXIS)[:, None] * along
    return np.linalg.norm(nearest_point, axis=1) - (_HULL_RADIUS + _ROD_RADIUS)


def first_touch(instants: Array, gap: Array) -> float | None:
    """When a gap falls to zero, on a straight line between records [s]; None if it never does."""
    touching = np.flatnonzero(gap <= 0.0)
    if not len(touching):
        return None
    k = int(touching[0])
    if k == 0:
        return float(instants[0])
    share = gap[k - 1] / (gap[k - 1] - gap[k])
    return float(instants[k - 1] + share * (instants[k] - instants[k - 1]))


def _axis(results: Results, frame: str) -> Array:
    """First axis of a frame at every record, shape (k, 3)."""
    (index,) = [i for i, name in enumerate(results.frames) if name.endswith(frame)]
    w, x, y, z = np.moveaxis(results.frame_quat_wxyz[:, index], -1, 0)
    return np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=1)


def underwater(case: CaseRun) -> list[Row]:
    """Section 5.2: three linear elements against Legendre polynomials of order 3, on all four flagella.

    Both with the paper's points, 2 an element and 5: with enough (5 and 9) the hull comes to the rod earlier.
    """
    elements = [f"bodies[0].options.links[{link}].divisions[0].points=2" for link in (10, 11, 12, 13)]
    world = [
        f"bodies[0].options.links[{link}].divisions[0].{setting}"
        for link in (10, 11, 12, 13)
        for setting in ("strain[0].kind=legendre", "strain[0].order=3", "strain[0].elements=1", "points=5")
    ]
    runs: dict[str, Results] = {}
    taken: dict[str, float] = {}
    for name, overrides in (("FEM", elements), ("Legendre", world)):
        begin = time.process_time()
        runs[name] = case.run("gvs/underwater", overrides, name.lower())
        taken[name] = time.process_time() - begin
    apart = mismatch(runs["FEM"], runs["Legendre"], _HULL, _SHELL)
    write_mismatch(case.folder / "mismatch.csv", runs["FEM"].time, apart)
    picture(case.folder / "snapshots.png", runs, _SWIMS, _HULL)
    _docking(case.folder / "docking.png", runs, _DOCKS)
    rows = mismatch_rows(apart, (5.0, 5.0), "of the hull's centre, over all records; paper: below 5 %")
    for name, run in runs.items():
        touch = first_touch(run.time, hull_gap(frame_path(run, _HULL), _axis(run, _HULL)))
        rows.append(
            Row(
                quantity=f"the hull touches the rod, {name}", unit="s",
                against=paper("section 5.2: approximately 19.5 s"), expected=_TOUCH,
                ours="never" if touch is None else touch, tolerance="within 0.5 s of the paper's",
                passed=touch is not None and abs(touch - _TOUCH) <= 0.5,
            )
        )  # fmt: skip
    return [*rows, solved_row(runs), *_time_rows(taken)]


def _time_rows(taken: Mapping[str, float]) -> list[Row]:
    return [
        Row(
            quantity=f"processor time, {name}", unit="s", against=paper("last table; MATLAB on a laptop of 2020"),
            expected=60.0 * _MINUTES[name], ours=taken[name],
            tolerance="at most 60 s", passed=taken[name] <= 60.0,
            note="compiling and recording included",
        )
        for name in taken
    ]  # fmt: skip


def _docking(path: Path, runs: Mapping[str, Results], instants: Sequence[float]) -> None:
    """The robot at the rod seen from the side and from behind, a row each a run; none without matplotlib."""
    if find_spec("matplotlib") is None:
        return
    import_module("matplotlib").use("Agg")
    pyplot: Any = import_module("matplotlib.pyplot")
    views = (("x", 0), ("y", 1))
    figure, panels = pyplot.subplots(
        len(views) * len(runs), len(instants), squeeze=False, layout="constrained",
        figsize=(2.6 * len(instants), 2.7 * len(views) * len(runs)),
    )  # fmt: skip
    for k, (label, run) in enumerate(runs.items()):
        track = run.replay().bodies[0]
        ends = [*track.starts[1:].tolist(), track.outline.shape[1]]
        for j, instant in enumerate(instants):
            record = nearest(run, instant)
            for row, (name, across) in enumerate(views):
                axes = panels[len(views) * k + row, j]
                for first, end in zip(track.starts.tolist(), ends, strict=True):
                    line = track.outline[record, first:end]
                    axes.plot(line[:, across], line[:, 2], linewidth=1.8)
                centre = frame_path(run, _HULL)[record]
                hull = pyplot.Circle((centre[across], centre[2]), _HULL_RADIUS, fill=False)
                axes.add_patch(hull)
                if across == 0:
                    axes.add_patch(pyplot.Circle(tuple(_ROD), _ROD_RADIUS, color="grey"))
                else:
                    axes.axhspan(_ROD[1] - _ROD_RADIUS, _ROD[1] + _ROD_RADIUS, color="lightgrey")
                axes.set(xlim=(-0.4, 0.4), ylim=(-0.35, 0.4), aspect="equal", xlabel=f"{name} [m]")
                axes.set_title(f"{label}, {instant:g} s", fontsize=9)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
