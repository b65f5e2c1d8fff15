"""`corekit render`: a picture or a replay of a run, drawn by an installed viewer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from corekit.cli.pictures import draw, installed_viewers, viewer_for

__all__ = ["render"]


def render(
    folder: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    viewer: str = "",
) -> None:
    """Draw a run, finished or still running.

    Parameters
    ----------
    folder
        The run's folder.
    output
        The file to write; its ending chooses the viewer: `x.png`, `x.html`.
    viewer
        Name of the viewer, where several could write the file.
    """
    from corekit.run.results import Results

    results = Results(folder)
    draw(results, output, viewer_for(output, installed_viewers(viewer)))
    print(output)
