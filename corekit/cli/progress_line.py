"""The line that shows how far a run is, how fast it goes and when it will be done."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self, final

if TYPE_CHECKING:
    from corekit.run.pace import Progress

__all__ = ["ProgressLine", "named", "share_shown", "shown"]

_COMPILING = "compiling kernels (first run only)…"


@final
class ProgressLine:
    """Shows progress on the error stream: a moving line on a terminal, single lines elsewhere; silent: nothing."""

    def __init__(self, name: str, *, silent: bool = False) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._console = Console(stderr=True, highlight=False, quiet=silent)
        self._line = Progress(
            TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[pace]}"),
            console=self._console, transient=True, disable=not self._console.is_terminal,
        )  # fmt: skip
        self._name = name
        self._task = self._line.add_task(f"{name}: composing", total=1.0, pace="")
        self._compiling = False

    def __call__(self, progress: Progress) -> None:
        if progress.phase == "running":
            pace = _pace(progress)
            self._line.update(self._task, completed=progress.fraction, description=self._name, pace=pace)
        elif progress.phase == "compiling":
            self._show_compiling(progress)

    def warn(self, sentence: str) -> None:
        """Print a line above the moving one."""
        from rich.text import Text

        self._console.print(Text(f"warning: {sentence}", style="yellow"), soft_wrap=True)

    def _show_compiling(self, progress: Progress) -> None:
        done, count = progress.compiled, progress.kernels
        self._line.update(
            self._task,
            description=f"{self._name}: compiling kernels, first run only",
            pace=f"{done} of at most {count}",
            completed=done / max(count, 1),
        )
        if not self._compiling and not self._console.is_terminal:
            self._console.print(_COMPILING)
        self._compiling = True

    def __enter__(self) -> Self:
        self._line.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.stop()


def _pace(progress: Progress) -> str:
    if math.isnan(progress.rate):
        return f"{progress.time:.2f} s"
    minutes, seconds = divmod(math.ceil(progress.remaining), 60)
    left = f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
    return f"{progress.time:.2f} s at {progress.rate:.3g} × real time, {left} left"


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


@contextmanager
def share_shown(name: str, *, silent: bool = False) -> Iterator[Callable[[float], None]]:
    """A function that shows which share of some work is done, and when it will be; only on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, highlight=False, quiet=silent)
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), TextColumn("left"),
        console=console, transient=True, disable=not console.is_terminal,
    ) as line:  # fmt: skip
        task = line.add_task(name, total=1.0, start=False, visible=False)

        def show(share: float) -> None:
            if not line.tasks[0].started:
                line.start_task(task)
            line.update(task, completed=share, visible=True)

        yield show
