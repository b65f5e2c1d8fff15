"""One run of a batch, wherever it is made: its scenario, what is kept of it, and what came of it.

A run whose folder is not kept is stepped without one. If a step of it fails it is made again, with a folder: the same
steps fail there, and its log and `step-<n>.npz` say why.
"""

from __future__ import annotations

import shutil
import time as clock
import tomllib
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, field, frozen
from attrs.validators import instance_of

from corekit.errors import CorekitError, ResultsError, StepFailed
from corekit.scenario.load import from_document
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation
from corekit_record.results import Results
from corekit_run.running import run
from corekit_run.unrecorded import run_unrecorded
from corekit_study.run_watch import (
    RunWatch,
    end_of,
    forces_of_pairs,
    layout_of,
    reactions_of,
    state_of,
    tip_of,
)

__all__ = ["END", "KEEP", "Outcome", "Recipe", "RunTask", "load_task", "make_run"]

END = ("energy_J", "tip_frame", "tip_x_m", "tip_y_m", "tip_z_m")
"""Statistics of the end of a run: energy of all bodies, position of the tip; without what there is none of."""
KEEP = ("all", "last", "table")
"""What is kept of a run that finished: its folder with all records, its last state, or its line in a table alone."""


@frozen(kw_only=True)
class Recipe:
    """What runs have in common.

    Args:
        text: of the scenario. source: file that it was read from, for relative paths in it; empty: it has none.
        allow_code: as for `corekit.load`.
        keep: one of `KEEP`.
        statics: whether an equilibrium is sought in place of a run; at: its time [s], the end of the scenario if None.
    """

    text: str
    source: str = ""
    allow_code: bool = False
    keep: str = "all"
    statics: bool = False
    at: float | None = None


@frozen(kw_only=True)
class RunTask:
    """A run to be made.

    Args:
        name: of the run and of its folder, unique in the batch.
        recipe: of it. overrides: of its scenario, as in `--set`.
        digest: of what decides its outcome.
    """

    name: str
    recipe: Recipe
    overrides: tuple[str, ...] = ()
    digest: str


@frozen(kw_only=True)
class Outcome:
    """Outcome of a run, as it is stored.

    Args:
        name: of the run. digest: of what decides its outcome.
        error: why it failed, empty if it finished.
        completed: share of the duration that was simulated, 0 to 1.
        wall_s: how long it took [s]. duration: simulated time of the scenario [s]; 0 if it cannot be loaded.
        statistics: counters over every step, as `Results.statistics`, and `END`.
        forces: as `RunWatch.forces`.
        last: names and numbers of the last state, as `layout_of` and `state_of`; empty where it is not kept.
    Raises:
        TypeError: something is of another kind, which only a file can bring about.
    """

    name: str = field(validator=instance_of(str))
    digest: str = field(validator=instance_of(str))
    error: str = field(default="", validator=instance_of(str))
    completed: float = field(validator=instance_of((int, float)))
    wall_s: float = field(validator=instance_of((int, float)))
    duration: float = field(validator=instance_of((int, float)))
    statistics: dict[str, Any] = field(factory=dict, validator=instance_of(dict))
    forces: dict[str, Any] = field(factory=dict, validator=instance_of(dict))
    last: dict[str, Any] = field(factory=dict, validator=instance_of(dict))


@frozen
class _Found:
    """What a run that finished brought."""

    statistics: dict[str, Any]
    forces: dict[str, Any]
    last: dict[str, Any] = field(factory=dict)


def make_run(task: RunTask, folder: Path) -> Outcome:
    """Make a run; the files of an earlier attempt are removed.

    Args:
        folder: existing; the run's own, where it has one, is made in it.
    Raises:
        ResultsError: something cannot be written: that is no outcome of the scenario.
        KeyboardInterrupt: it was stopped.
    """
    own = folder / task.name
    if own.exists():
        shutil.rmtree(own)
    began = clock.perf_counter()
    error, completed, duration = "", 1.0, 0.0
    found = _Found({}, {})
    try:
        scenario = load_task(task)
        duration = scenario.time.duration
        found = _equilibrium(task, scenario, own) if task.recipe.statics else _run(task, scenario, own)
    except StepFailed as failed:
        error, completed = str(failed), failed.time / duration
    except ResultsError:  # of the disk, not of the scenario: it is no outcome, and ends the batch
        raise
    except CorekitError as refused:
        error, completed = str(refused), 0.0
    except KeyboardInterrupt as stop:
        stop.__notes__ = []  # which say how to go on with this run: a batch begins it anew
        raise
    if error and (own / "results.nc").exists():
        found = _Found(dict(Results(own).statistics), {})
    return Outcome(
        name=task.name, digest=task.digest, error=error, completed=completed,
        wall_s=clock.perf_counter() - began, duration=duration, **asdict(found, recurse=False),
    )  # fmt: skip


def load_task(task: RunTask) -> Scenario:
    """Load the scenario of a run."""
    recipe = task.recipe
    source = Path(recipe.source) if recipe.source else None
    return from_document(tomllib.loads(recipe.text), task.overrides, source, allow_code=recipe.allow_code)


@frozen(kw_only=True)
class _WatchedScenario(Scenario):
    """A scenario whose simulation is watched."""

    watches: list[tuple[Simulation, RunWatch]] = field(
        factory=list, eq=False, repr=False, metadata={"hidden": True}
    )

    def compose(self) -> Simulation:
        simulation = super().compose()
        self.watches.append((simulation, RunWatch(simulation)))
        return simulation


def _run(task: RunTask, given: Scenario, own: Path) -> _Found:
    scenario = _WatchedScenario(**asdict(given, recurse=False))
    if task.recipe.keep == "all":
        statistics = run(scenario, directory=own, warn=_silent).statistics
    else:
        try:
            simulation = scenario.compose()
            statistics = run_unrecorded(scenario, simulation).get("statistics", {})
        except StepFailed:
            run(given, directory=own, warn=_silent)
            raise
    simulation, watch = scenario.watches[0]
    last = {}
    if task.recipe.keep == "last":
        last = {"layout": layout_of(simulation), **state_of(simulation, simulation.state)}
    return _Found({**statistics, **watch.end()}, watch.forces(), last)


def _equilibrium(task: RunTask, scenario: Scenario, own: Path) -> _Found:
    recipe = task.recipe
    path = scenario.statics(at=recipe.at, directory=own if recipe.keep == "all" else None)
    found, simulation = path.equilibrium, path.simulation
    statistics = {
        "stability": found.stability.verdict, "steps": found.iterations,
        "unbalanced": max(found.residual.values(), default=0.0) / (found.scale or 1.0),
        "deepest_penetration_m": found.gap_error,
    }  # fmt: skip
    # of an equilibrium impulses are forces, as over a step of 1 s
    contacts = evolve(found.contacts, owners=simulation.shape_owners, step_size=1.0)
    forces = {
        "contacts": {pair: list(map(float, force)) for pair, force in forces_of_pairs(contacts).items()},
        "reactions": reactions_of(simulation, found.reactions),
    }  # fmt: skip
    last = {}
    if recipe.keep == "last":
        last = {"layout": layout_of(simulation), **state_of(simulation, found.state)}
    return _Found({**statistics, **end_of(simulation, found.state, tip_of(simulation))}, forces, last)


def _silent(_sentence: str) -> None:
    """Ignore a warning: those of one among many runs are in its own log."""
