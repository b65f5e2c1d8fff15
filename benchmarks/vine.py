"""What the program of a vine robot's step costs with `banded`, beside our own warm-started OSQP and PIQP.

Programs are those of consecutive steps of the scenario `vine/circle`, each with the guess that the step had, kept
from a run and solved again by every solver in turns. A time is the least of several rounds over all programs, divided
by their number; `step` is the least time of a whole step of that run, with model, contacts and integrator. OSQP runs
once as the paper's authors use it (tolerance 1e-3, no polish) and once to the accuracy of the others.

    python benchmarks/vine.py [--json] [--rounds N] [--steps N]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from copy import deepcopy
from importlib.util import find_spec
from typing import Any

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.registry.resolve import load_target, resolve
from corekit.roles.problem import QPProblem, QPSolver
from corekit.scenario.load import load

BODIES = (30, 200, 500)
BEGIN = 100
"""Steps before the kept ones, so that the robot touches the circle."""

Kept = tuple[QPProblem, Array, Array]


class Watched(QPSolver):
    """A solver that keeps what it is asked."""

    def __init__(self, solver: QPSolver) -> None:
        self._solver = solver
        self.kept: list[Kept] = []
        self.watching = False

    def solve(self, problem: QPProblem, x: Array, multiplier: Array) -> Any:
        if self.watching:
            own: dict[str, Any] = {
                name: np.array(getattr(problem, name))
                for name in ("gradient", "dofs", "values", "lower", "upper", "compliance", "least", "most")
            }
            kept = evolve(problem, hessian=deepcopy(problem.hessian), **own)
            self.kept.append((kept, x.copy(), multiplier.copy()))
        return self._solver.solve(problem, x, multiplier)

    def memory(self) -> Any:
        return self._solver.memory()

    def remember(self, memory: Any) -> None:
        self._solver.remember(memory)


def programs(bodies: int, steps: int) -> tuple[list[Kept], float]:
    """The programs of consecutive steps, and the least time of a whole step [s]."""
    simulation = load("vine/circle", [f"bodies[0].options.bodies={bodies}"]).compose()
    contact: Any = simulation.system.solver
    for _ in range(BEGIN):
        simulation.step()
    least = np.inf
    for _ in range(steps):
        begin = time.perf_counter()
        simulation.step()
        least = min(least, time.perf_counter() - begin)
    watched = Watched(contact._solver)  # noqa: SLF001 - a benchmark looks inside
    contact._solver = watched  # noqa: SLF001
    watched.watching = True
    for _ in range(steps):
        simulation.step()
    return watched.kept, least


def solver(name: str, **options: Any) -> QPSolver:
    """An installed solver."""
    spec = resolve("qp_solvers", name)
    return load_target(spec.target)(load_target(spec.config)(**options))


def round_of(one: QPSolver, kept: list[Kept]) -> tuple[float, list[Array]]:
    """Seconds a program, and the answers."""
    answers = []
    spent = 0.0
    for problem, x, multiplier in kept:
        x, multiplier = x.copy(), multiplier.copy()
        begin = time.perf_counter()
        one.solve(problem, x, multiplier)
        spent += time.perf_counter() - begin
        answers.append(x)
    return spent / len(kept), answers


def measured(bodies: int, steps: int, rounds: int) -> dict[str, float]:
    """Microseconds of each solver, how far its velocities are from banded's, and ratios to OSQP."""
    kept, step = programs(bodies, steps)
    solvers = {"banded": solver("banded")}
    if find_spec("osqp") is not None:
        solvers["osqp"] = solver("osqp")
        solvers["osqp_1e-3"] = solver("osqp", tolerance=1e-3, polish=False)
    if find_spec("piqp") is not None:
        solvers["piqp"] = solver("piqp")
    least = dict.fromkeys(solvers, np.inf)
    answers: dict[str, list[Array]] = {}
    for _ in range(rounds):
        for name, one in solvers.items():
            spent, answers[name] = round_of(one, kept)
            least[name] = min(least[name], spent)
    found = {f"{name}_us": 1e6 * value for name, value in least.items()}
    found["step_us"] = 1e6 * step
    for name in list(solvers)[1:]:
        apart = max(float(np.abs(a - b).max()) for a, b in zip(answers[name], answers["banded"], strict=True))
        found[f"{name}_apart"] = apart
    if "osqp" in least:
        found["ratio"] = least["banded"] / least["osqp_1e-3"]
    return found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=30)
    given = parser.parse_args()
    found = {f"bodies-{n}": measured(n, given.steps, given.rounds) for n in BODIES}
    if given.json:
        print(json.dumps(found))
        return 0
    for case, numbers in found.items():
        print(case, "  ".join(f"{name} {value:.3g}" for name, value in numbers.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
