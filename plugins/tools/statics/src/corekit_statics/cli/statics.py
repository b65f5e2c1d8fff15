"""`corekit statics`: where a scenario's world comes to rest, whether it stays there, and what holds it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from corekit.cli import exit_code
from corekit.cli.terminal import print_json
from corekit.errors import CorekitError

if TYPE_CHECKING:
    from corekit.scenario.scenario import Scenario
    from corekit_statics.equilibrium_path import EquilibriumPath

__all__ = ["statics"]


def statics(
    file: Path,
    /,
    *,
    at: float | None = None,
    load_steps: int = 1,
    sweep: int = 0,
    overrides: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    out: Path | None = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
    allow_code: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    picture: Annotated[bool, Parameter(negative="")] = False,
) -> int | None:
    """Find the equilibrium of a scenario by Newton's method, beginning at its initial state.

    It says how large the force that stays unbalanced is, whether the equilibrium is stable, and what contacts,
    rows and prescribed coordinates carry. Every model must offer `force-derivatives`. To begin a run at the
    equilibrium of time 0, give the scenario `start = "equilibrium"`.

    Parameters
    ----------
    file
        The scenario file, or the name of one that is shipped.
    at
        Time of the inputs, obstacles and prescribed coordinates [s]; the end of the scenario if left out.
    load_steps
        Increase gravity and efforts in so many equal steps, each from the equilibrium before.
    sweep
        Go from time 0 to `--at` in so many equal steps, an equilibrium at each: motion without inertia.
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
        Draw it with an installed viewer.
    """
    from corekit.scenario.load import load

    try:
        scenario = load(file, overrides, allow_code=allow_code)
        found, drawn = _find(scenario, at, load_steps, sweep, out, picture, silent=quiet or as_json)
    except CorekitError as error:
        if not as_json:
            raise
        notes = getattr(error, "__notes__", [])
        print_json({"status": "failed", "reason": str(error), "notes": notes})
        return exit_code(error)
    report = {"name": found.results.title if found.results else "", "status": "finished", **found.as_data()}
    report["pictures"] = [str(path) for path in drawn]
    if as_json:
        print_json(report)
    elif not quiet:
        from corekit_statics.cli.statics_report import print_statics

        print_statics(report)
    return None


def _find(
    scenario: Scenario,
    at: float | None,
    load_steps: int,
    sweep: int,
    out: Path | None,
    picture: bool,
    *,
    silent: bool,
) -> tuple[EquilibriumPath, list[Path]]:
    from corekit_record.cli.pictures import draw, installed_viewers, viewer_for
    from corekit_run.cli.progress_line import ProgressLine
    from corekit_statics.scenario_equilibria import find_equilibria

    # a missing viewer is said before the search, not after it
    viewers = installed_viewers() if picture else []
    with ProgressLine(scenario.name, silent=silent) as line:
        found = find_equilibria(
            scenario, at=at, load_steps=load_steps, sweep=sweep, directory=out, keep=True, progress=line
        )
    drawn: list[Path] = []
    if viewers and found.results is not None:
        target = found.results.path / f"{scenario.name}.png"
        draw(found.results, target, viewer_for(target, viewers))
        drawn.append(target)
    return found, drawn
