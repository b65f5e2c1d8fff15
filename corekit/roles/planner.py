"""The planner role: motions through contact.

`corekit plan FILE` composes a scenario and calls a planner that makes a `Plan` of a `PlanningTask`: what is to be done
is in the planner's own options. A planner may solve tasks of a class of its own; it is then called from Python.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.errors import PluginError
from corekit.geometry.frames import Pose
from corekit.geometry.shapes import Shape
from corekit.roles.component import Component

__all__ = [
    "BodyTrajectory",
    "ObjectTrajectory",
    "Plan",
    "Planner",
    "PlanningTask",
    "StaticObstacle",
    "TaskBody",
    "TimeSeries",
]


@frozen(eq=False)
class TaskBody:
    """A body of the scenario.

    Args:
        model: computes it.
        abilities: what the model's spec declares.
        start: the state the scenario begins in; a copy, at time 0.
    """

    model: Any
    abilities: frozenset[str]
    start: State


@frozen(eq=False)
class StaticObstacle:
    """An obstacle of the scenario where it is at time 0; the shape's own offset is part of the pose."""

    shape: Shape
    pose: Pose


def _nothing_to_simulate(_inputs: Mapping[str, Array], _times: Array) -> Mapping[str, BodyTrajectory]:
    raise PluginError("this task was made without a scenario: there is nothing to simulate")


@frozen(eq=False, kw_only=True)
class PlanningTask:
    """The world in which something is to be done.

    Args:
        bodies: by name, in the order of the scenario.
        obstacles: by name.
        step, duration: of the scenario [s].
        simulate: a run of the scenario with other inputs: (stacked inputs by body, each of shape (T, nu), held over the
            interval that ends there; increasing instants [s] from 0 on, whole numbers of steps) → how every body
            moves, at these instants. Bodies without inputs there keep the scenario's. Controllers are left out. Raises
            PluginError where arrays do not fit, StepFailed where a run cannot go on.
        previous_plan: an earlier plan to begin from, or None.
        folder: where the planner may write files of its own, or None.
        report: receives sentences for the user while the planner is at work: that it compiles, and what it waits for.
    """

    bodies: Mapping[str, TaskBody]
    obstacles: Mapping[str, StaticObstacle] = field(factory=dict)
    step: float = 0.0
    duration: float = 0.0
    simulate: Callable[[Mapping[str, Array], Array], Mapping[str, BodyTrajectory]] = _nothing_to_simulate
    previous_plan: Plan | None = None
    folder: Path | None = None
    report: Callable[[str], None] = field(default=lambda _sentence: None)


@frozen(eq=False, kw_only=True)
class TimeSeries:
    """One planned quantity over time: values of shape (T, …), their unit, what they are, names of the axes after T."""

    values: Array
    unit: str = ""
    about: str = ""
    axes: tuple[str, ...] = ()


@frozen(eq=False, kw_only=True)
class BodyTrajectory:
    """How one body moves, at T instants.

    Args:
        q, v: coordinates and velocities, shapes (T, nq), (T, nv).
        inputs: stacked inputs u held over the interval that ends there, shape (T, nu); None where they are not planned.
    """

    q: Array
    v: Array
    inputs: Array | None = None


@frozen(eq=False, kw_only=True)
class ObjectTrajectory:
    """How the first shape of a body that is not driven moves, at T instants.

    Args:
        position, quat_wxyz: of the shape's origin and axes, shapes (T, 3) [m], (T, 4).
        target: pose to be reached at the end.
    """

    position: Array
    quat_wxyz: Array
    target: Pose


@frozen(eq=False, kw_only=True)
class Plan:
    """What a planner found.

    Args:
        time: instants [s], shape (T,), from 0 on.
        bodies: motion of every body that is driven.
        objects: motion of every body that is moved by them.
        tracks: further quantities by name: forces, gaps, slip.
        certificate: what the planner measured of it, in physical units: plain data for JSON. Groups `equations` and
            `complementarity` of `{name: {residual, tolerance, unit}}` are shown as a table. Whether the plan is
            certified is not its planner's word: `corekit plan` simulates the scenario over every interval.
            `certified`: False, or a status that is not solved, is believed.
        solve_log: what was solved on the way, one record each: plain data.
        notes: sentences for the user.
        warm_start: arrays from which the planner can begin again.
    """

    time: Array
    bodies: Mapping[str, BodyTrajectory]
    objects: Mapping[str, ObjectTrajectory] = field(factory=dict)
    tracks: Mapping[str, TimeSeries] = field(factory=dict)
    certificate: Mapping[str, Any] = field(factory=dict)
    solve_log: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    warm_start: Mapping[str, Array] = field(factory=dict)


class Planner(Component, ABC):
    """Finds trajectories of state, input and contact force that fulfil a task."""

    @abstractmethod
    def plan(self, task: Any, progress: Callable[[Mapping[str, float]], None]) -> tuple[Any, SolveInfo]:
        """Solve the task (`PlanningTask`, or the planner's own class); returns the plan and how the solve went.

        `progress` gets iteration, objective, infeasibility and complementarity by name.
        """
