"""PD and sensors against what the reference pendulum and chain are known to do."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import ControlError
from corekit.roles.component import BuildContext
from corekit_feedback.computed_torque import ComputedTorque
from corekit_feedback.config import ComputedTorqueConfig, PDConfig
from corekit_feedback.pd import PD
from corekit_feedback.sensors import Sensor, Sensors, SensorsConfig
from corekit_testing.conformance import conformance
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.small_world import small_world

test_pd = conformance("controllers", "pd", {"proportional": 5.0, "derivative": 1.0, "integral": 2.0})
test_computed_torque = conformance("controllers", "computed-torque", {"integral": 2.0})
_EYES = {
    "sensors": [
        {"name": "tip", "kind": "frame", "frames": ["arm.mass1"], "noise": 1e-3, "delay": 0.02},
        {"name": "imu", "kind": "imu", "frames": ["arm.mass0"], "noise": 1e-2},
    ]
}
test_sensors = conformance("controllers", "sensors", _EYES)

STEP = 0.01


def pendulum(angles=(0.4, 0.9), rates=(0.0, 0.0), **options):
    config = PendulumConfig(lengths=(0.5, 0.3), masses=(1.0, 2.0), angles=angles, rates=rates, **options)
    context = BuildContext(step=STEP)
    return small_world({"arm": Pendulum(config)}, ImplicitEuler(ImplicitEulerConfig(), context), step=STEP)


def watched(sim, sensor, seed=0):
    eyes = Sensors(SensorsConfig(sensors=(sensor,)), BuildContext(path="controllers.eyes", seed=seed))
    sim.add_controller(eyes, name="eyes")
    return eyes


def test_pd_leaves_the_offset_of_gravity_and_its_integral_removes_it():
    for integral, left in ((0.0, True), (40.0, False)):
        sim = pendulum(damping=1.0)
        sim.add_controller(
            PD(PDConfig(target=(0.2, 0.2), proportional=60.0, derivative=10.0, integral=integral))
        )
        sim.run(8.0)
        # rest of (60 N·m/rad)·e = (weight)·l·sin q for each rod, with weights of 3 kg and 2 kg
        torque = 9.81 * np.array([1.5, 0.6]) * np.sin(sim.state.q)
        offset = torque / 60.0 if left else np.zeros(2)
        np.testing.assert_allclose(0.2 - sim.state.q, offset, atol=2e-3)


def test_computed_torque_turns_an_error_into_a_damped_oscillation():
    sim = pendulum(angles=(0.3, 0.6))
    start = sim.frame("arm.mass1").position
    goal = start + [0.02, 0.0, 0.01]
    follow = ComputedTorqueConfig(target=tuple(goal), frequency=5.0, weights=(1.0, 0.0, 1.0), horizon=1e-4)
    sim.add_controller(ComputedTorque(follow))
    for _ in range(30):
        sim.step()
    # e = e₀·(1 + ωt)·exp(−ωt), to first order in ω·h = 0.05
    left = (1.0 + 5.0 * 0.3) * np.exp(-5.0 * 0.3)
    error = goal - sim.frame("arm.mass1").position
    np.testing.assert_allclose(error[[0, 2]], left * np.array([0.02, 0.01]), rtol=0.1)


@pytest.mark.parametrize("first", [0, 50_000_000])
def test_a_delayed_reading_is_what_was_there_before(first):
    """Late in a run too, where rounding of times is more than 1e-9 of a step."""
    sim = pendulum()
    late = {"time": np.array(first * STEP), "step_index": np.array(first)}
    sim.restore(sim.internal_state() | late)
    eyes = watched(sim, Sensor(name="tip", kind="frame", frames=("arm.mass1",), delay=3 * STEP))
    true = []
    for _ in range(10):
        true.append(sim.frame("arm.mass1").position)
        sim.step()
        # sampled at the start of the step, three samples late
        np.testing.assert_array_equal(eyes.reading("tip")[:3], true[max(0, len(true) - 4)])


def test_noise_has_the_deviation_and_follows_from_the_seed():
    readings = {}
    for seed in (1, 1, 2):
        sim = pendulum(angles=(0.0, 0.0))
        eyes = watched(sim, Sensor(name="tip", kind="frame", frames=("arm.mass1",), noise=1e-3), seed)
        found = []
        for _ in range(200):
            sim.step()
            found.append(eyes.reading("tip"))
        noise = np.array(found)[:, :3] - [0.0, 0.0, -0.8]
        # 600 normal numbers: their deviation is within 5·σ/√1200 = 15 % of σ
        assert np.std(noise) == pytest.approx(1e-3, rel=0.15)
        readings.setdefault(seed, []).append(noise)
    np.testing.assert_array_equal(readings[1][0], readings[1][1])
    assert (readings[1][0] != readings[2][0]).any()


def test_an_imu_at_rest_feels_its_weight_and_one_in_free_fall_nothing():
    resting = pendulum(angles=(0.0, 0.0))
    eyes = watched(resting, Sensor(name="imu", kind="imu", frames=("arm.mass0",)))
    resting.run(0.05)
    np.testing.assert_allclose(eyes.reading("imu"), [0.0, 0.0, 0.0, 0.0, 0.0, 9.81], atol=1e-12)
    swinging = pendulum(angles=(np.pi / 2, np.pi / 2), rates=(0.0, 0.0))
    eyes = watched(swinging, Sensor(name="imu", kind="imu", frames=("arm.mass0",)))
    swinging.run(2 * STEP)
    # a horizontal rod falls: of its specific force what is left is along the rod, which begins at 0
    assert abs(np.linalg.norm(eyes.reading("imu")[3:])) < 0.05


def test_a_target_of_another_size_than_its_channel_is_refused():
    sim = pendulum(angles=(0.0, 0.0))
    sim.add_controller(PD(PDConfig(target=(0.2, 0.2, 0.2)), BuildContext(path="controllers.pd")), name="pd")
    with pytest.raises(
        ControlError, match="the target has 3 numbers, and channel 'torque' of body 'arm' takes 2"
    ):
        sim.step()


def test_tendon_length_strain_and_contact_force_of_a_hanging_pendulum():
    sim = pendulum(angles=(0.0, 0.0))
    sensors = (
        Sensor(
            name="route",
            kind="tendon-length",
            frames=("arm.mass0", "arm.mass1"),
            points=((0.1, 0.0, 0.0),) * 2,
        ),
        Sensor(name="bend", kind="strain", frames=("arm.mass0", "arm.mass1"), length=0.3),
        Sensor(name="push", kind="contact-force", body="arm"),
    )
    eyes = Sensors(SensorsConfig(sensors=sensors), BuildContext(path="controllers.eyes"))
    sim.add_controller(eyes)
    with pytest.raises(ControlError, match="was not sampled yet"):
        eyes.reading("route")
    sim.step()
    assert eyes.reading("route") == pytest.approx([0.3])
    np.testing.assert_array_equal(eyes.reading("push"), np.zeros(3))
    bent = pendulum(angles=(0.2, 0.5))
    bent.add_controller(Sensors(SensorsConfig(sensors=(sensors[1],)), BuildContext()), name="eyes")
    bent.step()
    assert np.linalg.norm(bent.controller("eyes").reading("bend")) == pytest.approx(0.3 / 0.3)
    with pytest.raises(ControlError, match="does not exist; there are route, bend, push"):
        eyes.reading("tip")
    with pytest.raises(ValueError, match="give 2, not 1"):
        Sensor(name="bend", kind="strain", frames=("arm.mass0",))
    nobody = Sensor(name="push", kind="contact-force", body="arm", against="flor")
    bent.add_controller(Sensors(SensorsConfig(sensors=(nobody,)), BuildContext()), name="others")
    with pytest.raises(ControlError, match="no shape is of 'flor'"):
        bent.step()


@pytest.mark.parametrize(
    ("about", "name"),
    [
        ({"kind": "frame", "frames": ("arm.mass0",), "points": ((0.1, 0.0, 0.0),)}, "points"),
        ({"kind": "imu", "frames": ("arm.mass0",), "length": 0.3}, "length"),
        ({"kind": "frame", "frames": ("arm.mass0",), "body": "arm"}, "body"),
        ({"kind": "frame", "frames": ("arm.mass0",), "against": "arm"}, "against"),
        ({"kind": "contact-force", "body": "arm", "frames": ("arm.mass0",)}, "frames"),
    ],
)
def test_an_entry_that_a_kind_does_not_read_is_refused(about, name):
    with pytest.raises(ValueError, match=f"^{name}: leave it out"):
        Sensor(name="s", **about)
