"""Section 4.1 of the GVS paper: a muscle's moment travels along a beam, two coordinates against cubic elements.

At rest an internal moment M(X) bends a beam that nothing else loads to κ = M/(E·I), so that the tip is at

    x(L) = ∫ cos θ ds,  z(L) = −∫ sin θ ds,  θ(s) = ∫₀ˢ M/(E·I)                                     (1)

Both bases rest at nine instants at which the whole of the moment is on the beam, and then move for two seconds from
rest. At rest means that nothing moves: the bump of the dependent basis runs on at q̇ = 0, which would be a beam that
turns with 1.2 J, and swings through q₂ = 0, where M loses rank. With q̇ of least kinetic energy instead, see `starts`
of the model, q₂ stays far from 0. The motion must not hang on how the bump's width is written, so it is made with
p = q₂² as the coordinate too.

What the bump cannot follow is outside of its two coordinates, as the paper says, which gives no number: its tip is
up to 40 % of the length from that of the elements. That is the basis' and no mistake of load, sign or normalisation:
`muscle_motion` writes the two equations of motion out by hand, and its tip is ours. The muscle passes in 2 s, of the
4.8 s that the beam's first mode takes, so that inertia bends the elements by up to 0.4 rad outside of the muscle. The
bump has nothing there and swings itself, between 0.1 and 1 rad, where the elements keep 0.5. With a parabola beside it,
as the paper proposes and does for the octopus's arm, it follows the elements.
"""

from __future__ import annotations

import math
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.scenario.load import load
from corekit_record.results import Results
from corekit_scenarios.cases.gvs.muscle_motion import bump_tips
from corekit_scenarios.cases.gvs.pairs import (
    frame_path,
    mismatch,
    mismatch_table,
    nearest,
    picture,
    solved_row,
    write_mismatch,
)
from corekit_study.case_run import CaseRun, Row
from corekit_study.reference import OWN, analytic, method, paper, printed_time

__all__ = ["moment", "outside_of_bump", "tip_of_muscle"]

SCENARIO = "gvs/dependent-moment"

_LENGTH, _RIGIDITY, _PEAK, _DURATION = 0.8, 1e6 * math.pi * 0.015**4 / 4, 0.5, 2.0
_TIMES = np.linspace(0.2, 1.8, 9)
_PAPER_SECONDS = 190.0
_ELEMENTS = method("ten cubic elements, 31 coordinates")
_WHERE = "bodies[0].options.links[0].divisions[0]"
_LOCAL = [
    f"{_WHERE}.strain[0].kind=fem-cubic",
    f"{_WHERE}.strain[0].elements=20",
    f"{_WHERE}.strain[0].functions=[]",
    f"{_WHERE}.strain[0].coordinates=0",
    f"{_WHERE}.points=10",
    "bodies[0].initial.coordinates=[]",
]
_BUMP = (9.41183344, 32.57652431)
"""q₁ and q₂ that hold the whole moment at rest."""


def _functions(text: str, coordinates: list[float]) -> list[str]:
    """Overrides for another dependent basis and where it starts."""
    return [
        f'{_WHERE}.strain[0].functions=["{text}"]',
        f"{_WHERE}.strain[0].coordinates={len(coordinates)}",
        f"bodies[0].initial.coordinates={coordinates}",
    ]


_WAYS = {
    "dependent": [],
    "FEM": [*_LOCAL, f"{_WHERE}.strain[0].elements=10", "start=equilibrium"],
    "p = q2²": _functions("q1*exp(-q2*(X - t/2)**2)", [_BUMP[0], _BUMP[1] ** 2]),
    "with a parabola": _functions(
        "q1*exp(-q2**2*(X - t/2)**2) + q3 + q4*X + q5*X**2", [*_BUMP, 0.0, 0.0, 0.0]
    ),
}
"""Name → overrides of each run; the elements are the paper's ten."""


@frozen(eq=False)
class _Path:
    """Equilibria: places of the tip (k, 3) and of the whole beam at each, (k, points, 3) [m]."""

    tip: Array
    line: Array


def tip_of_muscle(middle: float) -> tuple[float, float]:
    """(1) for the triangle of full width 0.1 in X around `middle`."""
    share = (np.arange(200_000) + 0.5) / 200_000
    ds = _LENGTH / len(share)
    curvature = _PEAK * np.maximum(0.0, 1.0 - np.abs(share - middle) / 0.05) / _RIGIDITY
    angle = (curvature.cumsum() - curvature / 2) * ds
    return float(np.cos(angle).sum() * ds), float(-np.sin(angle).sum() * ds)


def _path(overrides: list[str]) -> _Path:
    places, lines = [], []
    for instant in _TIMES.tolist():
        statics = load(SCENARIO, overrides).statics(at=instant)
        (body,) = statics.simulation.bodies
        places.append(statics.frame_position()[body.description.frames.index("beam.tip")])
        lines.append(body.model.compute_outline(statics.equilibrium.state.body_states[0]).points)
    return _Path(np.stack(places), np.stack(lines))


def moment(case: CaseRun) -> list[Row]:
    """At rest where the moment is, and in motion while it travels the whole beam in two seconds."""
    times = _TIMES
    paths = {"dependent": _path([]), "FEM": _path(_LOCAL)}
    exact = np.array([tip_of_muscle(t / _DURATION) for t in times.tolist()])
    rows = []
    for name, limit in (("dependent", 0.02), ("FEM", 1e-6)):
        away = np.linalg.norm(paths[name].tip[:, [0, 2]] - exact, axis=1) / _LENGTH
        rows.append(
            Row(
                quantity=f"tip, {name}: largest distance from the curve of κ = M/(E·I)", unit="% of L",
                against=analytic("curve of κ = M/(E·I), quadrature"), expected=0.0, ours=100 * float(away.max()),
                tolerance=f"≤ {100 * limit:g} %", passed=float(away.max()) <= limit,
                note="at rest with the moment at X = 0.1, 0.2, …, 0.9",
            )
        )  # fmt: skip
    _picture(case.folder / "rest.png", paths, times)
    return [*rows, *_motion(case)]


def _motion(case: CaseRun) -> list[Row]:
    runs: dict[str, Results] = {}
    begin = time.process_time()
    taken = 0.0
    for k, (name, overrides) in enumerate(_WAYS.items()):
        runs[name] = case.run(SCENARIO, overrides, f"way-{k}")
        taken = taken or time.process_time() - begin
    bump = runs["dependent"]
    still = mismatch(bump, runs["p = q2²"], "beam.tip", _LENGTH)
    rows = [
        Row(
            quantity="kinetic energy of the first record", unit="J", against=analytic("it starts at rest"),
            expected=0.0,
            ours=_energy(bump), tolerance="≤ 1e-6",
            passed=_energy(bump) <= 1e-6, note=f"{_energy_of_still_coordinates():.3g} J with q̇ = 0",
        ),
        Row(
            quantity="least |q₂| of the motion", unit="–", against=OWN, ours=float(np.abs(bump.q[:, 1]).min()),
            tolerance="≥ 1",
            passed=float(np.abs(bump.q[:, 1]).min()) >= 1.0, note="M loses rank at q₂ = 0",
        ),
        Row(
            quantity="the tip with p = q₂² as coordinate: largest distance", unit="% of L",
            against=method("the same strains in another chart"), expected=0.0, ours=100 * float(still.max()),
            tolerance="≤ 0.5 %", passed=float(still.max()) <= 5e-3,
        ),
        _derived_row(bump),
        Row(
            quantity="processor time, dependent", unit="s",
            against=printed_time("section 4.1; MATLAB on a laptop of 2020"),
            expected=_PAPER_SECONDS, ours=taken, tolerance="at most the paper's", passed=taken <= _PAPER_SECONDS,
            note="compiling and recording included",
        ),
    ]  # fmt: skip
    apart = mismatch(bump, runs["FEM"], "beam.tip", _LENGTH)
    fuller = mismatch(runs["with a parabola"], runs["FEM"], "beam.tip", _LENGTH)
    write_mismatch(case.folder / "mismatch.csv", bump.time, apart)
    write_mismatch(case.folder / "mismatch-with-a-parabola.csv", bump.time, fuller)
    rows += mismatch_table(
        apart, _ELEMENTS, "of the tip in motion; the paper shows that they differ, and gives no number"
    )
    rows.append(
        Row(
            quantity="largest mismatch of the bump with a parabola and FEM", unit="% of the length",
            against=_ELEMENTS, expected=0.0, ours=100 * float(fuller.max()), tolerance="≤ 2 %",
            passed=float(fuller.max()) <= 0.02,
            note=f"of the tip in motion, {100 * float(fuller.mean()):.2g} % in the mean; five coordinates against 31",
        )
    )  # fmt: skip
    rows.append(_outside_row(bump, runs["FEM"]))
    shown = {name: runs[name] for name in ("dependent", "FEM", "with a parabola")}
    picture(case.folder / "snapshots.png", shown, (0.0, 0.5, 1.0, 1.5, 2.0), "beam.tip")
    _strains(case.folder / "strains.png", shown)
    return [*rows, solved_row(runs)]


def outside_of_bump(bump: Results, elements: Results) -> tuple[float, float]:
    """Share of ∫∫(κ − κ_FEM)² dX dt that is where the bump is below a hundredth of its height, and of ∫∫ dX dt."""
    X, every, outside, places = np.linspace(0.0, 1.0, 401), 0.0, 0.0, 0
    for instant, q, other in zip(bump.time.tolist(), bump.q, elements.q, strict=True):
        apart = (_bending("dependent", q, X, instant) - _bending("FEM", other, X, instant)) ** 2
        there = np.abs(X - instant / _DURATION) > math.sqrt(math.log(100.0)) / abs(q[1])
        every += float(apart.sum())
        outside += float(apart[there].sum())
        places += int(there.sum())
    return outside / every, places / (len(X) * len(bump.time))


def _outside_row(bump: Results, elements: Results) -> Row:
    """The sentence about Figure 11, read plainly: most of what differs is outside of the Gaussian."""
    outer, beam = outside_of_bump(bump, elements)
    return Row(
        quantity="strains of Figure 11: of their squared difference, outside of the bump", unit="%",
        against=paper("Figure 11, section 4.1: noticeable differences, especially in the part outside the Gaussian"),
        expected="most", ours=100 * outer, tolerance="> 50 %", passed=outer > 0.5,
        note=f"{100 * beam:.3g} % of the beam is outside, all instants together; the paper has no number, and no cause "
        "of a difference is known",
    )  # fmt: skip


def _derived_row(bump: Results) -> Row:
    tips = bump_tips(_BUMP, bump.time)
    away = np.linalg.norm(frame_path(bump, "beam.tip")[:, [0, 2]] - tips, axis=1) / _LENGTH
    return Row(
        quantity="the tip of the bump in motion: largest distance", unit="% of L",
        against=analytic("Lagrange's equations of the two coordinates, written out in `muscle_motion`, LSODA"),
        expected=0.0, ours=100 * float(away.max()), tolerance="≤ 0.5 %", passed=float(away.max()) <= 5e-3,
        note="0.09 % with `local_error` 1e-4 in place of 1e-3; the mismatch with the elements so is the basis'",
    )  # fmt: skip


def _energy(run: Results) -> float:
    """Kinetic energy of the first record [J], by the model."""
    return _kinetic(run.v[0].tolist())


def _energy_of_still_coordinates() -> float:
    return _kinetic([0.0, 0.0])


def _kinetic(velocity: list[float]) -> float:
    simulation = load(SCENARIO, []).compose()
    (body,) = simulation.bodies
    state = simulation.state.body_states[0].copy()
    state.v[:] = velocity
    model: Any = body.model
    return float(model.compute_energies(state)[0])


def _bending(name: str, q: Array, X: Array, instant: float) -> Array:
    """Bending strain times L of a record at places X."""
    if name != "FEM":
        bump = q[0] * np.exp(-(q[1] ** 2) * (X - instant / _DURATION) ** 2)
        return bump + sum(c * X**k for k, c in enumerate(q[2:].tolist()))
    element = np.minimum((10 * X).astype(int), 9)
    x, nodes = 10 * X - element, np.arange(4) / 3
    total = np.zeros(len(X))
    for j in range(4):
        others = np.delete(nodes, j)
        total += q[3 * element + j] * np.prod((x[:, None] - others) / (nodes[j] - others), axis=1)
    return total


def _strains(path: Path, runs: dict[str, Results]) -> None:
    """Bending along the beam at four instants, all bases in one panel each."""
    if find_spec("matplotlib") is None:
        return
    import_module("matplotlib").use("Agg")
    pyplot: Any = import_module("matplotlib.pyplot")
    instants, X = (0.25, 0.75, 1.25, 1.75), np.linspace(0.0, 1.0, 401)
    figure, axes = pyplot.subplots(1, 4, figsize=(13.0, 3.2), layout="constrained", sharey=True)
    for axis, instant in zip(axes, instants, strict=True):
        for (name, run), style in zip(runs.items(), ("-", "--", ":"), strict=True):
            record = nearest(run, instant)
            axis.plot(X, _bending(name, run.q[record], X, float(run.time[record])), style, label=name)
        axis.set_title(f"{instant:g} s")
        axis.set_xlabel("X")
    axes[0].set_ylabel("κ·L [rad]")
    axes[0].legend(fontsize="small")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def _picture(path: Path, paths: dict[str, _Path], times: Array) -> None:
    if find_spec("matplotlib") is None:
        return
    import_module("matplotlib").use("Agg")
    pyplot: Any = import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(1, len(paths), figsize=(10.0, 4.0), layout="constrained", squeeze=False)
    for axis, (name, found) in zip(axes[0], paths.items(), strict=True):
        for k in range(0, len(times), 2):
            colour = pyplot.cm.viridis(times[k] / _DURATION)
            axis.plot(found.line[k, :, 0], found.line[k, :, 2], color=colour, label=f"{times[k]:g} s")
        axis.set_aspect("equal")
        axis.set_title(name)
        axis.set_xlabel("x [m]")
        axis.set_ylabel("z [m]")
        axis.legend(fontsize="small")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
