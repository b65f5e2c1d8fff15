"""One cell of the matrix: what its run shows, and how far it rests from the model's best one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from attrs import evolve, frozen

from corekit.data.arrays import Array
from corekit_record.results import Results
from corekit_scenarios.cases.matrix.weight import Carried, carried
from corekit_study.case_run import Outcome

__all__ = ["LAYER", "STILL", "WEIGHT", "Cell", "cell_of", "with_distances"]

LAYER = 5e-4
"""δ of `imc`, within which a smooth contact rests [m]."""
STILL = 5e-3
"""Speed left at the end [m/s or rad/s]: a tenth of a second moves it by no more than δ."""
WEIGHT = 0.01
"""By how much the carried weight may be off [–]."""
_NOTHING, _NOWHERE = Carried(float("nan"), float("nan")), np.zeros((0, 3))


@frozen
class Cell:
    """One combination.

    Args:
        model, solver, integrator: by name. step: h [s].
        refused: the composition's sentence, or why the run failed; empty if it finished.
        failed: whether it ran and did not finish.
        step_s: time per step [s], None where it did not run. speed: largest velocity at the end [m/s or rad/s].
        steps, unsolved: how many steps there were, and whose solve missed its tolerance.
        deepest: over the whole run [m]. resting: at its end [m].
        carried: weight laid on and carried by the contacts [N].
        frames: where they are at the end [m], shape (n, 3). away: from the best cell's, the farthest [m].
    """

    model: str
    solver: str
    integrator: str
    step: float
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

    def without_run(self, why: str, *, failed: bool) -> Cell:
        """The same, which was refused or ran and failed."""
        return evolve(self, refused=" ".join(why.split()), failed=failed)

    @property
    def ran(self) -> bool:
        """Whether it came to its end."""
        return not self.refused

    @property
    def good(self) -> bool:
        """Whether it shows what a cell must show; a refused one does not have to."""
        if not self.ran:
            return not self.failed
        rests = self.away <= LAYER and self.speed <= STILL
        return self.unsolved == 0 and rests and self.carried.error <= WEIGHT


def cell_of(folder: Path, cell: Cell, outcome: Outcome) -> Cell:
    """What a run shows, and why it failed if it did."""
    if outcome.error:
        return cell.without_run(outcome.error, failed=True)
    results = Results(folder / outcome.name)
    said = results.statistics
    finished = next(event for event in reversed(results.events) if event["event"] == "finished")
    gaps = results.contacts(-1).gap
    return evolve(
        cell,
        step_s=finished["step_s"],
        speed=float(np.max(np.abs(results.v[-1]))),
        steps=int(said["steps"]),
        unsolved=int(said["unsolved_steps"]),
        deepest=float(said["deepest_penetration_m"]),
        resting=max(0.0, -float(np.min(gaps, initial=0.0))),
        carried=carried(results),
        frames=results.frame_position[-1],
    )


def with_distances(cells: Sequence[Cell]) -> list[Cell]:
    """The cells with how far each rests from the best of its model."""
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
