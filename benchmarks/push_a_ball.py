"""Runs to push a ball to a target: by gradients through contact, beside CMA-ES, which has the loss alone.

    pip install cma
    python benchmarks/push_a_ball.py [--most 1000] [--spread 0.05] [--json]

Both search the 36 forces of `examples/gradients/push_a_ball/push.toml` from the same start within the same bounds,
scaled alike. CMA-ES (N. Hansen, `cma`, its own defaults) stops at 1.01 times the loss that the gradients found,
or after `--most` runs. A run with its gradient costs several runs, so that processor time is told too.

    runs, loss, seconds         of gradients to 1.01 times their last loss, that loss, and the processor time until then
    cma_runs, cma_loss, cma_seconds   of CMA-ES until it stops
    ratio                       cma_runs/runs, which is a lower bound where CMA-ES did not come as low
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from corekit_gradients.optimise import Problem, optimise
from corekit_gradients.optimise_file import OptimiseFile, load_optimise

FILE = Path(__file__).parents[1] / "examples/gradients/push_a_ball/push.toml"


def by_gradients(file: OptimiseFile) -> dict[str, float]:
    """What `corekit optimise` finds, and what it took to 1.01 of its loss."""
    began, seen = time.process_time(), list[tuple[int, float, float]]()
    found = optimise(
        file, progress=lambda row: seen.append((row["runs"], row["loss"], time.process_time() - began))
    )
    runs, _, seconds = next(row for row in seen if row[1] <= 1.01 * found.minimum.value)
    return {"runs": runs, "loss": found.minimum.value, "seconds": seconds}


def by_evolution(file: OptimiseFile, goal: float, most: int, spread: float, seed: int) -> dict[str, float]:
    """What CMA-ES takes to a loss, or comes to in so many runs."""
    try:
        cma: Any = import_module("cma")
    except ImportError:
        sys.exit("CMA-ES is not installed: pip install cma")
    problem = Problem(file)
    scale = problem.scale
    search = cma.CMAEvolutionStrategy(
        problem.start / scale, spread,
        {"bounds": [list(problem.low / scale), list(problem.high / scale)], "seed": seed, "verbose": -9},
    )  # fmt: skip
    runs, best, began = 0, np.inf, time.process_time()
    while best > goal and runs < most and not search.stop():
        asked = search.ask()
        losses = [problem.value(y * scale) for y in asked]
        search.tell(asked, losses)
        runs, best = runs + len(asked), min(best, *losses)
    return {"cma_runs": runs, "cma_loss": best, "cma_seconds": time.process_time() - began}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--most", type=int, default=1000, help="runs that CMA-ES may make")
    parser.add_argument(
        "--spread", type=float, default=0.05, help="its first spread, in half widths of the bounds"
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    file = load_optimise(FILE)
    numbers = by_gradients(file)
    numbers |= by_evolution(file, 1.01 * numbers["loss"], given.most, given.spread, given.seed)
    numbers["ratio"] = numbers["cma_runs"] / numbers["runs"]
    if given.json:
        print(json.dumps({"push a ball": numbers}))
        return
    print(", ".join(f"{key} {value:.5g}" for key, value in numbers.items()))


if __name__ == "__main__":
    main()
