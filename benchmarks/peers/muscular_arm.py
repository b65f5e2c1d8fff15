"""An arm with muscles beside PyElastica: how far its tip is from where PyElastica tends to, and what both cost.

The scenario `teaching/muscular-arm` is a rod clamped at its base with two groups of muscles, moments inside the rod.
PyElastica runs it with 100, 200 and 400 elements. Its clamp holds a whole element, so that its error halves with their
length d: two steps of Richardson's extrapolation, with d and d² eliminated, give the places that it tends to.

    pip install "corekit-study[peers]"
    python benchmarks/peers/muscular_arm.py [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.scenario.load import load

MISSING = 'PyElastica is not installed: pip install "corekit-study[peers]"'
LENGTH, RADIUS, DENSITY, YOUNG, POISSON = 1.0, 0.025, 1000.0, 1e7, 0.5
MUSCLES = ((16.0, 0.25, 0.0, 1.0), (-16.0, 0.75, 0.8, 1.8))
"""Largest moment [N·m], place X, beginning and end of the activation's rise [s]."""
WIDTH = 0.12
INSTANTS = 0.25 * np.arange(1, 13)
ELEMENTS = (100, 200, 400)


def moments(elements: int, now: float) -> Array:
    """Of all muscles at the nodes between elements [N·m]."""
    X = np.arange(1, elements) / elements
    out = np.zeros(elements - 1)
    for largest, place, begin, end in MUSCLES:
        activation = min(1.0, max(0.0, (now - begin) / (end - begin)))
        out += activation * largest * np.exp(-(((X - place) / WIDTH) ** 2))
    return out


def theirs(elements: int) -> tuple[Array, float]:
    """Places of the tip in its plane [m], shape (instants, 2), and processor time [s], by position Verlet."""
    ea: Any = import_module("elastica")  # not among the tools that everybody installs

    class Simulator(ea.BaseSystemCollection, ea.Constraints, ea.Forcing): ...

    class Muscles(ea.NoForces):
        """At each inner node a couple on the element before it, and its opposite on the one behind."""

        def apply_torques(self, system: Any, time: float = 0.0) -> None:
            across = system.director_collection[:, 1, :]  # the world's y in the axes of the elements
            couples = moments(elements, time)
            system.external_torques[:, :-1] += across[:, :-1] * couples
            system.external_torques[:, 1:] -= across[:, 1:] * couples

    simulator = Simulator()
    rod = ea.CosseratRod.straight_rod(
        elements, np.zeros(3), np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), LENGTH, RADIUS, DENSITY,
        youngs_modulus=YOUNG, shear_modulus=0.5 * YOUNG / (1.0 + POISSON),
    )  # fmt: skip
    simulator.append(rod)
    simulator.constrain(rod).using(
        ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,)
    )
    simulator.add_forcing_to(rod).using(Muscles)
    simulator.finalize()
    stepper, now, places = ea.PositionVerlet(), 0.0, []
    # 0.4 of the time in which a wave of tension crosses an element
    per_instant = math.ceil(INSTANTS[0] * elements / (0.4 * LENGTH) * math.sqrt(YOUNG / DENSITY))
    begin = time.thread_time()
    for _ in INSTANTS:
        for _ in range(per_instant):
            now = float(stepper.step(simulator, np.float64(now), np.float64(INSTANTS[0] / per_instant)))
        places.append(rod.position_collection[[0, 2], -1])
    return np.array(places), time.thread_time() - begin


def ours() -> tuple[Array, float]:
    """The same by the shipped scenario."""
    simulation = load("teaching/muscular-arm").compose()
    simulation.warm_up()
    places = []
    begin = time.thread_time()
    for instant in INSTANTS:
        simulation.run(float(instant))
        places.append(simulation.frame("arm.arm.tip").position[[0, 2]])
    return np.array(places), time.thread_time() - begin


def extrapolate(coarse: Array, middle: Array, fine: Array) -> Array:
    """What places tend to, whose error is a·d + b·d² with d, d/2 and d/4."""
    first, second = 2.0 * middle - coarse, 2.0 * fine - middle
    return second + (second - first) / 3.0


def largest(apart: Array) -> float:
    return float(np.linalg.norm(apart, axis=1).max())


def measure() -> tuple[dict[str, float], Array]:
    """Numbers for `corekit bench`, and the places that PyElastica tends to."""
    theirs(10)  # compiles
    runs = [theirs(elements) for elements in ELEMENTS]
    limit = extrapolate(*(places for places, _ in runs))
    places, spent = ours()
    numbers = {
        "ratio": spent / runs[-1][1], "s": spent, "theirs": runs[-1][1],
        "error": largest(places - limit), "their error": largest(runs[-1][0] - limit),
        "uncertainty": largest(limit - (2.0 * runs[-1][0] - runs[-2][0])),
    }  # fmt: skip
    return numbers, limit


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    try:
        name = f"{ELEMENTS[-1]} elements of PyElastica {version('pyelastica')}"
    except PackageNotFoundError:
        sys.exit(MISSING)
    numbers, limit = measure()
    if asked.json:
        print(json.dumps({name: numbers}))
        return
    print(f"{name}: {', '.join(f'{key} {value:.3g}' for key, value in numbers.items())}")
    print("the places that it tends to [m]:")
    print(np.array2string(limit, precision=4, separator=", ", suppress_small=True))


if __name__ == "__main__":
    main()
