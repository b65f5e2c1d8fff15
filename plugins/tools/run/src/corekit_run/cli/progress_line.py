"""The line that shows how far a run is, how fast it goes and when it will be done."""

from __future__ import annotations

import math
import time as clock
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Self, final

from corekit.cli.terminal import make_console

if TYPE_CHECKING:
    from corekit_run.progress import Progress

__all__ = ["ProgressLine"]

_EVERY = 30.0
"""Wall time between lines on the progress of many runs, where no line can move [s]."""
_COMPILING = "compiling kernels (first run only)…"


@final
class ProgressLine:
    """Shows progress on the error stream: a moving line on a terminal, single lines elsewhere; silent: nothing."""

    def __init__(self, name: str, *, silent: bool = False) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._console = make_console(stderr=True, quiet=silent)
        self._line = Progress(
            TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(),
            TextColumn("{task.fields[rate]}"),
            console=self._console, transient=True, disable=not self._console.is_terminal,
        )  # fmt: skip
        self._name = name
        self._task = self._line.add_task(f"{name}: composing", total=None, rate="")
        self._compiling = False
        self._next = clock.monotonic() + _EVERY

    def __call__(self, progress: Progress) -> None:
        if progress.phase == "running":
            rate = _rate(progress)
            self._line.update(
                self._task, total=1.0, completed=progress.fraction, description=self._name, rate=rate
            )
            if progress.unit and not self._console.is_terminal and clock.monotonic() > self._next:
                self._next = clock.monotonic() + _EVERY
                self._console.print(f"{self._name}: {rate}", markup=False, soft_wrap=True)
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
            rate=f"{done} of {count} known so far",
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


def _rate(progress: Progress) -> str:
    if progress.unit:
        return _count(progress)
    if math.isnan(progress.rate):
        return f"{progress.time:.2f} s"
    return f"{progress.time:.2f} s at {progress.rate:.3g} × real time, {_left(progress.remaining)} left"


def _count(progress: Progress) -> str:
    """Say how many of many runs are done, and when all will be."""
    done = f"{progress.time:.0f} {progress.unit} done"
    if not math.isfinite(progress.remaining):
        return done
    end = datetime.now().astimezone() + timedelta(seconds=progress.remaining)
    day = "%H:%M" if progress.remaining < 43_200 else "%d %b %H:%M"
    return f"{done}, {progress.rate:.3g} a second, {_left(progress.remaining)} left, until {end:{day}}"


def _left(remaining: float) -> str:
    minutes, seconds = divmod(math.ceil(remaining), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
