"""Forces between named things, of joints and on prescribed coordinates, as records hold them."""

from __future__ import annotations

import numpy as np
import pytest

import corekit
from corekit.errors import ResultsError
from corekit.scenario.load import loads

G = 9.81
HEAD = """
format = "corekit-scenario/1"
name = "held"
time = { duration = 0.4, step = 2e-3 }
integrator = "implicit-euler"
output.every = 0.02
"""
HELD = """
[[bodies]]
name = "slide"
use = "gvs"
base.position = [1.0, 0.0, 1.0]
[[bodies.options.links]]
name = "carriage"
kind = "rigid"
joint = { kind = "prismatic", axis = "z", motion = { kind = "ramp", from = 0.0, to = 1.0, value = 0.5 } }
mass = 2.0
inertia = [0.1, 0.1, 0.1]

[[bodies]]
name = "hook"
use = "rigid"
base = { position = [0.0, 0.0, 2.0] }
options = { shape = "sphere", size = [0.05], mass = 1.0 }
[[joints]]
name = "arm"
between = ["hook.body", "world"]
place = [0.3, 0.0, 0.0]

[[bodies]]
name = "rod"
use = "der"
base = { position = [0.0, 2.0, 1.0] }
[bodies.options]
clamps = [{ at = "beam.start", kind = "edge" }]
[[bodies.options.limbs]]
name = "beam"
start = [0.0, 0.0, 0.0]
end = [0.2, 0.0, 0.0]
nodes = 11
radius = 5e-3
young = 1e8
density = 1000.0
viscous_drag = 50.0

[[bodies]]
name = "top"
use = "rigid"
base = { position = [0.0, 0.0, 0.15] }
options = { shape = "sphere", size = [0.05], mass = 1.0, fixed_centre = false }
[[bodies]]
name = "bottom"
use = "rigid"
base = { position = [0.0, 0.0, 0.05] }
options = { shape = "sphere", size = [0.05], mass = 2.0 }
[[world.obstacles]]
name = "floor"
shape = "half-space"
[contact]
detector = "sdf"
solver = "lcp"
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> corekit.Results:
    return loads(HEAD + HELD).run(directory=tmp_path_factory.mktemp("held") / "run")


def test_a_pile_presses_on_what_is_below_with_the_weight_of_what_is_above(results):
    weight = np.array([0.0, 0.0, G])
    for one, other, expected in (
        ("top", "bottom", 1.0), ("bottom", "top", -1.0), ("bottom", "floor", 3.0), ("floor", "bottom", -3.0),
        ("bottom", None, 2.0), ("top", "floor", 0.0), ("floor", None, -3.0),
    ):  # fmt: skip
        force = results.force(one, other)
        assert force.shape == (len(results.time), 3)
        np.testing.assert_allclose(force[-1], expected * weight, atol=1e-3 * G)
        assert not force[0].any()  # no step ended there


def test_force_sums_what_the_contacts_of_a_record_say(results):
    record = results.contacts(-1)
    pairs = [name == ("top", "bottom") for name in record.names]
    assert sum(pairs) == 1
    np.testing.assert_array_equal(results.force("top", "bottom")[-1], record.force[pairs].sum(axis=0))


def test_a_joint_holds_the_weight_at_its_lever(results):
    joint = results.joint_force("arm")
    assert np.isnan(joint.force[0]).all()
    np.testing.assert_allclose(joint.force[1:], np.tile([0.0, 0.0, G], (len(results.time) - 1, 1)), atol=1e-9)
    # about the centre of mass, 0.3 m beside the joint, T + r × F = 0 with r × F = 0.3·x × m·g·z = −0.3·m·g·y
    np.testing.assert_allclose(
        joint.torque[1:], np.tile([0.0, 0.3 * G, 0.0], (len(joint.torque) - 1, 1)), atol=1e-9
    )


def test_a_slide_carries_its_load_and_accelerates_it(results):
    (unit,) = [unit for name, unit in results.prescribed if name.startswith("slide.")]
    assert unit == "N"
    column = [name.startswith("slide.") for name, _ in results.prescribed]
    force = results.reaction[:, column].ravel()
    assert np.isnan(force[0])
    np.testing.assert_allclose(force[2:], 2.0 * G, rtol=1e-9)  # a ramp moves at a constant speed


def test_a_clamp_carries_a_rod_s_weight(results):
    names = [name for name, _ in results.prescribed]
    vertical = [name.startswith("rod.") and name.endswith("z") for name in names]
    weight = 1000.0 * np.pi * 5e-3**2 * 0.2 * G
    assert results.reaction[-1, vertical].sum() == pytest.approx(weight, rel=0.02)


def test_a_name_that_is_not_there_is_refused_with_those_that_are(results):
    with pytest.raises(ResultsError, match="no body or obstacle 'tops', did you mean 'top'"):
        results.force("tops")
    with pytest.raises(ResultsError, match="no joint 'wrist'; it has arm"):
        results.joint_force("wrist")


def test_a_part_of_a_body_is_named_by_its_frames(tmp_path):
    made = corekit.load("teaching/pneumatic-gripper", ["time.duration=0.5"]).run(directory=tmp_path / "run")
    fingers = [made.force(f"gripper.finger-{n}", "can") for n in (1, 2, 3)]
    np.testing.assert_allclose(sum(fingers), made.force("gripper", "can"), atol=1e-12)
    assert np.linalg.norm(fingers[0][-1]) > 0.3
