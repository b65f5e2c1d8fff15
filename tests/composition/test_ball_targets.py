"""The check of certificates from outside the planner: true for a plan made by hand, false for a plan slightly wrong."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from corekit.roles.planner import BodyTrajectory, ObjectTrajectory, Plan, TimeSeries
from corekit.scenario.load import load
from corekit_scenarios.cases.cusp.ball_targets import _LIMITS, check, targets
from corekit_study.plan import planning_task

FORCE, TIMES = 2.0, 4
OPTIONS = {
    "object": "ball",
    "contacts": [{"body": "arm", "frame": "section-3-tip"}],
    "friction": 0.6,
    "target": {"rotation": {"axis": [0.0, 0.0, 1.0], "angle": 0.0}},
}


@pytest.fixture(scope="module")
def bodies():
    return planning_task(load("cusp/ball").compose()).bodies


@pytest.fixture
def parts(bodies):
    """An arm at rest that presses on a ball, its forces from differences of its poses."""
    model, description = bodies["arm"].model, bodies["arm"].model.description
    state = bodies["arm"].start.copy()
    q = 0.06 + 0.01 * np.cos(np.arange(9.0))
    state.v[:] = 0.0
    at, turned = np.zeros((len(description.frames), 3)), np.zeros((len(description.frames), 3, 3))
    frame = description.frames.index("section-3-tip")
    half = description.shapes[[shape.frame for shape in description.shapes].index(frame)].size[1]

    def face(coordinates):
        state.q[:] = coordinates
        model.compute_frame_poses(state, at, turned)
        return at[frame] + turned[frame] @ [0.0, 0.0, half]

    rows = np.stack([(face(q + d) - face(q - d)) / 2e-6 for d in 1e-6 * np.eye(9)], axis=1)
    point = face(q)
    normal = turned[frame][:, 2].copy()
    mass, force = model.new_mass_matrix(), np.zeros(9)
    model.compute_mass_and_force(state, np.zeros(9), mass, force)
    inputs = -force + rows.T @ (FORCE * normal)
    return SimpleNamespace(
        q=np.tile(q, (TIMES, 1)),
        inputs=np.tile(inputs, (TIMES, 1)),
        centre=np.tile(point + 0.05 * normal, (TIMES, 1)),
        omega=np.zeros((TIMES, 3)),
        normal=normal,
    )


def judged(bodies, parts):
    still = np.tile([1.0, 0.0, 0.0, 0.0], (TIMES, 1))
    plan = Plan(
        time=np.linspace(0.0, 0.12, TIMES),
        bodies={"arm": BodyTrajectory(q=parts.q, v=np.zeros((TIMES, 9)), inputs=parts.inputs)},
        objects={"ball": ObjectTrajectory(position=parts.centre, quat_wxyz=still, target=None)},  # type: ignore[arg-type]
        tracks={"omega": TimeSeries(values=parts.omega)},
    )
    left = check(SimpleNamespace(options=OPTIONS), SimpleNamespace(plan=plan, bodies=bodies))  # type: ignore[arg-type]
    return {name for name, limit in _LIMITS.items() if not left[name] <= limit}


def test_an_arm_that_presses_on_a_ball_at_rest_passes(bodies, parts):
    assert judged(bodies, parts) == set()


def test_each_way_of_being_wrong_is_found(bodies, parts):
    parts.inputs[2, 4] += 0.05  # N that nothing balances
    assert judged(bodies, parts) == {"force left [N]"}
    parts.inputs[2, 4] -= 0.05
    parts.centre[1] += 1e-5 * parts.normal  # pressed across a gap
    assert judged(bodies, parts) == {"gap [m]"}
    parts.centre[1] -= 2e-5 * parts.normal  # inside the disk
    assert judged(bodies, parts) == {"gap [m]"}
    parts.centre[1] += 1e-5 * parts.normal
    parts.omega[3:] = [0.0, 0.0, 1.0]  # turns without a torque, and past the target
    assert judged(bodies, parts) == {"torque left [N·m]", "turn"}


def test_targets_are_unit_axes_and_wide_angles() -> None:
    drawn = targets()
    assert len(drawn) == 20
    assert all(np.linalg.norm(axis) == pytest.approx(1.0) for axis, _ in drawn)
    assert all(np.pi / 6 <= angle <= 2 * np.pi / 3 for _, angle in drawn)
