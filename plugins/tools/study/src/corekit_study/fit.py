"""From a fit file to an estimate: compose the scenario, call the estimator, write report and fitted scenario.

The folder holds `fit.toml` (as given), `report.json`, `residuals.csv` (every marker at every instant), `fitted.toml`
(the scenario with what was found in it, ready to run, if the fit was solved), a `schedule-<channel>.csv` for every
fitted input, and pictures.
"""

from __future__ import annotations

import csv
import json
import math
import re
import time as clock
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.signal_base import HeldSignal
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.errors import ConfigError, PluginError
from corekit.files import write_text_whole
from corekit.geometry.frames import Pose
from corekit.registry.resolve import load_target, resolve
from corekit.roles.code import code_allowed
from corekit.roles.component import BuildContext
from corekit.roles.estimator import Estimate, EstimationTask, Estimator, KnownObstacle
from corekit.roles.obstacles import Obstacle
from corekit.scenario.component_selection import load_config
from corekit.scenario.dump import resolved_document
from corekit.scenario.load import with_values
from corekit.scenario.scenario import Scenario
from corekit.scenario.schema import Input
from corekit.simulation.arguments import FUNCTION, PATH, Kind, check_arguments, or_none
from corekit.simulation.installed_tools import equilibrium_finder, gradient_tool
from corekit.simulation.loop import Simulation
from corekit_run.output_file import writing
from corekit_run.plugin_errors import named_errors
from corekit_study.answers import answer_of
from corekit_study.estimate_check import checked_estimate
from corekit_study.fit_file import FitFile
from corekit_study.observed_runs import ObservedRuns, ParameterNames
from corekit_study.stoppable import stoppable

__all__ = ["FITTED", "FitResult", "fit", "task_of"]

FITTED = "fitted.toml"
"""The scenario with what was found in it; absent where the fit was not solved."""

SearchProgress = Callable[[Mapping[str, float | str]], None]


@frozen(eq=False)
class FitResult:
    """A fit: the file, the estimate and what was written.

    Args:
        file: of the fit. estimate: what was found. info: report of the solve.
        folder: what was written, or None. wall: time it took [s].
    """

    file: FitFile
    estimate: Estimate
    info: SolveInfo
    folder: Path | None
    wall: float

    def as_data(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        found, distance = self.estimate, self.estimate.distance
        return {
            "name": self.file.name,
            "status": "finished" if self.info.status.solved else "failed",
            "reason": self.info.status.value,
            "iterations": self.info.iterations,
            "solver": self.info.answered_by,
            "wall_s": self.wall,
            "parameters": [_parameter_data(each) for each in found.fitted],
            "schedules": {each.channel: len(each.times) for each in found.schedules},
            "markers": {
                "seen": int(np.isfinite(distance).sum()),
                "mean_m": _number(np.nanmean(distance)),
                "rms_m": _number(np.sqrt(np.nanmean(distance**2))),
                "largest_m": _number(np.nanmax(distance)),
            },
            "figures": {name: _number(value) for name, value in found.metrics.items()},
            "notes": list(found.notes),
            "pictures": [str(path) for path in found.pictures],
            "folder": None if self.folder is None else str(self.folder),
            "fitted": str(self.folder / FITTED) if self.folder and self.info.status.solved else None,
        }


def _parameter_data(each: Any) -> dict[str, Any]:
    profile = None
    if each.profile is not None:
        cost = [_number(value) for value in each.profile.cost]
        profile = {"values": each.profile.values.tolist(), "cost": cost}
    numbers = {name: _number(getattr(each, name)) for name in ("value", "start", "low", "high")}
    return {
        "name": each.name, "unit": each.unit, **numbers, "verdict": each.verdict, "note": each.note,
        "profile": profile,
    }  # fmt: skip


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


_FILE: Kind = (
    "what `load_fit` returned",
    lambda value: isinstance(value, FitFile) and value.loaded is not None,
)


def fit(
    file: FitFile,
    folder: str | Path | None = None,
    progress: SearchProgress | None = None,
    *,
    report: Callable[[str], None] | None = None,
) -> FitResult:
    """Make a fit.

    Args:
        file: as `load_fit` gives it.
        folder: existing and empty, for the report; None: nothing is written.
        progress: called with the numbers of the search.
        report: called with sentences for the user, some before the search.
    Raises:
        ConfigError, CompositionError, PluginError: the fit cannot be done, as only the built components show.
        StaticsFailed: an equilibrium that the fit needs was not found.
    """
    check_arguments(
        "fit", file=(file, _FILE), folder=(folder, or_none(PATH)), progress=(progress, or_none(FUNCTION)),
        report=(report, or_none(FUNCTION)),
    )  # fmt: skip
    folder = None if folder is None else Path(folder)
    assert file.loaded is not None
    began = clock.perf_counter()
    spec = resolve("estimators", file.use)
    with code_allowed(file.loaded.allow_code):
        config = load_config(spec, file.options, "options")
        estimator: Estimator = load_target(spec.target)(config, BuildContext(path="estimator"))
    _check_model(file, spec.requires.get("models", frozenset()))
    task = task_of(file.loaded, file.body, folder)
    if report is not None:
        task = attrs.evolve(task, report=report)
    with stoppable(progress) as reported, named_errors():
        answer = estimator.estimate(task, reported)
        estimate, info = answer_of(answer, f"the estimator {file.use!r}", "an `Estimate`")
    estimate = checked_estimate(estimate, task, file.use)
    _check_options(file, estimate)
    made = FitResult(file, estimate, info, folder, clock.perf_counter() - began)
    if folder is not None:
        with writing(folder):
            _write(made, folder)
    return made


def _check_options(file: FitFile, estimate: Estimate) -> None:
    """Refuse values that the body's own options refuse: the fitted scenario could not be loaded."""
    assert file.loaded is not None
    try:
        with_values(file.loaded, _found_values(file, estimate))
    except ConfigError as error:
        raise PluginError(
            f"the estimator {file.use!r} answered with what body {file.body!r} refuses: {error.mistakes[0]}"
        ) from error


def _found_values(file: FitFile, estimate: Estimate) -> dict[str, float]:
    """Path in the scenario → value of what was found; of one that is not finite its verdict says so."""
    assert file.loaded is not None
    document = resolved_document(file.loaded)
    names = ParameterNames(document, [each["name"] for each in document["bodies"]].index(file.body))
    return {names.path(each.name): float(each.value) for each in estimate.fitted if math.isfinite(each.value)}


def _check_model(file: FitFile, needed: frozenset[str]) -> None:
    """Refuse a model that cannot do what the estimator needs, before it is built."""
    assert file.loaded is not None
    body = next(each for each in file.loaded.bodies if each.name == file.body)
    if "symbolic" in needed and (file.loaded.joints or any(each.base.moves for each in file.loaded.bodies)):
        raise PluginError(
            f"the estimator {file.use!r} knows one body alone, and joints or a moving base act in the scenario: "
            "choose one that simulates the whole of it, for example `simulation-fit`."
        )
    missing = sorted(needed - resolve("models", body.use).provides)
    if missing:
        raise PluginError(
            f"the estimator {file.use!r} needs models with {', '.join(missing)}, which {body.use!r} does not offer: "
            "choose another estimator, see `corekit list`."
        )


def task_of(scenario: Scenario, body: str, folder: Path | None = None) -> EstimationTask:
    """Return the task of an estimator for a body of a scenario."""
    simulation, document = scenario.compose(), resolved_document(scenario)
    index = [each.name for each in scenario.bodies].index(body)
    part = simulation.bodies[index]
    world, runs = _EquilibriumWorld(scenario, index, simulation), ObservedRuns(scenario, index)
    names = ParameterNames(document, index)
    own = load_config(resolve("models", scenario.bodies[index].use), scenario.bodies[index].options, body)

    def unit_of(name: str) -> str:
        return _unit(scenario if names.is_of_scenario(name) else own, name)

    return EstimationTask(
        body=body,
        model=part.model,
        abilities=part.abilities.words,
        start=simulation.state.body_states[index].copy(),
        step=scenario.time.step,
        duration=scenario.time.duration,
        integrator=scenario.integrator,
        inputs=part.inputs.value_at,
        obstacles=tuple(
            KnownObstacle(each.name, each.shape, _pose_of(each)) for each in simulation.obstacles
        ),
        find_equilibrium=world.find_equilibrium,
        options=document["bodies"][index].get("options", {}),
        number_of=names.number,
        unit_of=unit_of,
        simulate=runs.simulate,
        differentiate=runs.differentiate,
        minimise=lambda *asked, **options: gradient_tool().minimise(*asked, **options),
        with_changes=lambda changes: task_of(runs.with_changes(changes), body, folder),
        folder=folder,
    )


def _unit(config: Any, path: str) -> str:
    """The unit of an entry by its path in a configuration, empty where it has none."""
    found, unit = config, ""
    for part in re.findall(r"[^.\[\]]+|\[\d+\]", path):
        if part[0] == "[":
            if not isinstance(found, list | tuple):
                return unit  # a signal, made of the list that stands in the file
            found = found[int(part[1:-1])]
        elif isinstance(found, tuple):
            found = next(each for each in found if each.name == part)
        elif not attrs.has(type(found)):
            return ""  # a free table, such as the parameters of equations
        else:
            each = next(
                each
                for each in attrs.fields(type(found))
                if part == each.metadata.get("key", each.alias or each.name)
            )
            found, unit = getattr(found, each.name), str(each.metadata.get("unit", ""))
    return unit


def _pose_of(obstacle: Obstacle) -> Callable[[float], Pose]:
    def pose(time: float) -> Pose:
        position, rotation = np.zeros(3), np.zeros((3, 3))
        obstacle.place(time, position, rotation)
        return Pose(position, rotation)

    return pose


class _SettableInput(HeldSignal):
    """An input that keeps the value that was last set."""

    kind = "held"

    def __init__(self, values: Array) -> None:
        self.values = values

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def constant(self) -> bool:
        return False

    def value(self, t: float, out: Array) -> None:
        out[:] = self.values


class _EquilibriumWorld:
    """A second simulation in which the inputs of one body are set from outside; composed at its first use."""

    def __init__(self, scenario: Scenario, index: int, simulation: Simulation) -> None:
        self._scenario, self._index = scenario, index
        self._layout = simulation.bodies[index].description
        self._simulation: Simulation | None = None
        self._values = np.zeros(self._layout.input_size)

    def find_equilibrium(self, inputs: Array, near: State, time: float) -> State:
        """Return the equilibrium of the body, a new state."""
        twin = self._composed()
        self._values[:] = inputs
        mine = twin.state.body_states[self._index]
        mine.q[:], mine.v[:], mine.aux[:] = near.q, 0.0, near.aux
        equilibrium_finder().move_to_equilibrium(twin, time)
        return twin.state.body_states[self._index].copy()

    def _composed(self) -> Simulation:
        if self._simulation is None:
            channels, first = [], 0
            for channel in self._layout.inputs:
                view = self._values[first : first + channel.size]
                channels.append(Input(channel=channel.name, signal=_SettableInput(view)))
                first += channel.size
            bodies = list(self._scenario.bodies)
            bodies[self._index] = attrs.evolve(bodies[self._index], inputs=tuple(channels))
            twin = attrs.evolve(self._scenario, bodies=tuple(bodies), start="initial")
            self._simulation = twin.compose()
        return self._simulation


def _write(made: FitResult, folder: Path) -> None:
    file, found = made.file, made.estimate
    write_text_whole(folder / "fit.toml", file.given)
    text = json.dumps(made.as_data(), indent=2, ensure_ascii=False)
    write_text_whole(folder / "report.json", text + "\n")
    with (folder / "residuals.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["time", "marker", "x", "y", "z", "fit_x", "fit_y", "fit_z", "distance"])
        for k, time in enumerate(found.time):
            for i, name in enumerate(found.markers):
                table.writerow(
                    [time, name, *found.observed[k, i], *found.predicted[k, i], found.distance[k, i]]
                )
    for each in found.schedules:
        with (folder / f"schedule-{each.channel}.csv").open("w", newline="", encoding="utf-8") as stream:
            table = csv.writer(stream)
            table.writerow(["time", *(f"value_{i}" for i in range(each.values.shape[1]))])
            table.writerows([time, *values] for time, values in zip(each.times, each.values, strict=True))
    if made.info.status.solved:
        write_text_whole(folder / FITTED, _fitted_scenario(made))


def _fitted_scenario(made: FitResult) -> str:
    """Write the scenario with fitted options and inputs."""
    import tomli_w

    assert made.file.loaded is not None
    found = _found_values(made.file, made.estimate)
    document = resolved_document(with_values(made.file.loaded, found))
    body = next(each for each in document["bodies"] if each["name"] == made.file.body)
    fitted = {each.channel for each in made.estimate.schedules}
    inputs = [each for each in body.get("inputs", []) if each["channel"] not in fitted]
    for each in made.estimate.schedules:
        signal = {"kind": "csv", "file": f"schedule-{each.channel}.csv"}
        inputs.append({"channel": each.channel, "signal": signal})
    if inputs:
        body["inputs"] = inputs
    document["name"] = f"{document['name']}-fitted"
    return tomli_w.dumps(document)
