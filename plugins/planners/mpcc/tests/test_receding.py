"""Receding horizon: warm starts from the last plan, and measured states."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit_mpcc.config import MpccConfig, SearchOptions
from corekit_mpcc.plan_certificate import orientation_error
from corekit_mpcc.receding import RecedingHorizon, shift_rows
from corekit_mpcc.task import Bounds, Contact, Horizon, Rotation, Target

STEPS, ANGLE = 8, 0.6
GOAL = np.array([np.cos(ANGLE / 2), 0.0, np.sin(ANGLE / 2), 0.0])


def config(**search) -> MpccConfig:
    return MpccConfig(
        object="ball",
        target=Target(rotation=Rotation(axis=(0.0, 1.0, 0.0), angle=ANGLE)),
        contacts=(Contact(body="plate", frame="plate"),),
        friction=0.6,
        directions=6,
        horizon=Horizon(duration=1.0, steps=STEPS),
        bounds=Bounds(coordinate=(-0.5, 0.5)),
        search=SearchOptions(batched="never", **search),
    )


@pytest.fixture(scope="module")
def horizon(small):
    return RecedingHorizon(config(), small.task())


def test_shifting_repeats_the_last_row() -> None:
    rows = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(shift_rows(rows, 1), rows[[1, 2, 2]])
    np.testing.assert_array_equal(shift_rows(rows, 7), rows[[2, 2, 2]])


def test_every_shift_of_the_horizon_approaches_the_target(horizon, small) -> None:
    first = horizon.current
    assert first.outcome.solved and first.certificate.certified
    away = [orientation_error(first.motion["quat"][0], GOAL)]
    turns = []
    for _ in range(STEPS + 2):
        planned = horizon.current.motion.x[0]
        moment = horizon.advance()
        turns.append(moment)
        assert moment.outcome.solved and moment.certificate.certified
        np.testing.assert_array_equal(moment.motion.start, planned)
        assert orientation_error(moment.motion["quat"][-1], GOAL) <= 1e-6
        away.append(orientation_error(moment.motion["quat"][0], GOAL))
    assert np.all(np.diff(away) < 0) and away[-1] < 0.1 * away[0]
    assert {turn.answered_by for turn in turns} == {"warm"}
    assert np.mean([turn.iterations for turn in turns]) < first.iterations / 3
    # the inputs move the plate as planned and balance the contact
    motion = moment.motion
    before, after = (state[motion.variables["v"]] for state in (motion.start, motion.x[0]))
    needed = small.mass * (after - before)[2] * STEPS + small.drag * after[2] - small.weight
    assert moment.inputs["plate"][2] == pytest.approx(needed + motion["f_z.plate.plate"][0, 0], abs=1e-6)


def test_the_next_plan_begins_at_the_measured_state(horizon) -> None:
    turned = np.array([np.cos(0.02), np.sin(0.02), 0.0, 0.0])
    moment = horizon.advance({"quat": turned})
    np.testing.assert_array_equal(moment.motion.start[moment.motion.variables["quat"]], turned)
    assert moment.outcome.solved and moment.certificate.certified
    assert orientation_error(moment.motion["quat"][-1], GOAL) <= 1e-6


def test_mistakes_are_reported(horizon, small) -> None:
    with pytest.raises(ConfigError, match=r"measured\.speed"):
        horizon.advance({"speed": np.zeros(3)})
    with pytest.raises(ConfigError, match=r"stages"):
        RecedingHorizon(config(stages="kinematic"), small.task())
