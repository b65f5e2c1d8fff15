"""The vine paper's fits: a robot that swings, and one that grows into a wall.

The video of the swing is not published: its markers are synthetic. Markers of the wall were published with the authors'
code, without a licence, so they are read from the folder that `COREKIT_REFERENCE_DATA` names, and a synthetic case of
the same shape stands for them anywhere.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.estimator import FittedParameter
from corekit_study.case_run import CaseRun, Row
from corekit_study.fit import FitResult, fit
from corekit_study.fit_file import load_fit
from corekit_study.reference import OWN, Reference, analytic, paper

__all__ = ["swing_fit", "wall_fit"]

_MARKERS = 21
_NOISE = 5e-4
_STIFFNESS, _DAMPING = 0.0133, 2e-4
_WALL_CENTRE, _WALL_ANGLE, _WALL_HALF = (0.24889, 0.356283), -0.02357, 0.015
_HEADING, _RADIUS = 1.31, 0.012
_CODES_INERTIA = 2e-4
"""kg·m², of every body in the authors' code."""
_TRUTH = analytic("the robot whose motion made the synthetic markers")
_SWING, _WALL = paper("section IV-B, Figure 6"), paper("section IV-B, Figure 7")
_PINS = [f"body-{i}-end" for i in range(2, 11, 2)]


def _along(frames: Array) -> Array:
    """Evenly spaced points of the line through frames (T, f, 3), shape (T, 21, 3)."""
    share = np.linspace(0.0, frames.shape[1] - 1.0, _MARKERS)
    before = np.minimum(share.astype(int), frames.shape[1] - 2)
    w = (share - before)[None, :, None]
    return (1.0 - w) * frames[:, before] + w * frames[:, before + 1]


def _write(path: Path, time: Array, place: Array) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["time", "marker", "x", "z"])
        table.writerows(
            [t, i, place[k, i, 0], place[k, i, 2]] for k, t in enumerate(time) for i in range(_MARKERS)
        )


def _made(case: CaseRun, name: str, text: str) -> FitResult:
    file = case.folder / f"{name}.toml"
    file.write_text(f'format = "corekit-fit/1"\nname = "{name}"\nuse = "ipopt-fit"\n{text}', encoding="utf-8")
    into = case.folder / name
    into.mkdir(exist_ok=True)
    return fit(load_fit(file), into)


def _solved(made: FitResult, what: str) -> Row:
    return Row(
        quantity=f"{what}: iterations of IPOPT", against=OWN, ours=made.info.iterations, tolerance="solved",
        passed=made.info.status.solved, note=made.info.answered_by,
    )  # fmt: skip


def swing_fit(case: CaseRun) -> list[Row]:
    """Stiffness and damping from 1.2 periods of 21 markers at 30 Hz with noise of 0.5 mm."""
    truth = case.run(
        "vine/oscillation",
        [
            f"bodies[0].options.bending_stiffness={_STIFFNESS}",
            f"bodies[0].options.bending_damping={_DAMPING}",
            "time.duration=0.78",
        ],
        "truth",
    )
    frames = truth.frame_position[::3]
    place = _along(frames)
    seen = place + _NOISE * np.random.default_rng(1).normal(size=place.shape)
    _write(case.folder / "swing.csv", truth.time[::3], seen)
    made = _made(
        case,
        "swing",
        'scenario = "vine/oscillation"\n[options.markers]\nfile = "swing.csv"\n'
        f"deviation = {_NOISE}\n"
        + _sought("bending_stiffness", 0.003, 1e-4, 1.0)
        # four times too soft, twenty times too little damped
        + _sought("bending_damping", 1e-5, 1e-7, 0.1),
    )
    rows = [_solved(made, "swing")]
    for each, true, limit in zip(made.estimate.fitted, (_STIFFNESS, _DAMPING), (1.0, 3.0), strict=True):
        off = 100.0 * (each.value / true - 1.0)
        rows.append(
            Row(
                quantity=f"error of {each.name}", unit="%", against=_TRUTH, expected=0.0, ours=off,
                tolerance=f"within {limit:g} %",
                passed=abs(off) <= limit, note=f"{each.value:.4g} ({each.low:.4g} to {each.high:.4g}) {each.unit}",
            )
        )  # fmt: skip
    tip = 1e3 * float(np.mean(np.abs(made.estimate.predicted[:, -1, 2] - place[:, -1, 2])))
    solve = made.estimate.metrics["solve_cpu_s"] * 60 / 78
    rows += [
        Row(
            quantity="mean error of the tip's y", unit="mm", against=_TRUTH, expected=0.0, ours=tip,
            tolerance="≤ 3.3 mm", passed=tip <= 3.3, note="without noise; the bound is the paper's error on its robot",
        ),
        Row(
            quantity="mean error of the tip's y of the filmed robot", unit="mm", against=_SWING, expected=3.3,
            ours=None,
            reason="the video of the swing and its markers are not published",
        ),
        Row(
            quantity="processor time of the solve, 10 bodies, for 60 of its 78 steps", unit="s", against=OWN,
            ours=solve,
            tolerance="≤ 1 s", passed=solve <= 1.0, note="IPOPT with exact derivatives; its program is built before",
        ),
    ]  # fmt: skip
    return rows


def _sought(name: str, start: float, low: float, high: float) -> str:
    return f'[[options.parameters]]\nname = "{name}"\nstart = {start}\nlow = {low}\nhigh = {high}\n'


_FREE = '[[options.unmodelled]]\nunit = "m/s"\nforce = 0.01\n[[options.unmodelled]]\nunit = "rad/s"\nforce = 0.001\n'
"""Forces on every body beside the equations of motion, as errors of these: a body weighs 0.01 N."""


def _wall_text(markers: str, deviation: float, overrides: Sequence[str] = (), more: str = _FREE) -> str:
    along = ", ".join(f'"{name}"' for name in ("base", *_PINS))
    changes = ", ".join(f'"{each}"' for each in overrides)
    return (
        f'scenario = "vine/wall"\nset = [{changes}]\n[options]\nprofile_points = 9\n'
        f'[options.markers]\nfile = "{markers}"\ndeviation = {deviation}\nalong = [{along}]\n'
        + _sought("joint_stiffness", 0.05, 1e-4, 10.0)
        + _sought("joint_damping", 1e-5, 1e-8, 1.0)
        + f'[[options.contacts]]\nobstacle = "wall"\nradius = {_RADIUS}\n{more}'
    )


def _below_wall(points: Array) -> Array:
    """Distance of points (…, 2) from the wall's lower face [m]."""
    normal = np.array([math.sin(_WALL_ANGLE), -math.cos(_WALL_ANGLE)])
    return (points - np.array(_WALL_CENTRE)) @ normal - _WALL_HALF


def _tip_error(made: FitResult, seen: Array) -> tuple[float, float]:
    """Mean error of the last marker's x and y, y upwards in the paper's plane [mm]."""
    apart = 1e3 * np.abs(made.estimate.predicted[:, -1] - seen[:, -1]).mean(axis=0)
    return float(apart[0]), float(apart[2])


def _wall_rows(
    made: FitResult, what: str, seen: Array, against: Reference, expected: float, reason: str
) -> list[Row]:
    """Errors of the tip, and what the data say of K; the paper's 1.1 mm is asked of x."""
    fitted: dict[str, FittedParameter] = {each.name: each for each in made.estimate.fitted}
    x, y = _tip_error(made, seen)
    K = fitted["joint_stiffness"]
    shown = K.verdict == "not identifiable" and K.profile is not None
    values = ", ".join(f"{each.name} {each.value:.3g} {each.unit}" for each in fitted.values())
    return [
        _solved(made, what),
        Row(
            quantity=f"{what}: mean error of the tip's x", unit="mm", against=against, expected=expected, ours=x,
            tolerance="≤ 1.1 mm", passed=x <= 1.1, reason=reason if x > 1.1 else "", note=values,
        ),
        Row(
            quantity=f"{what}: mean error of the tip's y", unit="mm", against=OWN, ours=y,
            note="along the wall's normal, nearly; the paper tells x alone",
        ),
        Row(
            quantity=f"{what}: what the data say of K", against=OWN, ours=K.verdict,
            tolerance="not identifiable, with profile", passed=shown, note=f"{K.note}; profile-joint_stiffness.png",
        ),
    ]  # fmt: skip


def wall_fit(case: CaseRun) -> list[Row]:
    """22 steps of a robot that slides along a wall: 8 frames of 21 markers, synthetic and, where it is, published."""
    normal = np.array([math.sin(_WALL_ANGLE), -math.cos(_WALL_ANGLE)])
    heading = np.array([math.cos(_HEADING), math.sin(_HEADING)])
    # the length at which the tip just touches
    length = (_WALL_HALF + _RADIUS + normal @ np.array(_WALL_CENTRE)) / (normal @ heading) - 1e-5
    overrides = [f"bodies[0].initial.grown_length={length:.6f}", "time.duration=0.24444444444444444"]
    truth = case.run("vine/wall", overrides, "truth")
    names = [0, *range(2, 11, 2)]
    place = _along(truth.frame_position[::3][:, names])
    seen = place + _NOISE * np.random.default_rng(2).normal(size=place.shape)
    _write(case.folder / "synthetic.csv", truth.time[::3], seen)
    made = _made(case, "synthetic", _wall_text("synthetic.csv", _NOISE, overrides))
    rows = _wall_rows(made, "synthetic", place, _TRUTH, 0.0, "")
    file = Path(os.environ.get("COREKIT_REFERENCE_DATA", "")) / "vine_wall_markers.npz"
    if not file.is_file():
        note = (
            f"{file.name} has no licence to be shipped; COREKIT_REFERENCE_DATA may name a folder that has it"
        )
        missing = Row(
            quantity="published markers: mean error of the tip's x", unit="mm", against=_WALL, expected=1.1, ours=None,
            reason=note,
        )  # fmt: skip
        return [*rows, missing]
    with np.load(file) as data:
        markers = 1e-3 * np.stack(
            [data["marker_x_mm"], 0.0 * data["marker_x_mm"], data["marker_y_mm"]], axis=2
        )
    return [*rows, *_published(case, markers)]


def _published(case: CaseRun, markers: Array) -> list[Row]:
    """The published markers, with the unknowns of the paper's (16) alone and with forces that it does not have."""
    _write(case.folder / "published.csv", np.arange(len(markers)) / 30.0, markers)
    apart = 1e3 * (float(_below_wall(markers[:, -1][:, [0, 2]]).mean()) - _RADIUS)
    made = _made(case, "published", _wall_text("published.csv", _NOISE, more=""))
    rows = _wall_rows(
        made, "published markers, unknowns of (16)", markers, _WALL, 1.1,
        "bodies are hollow cylinders, as the paper says; those of the authors' code are a thousand times as hard to "
        f"turn, and the markers stay {apart:.1f} mm off the tube's radius",
    )  # fmt: skip
    heavier = [f"bodies[0].options.body_inertia={_CODES_INERTIA}"]
    for what, overrides, more, against, note in (
        (
            "with the inertia of the authors' code",
            heavier,
            "",
            _WALL,
            "a thousand times that of the cylinders",
        ),
        (
            "with free forces on every body",
            (),
            _FREE,
            OWN,
            "0.01 N, the weight of a body, and 1 mN·m: not in (16)",
        ),
    ):
        text = _wall_text("published.csv", _NOISE, overrides, more)
        name = what.replace(" ", "-").replace("'", "")
        other = _made(case, name, text.replace("[options]\n", '[options]\nprofile = "none"\n'))
        x, y = _tip_error(other, markers)
        judged = against is _WALL
        rows.append(
            Row(
                quantity=f"published markers, {what}: mean error of the tip's x", unit="mm", against=against,
                expected=1.1 if judged else None, ours=x, tolerance="≤ 1.1 mm" if judged else "",
                passed=x <= 1.1 if judged else None,
                note=f"y: {y:.2g} mm; {note}; {other.info.status.value.rstrip('.')}",
            )
        )  # fmt: skip
    return rows
