"""`corekit render`: a picture, a video or a replay of a run, drawn by an installed viewer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from corekit.cli.progress_line import share_shown
from corekit_record.cli.pictures import draw, installed_viewers, viewer_for
from corekit_record.results import Results

__all__ = ["render"]


def render(
    folder: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    viewer: str = "",
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
    options
        `fps=60`: an option of the viewer (`corekit info viewers.video` lists them); may be given several times.
    quiet
        Show nothing but errors.
    """
    results = Results(folder)
    chosen = viewer_for(output, installed_viewers(viewer)).with_options(options)
    with share_shown(f"{results.title}: {output.name}", silent=quiet) as progress:
        draw(results, output, chosen, progress)
    if not quiet:
        print(output)
