"""Display of the progress of the runs of a study."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol, TypeAlias, final

from corekit_run.cli.progress_line import ProgressLine
from corekit_run.progress import Progress

__all__ = ["ProgressDisplay", "ShowProgress", "no_display", "progress_line", "run_names"]


class ProgressDisplay(Protocol):
    """Display of the progress of a run and of its warnings."""

    def __call__(self, progress: Progress, /) -> None: ...
    def warn(self, sentence: str) -> None: ...


ShowProgress: TypeAlias = Callable[[str], AbstractContextManager[ProgressDisplay]]
"""Context that shows the progress of the run of a name."""


@final
class _NoDisplay:
    """Display that shows nothing."""

    def __call__(self, progress: Progress, /) -> None:
        pass

    def warn(self, sentence: str) -> None:
        pass


def no_display(_name: str) -> AbstractContextManager[ProgressDisplay]:
    """Show nothing: a `ShowProgress`."""
    return nullcontext(_NoDisplay())


@contextmanager
def progress_line(name: str) -> Iterator[ProgressLine]:
    """Show the progress line of one of several runs; its name alone if the stream is no terminal."""
    if not sys.stderr.isatty():
        sys.stderr.write(f"{name}\n")
        sys.stderr.flush()
    with ProgressLine(name) as line:
        yield line


@final
class _WarningPrinter:
    """Display that prints warnings with the name of their run, and no progress."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, progress: Progress, /) -> None:
        pass

    def warn(self, sentence: str) -> None:
        sys.stderr.write(f"{self._name}: warning: {sentence}\n")


@contextmanager
def run_names(name: str) -> Iterator[_WarningPrinter]:
    """Print the name of a run when it begins, for runs of several processes, whose progress lines would mix."""
    sys.stderr.write(f"{name}\n")
    sys.stderr.flush()
    yield _WarningPrinter(name)
