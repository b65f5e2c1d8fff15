"""Every model with every contact solver and every integrator, on one small task a model.

A plank, a hanging arm, two loose rods and a vine are lowered onto something round and something square under gravity,
with friction, until they rest (`scenarios/matrix`). Each cell runs, or the composition refuses it with its sentence.

What a cell must show: every step solved, no speed left that matters, what the contacts carry equal to what the model
lays on them within 1 % (`weight`, which asks the model and not the solver), and every frame within the contact
layer δ of where the model's best cell rests: the one in which the two sides differ least. With friction the rest a
body comes to depends on its way there, so that the tasks are made to come down nearly without sliding.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np
from attrs import evolve, frozen

from corekit.data.arrays import Array
from corekit.errors import CompositionError
from corekit.run.results import Results
from corekit.scenario.casting import checked_cast
from corekit.scenario.load import load
from corekit.study.case_run import CaseRun, Job, Outcome, Row
from corekit_scenarios.cases.matrix.picture import draw_matrix
from corekit_scenarios.cases.matrix.weight import Carried, carried

__all__ = ["INTEGRATORS", "LAYER", "MODELS", "SOLVERS", "Cell", "matrix"]

LAYER = 5e-4
"""δ of `imc`, within which a smooth contact rests [m]."""
WEIGHT = 0.01
"""By how much the carried weight may be off [–]."""
MODELS = ("pcc", "vine", "gvs", "der", "rigid")
SOLVERS = ("lcp", "qp", "imc")
_CUT = "options={local_error=1e-5}"
INTEGRATORS: Mapping[str, tuple[str, ...]] = {
    "semi-implicit-euler": ('integrator={use="semi-implicit-euler", options={form="linearly-implicit"}}',),
    "implicit-euler": ('integrator={use="implicit-euler"}',),
    "implicit-midpoint": ('integrator={use="implicit-midpoint"}',),
    "newmark": (f'integrator={{use="newmark", {_CUT}}}',),
    "generalized-alpha": (f'integrator={{use="generalized-alpha", {_CUT}}}',),
    "rk23": ('integrator={use="rk23", options={max_inner_steps=100000}}',),
    "verlet": ('integrator={use="verlet"}', "time.step=2e-5"),
}
"""Integrator → what it changes in the task: explicit ones step more finely, second-order ones where it is hard."""
_FINER = {
    ("lcp", "rk23"): ("time.step=1e-4",),
    ("qp", "rk23"): ("time.step=1e-4",),
}
"""Impulses after a split step ask for h·ω < 2, ω the fastest rate of the model.

Verlet takes damping explicitly, that of a smooth contact's friction too (1000 N·s/m here), and what rests is carried
by a force that is h·d/2 too small, d the rate of its damping.
"""
_NOTHING, _NOWHERE = Carried(float("nan"), float("nan")), np.zeros((0, 3))


@frozen
class Cell:
    """One combination.

    Args:
        model, solver, integrator: by name.
        refused: the composition's sentence, or why the run failed; empty if it finished.
        failed: whether it was let run and did not finish.
        step_s: time per step [s], None where it did not run. speed: largest velocity at the end [m/s or rad/s].
        steps, unsolved: how many steps there were, and whose solve missed its tolerance.
        deepest: over the whole run [m]. resting: at its end [m].
        carried: weight laid on and carried by the contacts [N].
        frames: where they are at the end [m], shape (n, 3). away: from the best cell's, the farthest [m].
    """

    model: str
    solver: str
    integrator: str
    refused: str = ""
    failed: bool = False
    step_s: float | None = None
    speed: float = float("nan")
    steps: int = 0
    unsolved: int = 0
    deepest: float = float("nan")
    resting: float = float("nan")
    carried: Carried = _NOTHING
    frames: Array = _NOWHERE
    away: float = float("nan")

    @property
    def ran(self) -> bool:
        """Whether it came to its end."""
        return not self.refused

    @property
    def good(self) -> bool:
        """Whether it shows what a cell must show; a refused one does not have to."""
        if not self.ran:
            return not self.failed
        return self.unsolved == 0 and self.away <= LAYER and self.carried.error <= WEIGHT


def matrix(case: CaseRun) -> list[Row]:
    """All cells, those of `only` alone if it names models; a table, a picture and one row a cell."""
    jobs, refused = _jobs(case.only or MODELS)
    outcomes = case.run_all(list(jobs.values()))
    cells = [_cell(case.folder, words, outcomes[job.name]) for words, job in jobs.items()] + refused
    order = {words: k for k, words in enumerate(product(MODELS, SOLVERS, INTEGRATORS))}
    cells = _with_distances(sorted(cells, key=lambda cell: order[cell.model, cell.solver, cell.integrator]))
    draw_matrix(case.folder / "matrix.png", cells, LAYER)
    return [*(_row(cell) for cell in cells), *_summary(cells)]


def _jobs(models: tuple[str, ...]) -> tuple[dict[tuple[str, str, str], Job], list[Cell]]:
    """What can run, and what the composition refuses."""
    jobs: dict[tuple[str, str, str], Job] = {}
    refused: list[Cell] = []
    for model in models:
        for solver in SOLVERS:
            for integrator, changes in INTEGRATORS.items():
                finer = _FINER.get((solver, integrator), ())
                overrides = (f'contact.solver={{use="{solver}"}}', *changes, *finer)
                try:
                    checked_cast(load(f"matrix/{model}", overrides))
                except CompositionError as error:
                    refused.append(Cell(model, solver, integrator, " ".join(str(error).split())))
                    continue
                name = f"{model}-{solver}-{integrator}"
                jobs[model, solver, integrator] = Job(
                    name=name, scenario=f"matrix/{model}", overrides=overrides
                )
    return jobs, refused


def _cell(folder: Path, words: tuple[str, str, str], outcome: Outcome) -> Cell:
    if outcome.error:
        return Cell(*words, refused=" ".join(outcome.error.split()), failed=True)
    results = Results(folder / outcome.name)
    said = results.statistics
    finished = next(event for event in reversed(results.events) if event["event"] == "finished")
    gaps = results.contacts(-1).gap
    return Cell(
        *words,
        step_s=finished["step_s"],
        speed=float(np.max(np.abs(results.v[-1]))),
        steps=int(said["steps"]),
        unsolved=int(said["unsolved_steps"]),
        deepest=float(said["deepest_penetration_m"]),
        resting=max(0.0, -float(np.min(gaps, initial=0.0))),
        carried=carried(results),
        frames=results.frame_position[-1],
    )


def _with_distances(cells: list[Cell]) -> list[Cell]:
    made: list[Cell] = []
    for cell in cells:
        of_model = [each for each in cells if each.model == cell.model and each.ran]
        if not cell.ran or not of_model:
            made.append(cell)
            continue
        # to nine digits, so that rounding does not choose
        best = min(of_model, key=lambda each: (each.unsolved, round(each.carried.error, 9)))
        away = float(np.max(np.linalg.norm(cell.frames - best.frames, axis=1)))
        made.append(evolve(cell, away=away))
    return made


def _row(cell: Cell) -> Row:
    name = f"{cell.model} · {cell.solver} · {cell.integrator}"
    if cell.failed:
        return Row(quantity=name, ours="failed", tolerance="runs", passed=False, note=cell.refused)
    if not cell.ran:
        return Row(quantity=name, ours="refused", note=cell.refused)
    note = (
        f"rests {1e3 * cell.away:.2g} mm from the best cell; carries {cell.carried.contacts:.4g} N of "
        f"{cell.carried.weight:.4g} N; deepest {1e3 * cell.deepest:.2g} mm, at rest {1e3 * cell.resting:.2g} mm; "
        f"{cell.steps - cell.unsolved} of {cell.steps} steps solved; ends at {cell.speed:.1g} m/s or rad/s"
    )
    step = None if cell.step_s is None else 1e6 * cell.step_s
    tolerance = f"solved, rest ≤ {1e3 * LAYER:g} mm away, weight ≤ {100 * WEIGHT:g} %"
    return Row(quantity=name, unit="µs a step", ours=step, tolerance=tolerance, passed=cell.good, note=note)


def _summary(cells: list[Cell]) -> list[Row]:
    ran, failed = [cell for cell in cells if cell.ran], [cell for cell in cells if cell.failed]
    rows = [
        Row(
            quantity="cells that the contract allows and that ran", ours=f"{len(ran)} of {len(ran) + len(failed)}",
            tolerance="all", passed=not failed, note=f"{len(cells) - len(ran) - len(failed)} more are refused",
        )
    ]  # fmt: skip
    if ran:
        worst = max(ran, key=lambda cell: cell.carried.error)
        far = max(ran, key=lambda cell: cell.away)
        rows += [
            Row(
                quantity="carried weight, largest error", unit="%", ours=100 * worst.carried.error,
                tolerance=f"≤ {100 * WEIGHT:g} %", passed=worst.carried.error <= WEIGHT,
                note=f"{worst.model}, {worst.solver}, {worst.integrator}",
            ),
            Row(
                quantity="rest, largest distance from the model's best cell", unit="mm", ours=1e3 * far.away,
                tolerance=f"≤ {1e3 * LAYER:g} mm", passed=far.away <= LAYER,
                note=f"{far.model}, {far.solver}, {far.integrator}",
            ),
            Row(
                quantity="cells that say every step was solved and do not carry the weight",
                ours=sum(not cell.unsolved and cell.carried.error > WEIGHT for cell in ran),
                tolerance="none", passed=all(cell.unsolved or cell.carried.error <= WEIGHT for cell in ran),
            ),
        ]  # fmt: skip
    return rows
