"""The line that shows how far a run is, how fast it goes and when it will be done."""

from __future__ import annotations

import math
from types import TracebackType
from typing import TYPE_CHECKING, Self, final

from corekit.cli.terminal import make_console

if TYPE_CHECKING:
    from corekit_run.progress import Progress

__all__ = ["ProgressLine"]

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

    def __call__(self, progress: Progress) -> None:
        if progress.phase == "running":
            rate = _rate(progress)
            self._line.update(
                self._task, total=1.0, completed=progress.fraction, description=self._name, rate=rate
            )
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
    if math.isnan(progress.rate):
        return f"{progress.time:.2f} s"
    minutes, seconds = divmod(math.ceil(progress.remaining), 60)
    left = f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
    return f"{progress.time:.2f} s at {progress.rate:.3g} × real time, {left} left"
