"""`corekit render`: a picture, a video or a replay of a run, drawn by an installed viewer."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from corekit.cli.terminal import make_console
from corekit_record.cli.pictures import draw, installed_viewers, viewer_for
from corekit_record.results import Results
from corekit_run.output_file import check_output

__all__ = ["render"]

_LOG_EVERY = 5.0


def render(
    folder: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    viewer: str = "",
    show: tuple[Literal["actuators"], ...] = (),
    options: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    quiet: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Draw a run, finished or still running.

    Parameters
    ----------
    folder
        The run's folder.
    output
        The file to write; its ending chooses the viewer: `x.png`, `x.mp4`, `x.html`.
    viewer
        Name of the viewer, where several could write the file.
    show
        `actuators`: cables and chambers, in bodies that are drawn as lines.
    options
        `fps=60`: an option of the viewer (`corekit info viewers.video` lists them); may be given several times.
    quiet
        Show nothing but errors.
    """
    results = Results(folder)
    chosen = viewer_for(output, installed_viewers(viewer), viewer).with_options(options)
    check_output(output, "--output")
    with _share_shown(f"{results.title}: {output.name}", silent=quiet) as progress:
        draw(results, output, chosen, progress, actuators="actuators" in show)
    if not quiet:
        print(output)


@contextmanager
def _share_shown(name: str, *, silent: bool = False) -> Iterator[Callable[[float], None]]:
    """Return a function that shows the finished fraction of the work and the remaining time.

    On a terminal it is a bar, in a log a line every `_LOG_EVERY` seconds.
    """
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = make_console(stderr=True, quiet=silent)
    began = said = clock.monotonic()
    with Progress(
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(),
        TextColumn("left"), console=console, transient=True, disable=not console.is_terminal,
    ) as line:  # fmt: skip
        task = line.add_task(name, total=1.0, start=False, visible=False)

        def show(share: float) -> None:
            nonlocal said
            now = clock.monotonic()
            if not console.is_terminal and share > 0.0 and now - said >= _LOG_EVERY:
                said = now
                left = (now - began) * (1.0 - share) / share
                console.print(f"{name}: {share:.0%}, {left:.0f} s left", markup=False, soft_wrap=True)
            if not line.tasks[0].started:
                line.start_task(task)
            line.update(task, completed=share, visible=True)

        yield show
