"""Tolerances of the target are distances: of the centre, and of the orientation by its angle, not of components."""

import numpy as np
import pytest

from corekit.data.status import Status
from corekit_mpcc.config import MpccConfig, SearchOptions
from corekit_mpcc.cost import Cost
from corekit_mpcc.planner import IpoptMpcc
from corekit_mpcc.task import Bounds, Contact, Horizon, Rotation, Target


def plan(task, target, **more):
    config = MpccConfig(
        object="ball",
        target=target,
        contacts=(Contact(body="plate", frame="plate"),),
        friction=0.6,
        directions=6,
        horizon=Horizon(duration=1.0, steps=8),
        search=SearchOptions(batched="never"),
        **more,
    )
    found, info = IpoptMpcc(config).plan(task, lambda _values: None)
    assert info.status is Status.CONVERGED
    assert found.certificate["certified"] is True
    return found


@pytest.mark.parametrize("tolerance", [5e-3, 2e-3])
def test_a_thrown_ball_ends_within_the_distance_of_its_target(small, tolerance):
    # costs of motion leave the ball as far below and beside the target as they may: 1.73 tolerances by components
    target = Target(
        rotation=Rotation(axis=(0.0, 0.0, 1.0), angle=0.0),
        position=(0.01, 0.01, 0.15),
        position_tolerance=tolerance,
        angle_tolerance=None,
    )
    bounds = Bounds(coordinate=(-0.5, 0.5), normal_force=(0.0, 10.0))
    found = plan(small.task(ball=small.Ball(free=True)), target, bounds=bounds)
    distance = np.linalg.norm(found.objects["ball"].position[-1] - target.position)
    assert distance <= tolerance + found.certificate["equations"]["place"]["tolerance"]
    assert distance >= 0.99 * tolerance
    assert distance == pytest.approx(found.certificate["distance_from_target"], abs=1e-12)


@pytest.mark.parametrize("tolerance", [0.05, 0.2])
def test_a_turned_ball_ends_within_the_angle_of_its_target(small, tolerance):
    # nothing but the tolerance asks for the turn, about an axis between two: 1.41 tolerances by components
    angle = 0.6
    target = Target(rotation=Rotation(axis=(1.0, 1.0, 0.0), angle=angle), angle_tolerance=tolerance)
    bounds = Bounds(coordinate=(-0.5, 0.5))
    found = plan(small.task(), target, bounds=bounds, cost=Cost(running=0.0, terminal=0.0))
    away = 2.0 * np.arcsin(np.sqrt(found.certificate["orientation_error"]))
    chord = 2.0 * np.sin(0.5 * tolerance)
    assert 2.0 * np.sin(0.5 * away) <= chord + found.certificate["equations"]["orientation"]["tolerance"]
    assert away >= 0.99 * tolerance
