"""Figure 5 of the vine paper: the time of a step against the number of bodies."""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from corekit.scenario.load import load
from corekit_study.case_run import CaseRun, Row
from corekit_study.reference import OWN, Reference, paper, printed_time

__all__ = ["linear_row", "runtime", "step_time"]

_BODIES = (20, 30, 50, 70, 100, 200, 500, 1000, 5000)
_MANY, _FEW = 500, (20, 30, 50, 70, 100, 200)
"""Bodies from which their number decides the time of a step, and the paper's with twice as many as its most."""
_STRAIGHT = 0.1
"""Distance from a straight line, of what the line grows by, up to which that is the relationship."""
_WARM, _ROUNDS = 5, 2
_FIGURE = paper("Figure 5, section IV-A")
_TIME = printed_time("Figure 5, section IV-A; its machine is not named")
_LIMITS: dict[int, tuple[float, str, Reference]] = {
    30: (3000.0, "at most the paper's", _TIME), 70: (10000.0, "≤ 10 ms, real time", _TIME),
    500: (500.0, "≤ 0.5 ms", OWN),
    **dict.fromkeys((100, 200, 1000, 5000), (10000.0, "≤ 10 ms, real time", OWN)),
}  # fmt: skip
"""Bodies → what a step may take [µs], in words, and whose number that is."""
_PAPER: dict[int, float | str] = {30: 3000.0, 70: "real time"}


def step_time(bodies: int, steps: int = 400, solver: str = "banded") -> float:
    """Time of a step of the circle scenario, model, contacts, program and integrator together [µs].

    The mean over the run, as the paper has it, of this thread's processor time; the least of two runs.
    """
    overrides = [f"bodies[0].options.bodies={bodies}", f"contact.solver.options.qp_solver={solver}"]
    loaded = load("vine/circle", overrides)
    spent: list[float] = []
    for _ in range(_ROUNDS):
        simulation = loaded.compose()
        for _ in range(_WARM):
            simulation.step()
        begin = time.thread_time()
        for _ in range(steps - _WARM):
            simulation.step()
        spent.append(1e6 * (time.thread_time() - begin) / (steps - _WARM))
    return min(spent)


def runtime(case: CaseRun) -> list[Row]:
    """Four simulated seconds for each number of bodies, as the paper did; fewer steps from 1000 bodies on."""
    # the first steps of a process compile
    step_time(20, 10)
    ours = {n: step_time(n, 400 if n < 1000 else 40) for n in _BODIES}
    rows = [
        Row(
            quantity=f"step with {n} bodies", unit="µs", against=_LIMITS[n][2] if n in _LIMITS else OWN,
            expected=_PAPER.get(n), ours=value, tolerance=_LIMITS[n][1] if n in _LIMITS else "",
            passed=value <= _LIMITS[n][0] if n in _LIMITS else None,
        )
        for n, value in ours.items()
    ]  # fmt: skip
    rows.append(linear_row(ours))
    rows.append(
        Row(
            quantity="times faster than the paper at 30 bodies", against=OWN, ours=_LIMITS[30][0] / ours[30],
            note="on other machines: the paper's is not named",
        )
    )  # fmt: skip
    _write(case.folder / "runtime.csv", ours)
    if find_spec("matplotlib") is not None:
        _draw(case.folder / "runtime.png", ours)
    return rows


def linear_row(ours: Mapping[int, float]) -> Row:
    """The paper's linear relationship: a straight line up to twice its 100 bodies, and no other power with many.

    What a step costs whatever it moves is most of it with few bodies, and would hide any law: so the distance from the
    line counts beside what the line grows by.

    Args:
        ours: bodies → time of a step, in any unit.
    """
    few, many = ([n for n in ours if chosen(n)] for chosen in (_FEW.__contains__, _MANY.__le__))
    line = np.polynomial.Polynomial.fit(few, [ours[n] for n in few], 1)
    grows = float(line(few[-1]) - line(few[0]))
    apart = max(abs(float(line(n)) - ours[n]) for n in few) / grows if grows > 0.0 else math.inf
    power = float(np.polyfit(np.log(many), np.log([ours[n] for n in many]), 1)[0])
    return Row(
        quantity=f"distance from a straight line by what it grows, {few[0]} to {few[-1]} bodies; power of their number "
        f"from {many[0]}", against=_FIGURE, expected="linear", ours=f"{100 * apart:.3g} %; {power:.3g}",
        tolerance=f"≤ {100 * _STRAIGHT:g} %; 0.8 to 1.2", passed=apart <= _STRAIGHT and 0.8 <= power <= 1.2,
        note="with few bodies, what a step costs whatever it moves is most of it, and contacts come and go",
    )  # fmt: skip


def _write(path: Path, ours: dict[int, float]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["bodies", "step_us"])
        table.writerows(ours.items())


def _draw(path: Path, ours: dict[int, float]) -> None:
    """Ours and the paper's against the number of bodies, both axes logarithmic."""
    import_module("matplotlib").use("Agg")
    pyplot: Any = import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(6.0, 4.0), layout="constrained")
    axes.loglog(list(ours), list(ours.values()), "o-", label="corekit")
    axes.loglog([30], [_LIMITS[30][0]], "s", label="paper, 30 bodies")
    axes.loglog([70], [1e4], "v", label="paper, 70 bodies: less")
    axes.axhline(1e4, color="0.6", linestyle=":", label="real time")
    axes.set_xlabel("bodies")
    axes.set_ylabel("time of a step [µs]")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
