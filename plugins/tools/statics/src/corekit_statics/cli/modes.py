"""`corekit modes`: how a scenario's world swings about its equilibrium."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from corekit.cli import exit_code
from corekit.cli.terminal import print_json
from corekit.errors import CorekitError

if TYPE_CHECKING:
    from corekit.scenario.scenario import Scenario
    from corekit_statics.scenario_modes import ScenarioModes

__all__ = ["modes"]


def modes(
    file: Path,
    /,
    *,
    at: float | None = None,
    count: int = 8,
    overrides: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    out: Path | None = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
    allow_code: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    picture: Annotated[bool, Parameter(negative="")] = False,
) -> int | None:
    """Find the lowest natural frequencies and shapes of a scenario about its equilibrium.

    The folder holds `modes.nc` (frequencies and shapes), `modes.json`, and as results an animation in which every mode
    swings once, one after the other: `corekit view FOLDER`. Touching contacts hold what they touch; damping is left
    out.

    Parameters
    ----------
    file
        The scenario file, or the name of one that is shipped.
    at
        Time of the inputs, obstacles and prescribed coordinates [s]; the end of the scenario if left out.
    count
        How many modes.
    overrides
        `world.gravity=[0,0,-1.62]`: another value for an entry of the file; may be given several times.
    out
        The folder for the results, instead of one with name and time stamp; if it holds something, a number is added.
    quiet
        Show nothing but errors.
    allow_code
        Allow the scenario to import Python functions that it names, `file.py:function`: only if you trust it.
    as_json
        Print one JSON object instead of a table.
    picture
        Draw the animation with an installed viewer.
    """
    from corekit.scenario.load import load

    try:
        scenario = load(file, overrides, allow_code=allow_code)
        found, drawn = _find(scenario, at, count, out, picture, silent=quiet or as_json)
    except CorekitError as error:
        if not as_json:
            raise
        print_json({"status": "failed", "reason": str(error)})
        return exit_code(error)
    report = {
        "name": scenario.name,
        "status": "finished",
        **found.as_data(),
        "pictures": [str(each) for each in drawn],
    }
    if as_json:
        print_json(report)
    elif not quiet:
        from corekit_statics.cli.modes_report import print_modes

        print_modes(report)
    return None


def _find(
    scenario: Scenario, at: float | None, count: int, out: Path | None, picture: bool, *, silent: bool
) -> tuple[ScenarioModes, list[Path]]:
    from corekit_record.cli.pictures import draw, installed_viewers, viewer_for
    from corekit_run.cli.progress_line import ProgressLine
    from corekit_statics.scenario_modes import find_modes

    # a missing viewer is said before the search, not after it
    viewers = installed_viewers() if picture else []
    with ProgressLine(scenario.name, silent=silent) as line:
        found = find_modes(scenario, at=at, count=count, directory=out, keep=True, progress=line)
    drawn: list[Path] = []
    if viewers and found.results is not None:
        endings = {ending for each in viewers for ending in each.viewer.suffixes}
        # a page that plays, where a viewer writes one
        target = found.results.path / f"modes{'.html' if '.html' in endings else '.png'}"
        draw(found.results, target, viewer_for(target, viewers))
        drawn.append(target)
    return found, drawn
