"""The planner `ipopt-mpcc`: bodies that turn or move a ball by touching it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.errors import ResultsError
from corekit.geometry.frames import Pose, rotation_from_quat_wxyz
from corekit.roles.component import BuildContext, InternalState
from corekit.roles.planner import BodyTrajectory, ObjectTrajectory, Plan, Planner, PlanningTask, TimeSeries
from corekit_mpcc.certificate import certify
from corekit_mpcc.config import MpccConfig
from corekit_mpcc.motion import Motion
from corekit_mpcc.search import Programs, Search
from corekit_mpcc.situation import Situation, situation_of
from corekit_mpcc.transcription.seed import touching_start
from corekit_mpcc.transcription.stage import Stage
from corekit_mpcc.transcription.variables import Block, Blocks

__all__ = ["IpoptMpcc", "motion_of"]


def _unheard(_sentence: str) -> None:
    pass


@final
class IpoptMpcc(Planner):
    """Motions through contact as a program with complementarity constraints, in two stages.

    Equations: `transcription.stage`; order of the search: `search`; what a plan is worth: `certificate`.
    Prepared programs are kept as long as the planner, their derivatives on disk: they serve every target,
    friction and start.

    Args:
        config: the task and how it is searched.
        context: not needed.
    """

    def __init__(self, config: MpccConfig, context: BuildContext | None = None) -> None:
        self._config = config
        self._notes: list[str] = []
        self._tell: Callable[[str], None] = _unheard
        self._programs = Programs()

    @property
    def prepared(self) -> int:
        """How many programs were prepared."""
        return len(self._programs)

    def internal_state(self) -> InternalState:
        return {}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        pass

    def plan(
        self, task: PlanningTask, progress: Callable[[Mapping[str, float]], None]
    ) -> tuple[Plan, SolveInfo]:
        """Search, certify, and say how it went; CONVERGED only if the certificate holds.

        Raises:
            ConfigError: the task does not fit the world, or the object is out of reach at the start.
            CompositionError: bodies that cannot be planned for.
        """
        return self.plan_for(self._config, task, progress)

    def plan_for(
        self, config: MpccConfig, task: PlanningTask, progress: Callable[[Mapping[str, float]], None]
    ) -> tuple[Plan, SolveInfo]:
        """The same for another task, with the programs that are prepared already."""
        self._tell = task.report
        situation = situation_of(config, task)
        self._notes.clear()
        touching = {contact.obstacle for contact in config.contacts}
        for name in task.obstacles:
            if name not in touching:
                self._announce(f"obstacle {name!r} is not among the contacts: the plan does not avoid it")
        return self._answer(situation, touching_start(situation), _earlier(task.previous_plan), progress)

    def _announce(self, sentence: str) -> None:
        """Told at once, as the search takes a while, and again with the plan."""
        self._notes.append(sentence)
        self._tell(sentence)

    def _answer(
        self,
        situation: Situation,
        q: Array,
        earlier: tuple[Motion | None, Mapping[str, Array] | None],
        progress: Callable[[Mapping[str, float]], None],
    ) -> tuple[Plan, SolveInfo]:
        config = situation.config
        began, preparing = time.perf_counter(), self._programs.preparing
        search = Search(situation, self._programs, q, progress)
        stage, motion = search.run(*earlier)
        certificate = certify(situation, motion, q)
        certificate["seconds"] = {
            "search": round(sum(entry["seconds"] for entry in search.record), 3),
            "preparing": round(self._programs.preparing - preparing, 3),
            "all": round(time.perf_counter() - began, 3),
        }
        status = search.ending.status
        if status.solved and not certificate["certified"]:
            status = Status.INACCURATE
        iterations = sum(int(entry["iterations"]) for entry in search.record)
        info = SolveInfo(status, iterations, _residuals(certificate), "ipopt-mpcc")
        plan = Plan(
            time=np.linspace(0.0, config.horizon.duration, config.horizon.steps + 1),
            bodies=_bodies(situation, stage, motion),
            objects={config.object: _object(situation, motion)},
            tracks=_tracks(motion),
            certificate={"status": search.ending.value, **certificate},
            solve_log=tuple(search.record),
            notes=tuple(self._notes),
            warm_start=_memory(motion, search.multipliers),
        )
        return plan, info


def _memory(motion: Motion, multipliers: Mapping[str, Array]) -> dict[str, Array]:
    return {
        "x": motion.x,
        "start": motion.start,
        "sizes": np.array([block.size for block in motion.variables], dtype=float),
        "names": np.array([block.name for block in motion.variables]),
        **{f"multipliers {name}": value for name, value in multipliers.items()},
    }


def motion_of(plan: Plan) -> Motion:
    """The motion in a plan's memory, a copy.

    Raises:
        ResultsError: the memory is another planner's.
    """
    try:
        names, sizes = plan.warm_start["names"].tolist(), plan.warm_start["sizes"].astype(int).tolist()
        start, x = plan.warm_start["start"].copy(), plan.warm_start["x"].copy()
    except KeyError as error:
        raise ResultsError(
            f"the earlier plan has no {error} in its memory: another planner made it"
        ) from None
    blocks = Blocks([Block.of(name, size) for name, size in zip(names, sizes, strict=True)])
    return Motion(blocks, start, x)


def _earlier(plan: Plan | None) -> tuple[Motion | None, Mapping[str, Array] | None]:
    """The motion of an earlier plan, and its multipliers."""
    if plan is None:
        return None, None
    head = "multipliers "
    found = {
        name.removeprefix(head): value for name, value in plan.warm_start.items() if name.startswith(head)
    }
    return motion_of(plan), found or None


def _residuals(certificate: Mapping[str, Any]) -> Residuals:
    worst = {"normal": 0.0, "friction": 0.0, "cone": 0.0}
    for name, entry in certificate["complementarity"].items():
        kind = name.split(".")[0]
        worst[kind] = max(worst[kind], entry["residual"])
    equation = max(entry["residual"] for entry in certificate["equations"].values())
    return Residuals(worst["normal"], worst["friction"], worst["cone"], equation)


def _bodies(situation: Situation, stage: Stage, motion: Motion) -> dict[str, BodyTrajectory]:
    out = {}
    for name in situation.bodies.layouts:
        q, u = situation.bodies.slices(name)
        inputs = motion.over_time("tau")[:, u] if stage.dynamic else None
        out[name] = BodyTrajectory(
            q=motion.over_time("l")[:, q], v=motion.over_time("v")[:, q], inputs=inputs
        )
    return out


def _object(situation: Situation, motion: Motion) -> ObjectTrajectory:
    ball, count = situation.ball, len(motion.x) + 1
    turned = motion.over_time("quat") if ball.turns else np.tile(ball.quat_wxyz, (count, 1))
    moved = motion.over_time("centre") if ball.translates else np.tile(ball.position, (count, 1))
    target = Pose(situation.target_position, rotation_from_quat_wxyz(situation.target_quat_wxyz))
    return ObjectTrajectory(position=moved, quat_wxyz=turned, target=target)


_ABOUT = {
    "omega": ("rad/s", "angular velocity of the object", ("xyz",)),
    "drift": ("m/s", "velocity of the object's centre", ("xyz",)),
    "f_z": ("N", "normal force on the object", ()),
    "f_t": ("N", "friction along the directions of the pyramid", ("direction",)),
    "gamma": ("m/s", "slip", ()),
    "x": ("m", "the object's centre in the axes of the shape", ("xyz",)),
}


def _tracks(motion: Motion) -> dict[str, TimeSeries]:
    out = {}
    for block in motion.variables:
        kind = block.name.split(".")[0]
        if kind in _ABOUT:
            unit, about, axes = _ABOUT[kind]
            values = motion.over_time(block.name)
            out[block.name] = TimeSeries(
                values=values if axes else values[:, 0], unit=unit, about=about, axes=axes
            )
    return out
