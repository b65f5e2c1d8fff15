"""Plans simulated: the planned inputs in the scenario, alone or with a joint PD, and where the object ends.

The planner's inputs are held over its intervals; the simulation has steps of its own. With the PD

    u = τ + k·(q* − q) + d·(v* − v),   q* linear and v* constant between the planner's instants     (1)

where −k·q − d·v is part of the model (its options are changed by the plan file's `replay.set`), and what remains of (1)
is an input over time. A plan that is tracked has the inputs of a controller instead, and the world as it is, or others
that differ from it and of which the controller is not told.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from corekit.data.array_file import write_arrays
from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit.geometry.frames import quat_wxyz_from_rotation
from corekit.roles.planner import Plan, TaskBody
from corekit.scenario.dump import resolved_document
from corekit.scenario.load import from_document, load
from corekit.scenario.scenario import Scenario
from corekit_record.results import Results
from corekit_run.output_file import write_text, writing
from corekit_run.running import run
from corekit_study.plan_file import PlanFile
from corekit_study.plan_tracking import plan_motion
from corekit_study.progress_display import ShowProgress

__all__ = ["RolloutResult", "assess_rollout", "roll_out_plan"]

_MOTION = "motion.npz"
_TRACKED = "tracking"


@frozen(eq=False, kw_only=True)
class RolloutResult:
    """End of a simulated plan.

    Args:
        name: `open-loop`, `feedback`, `tracking`, or `tracking-WORLD` in a world that differs from the planned one.
        folder: of the run.
        objects: per object: angle [rad] and distance [m] from the target and from the end of the plan.
        in_contact: share of the steps with a contact. status: of the run. arrived: whether all are near their targets.
    """

    name: str
    folder: Path
    objects: dict[str, dict[str, float]]
    in_contact: float
    status: str
    arrived: bool

    @property
    def is_as_planned(self) -> bool:
        """Whether its world is the planned one."""
        return not self.name.startswith(f"{_TRACKED}-")

    def as_data(self) -> dict[str, Any]:
        """Return the result as JSON can hold it."""
        return {
            "name": self.name, "folder": str(self.folder), "objects": self.objects, "in_contact": self.in_contact,
            "status": self.status, "arrived": self.arrived,
        }  # fmt: skip


def roll_out_plan(
    file: PlanFile, plan: Plan, bodies: Mapping[str, TaskBody], folder: Path, show: ShowProgress
) -> list[RolloutResult]:
    """Simulate a plan with inputs, without feedback and with it where the file gives any.

    Raises:
        ConfigError: the changes to the scenario do not hold the PD they are said to hold, or do not fit it.
        StepFailed: a step of the simulation has no answer.
    """
    table, driven = file.replay, [name for name, motion in plan.bodies.items() if motion.inputs is not None]
    if table is None or not driven:
        return []
    missing = [name for name in driven if name not in table.start]
    if missing:
        said = "must name the entry of the body's initial table that takes its coordinates"
        raise ConfigError(
            [Mistake(f"replay.start.{name}", "nothing", said) for name in missing], "the plan file"
        )
    assert file.world is not None
    assert file.loaded is not None
    allowed = file.loaded.allow_code
    kinds = [("open-loop", (0.0, 0.0), load(file.world, file.overrides, allow_code=allowed))]
    if table.stiffness or table.damping:
        fed_back = load(file.world, [*file.overrides, *table.overrides], allow_code=allowed)
        _check_gains(fed_back, bodies, driven, table.stiffness, table.damping)
        kinds.append(("feedback", (table.stiffness, table.damping), fed_back))
    if table.tracking is not None:
        write_arrays(folder / _MOTION, plan_motion(plan, kinds[0][2], table.tracking))
        kinds.append((_TRACKED, (0.0, 0.0), kinds[0][2]))
        for other, changes in table.tracking.worlds.items():
            differing = load(file.world, [*file.overrides, *changes], allow_code=allowed)
            kinds.append((f"{_TRACKED}-{other}", (0.0, 0.0), differing))
    done = []
    for name, gains, scenario in kinds:
        ready = _with_plan(scenario, file, plan, bodies, folder, name, gains)
        with show(f"{file.name}, {name}") as display:
            results = run(ready, directory=folder / f"replay-{name}", progress=display, warn=display.warn)
        done.append(assess_rollout(name, results, plan, table.angle, table.distance))
    return done


def _check_gains(
    scenario: Scenario,
    bodies: Mapping[str, TaskBody],
    driven: Sequence[str],
    stiffness: float,
    damping: float,
) -> None:
    """Check that the changed model differs from the planned one by −k·q − d·v exactly."""
    simulation = scenario.compose()
    chance = np.random.default_rng(0)
    for body, state in zip(simulation.bodies, simulation.state.body_states, strict=True):
        if body.name not in driven:
            continue
        planned = bodies[body.name].model
        q = state.q + 1e-2 * chance.standard_normal(state.q.size)
        v = 1e-2 * chance.standard_normal(state.v.size)
        forces = []
        for model in (body.model, planned):
            here = bodies[body.name].start.copy()
            here.q[:], here.v[:] = q, v
            force = np.zeros(v.size)
            model.compute_mass_and_force(
                here, np.zeros(body.description.input_size), model.new_mass_matrix(), force
            )
            forces.append(force)
        wanted = -stiffness * q - damping * v
        off = float(np.abs(forces[0] - forces[1] - wanted).max())
        if off > 1e-9 * max(1.0, float(np.abs(forces[0]).max())):
            said = (
                f"must make body {body.name!r} differ from the planned one by −{stiffness:g}·q − {damping:g}·v, and by "
                "nothing else: add the stiffness and damping of the PD to the model's own"
            )
            raise ConfigError(
                [Mistake("replay.set", f"a force that is off by {off:.3g}", said)], "the plan file"
            )


def _with_plan(
    scenario: Scenario,
    file: PlanFile,
    plan: Plan,
    bodies: Mapping[str, TaskBody],
    folder: Path,
    name: str,
    gains: tuple[float, float],
) -> Scenario:
    """Make the scenario with the plan's start and inputs, and write it beside the plan, ready to run."""
    import tomli_w

    assert file.replay is not None
    document = resolved_document(scenario)
    step = float(document["time"]["step"])
    document["name"] = f"{file.name}-{name}"
    document["time"]["duration"] = float(plan.time[-1])
    for body in document["bodies"]:
        motion = plan.bodies.get(body["name"])
        if motion is None or motion.inputs is None:
            continue
        entry = file.replay.start[body["name"]]
        body["initial"] = {**body.get("initial", {}), entry: motion.q[0].tolist()}
        if name.startswith(_TRACKED):
            body["inputs"] = []
            continue
        grid = np.arange(round(plan.time[-1] / step) + 1) * step
        u = _inputs(plan, motion.q, motion.v, motion.inputs, grid, step, gains)
        body["inputs"], first = [], 0
        for channel in bodies[body["name"]].model.description.inputs:
            path = folder / f"inputs-{name}-{body['name']}-{channel.name}.csv"
            _write_csv(path, grid, u[:, first : first + channel.size])
            first += channel.size
            body["inputs"].append({"channel": channel.name, "signal": {"kind": "csv", "file": path.name}})
    if name.startswith(_TRACKED) and (tracking := file.replay.tracking) is not None:
        document["time"]["duration"] += tracking.settle
        options = {**tracking.options, "file": _MOTION}
        law = {"name": _TRACKED, "use": tracking.use, "every": tracking.every, "options": options}
        document["controllers"] = [*document.get("controllers", []), law]
    path = folder / f"replay-{name}.toml"
    write_text(path, tomli_w.dumps(document))
    return from_document(document, source=path, allow_code=scenario.allow_code)


def _inputs(
    plan: Plan, q: Array, v: Array, inputs: Array, grid: Array, step: float, gains: tuple[float, float]
) -> Array:
    """Return (1) without −k·q − d·v at the beginning of every step of the simulation, shape (len(grid), nu)."""
    interval = np.clip(np.searchsorted(plan.time, grid + 0.5 * step), 1, len(plan.time) - 1)
    share = (grid + step - plan.time[interval - 1]) / np.diff(plan.time)[interval - 1]
    share = np.clip(share, 0.0, 1.0)[:, None]
    ahead = (1.0 - share) * q[interval - 1] + share * q[interval]
    stiffness, damping = gains
    if not stiffness and not damping:
        return inputs[interval]
    return inputs[interval] + stiffness * ahead + damping * v[interval]


def _write_csv(path: Path, times: Array, values: Array) -> None:
    with writing(path), path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["time", *(f"value_{i}" for i in range(values.shape[1]))])
        table.writerows(
            [repr(float(time)), *map(repr, row)] for time, row in zip(times, values.tolist(), strict=True)
        )


def assess_rollout(name: str, results: Results, plan: Plan, angle: float, distance: float) -> RolloutResult:
    """Assess where the objects of a plan end in a run, to arrive within an angle [rad] and a distance [m]."""
    objects, arrived = {}, True
    frames = results.frames
    for body, moved in plan.objects.items():
        at = next(i for i, frame in enumerate(frames) if frame.partition(".")[0] == body)
        quat, place = results.frame_quat_wxyz[-1, at], results.frame_position[-1, at]
        target = quat_wxyz_from_rotation(moved.target.rotation)
        errors = {
            "angle_from_target": _angle(quat, target),
            "angle_from_plan": _angle(quat, moved.quat_wxyz[-1]),
            "distance_from_target": float(np.linalg.norm(place - moved.target.position)),
            "distance_from_plan": float(np.linalg.norm(place - moved.position[-1])),
        }
        objects[body] = errors
        near = errors["angle_from_target"] <= angle and errors["distance_from_target"] <= distance
        arrived = arrived and near
    contacts = results.solves.contacts
    return RolloutResult(
        name=name,
        folder=results.path,
        objects=objects,
        in_contact=float(np.mean(np.asarray(contacts) > 0)),
        status=results.status,
        arrived=arrived,
    )


def _angle(a: Array, b: Array) -> float:
    """Return the angle of the rotation between two orientations [rad], exact near zero."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    vector = b[0] * a[1:] - a[0] * b[1:] - np.cross(a[1:], b[1:])
    return 2.0 * math.atan2(float(np.linalg.norm(vector)), abs(float(a @ b)))
