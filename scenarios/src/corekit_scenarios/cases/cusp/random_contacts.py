"""Ten thousand random contact problems of CUSP's arm: how many its contact pipeline solves, judged from outside.

The paper says that its conditioned problems are solved reliably; these are meant to be harder than a simulation's:
3 to 21 contacts on nine coordinates, near-duplicates among them, 4 to 10 friction directions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define, field

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo
from corekit.registry.resolve import load_target, resolve
from corekit.roles.component import BuildContext
from corekit.roles.options import ComponentRef
from corekit_scenarios.arm_contacts import ArmContactProblem, Kind, RandomArm, faults
from corekit_study.case_run import CaseRun, Row
from corekit_study.reference import OWN

__all__ = ["JUDGED", "Tally", "build", "measure", "random_contacts"]

JUDGED = 2e-9
"""Largest fault that passes for solved from outside: the solver's own tolerance and as much again for rounding."""


@define
class Tally:
    """What became of a set of problems.

    Args:
        problems, solved: how many there were, and were said to be solved.
        false: of the solved, those that the judgement from outside refutes.
        worst: largest fault of a solved one.
        answered: which solver answered, how often.
    """

    problems: int = 0
    solved: int = 0
    false: int = 0
    worst: float = 0.0
    answered: Counter[str] = field(factory=Counter)

    def add(self, problem: ArmContactProblem, info: SolveInfo, impulse: Array) -> None:
        """Count one answer."""
        self.problems += 1
        if not info.status.solved:
            self.answered["nobody"] += 1
            return
        self.solved += 1
        self.answered[info.answered_by] += 1
        fault = max(faults(problem, impulse))
        self.worst = max(self.worst, fault)
        self.false += not fault <= JUDGED

    def who(self) -> str:
        """The solvers that answered, the most frequent first."""
        return ", ".join(f"{name} {count}" for name, count in self.answered.most_common())


def measure(count: int, kinds: Sequence[Kind], seed: int = 0, **options: Any) -> tuple[Tally, Tally]:
    """Solve random problems of the given kinds in turn without a guess, and each again a little changed.

    The second tally is of the same contacts with a free velocity changed by 1 %, started at the first answer.

    Args:
        options: of the contact solver `lcp`; its default chain without.
    """
    arm = RandomArm(seed)
    random = np.random.default_rng(seed + 1)
    solvers = {
        r: build(
            "contact_solvers", ComponentRef("lcp", {"friction_directions": r, "aligned": False, **options})
        )
        for r in (4, 6, 8, 10)
    }
    first, again = Tally(), Tally()
    for i in range(count):
        problem = arm.draw(kinds[i % len(kinds)])
        solver, impulse = solvers[problem.directions], np.zeros(3 * problem.contact_count)
        first.add(problem, solver.solve(problem, impulse), impulse)
        changed = problem.with_free_velocity(
            problem.free_state_velocity * (1.0 + 0.01 * random.normal(size=len(problem.free_state_velocity)))
        )
        again.add(changed, solver.solve(changed, impulse), impulse)
    return first, again


def random_contacts(case: CaseRun, count: int = 10_000) -> list[Row]:
    """Problems that have a solution, then a tenth as many that may have none."""
    del case  # no scenario is run
    cold, warm = measure(count, (Kind.PRESSED, Kind.FREE))
    wedged, _ = measure(count // 10, (Kind.WEDGED,), seed=1)
    rows: list[Row] = []
    for name, tally in (("cold", cold), ("changed by 1 %, from the last answer", warm)):
        share = 100.0 * tally.solved / tally.problems
        rows += [
            Row(
                quantity=f"solved, {name}", unit="%", against=OWN, ours=share, tolerance="≥ 99.9 %",
                passed=share >= 99.9, note=f"{tally.solved} of {tally.problems}: {tally.who()}",
            ),
            Row(
                quantity=f"falsely said to be solved, {name}", against=OWN, ours=tally.false, tolerance="none",
                passed=tally.false == 0, note="judged by v⁺ and the definition of the friction pyramid",
            ),
            Row(
                quantity=f"largest residual of the solved, {name}", against=OWN, ours=tally.worst,
                tolerance=f"≤ {JUDGED:g}", passed=tally.worst <= JUDGED,
            ),
        ]  # fmt: skip
    rows += [
        Row(
            quantity="solved where points may wedge", unit="%", against=OWN,
            ours=100.0 * wedged.solved / wedged.problems,
            note=f"such problems may have no solution; {wedged.who()}",
        ),
        Row(
            quantity="falsely said to be solved where points may wedge", against=OWN, ours=wedged.false,
            tolerance="none",
            passed=wedged.false == 0,
        ),
    ]  # fmt: skip
    return rows


def build(role: str, use: ComponentRef) -> Any:
    """A component by name, as the kernel builds it."""
    spec = resolve(role, use.use)
    config = load_target(spec.config)(**use.options)
    return load_target(spec.target)(config, BuildContext(build=build))
