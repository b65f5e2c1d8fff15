"""`python -m corekit.scenario.warm_up FILE [--step]`: compile the kernels of a scenario's contact, or of a step.

`corekit.simulation.compilation` starts it beside a run or a search; it prints nothing and writes nothing but the
compile cache. It allows no code: a scenario that names Python functions is refused, and compiled where it runs.
"""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

from corekit.scenario.load import load

__all__ = ["main"]


def main(words: list[str]) -> None:
    """Compose the scenario of a file and call detectors and contact solver with placeholders, or make a whole step."""
    # a file that is being written is removed on the way out
    signal.signal(signal.SIGTERM, _leave)
    simulation = load(words[0]).compose()
    if "--step" in words[1:]:
        simulation.warm_up()
    else:
        simulation.warm_up_contact()


def _leave(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


if __name__ == "__main__":
    main(sys.argv[1:])
