"""The tracking controller on the reference pendulum: it passes the kit, holds a motion, and refuses bad files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

from corekit.data.array_file import write_arrays
from corekit.errors import ConfigError, ControlError
from corekit.roles.component import BuildContext
from corekit_feedback.config import TrackingLqrConfig
from corekit_feedback.tracking_lqr import TrackingLqr
from corekit_testing.conformance import conformance
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.small_world import small_world

STEP, COUNT = 0.01, 300
HELD = tempfile.TemporaryDirectory()
FILE = Path(HELD.name) / "motion.npz"


def pendulum(angles):
    config = PendulumConfig(lengths=(0.5, 0.3), masses=(1.0, 2.0), angles=angles, rates=(0.0, 0.0))
    return small_world(
        {"arm": Pendulum(config)}, ImplicitEuler(ImplicitEulerConfig(), BuildContext(step=STEP)), step=STEP
    )


def upright():
    """Both rods stand on their heads, where they fall; differences of steps about it, by one step each."""
    rest = np.array([np.pi, np.pi, 0.0, 0.0])

    def end(x, u):
        sim = pendulum(tuple(rest[:2] + x[:2]))
        sim.state.v[:] = x[2:]
        sim.inputs["arm"]["torque"] = u
        sim.step()
        return np.concatenate([sim.state.q, sim.state.v]) - rest

    moved, none, one = 1e-5 * np.eye(4), np.zeros(4), np.zeros(2)
    a = np.stack([(end(each, one) - end(-each, one)) / 2e-5 for each in moved], axis=1)
    b = np.stack([(end(none, each) - end(none, -each)) / 2e-2 for each in 1e-2 * np.eye(2)], axis=1)
    return {
        "time": STEP * np.arange(COUNT + 1), "q": np.tile(rest[:2], (COUNT + 1, 1)), "v": np.zeros((COUNT + 1, 2)),
        "inputs": np.zeros((COUNT, 2)), "chart": np.tile(np.eye(2), (COUNT + 1, 1, 1)),
        "a": np.tile(a, (COUNT, 1, 1)), "b": np.tile(b, (COUNT, 1, 1)), "c": np.zeros((COUNT, 4)),
        "bodies": np.array(["arm"]), "velocities": np.array([2.0]),
        "channels": np.array(["arm.torque"]), "channel_sizes": np.array([2.0]),
    }  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def motion_file():
    """Made for those who run these tests, not for all who collect them: it compiles and steps."""
    write_arrays(FILE, upright())


WEIGHTS = {"coordinates": {"arm": 100.0}, "rates": {"arm": 1.0}}
test_kit = conformance("controllers", "tracking-lqr", {"file": str(FILE), **WEIGHTS})


def test_a_pendulum_on_its_head_is_held_there():
    left = []
    for tracked in (False, True):
        sim = pendulum((np.pi + 0.05, np.pi - 0.05))
        if tracked:
            sim.add_controller(TrackingLqr(TrackingLqrConfig(file=FILE, effort=0.01, **WEIGHTS)))
        sim.run(STEP * COUNT)
        left.append(np.abs(sim.state.q - np.pi).max())
    assert left[0] > 1.0
    # an upright pendulum of these lengths falls apart by e in about 0.2 s: 3 s would take any error beyond 1
    assert left[1] < 1e-4


def test_beyond_its_end_it_goes_on_as_in_its_last_interval():
    sim, law = pendulum((3.0, 3.1)), TrackingLqr(TrackingLqrConfig(file=FILE, **WEIGHTS))
    answers = []
    for time in (STEP * (COUNT - 1), STEP * (COUNT + 50)):
        sim.state.time = time
        answers.append(law.compute_inputs(sim)["arm"]["torque"])
    np.testing.assert_array_equal(answers[0], answers[1])
    assert np.abs(answers[0]).min() > 0.0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"a": None}, "must hold 'a' of a motion"),
        ({"c": np.full((COUNT, 4), np.nan)}, "must be finite"),
        ({"b": np.zeros((COUNT, 4, 3))}, "'b' must have shape"),
    ],
)
def test_a_file_that_holds_no_motion_is_refused(tmp_path, changes, said):
    arrays = {name: each for name, each in {**upright(), **changes}.items() if each is not None}
    write_arrays(tmp_path / "bad.npz", arrays)
    with pytest.raises(ConfigError, match=said):
        TrackingLqr(TrackingLqrConfig(file=tmp_path / "bad.npz"))


def test_a_missing_file_an_unknown_body_and_another_world_are_named(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        TrackingLqr(TrackingLqrConfig(file=tmp_path / "none.npz"))
    with pytest.raises(ConfigError, match="bodies of the motion: arm"):
        TrackingLqr(TrackingLqrConfig(file=FILE, coordinates={"leg": 1.0}))
    with pytest.raises(ValueError, match="must be finite and at least 0"):
        TrackingLqrConfig(file=FILE, rates={"arm": -1.0})
    config = PendulumConfig(lengths=(0.5,), masses=(1.0,), angles=(0.1,), rates=(0.0,))
    euler = ImplicitEuler(ImplicitEulerConfig(), BuildContext(step=STEP))
    other = small_world({"arm": Pendulum(config)}, euler, step=STEP)
    with pytest.raises(ControlError, match="the motion is of a world of arm with 2 coordinates"):
        TrackingLqr(TrackingLqrConfig(file=FILE)).compute_inputs(other)
