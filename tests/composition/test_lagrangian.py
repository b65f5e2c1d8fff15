"""Mechanisms from energies among the other parts: in contact, from the command line, in a plan."""

from __future__ import annotations

import numpy as np
import pytest

import corekit
from corekit.cli import main
from corekit.errors import ConfigError
from corekit_study.plan import make_plan
from corekit_study.plan_file import load_plan_file

pytest.importorskip("corekit_lagrangian", reason="corekit-lagrangian is not installed")

ARM = """
import casadi as ca

def arm(system, option):
    n = len(option.lengths)
    q, v = system.coordinates(*[f"joint{i}" for i in range(n)])
    joint, angle = ca.SX.zeros(3), 0
    for i, length in enumerate(option.lengths):
        angle += q[i]
        s, c = ca.sin(angle), ca.cos(angle)
        axes = ca.vertcat(ca.horzcat(c, 0, s), ca.horzcat(0, 1, 0), ca.horzcat(-s, 0, c))
        middle, joint = joint + length / 2 * axes[:, 2], joint + length * axes[:, 2]
        inertia = option.masses[i] * length**2 / 12
        system.body(option.masses[i], [inertia, inertia, 0], middle, axes)
        link = system.frame(f"link{i}", middle, axes)
        system.shape("capsule", [0.01, option.number("lengths")[i] / 2], link)
    tip = system.frame("tip", joint, axes)
    if option.number("disk"):
        system.shape("cylinder", [option.number("disk"), 0.0025], tip)
    for i in range(n - 1):
        system.never_touch(i, i + 1)
    system.dissipation(option.damping / 2 * ca.dot(v, v))
    system.force(system.input("torque", "N·m", n), "motors")
"""
SCENARIO = """
format = "corekit-scenario/1"
name = "rod-on-floor"
time = { duration = 3.0, step = 2e-3 }
output = { every = 0.1 }
integrator = { use = "semi-implicit-euler" }

[[world.obstacles]]
name = "floor"
shape = "half-space"
position = [0.0, 0.0, -0.2]

[[bodies]]
name = "rod"
use = "lagrangian"
base = { rotation_rpy = [0.0, 1.5707963267948966, 0.0] }
[bodies.options]
equations = "arms_of_users:arm"
parameters = { lengths = [0.4], masses = [0.7], disk = 0.0, damping = 0.05 }

[contact]
detector = { use = "sdf" }
solver = { use = "lcp" }
friction = 0.0
"""
WORLD = """
format = "corekit-scenario/1"
name = "arm-and-ball"
world = { gravity = [0.0, 0.0, 9.81] }
time = { duration = 1.0, step = 1e-3 }
output = { every = 0.05 }
integrator = { use = "semi-implicit-euler", options = { form = "linearly-implicit" } }
contact = { detector = { use = "mpr" }, solver = { use = "lcp" }, friction = 0.6 }

[[bodies]]
name = "arm"
use = "lagrangian"
initial = { coordinates = [0.6, -1.2, 0.6] }
[bodies.options]
equations = "arms_of_users:arm"
parameters = { lengths = [0.1, 0.1, 0.05], masses = [0.1, 0.1, 0.05], disk = 0.05, damping = 0.02 }

[[bodies]]
name = "ball"
use = "rigid"
base = { position = [0.0, 0.0, 0.2675] }
options = { size = [0.05], mass = 0.1, inertia = [1e-4, 1e-4, 1e-4], angular_damping = 1e-3, fixed_centre = true }
"""
PLAN = """
format = "corekit-plan/1"
name = "turn"
scenario = "world.toml"
use = "ipopt-mpcc"

[options]
object = "ball"
friction = 0.6
directions = 4
target = { rotation = { axis = [0.0, 1.0, 0.0], angle = 0.15 } }
contacts = [{ body = "arm", frame = "tip" }]
horizon = { duration = 1.0, steps = 12 }
search = { batched = "never" }
bounds = { coordinate = [-2.0, 2.0], velocity = 5.0, angular_velocity = 5.0, effort = [-5.0, 5.0] }
"""


@pytest.fixture(autouse=True)
def equations(tmp_path, monkeypatch):
    """The module of a user, in a folder of his."""
    (tmp_path / "arms_of_users.py").write_text(ARM)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name, text in {"rod": SCENARIO, "world": WORLD, "plan": PLAN}.items():
        (tmp_path / f"{name}.toml").write_text(text)


def test_a_rod_on_a_hinge_leans_on_the_floor_with_the_moment_of_its_weight():
    """N·x_c = m·g·l/2·cos α without friction, and where the capsule touches is the floor."""
    simulation = corekit.load("rod.toml", allow_code=True).compose()
    simulation.run(3.0)
    contacts = simulation.contacts()
    angle = simulation.state.q[0]
    assert np.abs(simulation.state.v).max() < 1e-6
    # the capsule's lower end stands on the floor: l·sin α + r = 0.2
    assert 0.4 * np.sin(angle) + 0.01 == pytest.approx(0.2, abs=1e-5)
    moment = 0.7 * 9.81 * 0.2 * np.cos(angle)
    normal = contacts.normal_impulse.sum() / 2e-3
    assert normal * 0.4 * np.cos(angle) == pytest.approx(moment, rel=1e-6)


def test_its_code_runs_only_where_it_is_allowed(capsys):
    with pytest.raises(ConfigError, match="allow it with --allow-code"):
        corekit.load("rod.toml").compose()
    assert main(["run", "rod.toml", "--quiet", "--out", "done", "--set", "time.duration=0.01"]) == 2
    assert "--allow-code" in capsys.readouterr().err
    assert (
        main(["run", "rod.toml", "--quiet", "--allow-code", "--out", "done", "--set", "time.duration=0.01"])
        == 0
    )


def test_an_arm_of_three_links_plans_to_turn_a_ball(tmp_path):
    made = make_plan(load_plan_file(tmp_path / "plan.toml", allow_code=True), tmp_path)
    assert made.info.status.solved
    assert made.plan.certificate["certified"] is True
    # the end of the plan, by the plan's own motion: the ball's quaternion is a turn of 0.15 rad about y
    found = made.plan.objects["ball"]
    assert found.quat_wxyz[-1] == pytest.approx([np.cos(0.075), 0.0, np.sin(0.075), 0.0], abs=1e-3)
