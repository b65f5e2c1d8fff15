"""From a scenario to its equilibria: at one time, along a load path, or along the scenario's time.

The loads are those of a time T: inputs u(T), obstacles and prescribed coordinates where they are at T. At one
time they are applied at once or in equal steps of a load factor, which scales efforts and gravity. Along the time
(quasi-static motion) every equilibrium begins at the one before, at full load.
"""

from __future__ import annotations

import json
import math
import time as clock
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, final

from corekit.data.status import Residuals, SolveInfo
from corekit.data.step import StepReport
from corekit.errors import ConfigError, CorekitError, Mistake
from corekit.roles.model import Model
from corekit.simulation.folder import RunFolder
from corekit.simulation.loop import Simulation
from corekit.simulation.pace import Progress
from corekit.simulation.versions import versions_of
from corekit_record.recorder import Recorder
from corekit_record.results import RESULTS, Results
from corekit_record.statistics import Statistics
from corekit_statics.equilibria import move_to_equilibrium
from corekit_statics.equilibrium import Equilibrium
from corekit_statics.equilibrium_path import EquilibriumPath, frame_positions

__all__ = ["REPORT", "find_equilibria"]

REPORT = "statics.json"
"""The file of a run folder that holds every equilibrium as `EquilibriumPath.as_data` gives it."""


class _Times(Protocol):
    @property
    def duration(self) -> float: ...


class _Kept(Protocol):
    @property
    def directory(self) -> str: ...


class StaticScenario(Protocol):
    """What is needed of a scenario."""

    @property
    def name(self) -> str: ...
    @property
    def time(self) -> _Times: ...
    @property
    def output(self) -> _Kept: ...
    def compose(self) -> Simulation: ...
    def models_without_gravity(self) -> Sequence[Model] | None: ...
    def given_text(self) -> str: ...
    def resolved_text(self) -> str: ...


def find_equilibria(
    scenario: StaticScenario,
    *,
    at: float | None = None,
    load_steps: int = 1,
    sweep: int = 0,
    directory: str | Path | None = None,
    keep: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> EquilibriumPath:
    """The equilibria of a scenario.

    Args:
        scenario: as `corekit.load` gives it.
        at: time T of the loads [s]; if None the end of the scenario, where its ramps have arrived.
        load_steps: equal steps of the load factor, an equilibrium each.
        sweep: if > 0, so many equal steps of time from 0 to T, an equilibrium at each and at 0.
        directory: the folder to keep everything in; a folder that holds something is left alone.
        keep: to keep it, without a directory, in one with name and time stamp in `output.directory`.
        progress: told how far it is.
    Raises:
        ConfigError: a time, or a number of steps, that cannot be.
        CompositionError, StaticsFailed: as for `move_to_equilibrium`.
        ResultsError: the folder cannot be made or written to.
    """
    instant = scenario.time.duration if at is None else at
    _check(instant, load_steps, sweep)
    tell = progress or (lambda _progress: None)
    tell(Progress("composing"))
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
    folder.write("scenario.toml", scenario.given_text())
    folder.write("resolved.toml", scenario.resolved_text())
    folder.write("versions.json", json.dumps(versions_of(simulation.components.values()), indent=2) + "\n")
    path = ()
    first = instant > 0 and not sweep
    statistics = Statistics()
    try:
        # the state it began in stands before the equilibrium, where their times tell them apart
        with Recorder(
            folder.path / RESULTS,
            simulation,
            simulation.step_length,
            statistics,
            scenario.name,
            initial=first,
        ) as recorder:
            record = _Keeper(simulation, folder, recorder, statistics, on_time=bool(sweep))
            path = move_to_equilibrium(
                simulation,
                times,
                load_steps=load_steps,
                models_without_gravity=scenario.models_without_gravity,
                told=record,
            )
            record.last()
    except CorekitError as error:
        folder.log("failed", reason=str(error))
        folder.set_status("failed", " ".join(str(error).split()))
        error.add_note(f"What was found before is kept in {folder.path}")
        raise
    found = EquilibriumPath(simulation, path, before, clock.perf_counter() - began, Results(folder.path))
    folder.write(REPORT, json.dumps(found.as_data(), indent=2, ensure_ascii=False) + "\n")
    folder.log("finished", wall_s=found.wall, statistics=statistics.summary(), watchdog={})
    folder.set_status("finished")
    return found


@final
class _Keeper:
    """Writes equilibria into a run's folder: each one in a sweep, else the last of the load path."""

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
            "equilibrium", time_s=found.state.time, load=found.load, iterations=found.iterations,
            unbalanced=dict(found.residual), stability=str(found.stability),
        )  # fmt: skip
        residuals = Residuals(equation=max(found.residual.values(), default=0.0))
        solve = SolveInfo(iterations=found.iterations, residuals=residuals, answered_by="statics")
        report = StepReport(
            accepted=True, step=1.0, iterations=found.iterations, solve=solve, note=found.note
        )
        self._statistics.on_step_accepted(self._simulation, report)
        if self._on_time:
            self._recorder.keep(self._simulation, report, found.contacts)
        else:
            self._waiting, self._report = found, report

    def last(self) -> None:
        """Record what waits."""
        if self._waiting is not None:
            self._recorder.keep(self._simulation, self._report, self._waiting.contacts)


def _check(at: float, load_steps: int, sweep: int) -> None:
    wrong: list[Mistake] = []
    if not (math.isfinite(at) and at >= 0):
        wrong.append(Mistake("at", at, "must be a time ≥ 0 [s]"))
    if load_steps < 1:
        wrong.append(Mistake("load_steps", load_steps, "must be 1 or more"))
    if sweep < 0:
        wrong.append(Mistake("sweep", sweep, "must be 0 or more"))
    if sweep and at == 0:
        wrong.append(Mistake("sweep", sweep, "needs a time `at` > 0 to go to"))
    if wrong:
        raise ConfigError(wrong, "statics")
