"""The table of fast impacts: what passes through what, and which energy comes of it, by components.

Every detector, contact solver and integrator runs ten worlds, each with the impact at five shares of a step. Nothing
may pass through; impulses may add no kinetic energy, a potential, whose layer is elastic, at most a hundredth of it.
"""

from __future__ import annotations

from itertools import product

from attrs import define

from corekit.errors import CompositionError, StepFailed
from corekit_scenarios.cases.matrix.fast_impacts import (
    IMPACTS,
    SHARES,
    STEP,
    begin_at,
    compose,
    kinetic_energy,
)
from corekit_scenarios.cases.matrix.solvers import SOLVERS
from corekit_scenarios.cases.matrix.steps import schemes
from corekit_study.case_run import CaseRun, Row
from corekit_study.reference import OWN, analytic

__all__ = ["ELASTIC", "ROUNDING", "Tally", "impacts", "measure"]

DETECTORS = ("sdf", "mpr")
ROUNDING, ELASTIC = 1e-6, 1e-2
"""Of the kinetic energy before: what may come of impulses, and of a potential."""
_EXPLICIT = ("imc", "scipy-rk45")
"""A potential's friction is a drag that this integrator follows by thousands of tiny steps, for minutes a world."""


@define
class Tally:
    """What became of the impacts of a cell.

    Args:
        impacts: how many ran. passed: how many passed through.
        gained: largest energy added, of that before. stopped: what ended a run.
        refused: how many worlds the composition refuses.
    """

    impacts: int = 0
    passed: int = 0
    gained: float = 0.0
    stopped: str = ""
    refused: int = 0


def measure(detector: str, solver: str, integrator: str) -> Tally:
    """Run all worlds of a cell."""
    tally = Tally()
    for name, world in IMPACTS.items():
        simulation = None
        for share in SHARES:
            impact = world(share)
            if simulation is None or impact.is_driven:
                # in a potential, sticking to a fast paddle needs thousands of Newton steps
                friction = 0.0 if solver == "imc" and name == "paddle hits a ball" else 0.3
                try:
                    simulation = compose(
                        impact.obstacles, impact.bodies, detector, solver, integrator, friction
                    )
                except CompositionError:
                    tally.refused += 1
                    break
            begin_at(simulation, impact.bodies)
            before = kinetic_energy(simulation)
            tally.impacts += 1
            while simulation.time < impact.duration - 0.5 * STEP:
                try:
                    simulation.step()
                except StepFailed as error:
                    tally.stopped = f"{name}: {error}"
                    break
                if not impact.is_apart(simulation.state.q, simulation.time):
                    tally.passed += 1
                    break
                if not impact.is_driven:
                    tally.gained = max(tally.gained, kinetic_energy(simulation) / before - 1.0)
    return tally


def impacts(case: CaseRun) -> list[Row]:
    """A row a cell, and their sum."""
    rows: list[Row] = []
    total = Tally()
    for detector, solver, scheme in product(DETECTORS, SOLVERS, schemes()):
        name = f"{detector} · {solver} · {scheme.name}"
        if (solver, scheme.name) == _EXPLICIT:
            note = "it would follow the potential's friction by thousands of tiny steps a step"
            rows.append(Row(quantity=name, against=OWN, ours="left out", note=note))
            continue
        with case.show(name):
            tally = measure(detector, solver, scheme.name)
        if not tally.impacts:
            rows.append(
                Row(
                    quantity=name, against=OWN, ours="refused", note="the composition says why, in a sentence"
                )
            )
            continue
        total.impacts, total.passed = total.impacts + tally.impacts, total.passed + tally.passed
        bound = ELASTIC if solver == "imc" else ROUNDING
        refused = f"; {tally.refused} worlds are refused" if tally.refused else ""
        stopped = f"; stopped: {tally.stopped}" if tally.stopped else ""
        rows.append(
            Row(
                quantity=name, unit="of the energy, most gained", against=analytic("an inelastic impact"),
                expected=0.0, ours=tally.gained, tolerance=f"none of {tally.impacts} passes, ≤ {bound:g}",
                passed=not tally.passed and not tally.stopped and tally.gained <= bound,
                note=f"{tally.passed} of {tally.impacts} pass through{refused}{stopped}",
            )
        )  # fmt: skip
    rows.append(
        Row(
            quantity="impacts that pass through, of all", against=OWN,
            ours=f"{total.passed} of {total.impacts}", tolerance="none", passed=not total.passed,
        )
    )  # fmt: skip
    return rows
