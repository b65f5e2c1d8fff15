"""From a scenario to its equilibria: at one time, along a load path, or along the scenario's time.

The loads are those of a time T: inputs u(T), obstacles and prescribed coordinates where they are at T. At one
time they are taken at once or in equal steps of a load factor, which scales efforts and gravity. Along the time
(quasi-static motion) every equilibrium begins at the one before, at full load.
"""

from __future__ import annotations

import json
import math
import time as clock
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, final

import numpy as np
from attrs import evolve, field, frozen

from corekit.data.arrays import Array
from corekit.data.contacts import ContactMode
from corekit.data.state import State
from corekit.data.status import Residuals, SolveInfo
from corekit.data.step import StepReport
from corekit.errors import ConfigError, CorekitError, Mistake, StaticsFailed
from corekit.roles.model import Model
from corekit.run.folder import RunFolder, versions_of
from corekit.run.pace import Progress
from corekit.run.recorder import Recorder
from corekit.run.results import Results
from corekit.run.simulation import Simulation
from corekit.run.statistics import Statistics
from corekit.world.equilibrium import Equilibrium, StaticsOptions
from corekit.world.rest_system import RestSystem
from corekit.world.shape_scene import ShapeScene
from corekit.world.statics import find_equilibrium

__all__ = ["REPORT", "Statics", "find_statics", "settle"]

REPORT = "statics.json"
"""The file of a run folder that holds every equilibrium as `Statics.as_data` gives it."""

Told = Callable[[Equilibrium], object]


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
    def weightless(self) -> Sequence[Model] | None: ...
    def given_text(self) -> str: ...
    def resolved_text(self) -> str: ...


@final
@frozen(eq=False)
class Statics:
    """Equilibria of a world, in the order they were found.

    Args:
        simulation: the world; its state is the last equilibrium, so that stepping it goes on from there.
        path: the equilibria, at least one.
        frames: positions of all frames before anything was looked for, (frames, 3) [m].
        wall: time it took [s].
        results: what was kept in a folder, or None.
    """

    simulation: Simulation
    path: tuple[Equilibrium, ...]
    frames: Array = field(repr=False)
    wall: float
    results: Results | None = None

    @property
    def equilibrium(self) -> Equilibrium:
        """The last one: of the full load, or of the last time."""
        return self.path[-1]

    @property
    def q(self) -> Array:
        """Its coordinates, shape (nq,)."""
        return self.equilibrium.state.q

    @property
    def stable(self) -> bool:
        """Whether it is."""
        return self.equilibrium.stability.stable

    def frame_position(self, which: Equilibrium | None = None) -> Array:
        """Origins of all frames in an equilibrium, the last if None, (frames, 3) [m]."""
        return _frames(self.simulation, (which or self.equilibrium).state)

    def as_data(self) -> dict[str, Any]:
        """Everything as JSON can hold it."""
        return {
            "equilibria": [self._one(each) for each in self.path],
            "wall_s": self.wall,
            "folder": None if self.results is None else str(self.results.path),
            "results": None if self.results is None else str(self.results.file),
        }

    def _one(self, found: Equilibrium) -> dict[str, Any]:
        bodies, stability = self.simulation.bodies, found.stability
        position = _frames(self.simulation, found.state)
        record, first = found.contacts, 0
        force = np.zeros(3)
        for c in range(record.count):
            second = np.cross(record.normal[c], record.tangent[c])
            across = record.tangential_impulse[c]
            force += (
                record.normal_impulse[c] * record.normal[c]
                + across[0] * record.tangent[c]
                + across[1] * second
            )
        reactions: dict[str, float] = {}
        tips: dict[str, Any] = {}
        for body in bodies:
            for i in body.layout.prescribed:
                reactions[f"{body.name}.{body.layout.velocities[i].name}"] = float(found.reactions[first])
                first += 1
            if body.layout.frames:
                last = body.first_frame + len(body.layout.frames) - 1
                tips[f"{body.name}.{body.layout.frames[-1]}"] = {
                    "position_m": position[last].tolist(),
                    "moved_m": (position[last] - self.frames[last]).tolist(),
                }
        pairs = zip(bodies, found.row_forces, strict=True)
        rows = {body.name: forces.tolist() for body, forces in pairs if len(forces)}
        return {
            "time_s": found.state.time,
            "load": found.load,
            "iterations": found.iterations,
            "unbalanced": dict(found.residual),
            "largest_force": found.scale,
            "row_error_m": found.row_error,
            "gap_error_m": found.gap_error,
            "energy_J": _number(found.energy),
            "stability": {
                "word": stability.word,
                "smallest_1_per_s2": _number(stability.smallest),
                "unstable_modes": stability.modes,
                "sentence": str(stability),
            },
            "tips": tips,
            "contacts": {
                "pressing": int(np.count_nonzero(record.mode != ContactMode.SEPARATE)),
                "near": record.count,
                "force_N": force.tolist(),
            },
            "reactions": reactions,
            "row_forces": rows,
            "q": found.state.q.tolist(),
            "note": found.note,
        }


def settle(
    simulation: Simulation,
    at: float | Sequence[float] = 0.0,
    *,
    load_steps: int = 1,
    weightless: Callable[[], Sequence[Model] | None] | None = None,
    options: StaticsOptions | None = None,
    told: Told | None = None,
) -> tuple[Equilibrium, ...]:
    """Bring a simulation to rest: its state becomes the last equilibrium, with v = 0 at that time.

    Args:
        simulation: composed; where it is, is where the search begins.
        at: time of the loads [s]; or several, one equilibrium each.
        load_steps: equal steps of the load factor to the first of them.
        weightless: gives twins of the models without gravity; without them gravity does not grow with the load.
        options: how to look; its `load_steps` is overruled.
        told: called with every equilibrium that is found.
    Raises:
        CompositionError: a model without `tangent`, or rows that cannot rest.
        StaticsFailed: one was not found; the simulation stays at the last that was.
    """
    times = [float(at)] if isinstance(at, (int, float)) else [float(each) for each in at]
    built = simulation.system
    system = RestSystem(
        built.bodies,
        built.stage,
        built.solver,
        simulation.obstacles,
        time=times[0],
        step=simulation.step_length,
    )
    options = evolve(options or StaticsOptions(), load_steps=load_steps)
    system.weightless = weightless
    found: list[Equilibrium] = []

    def tell(each: Equilibrium) -> None:
        found.append(each)
        simulation.state.copy_from(each.state)
        if told is not None:
            told(each)

    try:
        for k, instant in enumerate(times):
            system.go_to(instant)
            own = options if k == 0 else evolve(options, load_steps=1)
            try:
                find_equilibrium(system, simulation.state, own, tell)
            except StaticsFailed as error:
                if len(times) > 1:
                    error.add_note(f"That was at t = {instant:g} s, time {k + 1} of {len(times)}.")
                raise
    finally:
        # what was remembered of contacts on the way belongs to no step
        for owner in (built, *simulation.components.values()):
            owner.remember({})
        simulation.start_time, simulation.step_index = simulation.time, 0
    return tuple(found)


def find_statics(
    scenario: StaticScenario,
    *,
    at: float | None = None,
    load_steps: int = 1,
    sweep: int = 0,
    directory: str | Path | None = None,
    keep: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Statics:
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
        CompositionError, StaticsFailed: as for `settle`.
        ResultsError: the folder cannot be made or written to.
    """
    instant = scenario.time.duration if at is None else at
    _check(instant, load_steps, sweep)
    tell = progress or (lambda _progress: None)
    tell(Progress("composing"))
    began = clock.perf_counter()
    simulation = scenario.compose()
    before = _frames(simulation, simulation.state)
    times: float | list[float] = [instant * k / sweep for k in range(sweep + 1)] if sweep else instant
    if directory is None and not keep:
        path = settle(simulation, times, load_steps=load_steps, weightless=scenario.weightless)
        return Statics(simulation, path, before, clock.perf_counter() - began)
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
            folder.results, simulation, simulation.step_length, statistics, scenario.name, initial=first
        ) as recorder:
            record = _Keeper(simulation, folder, recorder, statistics, on_time=bool(sweep))
            path = settle(
                simulation, times, load_steps=load_steps, weightless=scenario.weightless, told=record
            )
            record.last()
    except CorekitError as error:
        folder.log("failed", reason=str(error))
        folder.set_status("failed", " ".join(str(error).split()))
        error.add_note(f"What was found before is kept in {folder.path}")
        raise
    found = Statics(simulation, path, before, clock.perf_counter() - began, Results(folder.path))
    folder.write(REPORT, json.dumps(found.as_data(), indent=2, ensure_ascii=False) + "\n")
    folder.log("finished", wall_s=found.wall, statistics=statistics.as_data(), watchdog={})
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
        self._statistics(self._simulation, report)
        if self._on_time:
            self._recorder.keep(self._simulation, report, found.contacts)
        else:
            self._waiting, self._report = found, report

    def last(self) -> None:
        """Record what waits."""
        if self._waiting is not None:
            self._recorder.keep(self._simulation, self._report, self._waiting.contacts)


def _frames(simulation: Simulation, state: State) -> Array:
    scene = ShapeScene(simulation.bodies, ())
    scene.place(state)
    return scene.poses.frame_position.copy()


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


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
