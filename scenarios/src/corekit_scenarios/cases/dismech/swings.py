"""The first two experiments of DisMech: a cantilever against beam theory, and a hanging helix."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import curve_fit

from corekit.data.arrays import Array
from corekit.scenario.load import load
from corekit_record.results import Results
from corekit_scenarios.cases.dismech.discrete_elastica import tip_under_load
from corekit_scenarios.cases.dismech.plots import draw_lines
from corekit_scenarios.cases.dismech.stored_motion import HELIX_TIMES, HELIX_TIP, STORED
from corekit_study.case_run import CaseRun, Row
from corekit_study.reference import OWN, analytic, finer, method

__all__ = ["B2", "STIFF", "beam_frequency", "cantilever", "helix", "sine", "tip_height"]

STIFF = ("bodies[0].options.limbs[0].young=1e7", "time.duration=20.0")
"""What makes the paper's second cantilever of the first."""
B2 = (
    "bodies[0].options.limbs[0].radius=1e-3", "bodies[0].options.limbs[0].young=1e9", "time.duration=2.001",
    "time.step=0.003", "output.every=0.003",
)  # fmt: skip
"""What makes the paper's second helix of the first."""
MIDPOINT = ("integrator.use=implicit-midpoint", "integrator.options={}")
_TIP_SPEED = 0.005
_BEAM = analytic("first mode of the cantilever of Euler and Bernoulli")


def beam_frequency(young: float) -> float:
    """ω₁ = 1.8751²·√(EI/(ρA))/L² of the cantilever [rad/s]."""
    return 1.875104068711961**2 * math.sqrt(young * 0.02**2 / (4.0 * 500.0))


def tip_height(results: Results) -> Array:
    """z of the last node at every record [m]."""
    return results.frame_position[:, -1, 2]


def sine(time: Array, height: Array, guess: float) -> tuple[float, float]:
    """ω [rad/s] and amplitude of A·sin(ω·t) fitted to a swing that begins at 0."""
    (amplitude, omega), _ = curve_fit(
        lambda t, size, rate: size * np.sin(rate * t), time, height, p0=(_TIP_SPEED / guess, guess)
    )
    return float(omega), float(abs(amplitude))


def cantilever(case: CaseRun) -> list[Row]:
    """Both cantilevers at the paper's step, half and a quarter of it."""
    rows: list[Row] = []
    for label, young, step, extra in (("a1", 1e5, 0.5, ()), ("a2", 1e7, 0.05, STIFF)):
        theory = beam_frequency(young)
        found, drawn = [], {}
        for part in (1, 2, 4):
            steps = [f"time.step={step / part}", f"output.every={step / part}"]
            results = case.run("dismech/cantilever", [*extra, *steps], f"{label}-h{part}")
            height = tip_height(results)
            found.append(sine(results.time, height, theory))
            drawn[f"corekit, h = {step / part:g} s"] = (results.time, 1e3 * height)
        rows += _cantilever_rows(label, theory, step, found)
        time = np.linspace(0.0, float(results.time[-1]), 1000)
        drawn["theory"] = (time, 1e3 * _TIP_SPEED / theory * np.sin(theory * time))
        draw_lines(case.folder / f"cantilever-{label}.png", drawn, "time [s]", "tip height [mm]")
    return [*rows, _static_row(case)]


def _static_row(case: CaseRun) -> Row:
    """The first cantilever at rest under loads at its end, P·L³/(3·E·I) = 10 mm, the swing's size, up to 3 m."""
    young, radius, shares = 1e5, 0.02, np.array([0.01, 0.1, 0.5, 1.0, 3.0])
    area = math.pi * radius**2
    rigidity = young * area * radius**2 / 4
    ours, wanted = [], []
    for share in shares.tolist():
        load_ = 3.0 * rigidity * share
        overrides = [
            'bodies[0].options.forces=[{name="tip",at="beam.end"}]',
            f'bodies[0].inputs=[{{channel="force-tip",signal=[0.0,0.0,{-load_}]}}]',
            "bodies[0].initial={}",
        ]
        found = load("dismech/cantilever", overrides).statics(load_steps=10)
        ours.append(found.frame_position()[-1][[0, 2]])
        wanted.append(tip_under_load(load_, 1.0, 200, rigidity, young * area))
    away = float(np.abs(np.array(ours) - np.array(wanted)).max())
    drawn = {
        "corekit": (shares, -np.array(ours)[:, 1]),
        "discrete elastica": (shares, -np.array(wanted)[:, 1]),
        "theory": (shares[:3], shares[:3]),
    }
    picture = case.folder / "cantilever-static.png"
    draw_lines(picture, drawn, "P·L³/(3·E·I) [m]", "tip deflection [m]", dots=("corekit",))
    return Row(
        quantity="a1: tip at rest under five loads, largest distance", unit="m",
        against=analytic("discrete elastica, shooting to 1e-12"), expected=0.0, ours=away,
        tolerance="≤ 1e-7 m", passed=away <= 1e-7, note="deflections of 0.01 to 0.8 m; cantilever-static.png",
    )  # fmt: skip


def _cantilever_rows(label: str, theory: float, step: float, found: list[tuple[float, float]]) -> list[Row]:
    errors = [omega / theory - 1.0 for omega, _ in found]
    order = math.log2((found[1][0] - found[0][0]) / (found[2][0] - found[1][0]))
    late = -((theory * step) ** 2) / 12.0
    size = found[0][1] / (_TIP_SPEED / theory) - 1.0
    return [
        Row(
            quantity=f"{label}: first frequency at h/4, from beam theory", unit="%", against=_BEAM,
            expected=0.0, ours=100 * errors[2], tolerance="within 0.1 %", passed=abs(errors[2]) <= 1e-3,
            note="the C++ code and PyElastica at fine steps: 0.4 to 0.5 %, stored",
        ),
        Row(
            quantity=f"{label}: the same at the paper's step", unit="%",
            against=analytic("−(ω·h)²/12 of the midpoint rule"), expected=100 * late, ours=100 * errors[0],
            tolerance="within 0.1 points", passed=abs(errors[0] - late) <= 1e-3,
        ),
        Row(
            quantity=f"{label}: order of the frequency in h", against=analytic("order of the midpoint rule"),
            expected=2,
            ours=order, tolerance="2 ± 0.05",
            passed=abs(order - 2.0) <= 0.05,
        ),
        Row(
            quantity=f"{label}: amplitude at the paper's step, from beam theory", unit="%", against=_BEAM,
            expected=0.0, ours=100 * size, tolerance="within 1 %", passed=abs(size) <= 0.01,
        ),
    ]  # fmt: skip


def helix(case: CaseRun) -> list[Row]:
    """b1 at the paper's step by two schemes, with midpoint at 4 ms, and finer; b2; b1 with drag against statics."""
    ways = {
        "b1": (), "b1-midpoint-6ms": MIDPOINT,
        "b1-midpoint-4ms": (*MIDPOINT, "time.step=4e-3", "output.every=4e-3", "time.duration=10.0"),
        "b1-fine": (*MIDPOINT, "time.step=1e-3"),
        "b1-finer": (*MIDPOINT, "time.step=5e-4"),
        "b2": (*MIDPOINT, *B2), "b2-fine": (*MIDPOINT, *B2, "time.step=7.5e-4"),
    }  # fmt: skip
    runs = {name: case.run("dismech/helix", overrides, name) for name, overrides in ways.items()}
    rows = [
        _drift(
            runs["b1"], "b1 at h = 6 ms, generalised-α", None, "the paper takes midpoint; see the scenario"
        ),
        _drift(
            runs["b1-midpoint-6ms"],
            "b1 at h = 6 ms, midpoint",
            None,
            "its stretch rings, fed by the swing, until steps are cut",
        ),
        _drift(runs["b1-midpoint-4ms"], "b1 at h = 4 ms, midpoint", 1e-3, "it swings, and does not drift"),
        _drift(runs["b2"], "b2 at h = 3 ms, midpoint", None, ""),
        _whole(runs["b1"], "b1 at h = 6 ms"),
        _cut(runs["b1-midpoint-6ms"], "b1 at h = 6 ms, midpoint"),
        _apart("b1 at h = 6 ms, generalised-α", runs["b1"], runs["b1-fine"], "midpoint, 1 ms", 0.05, 1.0),
        _apart("b1 at h = 6 ms, generalised-α", runs["b1"], runs["b1-fine"], "midpoint, 1 ms", None, 10.0),
        _apart(
            "b1 at h = 6 ms, midpoint", runs["b1-midpoint-6ms"], runs["b1-fine"], "midpoint, 1 ms", None, 10.0
        ),
        _apart(
            "b1 at h = 4 ms, midpoint", runs["b1-midpoint-4ms"], runs["b1-fine"], "midpoint, 1 ms", None, 10.0
        ),
        _apart("b1 at h = 1 ms, midpoint", runs["b1-fine"], runs["b1-finer"], "midpoint, 0.5 ms", 0.05, 10.0),
        _from_peer(runs["b1-fine"]),
        _apart("b2 at h = 3 ms, midpoint", runs["b2"], runs["b2-fine"], "midpoint, 0.75 ms", None, 2.0),
        _settled(case),
    ]
    for label in ("b1", "b2"):
        drawn = {
            name: (run.time, 1e3 * tip_height(run)) for name, run in runs.items() if name.startswith(label)
        }
        if label == "b1":
            drawn["DisMech's C++ code, 1 ms, stored"] = (HELIX_TIMES, 1e3 * HELIX_TIP)
        draw_lines(
            case.folder / f"helix-{label}.png",
            drawn,
            "time [s]",
            "tip height [mm]",
            dots=("DisMech's C++ code, 1 ms, stored",),
        )
    return rows


def _share(value: float, most: float | None) -> tuple[str, bool | None]:
    """Tolerance and verdict of a share that may be at most `most`; neither where that is None."""
    return ("", None) if most is None else (f"within {100 * most:g} %", abs(value) <= most)


def _drift(results: Results, which: str, most: float | None, note: str) -> Row:
    """Rise of the straight line through the energy over time, as a share of what moved."""
    energy = results.energy
    moved = max(float(np.ptp(energy.kinetic)), float(np.ptp(energy.potential)))
    share = np.linspace(0.0, 1.0, len(results.time))
    drift = float(np.polyfit(share, energy.total, 1)[0]) / moved
    tolerance, passed = _share(drift, most)
    return Row(
        quantity=f"energy gained, {which}",
        unit="%",
        against=analytic("nothing damps it"),
        expected=0.0,
        ours=100 * drift,
        tolerance=tolerance,
        passed=passed,
        note=note,
    )


def _whole(results: Results, which: str) -> Row:
    steps, wanted = int(results.statistics["steps"]), len(results.time) - 1
    return Row(
        quantity=f"steps taken, {which}", against=OWN, ours=steps, tolerance=f"{wanted}, none cut",
        passed=steps == wanted,
        note=f"{results.time[-1]:g} s",
    )  # fmt: skip


def _cut(results: Results, which: str) -> Row:
    steps, wanted = int(results.statistics["steps"]), len(results.time) - 1
    return Row(
        quantity=f"steps cut, {which}", against=OWN, ours=steps - wanted,
        note=f"{results.time[-1]:g} s, beside {wanted} whole steps; Newton's method does not converge with those",
    )  # fmt: skip


def _from_peer(results: Results) -> Row:
    """Ours beside the motion that was kept of the peer: the same scheme and step, so what rounding grew is between."""
    ours = np.interp(HELIX_TIMES, results.time, tip_height(results))
    apart, swing = float(np.abs(ours - HELIX_TIP).max()), float(np.ptp(HELIX_TIP))
    return Row(
        quantity="b1 at h = 1 ms, midpoint: tip from the peer's at 100 times over 10 s, share of its swing", unit="%",
        against=STORED, expected=0.0, ours=100 * apart / swing, tolerance="within 5 %", passed=apart <= 0.05 * swing,
        note=f"{1e3 * apart:.2f} mm; 5 % is also what half the step may change",
    )  # fmt: skip


def _apart(
    label: str, coarse: Results, fine: Results, reference: str, most: float | None, until: float
) -> Row:
    """Largest difference of the tip's height from the converged one, as a share of what that moves by."""
    there = np.interp(coarse.time[coarse.time <= until], fine.time, tip_height(fine))
    swing = float(np.ptp(there))
    apart = float(np.max(np.abs(tip_height(coarse)[coarse.time <= until] - there))) / swing
    tolerance, passed = _share(apart, most)
    return Row(
        quantity=f"{label}: tip from that of the converged motion over {until:g} s, share of its swing", unit="%",
        against=finer(reference), expected=0.0, ours=100 * apart, tolerance=tolerance, passed=passed,
        note=f"the tip swings by {1e3 * swing:.1f} mm",
    )  # fmt: skip


def _settled(case: CaseRun) -> Row:
    """b3 of the paper: with drag the helix must come to the equilibrium that statics finds."""
    drag = ["bodies[0].options.limbs[0].viscous_drag=1.0"]
    damped = case.run("dismech/helix", drag, "b1-drag")
    rest = load("dismech/helix").statics(load_steps=4).frame_position()
    apart = float(np.linalg.norm(damped.frame_position[-1, -1] - rest[-1]))
    return Row(
        quantity="b1 with drag: tip from the equilibrium", unit="mm", against=method("corekit statics"),
        expected=0.0, ours=1e3 * apart, tolerance="≤ 0.1 mm", passed=apart <= 1e-4,
    )  # fmt: skip
