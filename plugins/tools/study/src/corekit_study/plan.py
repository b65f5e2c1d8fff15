"""From a plan file to a plan: compose the scenario, call the planner, write and simulate the plan."""

from __future__ import annotations

import json
import time as clock
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import frozen

from corekit.data.status import SolveInfo
from corekit.errors import CompositionError
from corekit.geometry.frames import Pose
from corekit.registry.resolve import load_target, resolve
from corekit.roles.code import code_allowed
from corekit.roles.component import BuildContext
from corekit.roles.planner import Plan, Planner, PlanningTask, StaticObstacle, TaskBody
from corekit.scenario.component_selection import load_config
from corekit.simulation.arguments import FUNCTION, PATH, Kind, check_arguments, or_none
from corekit.simulation.loop import Simulation
from corekit_run.output_file import write_text
from corekit_run.plugin_errors import named_errors
from corekit_study.answers import answer_of
from corekit_study.compilation_clock import clock_compilation
from corekit_study.plan_file import PlanFile
from corekit_study.plan_folder import write_plan
from corekit_study.plan_judge import PlanVerdict, check_form, judge_plan
from corekit_study.plan_rollout import RolloutResult, roll_out_plan
from corekit_study.planned_runs import PlannedRuns
from corekit_study.progress_display import ShowProgress, no_display
from corekit_study.stoppable import stoppable

__all__ = ["PlanResult", "judge", "make_plan", "planning_task", "simulate", "write_report"]

SearchProgress = Callable[[Mapping[str, float]], None]


@frozen(eq=False)
class PlanResult:
    """A plan: the file, the motion and its simulations.

    Args:
        file: of the plan. plan: what was found. info: report of the solve. verdict: what the plan is worth.
        bodies: of the scenario. rollouts: its simulations. folder: what was written, or None.
        seconds: wall time by what it went into: `compose`, `prepare` (derivatives, start, certificate), `solve`,
            `compile`, `judge`, `replay`; the caller adds the start and the pictures.
    """

    file: PlanFile
    plan: Plan
    info: SolveInfo
    verdict: PlanVerdict
    bodies: Mapping[str, TaskBody]
    rollouts: tuple[RolloutResult, ...]
    folder: Path | None
    seconds: Mapping[str, float]

    @property
    def wall(self) -> float:
        """All of it [s]."""
        return sum(self.seconds.values())

    @property
    def solved(self) -> bool:
        """Whether the plan is certified, and arrives in the last of its simulations as planned, if there are any."""
        as_planned = [each.arrived for each in self.rollouts if each.is_as_planned]
        return self.verdict.certified and all(as_planned[-1:])

    def as_data(self) -> dict[str, Any]:
        """Return a summary as JSON can hold it."""
        return {
            "name": self.file.name,
            "status": "finished" if self.solved else "failed",
            "reason": " ".join((self.info.status.value, *(f"{each}." for each in self.verdict.reasons))),
            "iterations": self.info.iterations,
            "solver": self.info.answered_by,
            "wall_s": self.wall,
            "seconds": dict(self.seconds),
            "verdict": self.verdict.as_data(),
            "certificate": dict(self.plan.certificate),
            "stages": [dict(entry) for entry in self.plan.solve_log],
            "replays": [rollout.as_data() for rollout in self.rollouts],
            "notes": list(self.plan.notes),
            "folder": None if self.folder is None else str(self.folder),
        }


_FILE: Kind = (
    "what `load_plan_file` returned",
    lambda value: isinstance(value, PlanFile) and value.loaded is not None,
)
_PLAN: Kind = "a `Plan`", lambda value: isinstance(value, Plan)


def make_plan(
    file: PlanFile,
    folder: str | Path | None = None,
    progress: SearchProgress | None = None,
    *,
    earlier: Plan | None = None,
    report: Callable[[str], None] | None = None,
    share: Callable[[str], None] | None = None,
) -> PlanResult:
    """Make a plan and write it; `simulate` goes on.

    Args:
        file: as `load_plan_file` gives it.
        folder: existing and empty, for what is found; None: nothing is written.
        progress: called with the numbers of the search.
        earlier: a plan to begin from.
        report: called with the planner's sentences during the search.
        share: called with the text of the resolved scenario before the search, if the plan is to be simulated.
    Raises:
        ConfigError, CompositionError, PluginError: the plan cannot be made, as only the built components show.
    """
    check_arguments(
        "make_plan", file=(file, _FILE), folder=(folder, or_none(PATH)), progress=(progress, or_none(FUNCTION)),
        earlier=(earlier, or_none(_PLAN)), report=(report, or_none(FUNCTION)), share=(share, or_none(FUNCTION)),
    )  # fmt: skip
    folder = None if folder is None else Path(folder)
    assert file.loaded is not None
    watch = _Stopwatch()
    spec = resolve("planners", file.use)
    with code_allowed(file.loaded.allow_code):
        config = load_config(spec, file.options, "options")
        planner: Planner = load_target(spec.target)(
            config, BuildContext(path="planner", step=file.loaded.time.step)
        )
    world = file.loaded.compose()
    task = attrs.evolve(
        planning_task(world), previous_plan=earlier, folder=folder, step=file.loaded.time.step,
        duration=file.loaded.time.duration, simulate=PlannedRuns(file.loaded).simulate,
    )  # fmt: skip
    if report is not None:
        task = attrs.evolve(task, report=report)
    if folder is not None:
        text = file.loaded.resolved_text()
        write_text(folder / "scenario.toml", text)
        if share is not None and file.replay is not None:
            share(text)
    with clock_compilation() as compiling, stoppable(progress) as reported:
        watch.lap("compose")
        with named_errors():
            answer = planner.plan(task, reported)
            plan, info = answer_of(answer, f"the planner {file.use!r}", "a `Plan`")
        watch.lap("prepare")
    watch.move("prepare", "compile", compiling.seconds)
    check_form(plan, world, file.use)
    watch.move("prepare", "solve", sum(float(entry.get("seconds", 0.0)) for entry in plan.solve_log))
    with clock_compilation() as compiling:
        verdict = judge(plan, info, file)
    watch.lap("judge")
    watch.move("judge", "compile", compiling.seconds)
    made = PlanResult(file, plan, info, verdict, task.bodies, (), folder, watch.seconds)
    if folder is not None:
        write_text(folder / "plan.toml", file.given)
        write_plan(plan, folder, file.name)
        write_report(made)
    return made


def judge(plan: Plan, info: SolveInfo, file: PlanFile) -> PlanVerdict:
    """What a plan is worth: what its planner calls unsolved is not looked at."""
    if not info.status.solved:
        return PlanVerdict(("its planner found none",), {})
    assert file.loaded is not None
    begins_freely = frozenset(() if file.replay is None else file.replay.start)
    verdict = judge_plan(plan, file.loaded, begins_freely)
    if plan.certificate.get("certified", True) is not True:
        return attrs.evolve(
            verdict, reasons=("its planner's own certificate does not hold", *verdict.reasons)
        )
    return verdict


def simulate(made: PlanResult, show: ShowProgress = no_display) -> PlanResult:
    """Simulate a plan as its file says, in its folder; `show` shows the runs.

    Raises:
        ConfigError: what the file says of simulations does not fit.
        StepFailed: a step of a simulation has no answer.
    """
    if made.folder is None or not made.plan.bodies:
        return made
    watch = _Stopwatch(made.seconds)
    with clock_compilation() as compiling:
        rollouts = roll_out_plan(made.file, made.plan, made.bodies, made.folder, show)
    watch.lap("replay")
    watch.move("replay", "compile", compiling.seconds)
    made = attrs.evolve(made, rollouts=tuple(rollouts), seconds=watch.seconds)
    write_report(made)
    return made


class _Stopwatch:
    """Wall time by activity [s]."""

    def __init__(self, seconds: Mapping[str, float] | None = None) -> None:
        self.seconds = dict(seconds or {})
        self._began = clock.perf_counter()

    def lap(self, what: str) -> None:
        """Add the time since the last lap to an entry."""
        now = clock.perf_counter()
        self.seconds[what] = self.seconds.get(what, 0.0) + now - self._began
        self._began = now

    def move(self, of: str, to: str, seconds: float) -> None:
        """Move a part of one entry to another."""
        part = min(seconds, self.seconds[of])
        self.seconds[of] -= part
        self.seconds[to] = self.seconds.get(to, 0.0) + part


def write_report(made: PlanResult) -> None:
    """Write what `as_data` says into the plan's folder."""
    assert made.folder is not None
    text = json.dumps(made.as_data(), indent=2, ensure_ascii=False, default=_plain)
    write_text(made.folder / "report.json", text + "\n")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def planning_task(simulation: Simulation) -> PlanningTask:
    """Return the world of a simulation at its start as the task of a planner.

    Raises:
        CompositionError: joints between bodies, which no task states.
    """
    if simulation.system.joints:
        raise CompositionError(
            "planning does not know joints between bodies and moving bases: plan for a body whose base stands"
        )
    bodies = {
        body.name: TaskBody(body.model, body.abilities.words, state.copy())
        for body, state in zip(simulation.bodies, simulation.state.body_states, strict=True)
    }
    obstacles = {}
    for obstacle in simulation.obstacles:
        position, rotation = np.zeros(3), np.zeros((3, 3))
        obstacle.place(0.0, position, rotation)
        obstacles[obstacle.name] = StaticObstacle(obstacle.shape, Pose(position, rotation))
    return PlanningTask(bodies=bodies, obstacles=obstacles)
