"""Every model with every contact solver and every integrator, on one small task a model.

A plank, a hanging arm, two loose rods and a vine are lowered onto something round and something square under gravity,
with friction, until they rest (`scenarios/matrix`). Each cell runs, or the composition refuses it with its sentence.

What a cell must show: every step solved, no speed left that matters, what the contacts carry equal to what the model
lays on them within 1 % (`weight`, which needs the model and no solver), and every frame within the contact
layer δ of where the model's best cell rests: the one in which the two sides differ least. With friction the rest a
body comes to depends on its way there, so that the tasks are made to come down nearly without sliding.
"""

from __future__ import annotations

from itertools import product

from attrs import frozen

from corekit.errors import CompositionError
from corekit.scenario.component_selection import select_checked_components
from corekit.scenario.load import load
from corekit_scenarios.cases.matrix.cell import LAYER, STILL, WEIGHT, Cell, cell_of, with_distances
from corekit_scenarios.cases.matrix.picture import draw_matrix
from corekit_scenarios.cases.matrix.steps import Task, schemes
from corekit_study.case_run import CaseRun, Job, Row
from corekit_study.reference import OWN, analytic, method

__all__ = ["MODELS", "SOLVERS", "matrix"]

MODELS = ("pcc", "vine", "gvs", "der", "rigid")
SOLVERS = ("lcp", "qp", "cone", "imc")


@frozen
class _Plan:
    """A cell that may run: its empty form, and what is run for it."""

    cell: Cell
    job: Job
    steps: float


def matrix(case: CaseRun) -> list[Row]:
    """All cells, those of `only` alone if it names models; a table, a picture and one row a cell."""
    plans, cells = _plan(tuple(model for model in MODELS if model in (case.only or MODELS)))
    # the long ones first, so that no core waits for another at the end
    jobs = [plan.job for plan in sorted(plans, key=lambda plan: -plan.steps)]
    outcomes = case.run_all(jobs)
    cells += [cell_of(case.folder, plan.cell, outcomes[plan.job.name]) for plan in plans]
    order = [scheme.name for scheme in schemes()]
    cells.sort(
        key=lambda cell: (MODELS.index(cell.model), SOLVERS.index(cell.solver), order.index(cell.integrator))
    )
    cells = with_distances(cells)
    draw_matrix(case.folder / "matrix.png", cells, LAYER)
    return [*(_row(cell) for cell in cells), *_summary(cells)]


def _plan(models: tuple[str, ...]) -> tuple[list[_Plan], list[Cell]]:
    """What can run, and what the composition refuses."""
    plans: list[_Plan] = []
    refused: list[Cell] = []
    for model in models:
        task = Task.from_scenario(f"matrix/{model}")
        for solver, scheme in product(SOLVERS, schemes()):
            step = task.step_of(scheme)
            overrides = (f'contact.solver={{use="{solver}"}}', scheme.choice, f"time.step={step!r}")
            cell = Cell(model, solver, scheme.name, step)
            try:
                select_checked_components(load(task.name, overrides))
            except CompositionError as error:
                refused.append(cell.without_run(str(error), failed=False))
                continue
            job = Job(name=f"{model}-{solver}-{scheme.name}", scenario=task.name, overrides=overrides)
            plans.append(_Plan(cell, job, task.step / step))
    return plans, refused


def _row(cell: Cell) -> Row:
    name = f"{cell.model} · {cell.solver} · {cell.integrator}"
    if cell.failed:
        return Row(
            quantity=name, against=OWN, ours="failed", tolerance="runs", passed=False, note=cell.refused
        )
    if not cell.ran:
        return Row(quantity=name, against=OWN, ours="refused", note=cell.refused)
    note = (
        f"h = {1e3 * cell.step:.3g} ms; rests {1e3 * cell.away:.2g} mm from the best cell; "
        f"carries {cell.carried.contacts:.4g} N of {cell.carried.weight:.4g} N; "
        f"deepest {1e3 * cell.deepest:.2g} mm, at rest {1e3 * cell.resting:.2g} mm; "
        f"{cell.steps - cell.unsolved} of {cell.steps} steps solved; ends at {cell.speed:.1g} m/s or rad/s"
    )
    step = None if cell.step_s is None else 1e6 * cell.step_s
    tolerance = f"solved, ≤ {STILL:g} m/s or rad/s, {1e3 * LAYER:g} mm away, weight ≤ {100 * WEIGHT:g} %"
    return Row(
        quantity=name,
        unit="µs a step",
        against=OWN,
        ours=step,
        tolerance=tolerance,
        passed=cell.good,
        note=note,
    )


def _summary(cells: list[Cell]) -> list[Row]:
    ran, failed = [cell for cell in cells if cell.ran], [cell for cell in cells if cell.failed]
    rows = [
        Row(
            quantity="cells that the contract allows and that ran", against=OWN,
            ours=f"{len(ran)} of {len(ran) + len(failed)}",
            tolerance="all", passed=not failed, note=f"{len(cells) - len(ran) - len(failed)} more are refused",
        )
    ]  # fmt: skip
    if ran:
        worst = max(ran, key=lambda cell: cell.carried.error)
        far = max(ran, key=lambda cell: cell.away)
        fast = max(ran, key=lambda cell: cell.speed)
        rows += [
            Row(
                quantity="carried weight, largest error", unit="%",
                against=analytic("what the model lays on its contacts"), expected=0.0, ours=100 * worst.carried.error,
                tolerance=f"≤ {100 * WEIGHT:g} %", passed=worst.carried.error <= WEIGHT,
                note=f"{worst.model}, {worst.solver}, {worst.integrator}",
            ),
            Row(
                quantity="rest, largest distance from the model's best cell", unit="mm",
                against=method("the cell of that model whose contacts carry its weight best"), expected=0.0,
                ours=1e3 * far.away,
                tolerance=f"≤ {1e3 * LAYER:g} mm", passed=far.away <= LAYER,
                note=f"{far.model}, {far.solver}, {far.integrator}",
            ),
            Row(
                quantity="speed left at the end, largest", unit="m/s or rad/s", against=OWN, ours=fast.speed,
                tolerance=f"≤ {STILL:g}", passed=fast.speed <= STILL,
                note=f"{fast.model}, {fast.solver}, {fast.integrator}",
            ),
            Row(
                quantity="cells that say every step was solved and do not carry the weight",
                against=OWN, ours=sum(not cell.unsolved and cell.carried.error > WEIGHT for cell in ran),
                tolerance="none", passed=all(cell.unsolved or cell.carried.error <= WEIGHT for cell in ran),
            ),
        ]  # fmt: skip
    return rows
