"""`python -m corekit.scenario.warm_up FILE`: compile the kernels of a scenario's contact solver.

`corekit.run.compilation` starts it beside a run; it prints nothing and writes nothing but the compile cache.
"""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

from corekit.scenario.load import load

__all__ = ["main"]


def main(words: list[str]) -> None:
    """Compose the scenario of a file and let its contact solver answer a placeholder problem."""
    # a file that is being written is removed on the way out
    signal.signal(signal.SIGTERM, _leave)
    load(words[0]).compose().warm_up_solver()


def _leave(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


if __name__ == "__main__":
    main(sys.argv[1:])
