"""The paper's soft robots in motion, each with a global and a local or dependent basis, and how far they are apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from corekit.data.arrays import Array
from corekit_scenarios.cases.gvs.pairs import (
    LIMIT,
    Taken,
    below_rows,
    coordinate_rows,
    faster_row,
    frame_path,
    in_turns,
    mismatch,
    mismatch_rows,
    nearest,
    picture,
    solved_row,
    write_mismatch,
)
from corekit_study.case_run import CaseRun, Row
from corekit_study.reference import printed_time, stored

__all__ = ["MANIPULATOR_ELEMENTS", "OCTOPUS_ELEMENTS", "cable_manipulator", "cdpr", "octopus"]

_TIPS = {
    1.0: (0.241763, 0.036242, -0.153881),
    2.0: (0.195622, 0.057318, -0.161081),
    4.0: (0.132728, 0.107478, -0.086707),
    6.0: (0.056837, 0.199252, -0.002259),
    8.0: (0.054060, 0.199993, -0.001356),
}
"""Tip of the arm of 5.1, Legendre [m]: its published equations integrated to convergence, apart from this project."""


def _strain(link: int, division: int, **options: object) -> list[str]:
    """Overrides that replace the only basis of a division."""
    where = f"bodies[0].options.links[{link}].divisions[{division}].strain[0]"
    return [f"{where}.{key}={value}" for key, value in options.items()]


MANIPULATOR_ELEMENTS = tuple(
    setting
    for division in (0, 1)
    for setting in (
        *_strain(0, division, kind="fem-quadratic", order=0, elements=2),
        f"bodies[0].options.links[0].divisions[{division}].points=3",
    )
)
"""Overrides of `gvs/cable-manipulator`: two quadratic elements on either division."""

_START = [round(-14.5 / (1 + (10.7 * (node / 30 - 0.5)) ** 2), 12) for node in range(31)]
OCTOPUS_ELEMENTS = (
    *_strain(0, 0, kind="fem-cubic", elements=10, coordinates=0, functions="[]"),
    "bodies[0].options.links[0].divisions[0].points=4",
    f"bodies[0].initial.coordinates={_START}",
    "integrator.options.local_error=1e-2",
)
"""Overrides of `gvs/octopus`: ten cubic elements that begin in the same shape."""


def _words(place: Array | tuple[float, ...]) -> str:
    return "(" + ", ".join(f"{each:.6f}" for each in place) + ")"


def _time_rows(taken: dict[str, Taken], printed: dict[str, float]) -> list[Row]:
    rows = [
        Row(
            quantity=f"processor time, {name}", unit="s",
            against=printed_time("last table; MATLAB on a laptop of 2020"),
            expected=printed[name], ours=taken[name].seconds, tolerance="at most the paper's",
            passed=taken[name].seconds <= printed[name], note="steps alone, compiled before",
        )
        for name in taken
    ]  # fmt: skip
    return [*rows, faster_row(taken, printed)]


def cable_manipulator(case: CaseRun) -> list[Row]:
    """Section 5.1: Legendre order 4 against two quadratic elements, on either division."""
    scenario, ways = "gvs/cable-manipulator", {"Legendre": (), "FEM": MANIPULATOR_ELEMENTS}
    runs = {name: case.run(scenario, overrides, name.lower()) for name, overrides in ways.items()}
    with case.show("timed in turns"):
        taken = in_turns(scenario, ways)
    tip = frame_path(runs["Legendre"], "arm.tip")
    rows = []
    for instant, place in _TIPS.items():
        ours = tip[nearest(runs["Legendre"], instant)]
        away = 1e3 * math.dist(ours, place)
        rows.append(
            Row(
                quantity=f"tip at {instant:g} s, Legendre", unit="m",
                against=stored("the published equations, integrated to convergence", "once, apart from this project"),
                expected=_words(place), ours=_words(ours),
                tolerance="within 0.1 mm", passed=away <= 0.1, note=f"{away:.3f} mm away",
            )
        )  # fmt: skip
    apart = mismatch(runs["Legendre"], runs["FEM"], "arm.tip", 0.3)
    write_mismatch(case.folder / "mismatch.csv", runs["FEM"].time, apart)
    picture(case.folder / "snapshots.png", runs, (0, 1, 2, 4, 6, 8), "arm.tip")
    rows += mismatch_rows(apart, (4.58, 2.69), "of the tip, over all records")
    rows += coordinate_rows(runs, {"Legendre": 30, "FEM": 30}, "section 5.1")
    return [*rows, solved_row(runs), *_time_rows(taken, {"Legendre": 14.8, "FEM": 18.2})]


def octopus(case: CaseRun) -> list[Row]:
    """Section 5.4: six coordinates of a dependent basis against 31 of cubic elements, from the same shape."""
    ways = {"dependent": (), "FEM": OCTOPUS_ELEMENTS}
    return _pair(
        case, "gvs/octopus", ways, (0.2, "arm.tip"), (0, 0.5, 1, 1.5, 2), (6.59, 3.39),
        {"dependent": 18.91, "FEM": 174.72}, {"dependent": 6, "FEM": 31},
    )  # fmt: skip


def cdpr(case: CaseRun) -> list[Row]:
    """Section 5.3: two quadratic elements against Legendre polynomials for the bends of the ropes."""
    world = [
        setting
        for rope in range(4)
        for setting in (
            f"bodies[0].options.links[{rope}].divisions[0].strain[1].kind=legendre",
            f"bodies[0].options.links[{rope}].divisions[0].strain[1].order=4",
            f"bodies[0].options.links[{rope}].divisions[0].strain[1].elements=1",
            f"bodies[0].options.links[{rope}].divisions[0].points=15",
        )
    ]
    return _pair(
        case, "gvs/cdpr", {"FEM": [], "Legendre": world}, (2.47, "platform.centre"), (0, 1, 2, 3, 4, 5), None,
        {"FEM": 60 * 26.80, "Legendre": 60 * 28.15},
    )  # fmt: skip


def _pair(
    case: CaseRun,
    scenario: str,
    ways: Mapping[str, Sequence[str]],
    where: tuple[float, str],
    instants: tuple[float, ...],
    printed: tuple[float, float] | None,
    minutes: dict[str, float],
    coordinates: Mapping[str, int] | None = None,
) -> list[Row]:
    runs = {name: case.run(scenario, overrides, name.lower()) for name, overrides in ways.items()}
    with case.show("timed in turns"):
        taken = in_turns(scenario, ways)
    length, frame = where
    one, other = runs.values()
    apart = mismatch(one, other, frame, length)
    write_mismatch(case.folder / "mismatch.csv", one.time, apart)
    picture(case.folder / "snapshots.png", runs, instants, frame)
    what = f"of {frame}, over all records"
    rows = mismatch_rows(apart, printed, what) if printed else below_rows(apart, *LIMIT, what)
    rows += coordinate_rows(runs, coordinates, "section 5.4") if coordinates else []
    return [*rows, solved_row(runs), *_time_rows(taken, minutes)]
