"""Section 4.1 of the GVS paper: a muscle's moment travels along a beam, two coordinates against twenty elements.

At rest an internal moment M(X) bends a beam that nothing else loads to κ = M/(E·I), so that the tip is at

    x(L) = ∫ cos θ ds,  z(L) = −∫ sin θ ds,  θ(s) = ∫₀ˢ M/(E·I)                                     (1)

Both bases rest at nine instants at which the whole of the moment is on the beam. The paper's motion is not redone: in
it M loses rank where q₂ passes 0, and what follows depends on how that is regularised.
"""

from __future__ import annotations

import math
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.scenario.load import load
from corekit.study.case_run import CaseRun, Row
from corekit_scenarios.cases.gvs.pairs import mismatch_table, write_mismatch

__all__ = ["moment", "tip_of_muscle"]

SCENARIO = "gvs/dependent-moment"

_LENGTH, _RIGIDITY, _PEAK, _DURATION = 0.8, 1e6 * math.pi * 0.015**4 / 4, 0.5, 2.0
_TIMES = np.linspace(0.2, 1.8, 9)
_WHERE = "bodies[0].options.links[0].divisions[0]"
_LOCAL = [
    f"{_WHERE}.strain[0].kind=fem-cubic",
    f"{_WHERE}.strain[0].elements=20",
    f"{_WHERE}.strain[0].functions=[]",
    f"{_WHERE}.strain[0].coordinates=0",
    f"{_WHERE}.points=10",
    "bodies[0].initial.coordinates=[]",
]


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
        places.append(statics.frame_position()[body.layout.frames.index("beam.tip")])
        lines.append(body.model.outline(statics.equilibrium.state.parts[0]).points)
    return _Path(np.stack(places), np.stack(lines))


def moment(case: CaseRun) -> list[Row]:
    """The moment travels the whole beam in two seconds, so slowly that it rests at every instant."""
    times = _TIMES
    paths = {"dependent": _path([]), "FEM": _path(_LOCAL)}
    exact = np.array([tip_of_muscle(t / _DURATION) for t in times.tolist()])
    rows = []
    for name, limit in (("dependent", 0.02), ("FEM", 1e-6)):
        away = np.linalg.norm(paths[name].tip[:, [0, 2]] - exact, axis=1) / _LENGTH
        rows.append(
            Row(
                quantity=f"tip, {name}: largest distance from the curve of κ = M/(E·I)", unit="% of L", peer=0.0,
                ours=100 * float(away.max()), tolerance=f"≤ {100 * limit:g} %", passed=float(away.max()) <= limit,
                note="at rest with the moment at X = 0.1, 0.2, …, 0.9",
            )
        )  # fmt: skip
    apart = np.linalg.norm(paths["dependent"].tip - paths["FEM"].tip, axis=1) / _LENGTH
    write_mismatch(case.folder / "mismatch.csv", times, apart)
    _picture(case.folder / "snapshots.png", paths, times)
    return [*rows, *mismatch_table(apart, "of the tip, at rest; the motion is not redone")]


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
