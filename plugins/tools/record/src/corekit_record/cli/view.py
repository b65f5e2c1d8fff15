"""`corekit view`: a run in the browser, live while it is running and as a replay when it is finished."""

from __future__ import annotations

import time as clock
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from corekit.cli import print_error
from corekit.errors import ResultsError
from corekit.roles.viewer import ReplaySession
from corekit_record.cli.pictures import installed_viewers, viewer_with
from corekit_record.results import RESULTS, Results
from corekit_run.folder import read_status

__all__ = ["follow", "view"]

LOOK_EVERY = 0.25
"""Wall time between two looks at the run's folder [s]; runs publish about once a second."""


def view(
    folder: Path,
    /,
    *,
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65535))] = 8080,
    viewer: str = "",
    options: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
) -> None:
    """Show a run in the browser until Ctrl-C: live while it is running, with a play bar to go back in it.

    Parameters
    ----------
    folder
        The run's folder.
    port
        Of this machine alone; if it is taken, the next free one; 0 takes any.
    viewer
        Name of the viewer, where several could show it.
    options
        `speed=0.5`: an option of the viewer (`corekit info viewers.viser` lists them); may be given several times.
    """
    results = _opened(folder)
    chosen = viewer_with("serves", "shows runs in the browser", installed_viewers(viewer))
    chosen = chosen.with_options(options)
    with chosen.viewer.serve(results.replay(), results.status, port) as session:
        print(f"{results.title}, {results.status}: {session.url} (Ctrl-C ends)", flush=True)
        try:
            follow(results, session)
        except KeyboardInterrupt:
            return


def _opened(folder: Path) -> Results:
    """Open the results of a run; wait for them if it has just begun."""
    while True:
        try:
            return Results(folder)
        except ResultsError:
            if read_status(folder).status != "running" or (folder / RESULTS).exists():
                raise
        clock.sleep(LOOK_EVERY)


def follow(results: Results, session: ReplaySession) -> None:
    """Show whatever the run publishes, without end; the shown records stay if its folder is removed."""
    status, trouble = results.status, ""
    while True:
        clock.sleep(LOOK_EVERY)
        # the status first: of a run that is then finished, all has been published
        now = results.status
        try:
            if results.outdated:
                results.refresh()
                session.update(results.replay(), now)
            elif now != status:
                session.update(results.replay(), now)
            trouble = ""
        except ResultsError as error:
            if str(error) != trouble:
                trouble = str(error)
                print_error(f"{trouble}. What was read before is still shown.")
        status = now
