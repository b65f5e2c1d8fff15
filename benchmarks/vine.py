"""What the program of a vine robot's step costs with `banded`, beside our own warm-started OSQP and PIQP.

Programs are those of consecutive steps of the scenario `vine/circle`, each with the guess that the step had, kept
from a run and solved again by every solver in turns. A time is the least of several rounds over all programs, divided
by their number; `step` is the least time of a whole step of that run, with model, contacts and integrator. OSQP runs
at the paper's authors' tolerance (1e-3, no polish) and to the accuracy of the others. Its `bare` times are the
kindest to it: set up once, patterns fixed, scaled data at hand, and only its own update, warm start and solve on the
clock, none of what our plugin adds; `ratio` compares with these, banded with all that its own plugin adds.

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
    """A solver that keeps the problems that it is given."""

    def __init__(self, solver: QPSolver) -> None:
        self._solver = solver
        self.kept: list[Kept] = []
        self.watching = False

    def solve(self, problem: QPProblem, x: Array, multiplier: Array) -> Any:
        if self.watching:
            own: dict[str, Any] = {
                name: np.array(getattr(problem, name))
                for name in (
                    "gradient",
                    "dofs",
                    "values",
                    "lower",
                    "upper",
                    "compliance",
                    "multiplier_lower",
                    "multiplier_upper",
                )
            }
            kept = evolve(problem, hessian=deepcopy(problem.hessian), **own)
            self.kept.append((kept, x.copy(), multiplier.copy()))
        return self._solver.solve(problem, x, multiplier)


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


class Clocked:
    """An OSQP solver whose own update, warm start and solve are timed."""

    def __init__(self, solver: Any) -> None:
        self._solver = solver
        self.spent = 0.0

    def _timed(self, name: str, *given: Any, **named: Any) -> Any:
        begin = time.perf_counter()
        found = getattr(self._solver, name)(*given, **named)
        self.spent += time.perf_counter() - begin
        return found

    def update(self, **named: Any) -> None:
        self._timed("update", **named)

    def warm_start(self, **named: Any) -> None:
        self._timed("warm_start", **named)

    def solve(self, **named: Any) -> Any:
        return self._timed("solve", **named)


def bare(one: Any, kept: list[Kept]) -> float:
    """Seconds a program of OSQP alone; programs for which it is set up anew are left out."""
    spent, count = 0.0, 0
    for problem, x, multiplier in kept:
        own = one._solver = None if one._solver is None else Clocked(one._solver)  # noqa: SLF001
        one.solve(problem, x.copy(), multiplier.copy())
        if own is not None and one._solver is own:  # noqa: SLF001
            spent, count = spent + own.spent, count + 1
            one._solver = own._solver  # noqa: SLF001
    return spent / max(count, 1)


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
    alone = {name: np.inf for name in solvers if name.startswith("osqp")}
    answers: dict[str, list[Array]] = {}
    for _ in range(rounds):
        for name, one in solvers.items():
            spent, answers[name] = round_of(one, kept)
            least[name] = min(least[name], spent)
        for name, shortest in alone.items():
            alone[name] = min(shortest, bare(solvers[name], kept))
    found = {f"{name}_us": 1e6 * value for name, value in least.items()}
    found["step_us"] = 1e6 * step
    for name in list(solvers)[1:]:
        apart = max(float(np.abs(a - b).max()) for a, b in zip(answers[name], answers["banded"], strict=True))
        found[f"{name}_apart"] = apart
    for name, value in alone.items():
        found[f"bare_{name}_us"] = 1e6 * value
    if "osqp" in least:
        found["ratio"] = least["banded"] / alone["osqp_1e-3"]
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
