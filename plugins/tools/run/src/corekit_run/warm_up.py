"""`python -m corekit_run.warm_up FILE [--step]`: compile the kernels of a scenario's contact, or of a step.

`corekit_run.compilation` starts it beside a run or a search; it prints nothing and writes nothing but the
compile cache. It allows no code: a scenario that names Python functions is refused, and compiled where it runs.
"""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

import numpy as np

from corekit.roles.contact import ImpulseSolver
from corekit.scenario.load import load
from corekit.simulation.loop import Simulation
from corekit.simulation.rehearsal import placeholder_problem

__all__ = ["main", "warm_up_contact"]


def main(words: list[str]) -> None:
    """Compose the scenario of a file and call detectors and contact solver with placeholders, or make a whole step."""
    # a file that is being written is removed on the way out
    signal.signal(signal.SIGTERM, _leave)
    simulation = load(words[0]).compose()
    if "--step" in words[1:]:
        simulation.warm_up()
    else:
        warm_up_contact(simulation)


def warm_up_contact(simulation: Simulation) -> None:
    """Call detectors and contact solver with placeholders, so that their kernels are compiled.

    Shapes and contacts do not match the state afterwards: step another simulation.
    """
    solver, pipeline = simulation.system.solver, simulation.system.pipeline
    if pipeline is None:
        return
    pipeline.warm_up()
    if isinstance(solver, ImpulseSolver):
        problem = placeholder_problem(pipeline.width, simulation.step_length, pipeline.record_width)
        solver.solve(problem, np.zeros(len(problem.free_velocity)))


def _leave(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


if __name__ == "__main__":
    main(sys.argv[1:])
