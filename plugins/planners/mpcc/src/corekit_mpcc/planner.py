"""The planner `ipopt-mpcc`: bodies turn or move a ball through contact."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.errors import ResultsError
from corekit.geometry.frames import Pose, rotation_from_quat_wxyz
from corekit.roles.component import BuildContext
from corekit.roles.planner import BodyTrajectory, ObjectTrajectory, Plan, Planner, PlanningTask, TimeSeries
from corekit_mpcc.config import MpccConfig
from corekit_mpcc.motion import Motion
from corekit_mpcc.plan_certificate import certify_plan
from corekit_mpcc.resolved_task import ResolvedTask, resolve_task
from corekit_mpcc.transcription.initial_guess import find_touching_coordinates
from corekit_mpcc.transcription.stage import Stage
from corekit_mpcc.transcription.variables import Block, Blocks
from corekit_mpcc.two_phase_search import PreparedPrograms, TwoPhaseSearch

__all__ = ["IpoptMpcc", "motion_from_plan"]


def _ignore(_sentence: str) -> None:
    pass


@final
class IpoptMpcc(Planner):
    """Motions through contact as a program with complementarity constraints, in two phases.

    Equations: `transcription.stage`; phases of the search: `two_phase_search`; certificate: `plan_certificate`.
    The planner reuses prepared programs for every target, friction and start. Their derivatives are cached on disk.

    Args:
        config: the task and the options of the search.
        context: not used.
    """

    def __init__(self, config: MpccConfig, context: BuildContext | None = None) -> None:
        self._config = config
        self._notes: list[str] = []
        self._report: Callable[[str], None] = _ignore
        self._programs = PreparedPrograms()

    @property
    def prepared(self) -> int:
        """Count of prepared programs."""
        return len(self._programs)

    def plan(
        self, task: PlanningTask, progress: Callable[[Mapping[str, float]], None]
    ) -> tuple[Plan, SolveInfo]:
        """Search and certify a plan; the status is CONVERGED only if the certificate holds.

        Raises:
            ConfigError: the task does not fit the world, or the object is out of reach at the start.
            CompositionError: a body that this planner does not support.
        """
        return self.plan_for(self._config, task, progress)

    def plan_for(
        self, config: MpccConfig, task: PlanningTask, progress: Callable[[Mapping[str, float]], None]
    ) -> tuple[Plan, SolveInfo]:
        """Plan for another task with the same prepared programs."""
        self._report = task.report
        resolved_task = resolve_task(config, task)
        self._notes.clear()
        touching = {contact.obstacle for contact in config.contacts}
        for name in task.obstacles:
            if name not in touching:
                self._add_note(f"obstacle {name!r} is not one of the contacts: the plan does not avoid it")
        return self._solve(
            resolved_task,
            find_touching_coordinates(resolved_task),
            _warm_start_of(task.previous_plan),
            progress,
        )

    def _add_note(self, sentence: str) -> None:
        """Report a sentence immediately, because the search takes long, and store it for the plan."""
        self._notes.append(sentence)
        self._report(sentence)

    def _solve(
        self,
        resolved_task: ResolvedTask,
        q: Array,
        earlier: tuple[Motion | None, Mapping[str, Array] | None],
        progress: Callable[[Mapping[str, float]], None],
    ) -> tuple[Plan, SolveInfo]:
        config = resolved_task.config
        start_time, preparing = time.perf_counter(), self._programs.preparing
        search = TwoPhaseSearch(resolved_task, self._programs, q, progress)
        stage, motion = search.run(*earlier)
        certificate = certify_plan(resolved_task, motion, q)
        certificate["seconds"] = {
            "search": round(sum(entry["seconds"] for entry in search.record), 3),
            "preparing": round(self._programs.preparing - preparing, 3),
            "all": round(time.perf_counter() - start_time, 3),
        }
        # of the program that contains every mode at the plan; None if it was not solved or ended dearer
        certificate["modes_nearby_cheaper_by"] = search.record[-1]["gap"]
        status = search.outcome.status
        if status.solved and not certificate["certified"]:
            status = Status.INACCURATE
        iterations = sum(int(entry["iterations"]) for entry in search.record)
        info = SolveInfo(status, iterations, _residuals(certificate), "ipopt-mpcc")
        plan = Plan(
            time=np.linspace(0.0, config.horizon.duration, config.horizon.steps + 1),
            bodies=_body_trajectories(resolved_task, stage, motion),
            objects={config.object: _object_trajectory(resolved_task, motion)},
            tracks=_time_series(motion),
            certificate={"status": search.outcome.value, **certificate},
            solve_log=tuple(search.record),
            notes=tuple(self._notes),
            warm_start=_make_warm_start(motion, search.multipliers),
        )
        return plan, info


def _make_warm_start(motion: Motion, multipliers: Mapping[str, Array]) -> dict[str, Array]:
    return {
        "x": motion.x,
        "start": motion.start,
        "sizes": np.array([block.size for block in motion.variables], dtype=float),
        "names": np.array([block.name for block in motion.variables]),
        **{f"multipliers {name}": value for name, value in multipliers.items()},
    }


def motion_from_plan(plan: Plan) -> Motion:
    """Return a copy of the motion in a plan's warm start.

    Raises:
        ResultsError: another planner made the plan, or its arrays are no motion.
    """
    kept = plan.warm_start
    for name, dimensions in (("names", 1), ("sizes", 1), ("start", 1), ("x", 2)):
        if name not in kept:
            raise ResultsError(f"the warm start of the earlier plan has no {name!r}: another planner made it")
        sound = kept[name].dtype.kind == "U" if name == "names" else _is_finite(kept[name])
        if not sound or kept[name].ndim != dimensions:
            raise _damaged(f"{name!r} is not made of {'texts' if name == 'names' else 'finite numbers'}")
    names, sizes, x = kept["names"].tolist(), kept["sizes"], kept["x"]
    if not len(set(names)) == len(names) == len(sizes) or (sizes < 0).any() or (sizes != sizes.round()).any():
        raise _damaged("'names' and 'sizes' are no blocks")
    if not len(x) or {int(sizes.sum()), x.shape[1]} != {len(kept["start"])}:
        raise _damaged("'x' and 'start' do not have the variables of its blocks")
    blocks = Blocks([Block.create(name, int(size)) for name, size in zip(names, sizes, strict=True)])
    return Motion(blocks, kept["start"].copy(), x.copy())


def _is_finite(array: Array) -> bool:
    return array.dtype.kind == "f" and bool(np.isfinite(array).all())


def _damaged(said: str) -> ResultsError:
    return ResultsError(f"the warm start of the earlier plan is damaged: {said}")


def _warm_start_of(plan: Plan | None) -> tuple[Motion | None, Mapping[str, Array] | None]:
    """Return the motion and the multipliers of an earlier plan; ResultsError if they are none."""
    if plan is None:
        return None, None
    prefix = "multipliers "
    multipliers = {
        name.removeprefix(prefix): value for name, value in plan.warm_start.items() if name.startswith(prefix)
    }
    for name, value in multipliers.items():
        if not _is_finite(value) or value.ndim != 2:
            raise _damaged(f"the multipliers {name!r} are no table of finite numbers")
    return motion_from_plan(plan), multipliers or None


def _residuals(certificate: Mapping[str, Any]) -> Residuals:
    worst = {"normal": 0.0, "friction": 0.0, "cone": 0.0}
    for name, entry in certificate["complementarity"].items():
        kind = name.split(".")[0]
        worst[kind] = max(worst[kind], entry["residual"])
    equation = max(entry["residual"] for entry in certificate["equations"].values())
    return Residuals(worst["normal"], worst["friction"], worst["cone"], equation)


def _body_trajectories(
    resolved_task: ResolvedTask, stage: Stage, motion: Motion
) -> dict[str, BodyTrajectory]:
    out = {}
    for name in resolved_task.bodies.layouts:
        q, u = resolved_task.bodies.slices(name)
        inputs = motion.with_start("tau")[:, u] if stage.dynamic else None
        out[name] = BodyTrajectory(
            q=motion.with_start("l")[:, q], v=motion.with_start("v")[:, q], inputs=inputs
        )
    return out


def _object_trajectory(resolved_task: ResolvedTask, motion: Motion) -> ObjectTrajectory:
    ball, count = resolved_task.ball, len(motion.x) + 1
    quat = motion.with_start("quat") if ball.turns else np.tile(ball.quat_wxyz, (count, 1))
    position = motion.with_start("centre") if ball.translates else np.tile(ball.position, (count, 1))
    target = Pose(resolved_task.target_position, rotation_from_quat_wxyz(resolved_task.target_quat_wxyz))
    return ObjectTrajectory(position=position, quat_wxyz=quat, target=target)


_DESCRIPTIONS = {
    "omega": ("rad/s", "angular velocity of the object", ("xyz",)),
    "drift": ("m/s", "velocity of the object's centre", ("xyz",)),
    "f_z": ("N", "normal force on the object", ()),
    "f_t": ("N", "friction along the directions of the pyramid", ("direction",)),
    "gamma": ("m/s", "slip", ()),
    "x": ("m", "the object's centre in the axes of the shape", ("xyz",)),
}


def _time_series(motion: Motion) -> dict[str, TimeSeries]:
    out = {}
    for block in motion.variables:
        kind = block.name.split(".")[0]
        if kind in _DESCRIPTIONS:
            unit, description, axes = _DESCRIPTIONS[kind]
            values = motion.with_start(block.name)
            out[block.name] = TimeSeries(
                values=values if axes else values[:, 0], unit=unit, about=description, axes=axes
            )
    return out
