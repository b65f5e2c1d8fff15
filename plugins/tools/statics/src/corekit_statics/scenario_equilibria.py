"""From a scenario to its equilibria: at one time, along a load path, or along the scenario's time.

The loads are those of a time T: inputs u(T), obstacles and prescribed coordinates where they are at T. At one
time they are applied at once or in equal steps of a load factor, which scales efforts and gravity. Along the time
(quasi-static motion) every equilibrium begins at the one before, at full load.
"""

from __future__ import annotations

import json
import time as clock
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from corekit.data.status import Residuals, SolveInfo, StepReport
from corekit.errors import ConfigError, Mistake
from corekit.roles.model import Model
from corekit.simulation.arguments import FUNCTION, PATH, TRUTH, check_arguments, or_none
from corekit.simulation.loop import Simulation
from corekit_record.recorder import Recorder
from corekit_record.results import RESULTS, Results
from corekit_record.statistics import Statistics
from corekit_run.folder import RunFolder
from corekit_run.progress import Progress
from corekit_run.run_end import record_run_end
from corekit_run.versions import versions_of
from corekit_statics.arguments import INSTANT, PARTS, SCENARIO, STEPS
from corekit_statics.equilibria import move_to_equilibrium
from corekit_statics.equilibrium import Equilibrium
from corekit_statics.equilibrium_path import EquilibriumPath, frame_positions

if TYPE_CHECKING:
    from corekit.scenario.scenario import Scenario

__all__ = ["REPORT", "StaticsFinder", "find_equilibria"]

REPORT = "statics.json"
"""The file of a run folder that holds every equilibrium as `EquilibriumPath.as_data` gives it."""


def find_equilibria(
    scenario: Scenario,
    *,
    at: float | None = None,
    load_steps: int = 1,
    sweep: int = 0,
    directory: str | Path | None = None,
    keep: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> EquilibriumPath:
    """Find the equilibria of a scenario.

    Args:
        scenario: from `corekit.load`.
        at: time T of the loads [s]; None stands for the end of the scenario, where its ramps have arrived.
        load_steps: equal steps of the load factor, one equilibrium each.
        sweep: number of equal steps of time from 0 to T, one equilibrium at each and at 0; 0 for T alone.
        directory: folder for all results; a folder with other contents is left alone.
        keep: whether to write results without a directory too, into `output.directory` with name and time stamp.
        progress: called with what the search is doing.
    Raises:
        ConfigError: an impossible time or number of steps.
        CompositionError, StaticsFailed: as for `move_to_equilibrium`.
        ResultsError: the folder cannot be made or written to.
    """
    check_arguments(
        "statics", scenario=(scenario, SCENARIO), at=(at, or_none(INSTANT)), load_steps=(load_steps, STEPS),
        sweep=(sweep, PARTS), directory=(directory, or_none(PATH)), keep=(keep, TRUTH),
        progress=(progress, or_none(FUNCTION)),
    )  # fmt: skip
    instant = scenario.time.duration if at is None else float(at)
    if sweep and instant == 0:
        raise ConfigError([Mistake("sweep", sweep, "needs a time `at` > 0 to go to")], "statics")
    if progress is not None:
        progress(Progress("composing"))
    began = clock.perf_counter()
    simulation = scenario.compose()
    before = frame_positions(simulation, simulation.state)
    times: float | list[float] = [instant * k / sweep for k in range(sweep + 1)] if sweep else instant
    if directory is None and not keep:
        path = move_to_equilibrium(
            simulation, times, load_steps=load_steps, models_without_gravity=scenario.models_without_gravity
        )
        return EquilibriumPath(simulation, path, before, clock.perf_counter() - began)
    folder = RunFolder.create(
        scenario.name, Path(scenario.output.directory), None if directory is None else Path(directory)
    )
    first = instant > 0 and not sweep
    statistics = Statistics()
    with record_run_end(folder, goes_on=False):
        folder.write("scenario.toml", scenario.given_text())
        folder.write("resolved.toml", scenario.resolved_text())
        folder.write(
            "versions.json", json.dumps(versions_of(simulation.components.values()), indent=2) + "\n"
        )
        # the state before the search is recorded too, where its time differs from that of the equilibrium
        with Recorder(
            folder.path / RESULTS,
            simulation,
            simulation.step_length,
            statistics,
            scenario.name,
            initial=first,
        ) as recorder:
            writer = _FolderWriter(simulation, folder, recorder, statistics, on_time=bool(sweep))
            path = move_to_equilibrium(
                simulation,
                times,
                load_steps=load_steps,
                models_without_gravity=scenario.models_without_gravity,
                report=writer,
            )
            writer.write_last()
        found = EquilibriumPath(simulation, path, before, clock.perf_counter() - began, Results(folder.path))
        folder.write(REPORT, json.dumps(found.as_data(), indent=2, ensure_ascii=False) + "\n")
    folder.log("finished", wall_s=found.wall, statistics=statistics.summary(), watchdog={})
    folder.set_status("finished")
    return found


@final
class StaticsFinder:
    """The `EquilibriumFinder` of this distribution, see `corekit.simulation.installed_tools`."""

    def move_to_equilibrium(
        self,
        simulation: Simulation,
        at: float = 0.0,
        *,
        models_without_gravity: Callable[[], Sequence[Model] | None] | None = None,
    ) -> Equilibrium:
        """Move a simulation to its equilibrium under the loads of a time [s]."""
        return move_to_equilibrium(simulation, at, models_without_gravity=models_without_gravity)[-1]

    def find_equilibria(self, scenario: Scenario, **options: Any) -> EquilibriumPath:
        """Compose a scenario and find its equilibria."""
        return find_equilibria(scenario, **options)


@final
class _FolderWriter:
    """Writes equilibria into the folder of a run: each one of a sweep, otherwise the last of the load path."""

    def __init__(
        self,
        simulation: Simulation,
        folder: RunFolder,
        recorder: Recorder,
        statistics: Statistics,
        on_time: bool,
    ) -> None:
        self._simulation, self._folder, self._recorder = simulation, folder, recorder
        self._statistics, self._on_time = statistics, on_time
        self._waiting: Equilibrium | None = None

    def __call__(self, found: Equilibrium) -> None:
        self._folder.log(
            "equilibrium", time_s=found.state.time, load=found.load_factor, iterations=found.iterations,
            unbalanced=dict(found.residual), stability=str(found.stability),
        )  # fmt: skip
        residuals = Residuals(equation=max(found.residual.values(), default=0.0))
        solve = SolveInfo(iterations=found.iterations, residuals=residuals, answered_by="statics")
        report = StepReport(
            accepted=True, step_size=1.0, iterations=found.iterations, solve_info=solve, note=found.note
        )
        self._statistics.on_step_accepted(self._simulation, report)
        if self._on_time:
            self._recorder.keep(self._simulation, report, found.contacts)
        else:
            self._waiting, self._report = found, report

    def write_last(self) -> None:
        """Record the last equilibrium of a load path."""
        if self._waiting is not None:
            self._recorder.keep(self._simulation, self._report, self._waiting.contacts)
