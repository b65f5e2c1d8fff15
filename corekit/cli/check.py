"""`corekit check`: load and compose a scenario without running it, or print every mistake in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from corekit.cli import FAILED, print_error
from corekit.cli.terminal import make_console, print_json
from corekit.errors import CorekitError
from corekit.files import is_there

if TYPE_CHECKING:
    from corekit.scenario.scenario import Scenario
    from corekit.simulation.loop import Simulation

__all__ = ["check"]


def check(
    file: Path,
    /,
    *,
    overrides: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    allow_code: Annotated[bool, Parameter(negative="")] = False,
    strict: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int | None:
    """Load and compose a scenario, say what it would run, and warn of what is improbable.

    Parameters
    ----------
    file
        The scenario file, or the name of one that is shipped.
    overrides
        `contact.solver.use=qp`: another value for an entry of the file; may be given several times.
    allow_code
        Allow the scenario to import Python functions that it names, `file.py:function`: only if you trust it.
    strict
        Fail if there is a warning.
    as_json
        Print one JSON object instead of text.
    """
    from corekit.scenario.doubts import find_doubts
    from corekit.scenario.load import load
    from corekit.simulation.start_overlap import refuse_deep_overlap

    if not (is_there(file) and file.is_file()):
        load(file)  # whose error says so: what is no file is misuse, a file with mistakes fails the check
    try:
        scenario = load(file, overrides, allow_code=allow_code)
        simulation = scenario.compose()
        clipped: list[str] = []
        for body in simulation.bodies:
            body.inputs.warn = clipped.append
        simulation.sample_controllers()  # as a run does first: what they name must be there
        refuse_deep_overlap(simulation)
    except CorekitError as error:
        if as_json:
            print_json({"file": str(file), "sound": False, "error": str(error)})
        else:
            print_error(str(error))
        return FAILED
    summary, doubts = _summary(scenario, simulation), [*find_doubts(scenario, simulation), *clipped]
    failed = strict and bool(doubts)
    if as_json:
        report = {"file": str(file), "sound": not failed, "warnings": doubts, **summary}
        print_json(report)
    else:
        _print_summary(summary)
        for sentence in doubts:
            print_error(f"warning: {sentence}")
    return FAILED if failed else None


def _summary(scenario: Scenario, simulation: Simulation) -> dict[str, Any]:
    contact = scenario.contact
    solver = contact.solver.use if contact is not None and contact.solver is not None else None
    return {
        "name": scenario.name,
        "duration_s": scenario.time.duration,
        "step_s": scenario.time.step,
        "steps": round(scenario.time.duration / scenario.time.step),
        "record_every_s": scenario.output.every or scenario.time.step,
        "bodies": [
            {
                "name": body.name,
                "use": table.use,
                "coordinates": body.nq,
                "velocities": body.nv,
                "frames": len(body.description.frames),
                "shapes": len(body.description.shapes),
                "inputs": {channel.name: channel.size for channel in body.description.inputs},
            }
            for body, table in zip(simulation.bodies, scenario.bodies, strict=True)
        ],
        "obstacles": {obstacle.name: obstacle.shape.kind for obstacle in simulation.obstacles},
        "detectors": [use.use for use in contact.detector] if contact is not None and solver else [],
        "contact_solver": solver,
        "integrator": scenario.integrator.use,
    }


def _print_summary(summary: dict[str, Any]) -> None:
    from rich.text import Text

    end, steps = summary["steps"] * summary["step_s"], summary["steps"]
    times = f"{end:g} s in {steps} step{'s' * (steps != 1)} of {summary['step_s']:g} s"
    lines = [f"{summary['name']}: {times}, a record every {summary['record_every_s']:g} s"]
    for body in summary["bodies"]:
        inputs = ", ".join(f"{name} ({size})" for name, size in body["inputs"].items()) or "none"
        lines.append(
            f"  body {body['name']}: {body['use']}, {body['coordinates']} coordinates, "
            f"{body['velocities']} velocities, {body['shapes']} shapes; inputs: {inputs}"
        )
    lines += [f"  obstacle {name}: {kind}" for name, kind in summary["obstacles"].items()]
    if summary["contact_solver"] is None:
        lines.append("  contact: none")
    else:
        lines.append(
            f"  contact: found by {', '.join(summary['detectors'])}, solved by {summary['contact_solver']}"
        )
    lines.append(f"  integrator: {summary['integrator']}")
    console = make_console(soft_wrap=True)
    for line in lines:
        console.print(Text(line))
