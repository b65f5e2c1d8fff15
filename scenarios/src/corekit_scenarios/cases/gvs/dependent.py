"""Section 4.2 of the GVS paper: a beam whose strain is one moving step, against ten cubic elements.

At rest an external moment m a length bends a beam that nothing else loads to the curvature

    κ(s) = ∫ₛᴸ m/(E·I) ds,                                                                          (1)

and its tip is where that curve ends:

    x(L) = ∫ cos θ ds,  z(L) = −∫ sin θ ds,  θ(s) = ∫₀ˢ κ                                           (2)
"""

from __future__ import annotations

import math

import numpy as np

from corekit.scenario.load import load
from corekit_scenarios.cases.gvs.pairs import mismatch, picture, solved_row, write_mismatch
from corekit_study.case_run import CaseRun, Row
from corekit_study.reference import analytic, method

__all__ = ["external", "tip_of_moment"]

SCENARIO = "gvs/dependent-external"

_LENGTH, _RIGIDITY = 0.8, 1e6 * math.pi * 0.015**4 / 4
_WHERE = "bodies[0].options.links[0].divisions[0]"
_LOCAL = [
    f"{_WHERE}.strain[0].kind=fem-cubic",
    f"{_WHERE}.strain[0].elements=10",
    f"{_WHERE}.strain[0].functions=[]",
    f"{_WHERE}.strain[0].coordinates=0",
    f"{_WHERE}.points=10",
    "bodies[0].initial.coordinates=[]",
    "start=equilibrium",
]


def tip_of_moment(peak: float, middle: float) -> tuple[float, float]:
    """(2) for the triangle of full width 0.1 in X around `middle`, its peak in N·m/m."""
    share = (np.arange(200_000) + 0.5) / 200_000
    ds = _LENGTH / len(share)
    load_ = peak * np.maximum(0.0, 1.0 - np.abs(share - middle) / 0.05)
    curvature = (load_[::-1].cumsum()[::-1] - load_ / 2) * ds / _RIGIDITY
    angle = (curvature.cumsum() - curvature / 2) * ds
    return float(np.cos(angle).sum() * ds), float(-np.sin(angle).sum() * ds)


def external(case: CaseRun) -> list[Row]:
    """Section 4.2: the moment travels from a quarter to three quarters in five seconds; at rest when at the middle."""
    fine = [*_LOCAL, f"{_WHERE}.strain[0].elements=20"]
    rests = (
        ("dependent", ["bodies[0].initial.coordinates=[0.8, 80.0, 0.5]"], 0.02, ""),
        ("FEM, 10 elements", _LOCAL, None, "the load kinks inside elements: its quadrature errs"),
        ("FEM, 20 elements", fine, 1e-8, "elements end where the load kinks"),
    )
    rows = [_at_rest(*each) for each in rests]
    ways: dict[str, list[str]] = {"dependent": [], "FEM": _LOCAL}
    runs = {name: case.run(SCENARIO, overrides, name.lower()) for name, overrides in ways.items()}
    apart = mismatch(runs["dependent"], runs["FEM"], "beam.tip", _LENGTH)
    write_mismatch(case.folder / "mismatch.csv", runs["FEM"].time, apart)
    picture(case.folder / "snapshots.png", runs, (0.0, 1.0, 2.5, 4.0, 5.0), "beam.tip")
    rows += [
        Row(
            quantity=f"{word} mismatch of the two bases in motion", unit="% of the length",
            against=method("ten cubic elements"), ours=100 * value,
            note="of the tip; the paper shows that they differ, and gives no number",
        )
        for word, value in (("largest", float(apart.max())), ("mean", float(apart.mean())))
    ]  # fmt: skip
    return [*rows, solved_row(runs)]


def _at_rest(name: str, overrides: list[str], limit: float | None, note: str) -> Row:
    """How far the tip is from that of (2), with the moment at the middle."""
    statics = load(SCENARIO, overrides).statics(at=2.5)
    names = [frame for body in statics.simulation.bodies for frame in body.description.frames]
    place = statics.frame_position()[names.index("beam.tip")]
    away = math.dist((place[0], place[2]), tip_of_moment(1.0, 0.5)) / _LENGTH
    return Row(
        quantity=f"tip at rest, moment at X = 0.5, {name}: distance from the curve of (1)", unit="% of L",
        against=analytic("curve of (1), quadrature"), expected=0.0, ours=100 * away,
        tolerance="" if limit is None else f"≤ {100 * limit:g} %",
        passed=None if limit is None else away <= limit, note=note,
    )  # fmt: skip
