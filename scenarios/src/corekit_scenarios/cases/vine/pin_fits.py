"""The vine paper's fits with a stiffness and a damping of every pin, and with the matrices K and C of its equation (7).

The paper fits one K and one C, "the same at each joint", and says that its procedure takes more general ones. Here
every pin of ten bodies has its own, and three pins have the whole symmetric matrices; both are of robots that swing
freely from bends with all modes, and known because they were made. Last, every pin of the robot at the wall. A pin's
torque is what the bodies beyond it need: near the tip there are few, and the markers see little of its K and C. What
couples pins is seen still less: with the noise of the other fits only the first entry of either diagonal is identified,
and a fitted C may not be positive semidefinite; so matrices are asked of markers ten times as good.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.estimator import FittedParameter
from corekit_scenarios.cases.vine.markers import NOISE, TRUTH, along, parameter, run_fit, write_markers
from corekit_study.case_run import CaseRun, Row
from corekit_study.fit import FitResult
from corekit_study.reference import OWN, Reference

__all__ = [
    "identified",
    "in_deviations",
    "matrices_in_swings",
    "no_matrices_row",
    "pin_overrides",
    "pin_rows",
    "pins_in_swing",
    "pins_sought",
    "wall_pin_row",
]

STIFFNESS = (0.22, 0.12, 0.1, 0.13, 0.09)
DAMPING = (3e-3, 1.5e-3, 2e-3, 1e-3, 1.2e-3)
"""K [N·m/rad] and C [N·m·s/rad] of the pins that made the markers, from the base."""
_STARTS = {"joint_stiffness": (0.05, 1e-3, 10.0), "joint_damping": (1e-4, 1e-7, 1.0)}
"""Where the search begins, the same at every pin, and its bounds."""
_BEND = (0.15, -0.1, 0.12, -0.15, 0.15)
"""Angles from which it swings [rad], which stir all five modes."""
_FARTHEST = 3.0
"""Deviations that the farthest of ten independent values exceeds in 3 of 100 fits."""
MATRICES = {
    "joint_stiffness": ((0.2,), (0.03, 0.12), (-0.015, 0.025, 0.1)),
    "joint_damping": ((3e-3,), (5e-4, 2e-3), (-3e-4, 4e-4, 1.5e-3)),
}
"""Lower triangles of K and C of three pins that made the markers."""
_MATRIX_STARTS = {"joint_stiffness": (0.1, 1e-3, 10.0), "joint_damping": (1e-3, 1e-7, 1.0)}
"""Where the search of a diagonal begins, and its bounds; what couples begins at a tenth, between ± the upper one."""
MATRIX_BENDS = ([0.15, -0.1, 0.12], [0.1, 0.12, -0.15], [0.15, 0.1, 0.05])
"""Angles from which it swings, three times [rad]."""
MATRIX_NOISE = 5e-5
"""Of a marker's coordinate [m]."""


def matrix_overrides(matrices: Mapping[str, Sequence[Sequence[float]]], bend: Sequence[float]) -> list[str]:
    """Overrides of `vine/oscillation` with three pins and their matrices; the midpoint keeps length in a swing."""
    given = ", ".join(f"{name}={[list(row) for row in rows]}" for name, rows in matrices.items())
    options = f'bodies=6, length=0.6, diameter=0.024, collision="none", form="telescope", {given}'
    return [
        f"bodies[0].options={{{options}}}", f"bodies[0].initial.bend={list(bend)}", "time.duration=0.78",
        "integrator.use=implicit-midpoint", "integrator.options={}",
    ]  # fmt: skip


def matrix_starts() -> dict[str, list[list[float]]]:
    """Where the search of the matrices begins."""
    return {
        name: [[start if j == k else 0.1 * start for k in range(j + 1)] for j in range(3)]
        for name, (start, _, _) in _MATRIX_STARTS.items()
    }


def matrices_sought() -> str:
    """The parameters of a fit of the matrices."""
    return "".join(
        parameter(f"{name}[{j}][{k}]", rows[j][k], low if j == k else -high, high)
        for (name, rows), (_, low, high) in zip(matrix_starts().items(), _MATRIX_STARTS.values(), strict=True)
        for j in range(3)
        for k in range(j + 1)
    )


def pin_overrides(stiffness: Sequence[float], damping: Sequence[float]) -> list[str]:
    """Overrides of `vine/oscillation` with values of pins in place of those of a tube, and another bend."""
    options = (
        'bodies=10, length=0.6, diameter=0.024, collision="none", form="telescope", '
        f"joint_stiffness={list(stiffness)}, joint_damping={list(damping)}"
    )
    return [f"bodies[0].options={{{options}}}", f"bodies[0].initial.bend={list(_BEND)}", "time.duration=0.78"]


def pins_sought(pins: int) -> str:
    """The parameters of a fit of every pin's K and C."""
    return "".join(
        parameter(f"{name}[{j}]", *bounds) for name, bounds in _STARTS.items() for j in range(pins)
    )


def pins_in_swing(case: CaseRun) -> list[Row]:
    """K and C of every pin, from one swing with all modes and the noise of the other fit."""
    truth = case.run("vine/oscillation", pin_overrides(STIFFNESS, DAMPING), "truth-pins")
    place = along(truth.frame_position[::3])
    seen = place + NOISE * np.random.default_rng(1).normal(size=place.shape)
    write_markers(case.folder / "pins.csv", truth.time[::3], seen)
    start = pin_overrides([0.05] * len(STIFFNESS), [1e-4] * len(DAMPING))
    text = (
        f'scenario = "vine/oscillation"\nset = {json.dumps(start)}\n[options]\nprofile = "none"\n[options.markers]\n'
        f'file = "pins.csv"\ndeviation = {NOISE}\n' + pins_sought(len(STIFFNESS))
    )
    return pin_rows(run_fit(case, "swing-pins", text), TRUTH)


def matrices_in_swings(case: CaseRun) -> list[Row]:
    """K and C of three pins as matrices, from three swings and markers ten times as good as those of the other fits."""
    runs = ""
    for n, bend in enumerate(MATRIX_BENDS):
        truth = case.run("vine/oscillation", matrix_overrides(MATRICES, bend), f"truth-matrices-{n}")
        place = along(truth.frame_position[::3])
        seen = place + MATRIX_NOISE * np.random.default_rng(1 + n).normal(size=place.shape)
        write_markers(case.folder / f"matrices-{n}.csv", truth.time[::3], seen)
        runs += (
            f'[[options.experiments]]\nset = ["bodies[0].initial.bend={bend}"]\n[options.experiments.markers]\n'
            f'file = "matrices-{n}.csv"\ndeviation = {MATRIX_NOISE}\n'
        )
    start = json.dumps(matrix_overrides(matrix_starts(), MATRIX_BENDS[0]))
    text = (
        f'scenario = "vine/oscillation"\nset = {start}\n[options]\nprofile = "none"\n'
        + runs
        + matrices_sought()
    )
    known = [each for rows in MATRICES.values() for row in rows for each in row]
    return pin_rows(run_fit(case, "swing-matrices", text), TRUTH, known, "three pins, as matrices")


def in_deviations(fitted: Sequence[FittedParameter], truth: Sequence[float]) -> Array:
    """How far values are from the true ones, in their standard deviations; nan without an interval.

    Intervals of values that must be positive are even on a log scale, others on a linear one.
    """
    out = []
    for each, true in zip(fitted, truth, strict=True):
        interval = each.high - each.low
        if not math.isfinite(interval) or (each.low == 0.0 and true > 0.0):
            out.append(math.nan)
        elif _on_log_scale(each.name):
            out.append(math.log(each.value / true) / (math.log(each.high / each.low) / (2.0 * 1.96)))
        else:
            out.append((each.value - true) / (interval / (2.0 * 1.96)))
    return np.array(out)


def _on_log_scale(name: str) -> bool:
    """Whether a parameter is sought on a log scale: all but what couples two pins."""
    indices = name.rstrip("]").replace("][", "[").split("[")[1:]
    return len(set(indices)) < 2


def identified(fitted: Sequence[FittedParameter]) -> str:
    """Which parameters have which verdict, in words."""
    verdicts: dict[str, list[str]] = {}
    for each in fitted:
        verdicts.setdefault(each.verdict, []).append(
            each.name.replace("joint_stiffness", "K").replace("joint_damping", "C")
        )
    return "; ".join(f"{verdict}: {', '.join(names)}" for verdict, names in verdicts.items())


def pin_rows(
    made: FitResult,
    against: Reference,
    truth: Sequence[float] = (*STIFFNESS, *DAMPING),
    what: str = "every pin",
) -> list[Row]:
    """What a fit finds of known values."""
    fitted = made.estimate.fitted
    off = in_deviations(fitted, truth) if fitted else np.full(1, math.nan)
    values = ", ".join(f"{each.name} {each.value:.3g} ({each.low:.3g} to {each.high:.3g})" for each in fitted)
    farthest = float(np.abs(off).max())
    return [
        Row(
            quantity=f"K and C of {what}: farthest from the true one, in its own standard deviations", against=against,
            expected=0.0, ours=farthest, tolerance=f"≤ {_FARTHEST:g}, and all solved",
            passed=made.info.status.solved and farthest <= _FARTHEST, note=values,
        ),
        Row(quantity=f"K and C of {what}: what the markers say", against=OWN, ours=identified(fitted) or "none"),
    ]  # fmt: skip


def wall_pin_row(made: FitResult, against: Reference, truth: Mapping[str, float]) -> Row:
    """What markers at the wall say of every pin, where all have the same known values, by option."""
    fitted = made.estimate.fitted
    known = [each for each in fitted if each.verdict == "identified"]
    off = np.abs(in_deviations(known, [truth[each.name.partition("[")[0]] for each in known]))
    return Row(
        quantity="synthetic, K and C of every pin: farthest of the identified ones, in its own standard deviations",
        against=against, expected=0.0, ours=float(off.max(initial=0.0)), tolerance=f"≤ {_FARTHEST:g}, and all solved",
        passed=made.info.status.solved and bool((off <= _FARTHEST).all()),
        note=f"every step exact; {identified(fitted) or 'none'}",
    )  # fmt: skip


def no_matrices_row(made: FitResult) -> Row:
    """Why the markers at the wall are not asked for whole matrices, from the fit of every pin's own K and C."""
    return Row(
        quantity="K and C as matrices, from the published markers at the wall", against=OWN, ours=None,
        reason="five pins have 30 entries, and of their diagonals alone synthetic markers there, with every step "
        f"exact, say: {identified(made.estimate.fitted) or 'nothing'}",
    )  # fmt: skip
