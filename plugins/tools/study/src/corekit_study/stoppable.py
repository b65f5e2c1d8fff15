"""Searches of planners and estimators that Ctrl-C and SIGTERM end, also inside of other people's solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from corekit_run.run_end import stop_between_steps

__all__ = ["stoppable"]


@contextmanager
def stoppable(
    progress: Callable[[Mapping[str, Any]], None] | None,
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Within the block, a request to stop ends the search where it next calls what is yielded, or half a second later.

    A solver that calls Python back for derivatives takes what a handler raises there for a bad point, and goes on. So
    the handler only notes the request, and the next report raises it.

    Args:
        progress: called with the numbers of the search; None: nobody looks at them.
    """
    with stop_between_steps() as stop, stop.waits():

        def report(numbers: Mapping[str, Any]) -> None:
            if stop.wanted:
                raise stop.why
            if progress is not None:
                progress(numbers)

        yield report
        if stop.wanted:
            raise stop.why
