"""`python -m corekit_run.warm_up [--step]`: compile kernels that a scenario needs, or all of a step.

The standard input is the scenario.

`corekit_run.compilation` starts it beside a run or a search; it prints nothing and writes nothing but the
compile cache. It allows no code: a scenario that names Python functions is refused, and compiled where it runs.
"""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

from corekit.scenario.load import loads
from corekit.simulation.loop import Simulation

__all__ = ["main", "warm_up_parts"]


def main(words: list[str]) -> None:
    """Compose the scenario and call its models and its contact solver, or make a whole step."""
    # a file that is being written is removed on the way out
    signal.signal(signal.SIGTERM, _leave)
    simulation = loads(sys.stdin.buffer.read().decode()).compose()
    if "--step" in words:
        simulation.warm_up()
    else:
        warm_up_parts(simulation)


def warm_up_parts(simulation: Simulation) -> None:
    """Call for derivatives of models and an answer of the contact solver, so that their kernels are compiled.

    A run needs poses, masses and detectors before: while it compiles those, neither waits for the other.
    """
    system, start = simulation.system, simulation.state
    for terms, at in zip(system.terms.bodies, start.body_states, strict=True):
        derivatives, stiffness, damping = (
            terms.body.abilities.force_derivatives,
            terms.stiffness,
            terms.damping,
        )
        if derivatives is not None and stiffness is not None and damping is not None:
            derivatives.compute_stiffness_and_damping(at, terms.inputs_at(start.time), stiffness, damping)
    system.rehearse_solver(simulation.step_length)


def _leave(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


if __name__ == "__main__":
    main(sys.argv[1:])
