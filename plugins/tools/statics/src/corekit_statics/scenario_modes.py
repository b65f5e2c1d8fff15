"""From a scenario to the modes at its equilibrium, and their folder: a table, NetCDF and an animation.

In `results.nc` every mode swings once, one after the other, each for two seconds whatever its frequency is, with an
amplitude that is seen well. Frequencies and shapes stand in `modes.nc` and `modes.json`.
"""

from __future__ import annotations

import json
import math
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import evolve, frozen

from corekit.data.contacts import ContactRecord
from corekit.data.status import StepReport
from corekit.simulation.arguments import FUNCTION, PATH, TRUTH, check_arguments, or_none
from corekit.simulation.loop import Simulation
from corekit_record.netcdf_file import Variable, create_netcdf
from corekit_record.recorder import Recorder
from corekit_record.results import RESULTS, Results
from corekit_record.statistics import Statistics
from corekit_run.folder import RunFolder
from corekit_run.progress import Progress
from corekit_run.run_end import record_run_end
from corekit_run.versions import versions_of
from corekit_statics.arguments import INSTANT, NUMBER, SCENARIO
from corekit_statics.equilibria import move_to_equilibrium
from corekit_statics.equilibrium import Equilibrium
from corekit_statics.modes import Modes, displaced, modes_of, visible_amplitude

if TYPE_CHECKING:
    from corekit.scenario.scenario import Scenario

__all__ = ["MODES", "ScenarioModes", "find_modes"]

MODES = "modes.nc"
REPORT = "modes.json"
_SHOWN_S = 2.0
"""Time for which each mode is shown [s]."""
_RECORDS = 40
"""Records of a mode's swing."""


@final
@frozen(eq=False)
class ScenarioModes:
    """Modes of a scenario.

    Args:
        simulation: the world, at the equilibrium.
        equilibrium: about which it moves.
        modes: the lowest ones.
        wall: wall time [s].
        results: of the folder that was written, or None.
    """

    simulation: Simulation
    equilibrium: Equilibrium
    modes: Modes
    wall: float
    results: Results | None = None

    @property
    def names(self) -> list[str]:
        """Names of all velocities, shape (nv,)."""
        return [
            f"{body.name}.{each.name}"
            for body in self.simulation.bodies
            for each in body.description.velocities
        ]

    def as_data(self) -> dict[str, Any]:
        """What was found, as JSON."""
        return {
            "modes": self.modes.as_data(self.names),
            "left_out": self.modes.reason,
            "time_s": self.equilibrium.state.time,
            "stability": str(self.equilibrium.stability),
            "wall_s": self.wall,
            "folder": None if self.results is None else str(self.results.path),
        }


def find_modes(
    scenario: Scenario,
    *,
    at: float | None = None,
    count: int = 8,
    directory: str | Path | None = None,
    keep: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> ScenarioModes:
    """Find the lowest modes of a scenario about its equilibrium.

    Args:
        scenario: from `corekit.load`.
        at: time of the loads [s]; None stands for the end of the scenario.
        count: how many modes.
        directory: folder for all results; a folder with other contents is left alone.
        keep: whether to write results without a directory too, into `output.directory` with name and time stamp.
        progress: called with what the search is doing.
    Raises:
        ConfigError: an impossible time or number of modes.
        CompositionError, StaticsFailed: as for `move_to_equilibrium` and `modes_of`.
        ResultsError: the folder cannot be made or written to.
    """
    check_arguments(
        "modes", scenario=(scenario, SCENARIO), at=(at, or_none(INSTANT)), count=(count, NUMBER),
        directory=(directory, or_none(PATH)), keep=(keep, TRUTH), progress=(progress, or_none(FUNCTION)),
    )  # fmt: skip
    instant = scenario.time.duration if at is None else float(at)
    if progress is not None:
        progress(Progress("composing"))
    began = clock.perf_counter()
    simulation = scenario.compose()

    def search() -> ScenarioModes:
        (equilibrium,) = move_to_equilibrium(
            simulation, instant, models_without_gravity=scenario.models_without_gravity
        )
        modes = modes_of(equilibrium, count)
        return ScenarioModes(simulation, equilibrium, modes, clock.perf_counter() - began)

    if directory is None and not keep:
        return search()
    folder = RunFolder.create(
        scenario.name, Path(scenario.output.directory), None if directory is None else Path(directory)
    )
    with record_run_end(folder, goes_on=False):
        folder.write("scenario.toml", scenario.given_text())
        folder.write("resolved.toml", scenario.resolved_text())
        folder.write(
            "versions.json", json.dumps(versions_of(simulation.components.values()), indent=2) + "\n"
        )
        found, statistics = search(), Statistics()
        _animate(folder.path / RESULTS, found, statistics, scenario.name)
        _write_netcdf(folder.path / MODES, found, scenario.name)
        found = evolve(found, results=Results(folder.path))
        folder.write(REPORT, json.dumps(found.as_data(), indent=2, ensure_ascii=False) + "\n")
    folder.log("finished", wall_s=found.wall, statistics=statistics.summary(), watchdog={})
    folder.set_status("finished")
    return found


def _animate(file: Path, found: ScenarioModes, statistics: Statistics, title: str) -> None:
    """Record one swing of every mode after the other."""
    simulation, rest = found.simulation, found.equilibrium.state.copy()
    report = StepReport(accepted=True, step_size=_SHOWN_S / _RECORDS)
    with Recorder(file, simulation, simulation.step_length, statistics, title, initial=False) as recorder:
        for k, shape in enumerate(found.modes.shapes.T):
            amplitude = visible_amplitude(simulation, rest, shape)
            for i in range(_RECORDS):
                phase = 2.0 * math.pi * i / _RECORDS
                state = displaced(simulation, rest, shape, amplitude * math.sin(phase))
                state.time = (k + i / _RECORDS) * _SHOWN_S
                simulation.state.copy_from(state)
                recorder.keep(simulation, report, ContactRecord(step_size=report.step_size))
    simulation.state.copy_from(rest)


def _write_netcdf(file: Path, found: ScenarioModes, title: str) -> None:
    modes, names = found.modes, found.names
    dimensions = {"mode": len(modes.squares), "velocity": len(names)}
    about = "natural frequency; 0 without stiffness, nan where it grows"
    variables = [
        Variable("frequency", ("mode",), unit="Hz", meaning=about, values=modes.frequencies),
        Variable("omega_squared", ("mode",), unit="1/s2", meaning="square of ω", values=modes.squares),
        Variable("error", ("mode",), unit="1/s2", meaning="rounding of the square", values=modes.errors),
        Variable(
            "shape", ("mode", "velocity"), meaning="displacement of velocities, of modal mass 1",
            values=np.ascontiguousarray(modes.shapes.T),
        ),
        Variable("velocity", ("velocity",), "str", meaning="names", values=np.array(names, dtype=object)),
    ]  # fmt: skip
    with file.open("w+b") as opened:
        create_netcdf(opened, dimensions, variables, {"format": "corekit-modes/1", "title": title})
