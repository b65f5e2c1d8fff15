"""The adaptive law on the reference pendulum, in a world that pulls harder than planned; and its refusals."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

from corekit.data.array_file import write_arrays
from corekit.errors import ConfigError
from corekit.roles.component import BuildContext
from corekit_feedback.adaptive_tracking import AdaptiveTracking
from corekit_feedback.config import AdaptiveTrackingConfig, TrackingLqrConfig
from corekit_feedback.tracking_lqr import TrackingLqr
from corekit_testing.conformance import conformance
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.small_world import small_world

STEP, COUNT = 0.01, 200
HELD = tempfile.TemporaryDirectory()
FILE = Path(HELD.name) / "motion.npz"
ANGLES = (0.6, 0.2)


def arm(gravity=9.81, angles=ANGLES):
    config = PendulumConfig(
        lengths=(0.5, 0.3), masses=(1.0, 2.0), angles=angles, rates=(0.0, 0.0), damping=0.5
    )
    return Pendulum(config, BuildContext(gravity=np.array([0.0, 0.0, -gravity])))


def world(gravity=9.81, angles=ANGLES):
    euler = ImplicitEuler(ImplicitEulerConfig(), BuildContext(step=STEP))
    return small_world({"arm": arm(gravity, angles)}, euler, step=STEP)


def held_up():
    """Both rods rest aslant, held by their joints; A, B and the balance of forces from the model's own derivatives."""
    model, state = arm(), world().state
    mass, force, (stiffness, damping) = (
        model.new_mass_matrix(),
        np.zeros(2),
        model.new_stiffness_and_damping(),
    )
    model.compute_mass_and_force(state, np.zeros(2), mass, force)
    model.compute_stiffness_and_damping(state, np.zeros(2), stiffness, damping)
    gravity, slope = force.copy(), stiffness.dense()
    m, d, zero = mass.dense(), damping.dense(), np.zeros((2, 2))
    mobility = np.linalg.inv(m + STEP * d + STEP**2 * slope)
    to_rate = np.hstack([-STEP * mobility @ slope, mobility @ m])
    a = np.vstack([np.hstack([np.eye(2), zero]) + STEP * to_rate, to_rate])
    b = np.vstack([STEP**2 * mobility, STEP * mobility])

    def always(array, count=COUNT):
        return np.tile(array, (count, *[1] * np.ndim(array)))

    return {
        "time": STEP * np.arange(COUNT + 1), "q": always(np.array(ANGLES), COUNT + 1),
        "v": np.zeros((COUNT + 1, 2)), "inputs": always(-gravity), "chart": always(np.eye(2), COUNT + 1),
        "a": always(a), "b": always(b), "c": np.zeros((COUNT, 4)), "bodies": np.array(["arm"]),
        "velocities": np.array([2.0]), "channels": np.array(["arm.torque"]), "channel_sizes": np.array([2.0]),
        "mass": always(m), "force": np.zeros((COUNT, 2)), "stiffness": always(slope), "damping": always(d),
        "drive": always(np.eye(2)), "terms": always(gravity[None]), "term_slopes": always(-slope[None]),
        "term_names": np.array(["arm.gravity"]), "unknown": np.zeros((COUNT, 0, 2)),
        "normals": np.zeros((COUNT, 0, 2)), "pressing": np.zeros((COUNT, 0, 0)), "driven": np.ones(2),
        "object": np.array([""]), "place": np.zeros(3), "carried": np.zeros((COUNT + 1, 2, 3)),
        "carried_load": np.zeros((COUNT, 2, 3)),
    }  # fmt: skip


write_arrays(FILE, held_up())
WEIGHTS = {"coordinates": {"arm": 100.0}, "rates": {"arm": 1.0}}
test_kit = conformance(
    "controllers", "adaptive-tracking", {"file": str(FILE), **WEIGHTS, "estimated": ["arm.gravity"]}
)


@pytest.mark.parametrize("share", [0.1, -0.1])
def test_what_pulls_harder_or_less_is_found_and_made_up_for(share):
    """Gravity is (1 + θ) times the planned one: θ is found, and the rods stay where `tracking-lqr` lets them sag."""
    left = []
    law = AdaptiveTracking(AdaptiveTrackingConfig(file=FILE, estimated=("arm.gravity",), **WEIGHTS))
    for each in (TrackingLqr(TrackingLqrConfig(file=FILE, **WEIGHTS)), law):
        sim = world(9.81 * (1.0 + share))
        sim.add_controller(each)
        sim.run(STEP * COUNT)
        left.append(np.abs(sim.state.q - ANGLES).max())
    # the balance is of the first order in angles, which went no further than 3 mrad: θ to their size
    assert law.estimate.shares() == pytest.approx([share], rel=5e-3)
    assert left[1] < 1e-2 * left[0]
    assert left[0] > 1e-3


def test_a_run_goes_on_from_its_checkpoint():
    law = AdaptiveTracking(AdaptiveTrackingConfig(file=FILE, estimated=("arm.gravity",), **WEIGHTS))
    sim = world(9.0, (0.62, 0.2))
    sim.add_controller(law)
    sim.run(0.1)
    kept = sim.internal_state()
    sim.run(0.3)
    wanted = sim.state.q.copy()
    sim.restore(kept)
    sim.run(0.3)
    np.testing.assert_array_equal(sim.state.q, wanted)


def test_what_the_file_does_not_hold_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"estimated.*must be one of arm\.gravity"):
        AdaptiveTracking(AdaptiveTrackingConfig(file=FILE, estimated=("arm.stiffness",), **WEIGHTS))
    bare = {name: each for name, each in held_up().items() if name != "mass"}
    write_arrays(tmp_path / "bare.npz", bare)
    with pytest.raises(ConfigError, match="must hold 'mass' of a motion"):
        AdaptiveTracking(AdaptiveTrackingConfig(file=tmp_path / "bare.npz"))
    write_arrays(tmp_path / "other.npz", {**held_up(), "drive": np.zeros((COUNT, 3, 2))})
    with pytest.raises(ConfigError, match="'drive' must have shape"):
        AdaptiveTracking(AdaptiveTrackingConfig(file=tmp_path / "other.npz"))
    with pytest.raises(ValueError, match="arrival"):
        AdaptiveTrackingConfig(file=FILE, arrival=0.0)
