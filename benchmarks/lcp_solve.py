"""What one contact problem of 13 contacts and 8 friction directions costs, beside quantecon's and Drake's LCP solvers.

Ours is the whole `ImpulseSolver.solve`, from the contact problem as the integrator hands it over to impulses
certified in physical units. The others get the assembled LCP of the same problem, 130 variables, and are
timed without the assembly. Problems:

    steps     the steps with 13 contacts of CUSP's Scenario A, each with the guess the integrator had
    cold      the same without a guess and with `warm_start` off
    random    random contacts of the arm with a solution (`corekit_scenarios.arm_contacts`), no guess

and `lemke` is our Lemke's method alone on the matrices that quantecon and Drake get, random ones; it is a
reference for the others, too: what the contact solver adds to it, or saves. Each time is
the least of several rounds, in which the solvers alternate; a case's time is the mean over its problems.
`solved` counts answers whose residual max |min(z, w)| is at most 1e-8. A reference that is not installed is
left out, with a sentence: `pip install quantecon drake`.

    python benchmarks/lcp_solve.py [--json] [--rounds N] [--problems N]
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from corekit.data.arrays import Array
from corekit.registry.resolve import load_target, resolve
from corekit.roles.component import BuildContext
from corekit.roles.contact import StepProblem
from corekit.roles.options import ComponentRef
from corekit.roles.problem import LCPProblem
from corekit.roles.pyramid import pyramid_directions
from corekit.scenario.load import load
from corekit_lcp.assemble import assemble, variable_count
from corekit_lcp.config import LCPContactConfig
from corekit_lcp.lcp import LCPContact
from corekit_scenarios.arm_contacts import Kind, RandomArm

CONTACTS, DIRECTIONS, TOLERANCE = 13, 8, 1e-8
NONE = np.zeros(0)
SLOW = 0.02
"""A solve that takes longer [s] is timed twice only."""


class RecordedProblem(StepProblem):
    """Copy of a contact problem from a run, in the form that solvers read."""

    def __init__(self, problem: Any) -> None:
        for name in ("contact_count", "rows_per_contact", "bounded_count", "step"):
            setattr(self, name, getattr(problem, name))
        for name in (
            "id",
            "friction",
            "friction_record",
            "gap",
            "free_velocity",
            "start_impulse",
            "lower",
            "upper",
        ):
            setattr(self, name, np.array(getattr(problem, name)))
        self._delassus = np.array(problem.delassus(), order="C")

    def delassus(self) -> Array:
        """W."""
        return self._delassus


class Timed(NamedTuple):
    """One way to answer one problem: a call, and whether its answer solves the problem."""

    call: Callable[[], Any]
    solved: Callable[[Any], bool]


def build(role: str, use: ComponentRef) -> Any:
    """A component by name, as the kernel builds it."""
    spec = resolve(role, use.use)
    return load_target(spec.target)(load_target(spec.config)(**use.options), BuildContext(build=build))


def kept_steps() -> list[tuple[RecordedProblem, Array]]:
    """The problems with 13 contacts of a run of Scenario A, and the integrator's guesses."""
    kept: list[tuple[RecordedProblem, Array]] = []
    simulation = load("cusp/inclined-box").compose()
    solver: Any = simulation.system.solver
    answer = solver.solve

    def keep(problem: Any, impulse: Array) -> Any:
        if problem.contact_count == CONTACTS:
            kept.append((RecordedProblem(problem), impulse.copy()))
        return answer(problem, impulse)

    solver.solve = keep
    simulation.run(2.0)
    return kept


def random_problems(count: int) -> list[tuple[Any, Array]]:
    """Random problems in which some contact presses, without a guess."""
    arm, found = RandomArm(seed=13), []
    while len(found) < count:
        problem = arm.draw((Kind.PRESSED, Kind.FREE)[len(found) % 2], CONTACTS, DIRECTIONS)
        if (problem.free_velocity[::3] < 0.0).any():
            found.append((problem, np.zeros(3 * CONTACTS)))
    return found


def raw_lcp(problem: Any) -> tuple[Array, Array]:
    """A and b of the whole problem, unscaled."""
    delassus = np.ascontiguousarray(problem.delassus())
    directions = np.repeat(pyramid_directions(3, DIRECTIONS)[None], CONTACTS, axis=0)
    n, rows = int(variable_count(CONTACTS, DIRECTIONS, NONE, NONE)), len(problem.free_velocity)
    matrix, vector = np.empty((n, n)), np.empty(n)
    assemble(
        delassus, problem.free_velocity, problem.friction, directions, NONE, NONE, np.empty(n, dtype=np.int64),
        np.empty((n, 2)), np.empty(n, dtype=np.int64), np.empty(rows), np.empty((rows, n)), matrix, vector,
    )  # fmt: skip
    return matrix, vector


def ours(problem: Any, guess: Array, solver: LCPContact) -> Timed:
    """The whole contact solver."""
    impulse = guess.copy()

    def call() -> Any:
        impulse[:] = guess
        return solver.solve(problem, impulse)

    return Timed(call, lambda info: info.residuals.worst <= TOLERANCE)


def make_judge(matrix: Array, vector: Array) -> Callable[[Array], bool]:
    """Whether a z solves an LCP."""
    return lambda z: float(np.abs(np.minimum(z, matrix @ z + vector)).max()) <= TOLERANCE


def lemke(matrix: Array, vector: Array) -> Timed:
    """Our Lemke's method alone."""
    solver, z = build("lcp_solvers", ComponentRef("lemke")), np.zeros(len(vector))
    ones = np.ones(len(vector))
    problem = LCPProblem(matrix, vector, ones, ones, TOLERANCE)

    def call() -> Array:
        solver.solve(problem, z)
        return z

    return Timed(call, make_judge(matrix, vector))


def quantecon(matrix: Array, vector: Array) -> Timed:
    """quantecon's Lemke's method, compiled, with the buffers it can reuse."""
    lcp_lemke: Any = importlib.import_module("quantecon.optimize").lcp_lemke
    n = len(vector)
    buffers = {
        "tableau": np.empty((n, 2 * n + 2)), "basis": np.empty(n, dtype=np.int_), "z": np.empty(n),
    }  # fmt: skip

    def call() -> Array:
        return lcp_lemke(matrix, vector, **buffers).z

    return Timed(call, make_judge(matrix, vector))


def drake(matrix: Array, vector: Array) -> Timed:
    """Drake's MobyLCP; the program is built beforehand."""
    solvers: Any = importlib.import_module("pydrake.solvers")
    program, solver = solvers.MathematicalProgram(), solvers.MobyLcpSolver()
    variables = program.NewContinuousVariables(len(vector))
    program.AddLinearComplementarityConstraint(matrix, vector, variables)
    within = make_judge(matrix, vector)
    return Timed(lambda: solver.Solve(program), lambda result: within(result.GetSolution(variables)))


def measured(ways: Sequence[Sequence[Timed]], rounds: int) -> list[tuple[float, int]]:
    """For each solver its mean least time [µs] over all problems, and how many it solved.

    Args:
        ways: problem by problem one entry a solver.
    """
    best = np.full((len(ways), len(ways[0])), np.inf)
    solved = np.zeros(len(ways[0]), dtype=int)
    for i, row in enumerate(ways):
        for j, way in enumerate(row):
            solved[j] += way.solved(way.call())
        for turn in range(rounds):
            for j, way in enumerate(row):
                if turn >= 2 and best[i, j] > SLOW:
                    continue
                for _ in range(1 if best[i, j] > SLOW else 5):
                    start = time.perf_counter()
                    way.call()
                    best[i, j] = min(best[i, j], time.perf_counter() - start)
    return [(1e6 * float(t), int(s)) for t, s in zip(best.mean(axis=0), solved, strict=True)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="one contact solve beside other LCP solvers")
    parser.add_argument("--json", action="store_true", help="print numbers for machines")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--problems", type=int, default=20)
    arguments = parser.parse_args()
    references: dict[str, Callable[[Array, Array], Timed]] = {"lemke": lemke}
    for name, module, make in (("quantecon", "quantecon", quantecon), ("drake", "pydrake", drake)):
        if importlib.util.find_spec(module) is None:
            print(f"{name} is not installed and left out: pip install {name}", file=sys.stderr)
        else:
            references[name] = make
    context = BuildContext(build=build)
    warm = LCPContact(LCPContactConfig(aligned=False), context)
    cold = LCPContact(LCPContactConfig(warm_start=False, aligned=False), context)
    steps, scattered = kept_steps(), random_problems(arguments.problems)
    steps = steps[:: max(1, len(steps) // arguments.problems)]
    nothing = np.zeros(3 * CONTACTS)
    sets: dict[str, list[tuple[Any, Timed]]] = {
        "steps": [(p, ours(p, guess, warm)) for p, guess in steps],
        "cold": [(p, ours(p, nothing, cold)) for p, _ in steps],
        "random": [(p, ours(p, nothing, warm)) for p, _ in scattered],
        "lemke": [(p, lemke(*raw_lcp(p))) for p, _ in scattered],
    }
    report: dict[str, dict[str, float]] = {}
    for name, problems in sets.items():
        beside = {key: make for key, make in references.items() if key != name}
        if not beside:
            continue
        ways = [[way, *(make(*raw_lcp(p)) for make in beside.values())] for p, way in problems]
        (mine, own), *others = measured(ways, arguments.rounds)
        for reference, (theirs, solved) in zip(beside, others, strict=True):
            report[f"{name}, {reference}"] = {
                "ratio": mine / theirs, "ours_us": mine, "theirs_us": theirs, "problems": len(ways),
                "ours_solved": own, "theirs_solved": solved,
            }  # fmt: skip
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    print("problems, reference   ours [µs]  theirs [µs]   ratio   solved: ours, theirs, of")
    for name, row in report.items():
        print(
            f"{name:20s} {row['ours_us']:10.1f} {row['theirs_us']:12.1f} {row['ratio']:8.4f}"
            f"   {int(row['ours_solved']):12d} {int(row['theirs_solved']):7d} {int(row['problems']):3d}"
        )


if __name__ == "__main__":
    main()
