"""Who shows the progress of the runs of a study."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeAlias, final

from corekit.run.pace import Progress

__all__ = ["ShowProgress", "Shown", "unseen"]


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
