"""The vine paper's rollouts: round a circle, through clutter, swinging.

The paper shows pictures. The reference paths are its equations with exact quadratic programs, computed apart from
this project with the parameters of the authors' published code.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.data.arrays import Array
from corekit_record.results import Results
from corekit_study.case_run import CaseRun, Row
from corekit_study.reference import OWN, analytic, finer, paper, stored

__all__ = ["circle", "cluttered", "oscillation", "tip_path"]

_CIRCLE = (
    (400.0, 0.0), (418.792, -28.498), (437.895, -39.447), (457.390, -45.888), (477.336, -47.094),
    (496.678, -51.987), (516.829, -53.321), (536.683, -56.354), (556.045, -58.384),
)  # fmt: skip
_CIRCLE_STEPS = (0, 50, 100, 150, 200, 250, 300, 350, 399)
_CLUTTERED = ((184.7, -236.4), (335.4, -372.7), (376.2, -574.5), (510.25, -710.55))
_CLUTTERED_STEPS = (0, 90, 180, 269)
_IMPLICIT = (513.2, -729.1)
_STORED = stored(
    "the paper's equations with exact quadratic programs, apart from this project", "computed once"
)


def tip_path(results: Results) -> Array:
    """The robot's tip in its plane at every record [mm], shape (k, 2)."""
    return 1e3 * results.frame_position[:, -1][:, [0, 2]]


def _words(place: Array | tuple[float, float]) -> str:
    return f"({place[0]:.3f}, {place[1]:.3f})"


def _path_rows(
    path: Array, steps: tuple[int, ...], wanted: tuple[tuple[float, float], ...], near: float
) -> list[Row]:
    rows = []
    for step, place in zip(steps, wanted, strict=True):
        away = math.dist(path[step], place)
        rows.append(
            Row(
                quantity=f"tip after step {step}", unit="mm", against=_STORED, expected=_words(place),
                ours=_words(path[step]), tolerance=f"within {near:g} mm", passed=away <= near,
            )
        )  # fmt: skip
    return rows


def _solved(results: Results) -> Row:
    said = results.statistics
    steps = int(said["steps"])
    solved = steps - int(said["unsolved_steps"])
    return Row(
        quantity="steps whose solve met its tolerance", against=OWN, ours=f"{solved} of {steps}", tolerance="all",
        passed=solved == steps,
    )  # fmt: skip


def circle(case: CaseRun) -> list[Row]:
    """Four seconds past the circle; 1e-3 mm, half of it the reference's rounding."""
    results = case.run("vine/circle")
    return [*_path_rows(tip_path(results), _CIRCLE_STEPS, _CIRCLE, 1e-3), _solved(results)]


def cluttered(case: CaseRun) -> list[Row]:
    """Three seconds through the boxes: the paper's explicit spring, then the implicit one for 50 and 200 bodies."""
    results = case.run("vine/cluttered")
    rows = [*_path_rows(tip_path(results), _CLUTTERED_STEPS, _CLUTTERED, 0.1), _solved(results)]
    implicit = ["integrator.options.form=linearly-implicit", "integrator.options.beta=0.5"]
    more = [
        f"bodies[0].options.{name}={value}"
        for name, value in (
            ("bodies", 200), ("joint_stiffness", 0.12), ("joint_damping", 4e-5), ("body_mass", 5e-4),
            ("body_inertia", 1.25e-6),
        )
    ]  # fmt: skip
    for bodies, overrides in ((50, implicit), (200, [*implicit, *more])):
        path = tip_path(case.run("vine/cluttered", overrides, f"implicit-{bodies}"))
        away = math.dist(path[-1], _IMPLICIT)
        rows.append(
            Row(
                quantity=f"tip in the end, implicit spring, {bodies} bodies", unit="mm", against=_STORED,
                expected=_words(_IMPLICIT), ours=_words(path[-1]), tolerance="within 0.5 mm", passed=away <= 0.5,
            )
        )  # fmt: skip
    film = Row(
        quantity="distance from the filmed robot of Figure 1", against=paper("Figure 1, section IV-C"), ours=None,
        reason="an overlay without numbers; the text has 40 bodies, the authors' code 50",
    )  # fmt: skip
    return [*rows, film]


def oscillation(case: CaseRun) -> list[Row]:
    """Two oscillations: frequency against beam theory, decay against what damping and scheme remove, and 1 ms steps."""
    results = case.run("vine/oscillation")
    swing = tip_path(results)[:, 1]
    fine = case.run("vine/oscillation", ["time.step=0.001"], "fine")
    frequency = _frequency(results.time, swing)
    length, stiffness, damping = 0.6, 0.0133, 1e-5
    # two layers of wall, 920 kg/m³, 0.1 mm, on a radius of 12 mm
    lineic = 2 * 920.0 * math.pi * (0.012**2 - 0.0119**2)
    omega = 3.51601527 / length**2 * math.sqrt(stiffness / lineic)
    beam = omega / (2.0 * math.pi)
    ratio = 0.5 * omega * damping / stiffness + 0.25 * 0.01 * omega
    measured = _damping_ratio(swing)
    apart = float(np.mean(np.abs(swing - tip_path(fine)[:, 1])))
    return [
        Row(
            quantity="first bending frequency", unit="Hz", against=analytic("cantilever of Euler and Bernoulli"),
            expected=beam, ours=frequency, tolerance="within 3 %", passed=abs(frequency / beam - 1.0) <= 0.03,
            note="the paper gives no number",
        ),
        Row(
            quantity="damping ratio", unit="%",
            against=analytic("½·Ω·c_b/EI of the tube and β·h·Ω/2 of the implicit spring"), expected=100 * ratio,
            ours=100 * measured, tolerance="within 15 %", passed=abs(measured / ratio - 1.0) <= 0.15,
        ),
        Row(
            quantity="mean distance of the tip's y from that with 1 ms steps", unit="mm", against=finer("h = 1 ms"),
            ours=apart, note="the error of the paper's step of 10 ms",
        ),
    ]  # fmt: skip


def _crossings(time: Array, swing: Array) -> Array:
    """When the swing passes zero, between records by straight lines [s]."""
    before = np.flatnonzero(swing[:-1] * swing[1:] < 0.0)
    share = swing[before] / (swing[before] - swing[before + 1])
    return time[before] + share * (time[before + 1] - time[before])


def _frequency(time: Array, swing: Array) -> float:
    passed = _crossings(time, swing)
    return 0.5 * (len(passed) - 1) / float(passed[-1] - passed[0])


def _damping_ratio(swing: Array) -> float:
    """From the extrema's logarithmic decrement."""
    size = np.abs(swing)
    peaks = np.flatnonzero((size[1:-1] > size[:-2]) & (size[1:-1] >= size[2:])) + 1
    decrement = math.log(size[peaks[0]] / size[peaks[-1]]) / (len(peaks) - 1)
    return decrement / math.pi
