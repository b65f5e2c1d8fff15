"""`corekit view`: a run in the browser, live or as a replay; or a scenario whose inputs sliders drive."""

from __future__ import annotations

import math
import time as clock
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from corekit.cli import print_error
from corekit.errors import ConfigError, Mistake, ResultsError
from corekit.roles.viewer import ReplaySession
from corekit.scenario.error_text import Described
from corekit.scenario.load import find_shipped, load
from corekit_record.cli.pictures import viewer_with
from corekit_record.results import RESULTS, Results
from corekit_run.folder import read_status
from corekit_run.plugin_errors import named_errors

__all__ = ["follow", "view"]

POLL_INTERVAL = 0.25
"""Wall time between two looks at the run's folder [s]; runs publish about once a second."""


def view(
    what: Path,
    /,
    *,
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65535))] = 8080,
    viewer: str = "",
    options: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    ranges: Annotated[tuple[str, ...], Parameter(name="--range", negative="")] = (),
    allow_code: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Show a run in the browser until Ctrl-C, or drive the inputs of a scenario by sliders while it goes on.

    Parameters
    ----------
    what
        The run's folder: live while it is running, with a play bar to go back in it. Or a scenario file, or the name of
        a shipped one: it runs at real time, with a slider for every number of its inputs; nothing is recorded.
    port
        Of this machine alone; if it is in use, the next free one; 0 means any.
    viewer
        Name of the viewer, where several could show it.
    options
        `speed=0.5`: an option of the viewer (`corekit info viewers.viser` lists them); may be given several times.
    ranges
        `arm.tension=0:20`: range of the sliders of a channel; may be given several times.
    allow_code
        Allow the scenario to import Python functions that it names, `file.py:function`: only if you trust it.
    """
    if what.is_dir():
        if ranges:
            raise ConfigError(
                [Mistake("--range", ranges[0], "is for a scenario: a run has no inputs to drive")]
            )
        _view_run(what, port, viewer, options)
    else:
        _view_scenario(what, port, viewer, options, ranges, allow_code=allow_code)


def _view_run(folder: Path, port: int, viewer: str, options: tuple[str, ...]) -> None:
    results = _opened(folder)
    chosen = viewer_with("serves", "shows runs in the browser", viewer)
    chosen = chosen.with_options(options)
    with named_errors(), chosen.viewer.serve(results.replay(), results.status, port) as session:
        print(f"{results.title}, {results.status}: {session.url} (Ctrl-C ends)", flush=True)
        try:
            follow(results, session)
        except KeyboardInterrupt:
            return


def _view_scenario(
    file: Path, port: int, viewer: str, options: tuple[str, ...], ranges: tuple[str, ...], *, allow_code: bool
) -> None:
    asked = dict(_range(text) for text in ranges)
    if not file.exists() and find_shipped(file.as_posix()) is None and file.suffix != ".toml":
        said = "must be the folder of a run, a scenario file or the name of a shipped scenario"
        raise ConfigError([Mistake(str(file), Described("no such folder or file"), said)])
    scenario = load(file, allow_code=allow_code)
    chosen = viewer_with("interactive", "has sliders for inputs", viewer)
    chosen = chosen.with_options(options)
    # what is compiled is imported once there is something to step
    from corekit_record.cli.interactive import DrivenSimulation, sliders_of

    simulation = scenario.compose()
    sliders, guessed = sliders_of(simulation, scenario.time.duration, asked)
    simulation.warm_up()
    driven = DrivenSimulation(simulation, scenario.name, sliders)
    with chosen.viewer.interact(driven.snapshot.replay(), sliders, port) as session:
        print(f"{scenario.name}: {session.url} (Ctrl-C ends)", flush=True)
        if guessed:
            words = f"no signal or bound tells how far {', '.join(guessed)} may go, so its sliders end at 1"
            print(f"{words}: --range {guessed[0]}=0:20 sets another end", flush=True)
        try:
            driven.follow(session)
        except KeyboardInterrupt:
            return


def _range(text: str) -> tuple[str, tuple[float, float]]:
    """Read `arm.tension=0:20`."""
    name, _, numbers = text.partition("=")
    low, colon, high = numbers.partition(":")
    try:
        limits = float(low), float(high)
    except ValueError:
        limits = (math.nan, math.nan)
    if not name or not colon or not all(map(math.isfinite, limits)):
        raise ConfigError([Mistake("--range", text, "must be BODY.CHANNEL=LOW:HIGH, as arm.tension=0:20")])
    return name, limits


def _opened(folder: Path) -> Results:
    """Open the results of a run; wait for them if it has just begun."""
    while True:
        try:
            return Results(folder)
        except ResultsError:
            if read_status(folder).status != "running" or (folder / RESULTS).exists():
                raise
        clock.sleep(POLL_INTERVAL)


def follow(results: Results, session: ReplaySession) -> None:
    """Show whatever the run publishes, without end; the shown records stay if its folder is removed."""
    status, trouble = results.status, ""
    while True:
        clock.sleep(POLL_INTERVAL)
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
