"""Who shows the progress of the runs of a study."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol, TypeAlias, final

from corekit.cli.progress_line import ProgressLine
from corekit.simulation.progress import Progress

__all__ = ["ShowProgress", "Shown", "named", "shown", "unseen"]


class Shown(Protocol):
    """Shows how far a run is, and prints what its watchdog warns of."""

    def __call__(self, progress: Progress, /) -> None: ...
    def warn(self, sentence: str) -> None: ...


ShowProgress: TypeAlias = Callable[[str], AbstractContextManager[Shown]]
"""Given the name of a run, shows its progress while the context lasts."""


@final
class _Unseen:
    """Nobody looks."""

    def __call__(self, progress: Progress, /) -> None:
        pass

    def warn(self, sentence: str) -> None:
        pass


def unseen(_name: str) -> AbstractContextManager[Shown]:
    """A `ShowProgress` that shows nothing."""
    return nullcontext(_Unseen())


@contextmanager
def shown(name: str) -> Iterator[ProgressLine]:
    """The progress line of one of several runs; where nothing can move on a line, its name."""
    if not sys.stderr.isatty():
        sys.stderr.write(f"{name}\n")
        sys.stderr.flush()
    with ProgressLine(name) as line:
        yield line


@final
class _Warner:
    """Prints warnings with the name of their run, and nothing that moves."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, progress: Progress, /) -> None:
        pass

    def warn(self, sentence: str) -> None:
        sys.stderr.write(f"{self._name}: warning: {sentence}\n")


@contextmanager
def named(name: str) -> Iterator[_Warner]:
    """A line with the name of a run when it begins, for runs of several processes: their lines cannot move."""
    sys.stderr.write(f"{name}\n")
    sys.stderr.flush()
    yield _Warner(name)
