"""Steps of piles with contact solver `cone`, in steps of free bodies: columns, a tower, brick walls, balls in a funnel.

The reference is a step of the same bodies without a contact, far apart, in the same process: what models, broad phase
and integrator cost. `ratio` is the median step of the pile over that.

    median, worst   of a step with contact [ms]; compose: the scenario [s]
    unsolved        steps that missed the tolerance, which their status says
    ratio           median step of the pile over a free step of the same bodies

    python benchmarks/piles.py [--json] [--balls 1000] [--steps 60]
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from typing import Any

import numpy as np

from corekit.scenario.load import from_document

EDGE, RADIUS = 0.1, 0.02


def body(name: str, shape: str, size: list[float], position: list[float]) -> dict[str, Any]:
    return {
        "name": name, "use": "rigid", "options": {"shape": shape, "size": size, "mass": 0.1},
        "initial": {"position": position},
    }  # fmt: skip


def columns(count: int, height: int) -> list[dict[str, Any]]:
    """Columns of boxes at rest, side by side."""
    return [
        body(f"box{i}-{j}", "box", [EDGE] * 3, [1.2 * EDGE * i, 0.0, (0.5 + j) * EDGE])
        for i in range(count)
        for j in range(height)
    ]


def wall(rows: int, length: int, joint: float) -> list[dict[str, Any]]:
    """A wall of bricks in running bond, with half bricks at its ends; between neighbours lies a joint [m]."""
    even, odd = [i - 0.5 for i in range(length + 1)], [-0.5, *map(float, range(length)), length - 0.5]
    return [
        body(
            f"brick{j}-{k}", "box", [2 * EDGE * (right - left) - joint, EDGE, EDGE],
            [EDGE * (left + right), 0.0, (0.5 + j) * EDGE],
        )
        for j in range(rows)
        for k, (left, right) in enumerate(itertools.pairwise(odd if j % 2 else even))
    ]  # fmt: skip


def balls(count: int) -> list[dict[str, Any]]:
    """Balls in layers of ten by ten, a little out of order."""
    rng = np.random.default_rng(0)
    grid = np.array([[k % 10 - 4.5, k // 10 % 10 - 4.5, k // 100 + 0.6] for k in range(count)])
    places = 2.05 * RADIUS * grid + 0.02 * RADIUS * rng.uniform(-1.0, 1.0, (count, 3))
    return [body(f"ball{k}", "sphere", [RADIUS], place) for k, place in enumerate(places.tolist())]


def compose(bodies: list[dict[str, Any]], *, is_pile: bool) -> Any:
    """A simulation of the bodies on a floor, in a funnel of four planes, or far above it and apart."""
    walls = [(-1, 0, 0, 1), (1, 0, 0, -1), (0, -1, -1, 0), (0, 1, 1, 0)]
    planes = [
        {
            "name": f"wall{k}", "shape": "half-space", "position": [x * 0.22, y * 0.22, 0.0],
            "rotation_rpy": [roll * math.pi / 3, pitch * math.pi / 3, 0.0],
        }
        for k, (x, y, roll, pitch) in enumerate(walls)
        if bodies[0]["options"]["shape"] == "sphere"
    ]  # fmt: skip
    if not is_pile:
        bodies = [
            each | {"initial": {"position": [0.0, 0.0, 100.0 + 2.0 * k]}} for k, each in enumerate(bodies)
        ]
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "pile", "time": {"duration": 1.0, "step": 1e-3},
            "world": {"obstacles": [{"name": "floor", "shape": "half-space", "position": [0.0, 0.0, 0.0]}, *planes]},
            "bodies": bodies,
            "contact": {"friction": 0.5, "detector": [{"use": "sdf"}, {"use": "mpr"}], "solver": {"use": "cone"}},
            "integrator": {"use": "semi-implicit-euler"}, "output": {"every": 1.0},
        }
    ).compose()  # fmt: skip


def times(simulation: Any, steps: int) -> tuple[list[float], int]:
    """Processor times of steps after the first [s], and how many were not solved."""
    simulation.step()
    spent, unsolved = [], 0
    for _ in range(steps):
        begin = time.process_time()
        report = simulation.step()
        spent.append(time.process_time() - begin)
        unsolved += not report.solve_info.status.solved
    return spent, unsolved


def measure(bodies: list[dict[str, Any]], steps: int) -> dict[str, float]:
    begin = time.process_time()
    pile = compose(bodies, is_pile=True)
    composed = time.process_time() - begin
    free, _ = times(compose(bodies, is_pile=False), 10)
    spent, unsolved = times(pile, steps)
    median = float(np.median(spent))
    return {
        "bodies": len(bodies), "contacts": pile.contacts().count, "compose": composed, "median": 1e3 * median,
        "worst": 1e3 * max(spent), "unsolved": unsolved, "ratio": median / float(np.median(free)),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--balls", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    cases = {
        "ten columns of ten": columns(10, 10),
        "tower of 100": columns(1, 100),
        "brick wall": wall(10, 10, 0.004),
        "brick wall without joints": wall(10, 10, 0.0),
        f"{arguments.balls} balls": balls(arguments.balls),
    }
    measured = {name: measure(bodies, arguments.steps) for name, bodies in cases.items()}
    if arguments.json:
        print(json.dumps(measured))
        return
    for name, each in measured.items():
        print(
            f"{name}: {each['contacts']} contacts, step {each['median']:.1f} ms, worst {each['worst']:.1f}, "
            f"{each['ratio']:.1f} free steps, unsolved {each['unsolved']}, composed in {each['compose']:.2f} s"
        )


if __name__ == "__main__":
    main()
