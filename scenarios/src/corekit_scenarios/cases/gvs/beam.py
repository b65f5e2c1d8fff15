"""Section 3 of the GVS paper: statics of a slender beam with global and local strain bases.

The peer is the inextensible elastica as a boundary value problem, θ the angle below the horizontal, s = X·L:

    E·I·θ″ = −(w·(L − s) + P·[s < L/2])·cos θ,   θ(0) = 0,   θ′(L) = 0                              (1)

with the weight w a length and the load P at half the length.
"""

from __future__ import annotations

import math
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.scenario.load import load
from corekit_study.case_run import CaseRun, Row
from corekit_study.reference import OWN, analytic

__all__ = ["LENGTH", "LINE_WEIGHT", "RIGIDITY", "Shape", "beam", "elastica"]

LENGTH, _RADIUS, _YOUNG, _DENSITY, _GRAVITY = 0.8, 0.015, 1e6, 1000.0, 9.81
RIGIDITY = _YOUNG * math.pi * _RADIUS**4 / 4
LINE_WEIGHT = _DENSITY * math.pi * _RADIUS**2 * _GRAVITY
"""E·I [N·m²], and the weight of a length [N/m]."""
_ELASTICA = analytic("inextensible elastica, boundary value problem to 1e-10")
_LOAD = 0.5
"""N, at half the length; the paper gives none."""
_WHERE = "bodies[0].options.links[0].divisions[0]"
_BASES = {
    "Legendre": tuple(
        (order + 1, (f"{_WHERE}.strain[0].kind=legendre", f"{_WHERE}.strain[0].order={order}"))
        for order in (2, 4, 8, 12)
    ),
    "quadratic FEM": tuple(
        (
            2 * elements + 1,
            (
                f"{_WHERE}.strain[0].kind=fem-quadratic",
                f"{_WHERE}.strain[0].order=0",
                f"{_WHERE}.strain[0].elements={elements}",
                f"{_WHERE}.points={max(3, 20 // elements)}",
            ),
        )
        for elements in (1, 2, 4, 6)
    ),
}
"""Name → (number of coordinates, overrides) of each refinement."""


@frozen(eq=False)
class Shape:
    """Places of the beam at its frames, (k, 2) [m], x and z; curvature times L at 401 even X where it is given."""

    place: Array
    bending: Array = field(factory=lambda: np.zeros(0))


def elastica(load: float, count: int = 8) -> Shape:
    """The solution of (1) at X = 1/count, 2/count, …, 1.

    Raises:
        ArithmeticError: the boundary value solver gave up.
    """
    integrate: Any = import_module("scipy.integrate")
    # of two grids over each other rounding makes points apart by nothing
    grid = np.append(np.linspace(0.0, LENGTH / 10, 400), np.linspace(LENGTH / 10, LENGTH, 361)[1:])

    # the half with the load and the half without, side by side: θ and θ′ are continuous, θ″ is not
    def along(s: Array, y: Array) -> Array:
        first, _, x1, z1, second, _, x2, z2 = y
        del x1, z1, x2, z2
        near, far = LINE_WEIGHT * (LENGTH - s / 2) + load, LINE_WEIGHT * (LENGTH - s / 2 - LENGTH / 2)
        return 0.5 * np.array(
            [
                y[1], -near * np.cos(first) / RIGIDITY, np.cos(first), -np.sin(first),
                y[5], -far * np.cos(second) / RIGIDITY, np.cos(second), -np.sin(second),
            ]
        )  # fmt: skip

    def ends(a: Array, b: Array) -> Array:
        return np.array([a[0], a[2], a[3], b[5], *(b[:4] - a[4:])])

    bent = np.minimum(1.5, 8 * grid)
    guess = np.array(
        [bent, 0 * grid, 0 * grid, -grid / 2, 1.5 + 0 * grid, 0 * grid, 0 * grid, -0.4 - grid / 2]
    )
    found = integrate.solve_bvp(along, ends, grid, guess, tol=1e-10, max_nodes=100000)
    if not found.success:
        raise ArithmeticError(f"the elastica's boundary value problem: {found.message}")
    places = np.arange(1, count + 1) / count * LENGTH
    near = places <= LENGTH / 2
    first = found.sol(2 * places)[2:4]
    second = found.sol(2 * (places - LENGTH / 2).clip(0))[6:8]
    grid = np.linspace(0.0, 1.0, 401) * LENGTH
    slopes = np.where(
        grid <= LENGTH / 2, found.sol(2 * grid)[1], found.sol(2 * (grid - LENGTH / 2).clip(0))[5]
    )
    return Shape(np.where(near, first, second).T, LENGTH * slopes)


def _settled(overrides: tuple[str, ...], load_: float) -> Shape:
    inputs = f"bodies[0].inputs[0].signal=[0.0, 0.0, 0.0, 0.0, 0.0, {-load_}]"
    statics = load("gvs/beam", [*overrides, inputs]).statics(load_steps=4)
    names = [name for body in statics.simulation.bodies for name in body.description.frames]
    wanted = [*(f"beam.{share / 8:g}" for share in range(1, 8)), "beam.tip"]
    frames = statics.frame_position()
    return Shape(frames[[names.index(name) for name in wanted]][:, [0, 2]])


def beam(case: CaseRun) -> list[Row]:
    """Under its weight alone, and with a load at half its length; four refinements of either basis."""
    rows: list[Row] = []
    for title, weight in (("own weight", 0.0), ("and a load at X = 0.5", _LOAD)):
        exact = elastica(weight)
        shapes: dict[str, Shape] = {"elastica": exact}
        for basis, refinements in _BASES.items():
            errors = []
            for count, overrides in refinements:
                shape = _settled(overrides, weight)
                errors.append(float(np.linalg.norm(shape.place - exact.place, axis=1).max()) / LENGTH)
                shapes[f"{basis}, {count} coordinates"] = shape
            rows += [
                Row(
                    quantity=f"{title}: {basis}, {count} coordinates, largest error of place", unit="% of L",
                    against=_ELASTICA, expected=0.0, ours=100 * error, tolerance="≤ 0.1 %" if count >= 13 else "",
                    passed=error <= 1e-3 if count >= 13 else None,
                )
                for (count, _), error in zip(refinements, errors, strict=True)
            ]  # fmt: skip
            rows.append(
                Row(
                    quantity=f"{title}: {basis}, every refinement is nearer", against=OWN,
                    ours="yes" if _falls(errors) else "no",
                    tolerance="yes", passed=_falls(errors),
                )
            )  # fmt: skip
        _picture(case.folder / f"beam-{'load' if weight else 'weight'}.png", shapes)
    return rows


def _falls(errors: list[float]) -> bool:
    return all(later < earlier for earlier, later in pairwise(errors))


def _picture(path: Path, shapes: dict[str, Shape]) -> None:
    if find_spec("matplotlib") is None:
        return
    import_module("matplotlib").use("Agg")
    pyplot: Any = import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(6.0, 6.0), layout="constrained")
    for name, shape in shapes.items():
        place = np.vstack([np.zeros(2), shape.place])
        style = "k-" if name == "elastica" else "--" if "FEM" in name else ":"
        axes.plot(place[:, 0], place[:, 1], style, marker="." if name != "elastica" else "o", label=name)
    axes.set_aspect("equal")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("z [m]")
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
