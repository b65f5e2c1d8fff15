"""A robot swims with four flagella and grips a rod: linear elements against Legendre polynomials.

The hull touches the rod where the distance of its axis (half-spheres at its ends) from the rod's, seen along the rod,
falls to the sum of the radii:

    gap = min_{|s| ≤ l/2} ‖P·(p + s·a) − r‖ − (R_hull + R_rod),   P onto the plane across the rod          (1)

The step is first-order, so that steps h and h/2 give the converged time 2·t(h/2) − t(h). The paper's "rigid body
contact at approximately 19.5 s", a result of the pull, is judged by it, and comes half a second early. The robot is
not why: away from the rod its accelerations are those of the authors' released program, run as it is
(`tests/composition/test_published_underwater.py`), and what is left of that program moves the touch by a tenth of a
second. In trials apart from this case, by steps of 1.25 ms but for the last, (1) is met at

    19.04 s  with capsules, as here
    19.02 s  with the released springs, at 25 uneven stations, 7 points an element on all flagella
    19.03 s  with these, and the released 2 points an element on the lower flagella
    19.04 s  with these, and the released cable, in whose direction κ is taken over the length, κ·L
    19.02 s  with the released springs by backward differences, to 1e-3 and to 1e-5

and the released hull, 54 points 21 mm apart without a radius, touches 0.04 to 0.1 s after (1). With the text's two
points an element, 10 springs a flagellum, the flagella slip off, as with the released Legendre file's 7. The
paper's time would fit the contact as a whole, 0.7 s long and deepest at 19.4 s. Nothing follows from that which a run
could refute, so it is told and is no reason: the row is missed.

The published equations overwrite the shafts' rates, and what these carry jumps with them, momentum from nowhere. Where
momentum decides, the robot is 3.5 cm lower when it grips. With even capsules it then grips rods from 0.17 to 0.215 m,
and misses the published rod at 0.22 m, with the published springs too, by steps of 5, 2.5 and 1.25 ms.

Source: Mathew et al. (2024), sections 5.2 and 6; the hull is that of the published linkage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit_record.results import Results
from corekit_scenarios.cases.gvs.pairs import (
    LIMIT,
    Taken,
    below_rows,
    coordinate_rows,
    faster_row,
    frame_path,
    in_turns,
    mismatch,
    nearest,
    picture,
    solved_row,
    write_mismatch,
)
from corekit_study.case_run import CaseRun, Row
from corekit_study.reference import OWN, finer, paper, printed_time

__all__ = ["first_touch", "hull_gap", "underwater"]

_HULL = "hull.base"
_SHELL = 0.2
"""Length by which the paper divides the mismatch of the hull's centre [m]."""
_TOUCH, _READING = 19.5, 0.25
"""When the paper's hull touches the rod, "approximately", and half a unit of half seconds as its reading error [s]."""
_LOWER = 0.17
"""Height of a rod that a robot grips whose shafts pass their momentum on [m]; the published one is at 0.22."""
_STATIONS = [
    round((k + share) / 3, 6)
    for k in range(3)
    for share in (0.0, *(np.polynomial.legendre.leggauss(7)[0] / 2 + 0.5).tolist())
] + [1.0]
"""Where the published springs are on a flagellum: the ends of its elements and seven Gauss points in each."""
_MINUTES = {"FEM": 52.47, "Legendre": 113.05}
_FASTER = "section 5.2: 52.47 and 113.05 min"
_SWIMS, _DOCKS = (0, 3, 6, 9, 14), (14, 16, 17, 18, 20)
_ROD, _ROD_RADIUS = np.array([0.02, 0.22]), 0.02
_HALF_AXIS, _HULL_RADIUS = 0.015, 0.09
"""The scenario's rod in x and z, and the hull [m]."""


def hull_gap(centre: Array, axis: Array, height: float = 0.22) -> Array:
    """(1) for centres and axes of the hull, shapes (k, 3) → (k,) [m], and a height of the rod [m]."""
    place, along = centre[:, ::2] - np.array([_ROD[0], height]), axis[:, ::2]
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
    ways = {"FEM": elements, "Legendre": world}
    runs = {name: case.run("gvs/underwater", overrides, name.lower()) for name, overrides in ways.items()}
    with case.show("timed in turns"):
        taken = in_turns("gvs/underwater", ways)
    apart = mismatch(runs["FEM"], runs["Legendre"], _HULL, _SHELL)
    write_mismatch(case.folder / "mismatch.csv", runs["FEM"].time, apart)
    picture(case.folder / "snapshots.png", runs, _SWIMS, _HULL)
    _docking(case.folder / "docking.png", runs, _DOCKS)
    rows = below_rows(apart, *LIMIT, "of the hull's centre, over all records")
    impulse = [f"bodies[0].options.links[{link}].joint.jump=impulse" for link in (2, 3, 4, 5)]
    springs = [
        f"bodies[0].options.links[{link}].{setting}"
        for link in (11, 12)
        for setting in ("collision=spheres", f"spheres={_STATIONS}", "divisions[0].points=7")
    ]
    springs += [
        f"contact.solver.options.{name}={value}"
        for name, value in (("stiffness", 25.0), ("damping", 5.0), ("distance_tolerance", 2e-4))
    ]
    late: list[Row] = []
    for height, more, what, wanted in (
        (_ROD[1], springs, "with the published springs, 25 uneven ones", False),
        (_LOWER, [], f"a rod at {_LOWER:g} m", True),
    ):
        place = f"world.obstacles[0].position=[0.02, 0.0, {height}]"
        run = case.run("gvs/underwater", [*elements, *impulse, place, *more], f"momentum-{height:g}")
        touch = _touch(run, height)
        late.append(
            Row(
                quantity=f"the hull touches, momentum decides where shafts start and stop, {what}",
                unit="s", against=OWN, ours="never" if touch is None else touch,
                tolerance="before 20 s" if wanted else "never, as with smaller steps",
                passed=(touch is not None) == wanted, note="without momentum from nowhere, `jump` of the joints",
            )
        )  # fmt: skip
    for name, overrides in ways.items():
        finer_run = case.run("gvs/underwater", [*overrides, "time.step=0.0025"], f"{name.lower()}-half-step")
        rows += _touch_rows(name, runs[name], finer_run)
    rows += late
    rows += coordinate_rows(runs, {"FEM": 58, "Legendre": 58}, "section 5.2")
    return [*rows, solved_row(runs), *_time_rows(taken), faster_row(taken, _MINUTES, _FASTER)]


def _touch(run: Results, height: float = 0.22) -> float | None:
    return first_touch(run.time, hull_gap(frame_path(run, _HULL), _axis(run, _HULL), height))


def _touch_rows(name: str, run: Results, half: Results) -> list[Row]:
    """The time of touching against its limit for small steps, and that of the paper's own basis against the paper's."""
    found, nearer = _touch(run), _touch(half)
    if found is None or nearer is None:
        return [Row(quantity=f"the hull touches the rod, {name}", against=OWN, ours="never", passed=False)]
    limit = 2.0 * nearer - found
    gap = hull_gap(frame_path(run, _HULL), _axis(run, _HULL))
    last = (run.time > found - 0.5) & (run.time < found)
    speed = -1e3 * float(np.polyfit(run.time[last], gap[last], 1)[0])
    nearest_gap = hull_gap(frame_path(half, _HULL), _axis(half, _HULL))
    deepest = float(half.time[np.argmin(nearest_gap)])
    leaves = float(half.time[np.flatnonzero(nearest_gap <= 0.0)[-1]])
    stays = f"it nears by {speed:.0f} mm/s, presses deepest at {deepest:.2f} s and leaves at {leaves:.2f} s"
    converged = {"quantity": f"the hull touches the rod, {name}, converged", "unit": "s", "ours": limit}
    beside = (
        Row(
            **converged, against=paper("section 5.2: approximately 19.5 s"), expected=_TOUCH,
            tolerance=f"within {_READING:g} s, the reading of 'approximately'",
            passed=abs(limit - _TOUCH) <= _READING,
            note=f"no cause is known; none of the released program's settings delays it by more than 0.1 s; {stays}",
        )
        if name == "FEM"
        else Row(**converged, against=OWN, note=stays)
    )  # fmt: skip
    return [
        Row(
            quantity=f"the hull touches the rod, {name}", unit="s", against=finer("steps of 2.5 ms, extrapolated"),
            expected=limit, ours=found, tolerance="within 0.1 s", passed=abs(found - limit) <= 0.1,
        ),
        beside,
    ]  # fmt: skip


def _time_rows(taken: Mapping[str, Taken]) -> list[Row]:
    return [
        Row(
            quantity=f"processor time, {name}", unit="s",
            against=printed_time("section 5.2; MATLAB on a laptop of 2020"),
            expected=60.0 * _MINUTES[name], ours=taken[name].seconds,
            tolerance="at most 60 s", passed=taken[name].seconds <= 60.0,
            note="steps alone, compiled before",
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
