"""Bodies that joints hold to each other, to the world and to moving bases."""

from typing import Any, cast

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

from corekit.errors import CompositionError
from corekit.geometry.frames import rotation_from_quat_wxyz, rotation_from_rpy
from corekit.scenario.load import loads

pytest.importorskip("corekit_rigid")
pytest.importorskip("corekit_timestep")

HEAD = """
format = "corekit-scenario/1"
name = "joints"
time = { duration = 1.0, step = 1e-3 }
output = { every = 1e-2 }
"""
TWO = (
    HEAD
    + """
integrator = { use = "implicit-midpoint" }
[[bodies]]
name = "carrier"
use = "rigid"
options = { shape = "box", size = [0.4, 0.1, 0.2], mass = 2.0 }
initial = { velocity = [0.3, 0.0, 2.0], angular_velocity = [0.5, 3.0, 1.0] }
[[bodies]]
name = "load"
use = "rigid"
base = { mount = "carrier.body", position = [0.3, 0.0, 0.05], rotation_rpy = [0.3, 0.2, 0.1] }
options = { shape = "sphere", size = [0.05], mass = 1.0 }
"""
)
FAMILIES = (
    "implicit-euler", "implicit-midpoint", "semi-implicit-euler", "verlet", "generalized-alpha", "scipy-radau"
)  # fmt: skip


def stepped(text, *overrides, steps):
    simulation = loads(text, overrides).compose()
    for _ in range(steps):
        simulation.step()
    return simulation


def composite(duration):
    """Place of the load's centre after free flight of both as one body: Euler's equations of the sum."""
    masses, places = np.array([2.0, 1.0]), np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.05]])
    box = 2.0 / 12.0 * np.diag([0.1**2 + 0.2**2, 0.4**2 + 0.2**2, 0.4**2 + 0.1**2])
    centre = masses @ places / 3.0
    inertia = box + 0.4 * 1.0 * 0.05**2 * np.eye(3)
    for mass, place in zip(masses, places - centre, strict=True):
        inertia += mass * (place @ place * np.eye(3) - np.outer(place, place))
    spin = np.array([0.5, 3.0, 1.0])
    velocity = np.array([0.3, 0.0, 2.0]) + np.cross(spin, centre)

    def rate(_, state):
        omega = state[9:]
        turned = state[:9].reshape(3, 3) @ np.cross(omega, np.eye(3)).T
        return np.concatenate([turned.ravel(), np.linalg.solve(inertia, -np.cross(omega, inertia @ omega))])

    start = np.concatenate([np.eye(3).ravel(), spin])
    end = solve_ivp(rate, (0.0, duration), start, rtol=1e-12, atol=1e-12).y[:, -1]
    fallen = centre + velocity * duration + 0.5 * duration**2 * np.array([0.0, 0.0, -9.81])
    return fallen + end[:9].reshape(3, 3) @ (places[1] - centre)


@pytest.mark.parametrize("integrator", FAMILIES)
def test_two_welded_bodies_fly_as_one(integrator):
    wanted, errors = composite(0.2), []
    is_adaptive = integrator == "scipy-radau"
    for step, steps in ((1e-3, 200),) if is_adaptive else ((2e-3, 100), (1e-3, 200)):
        overrides = [f"integrator.use={integrator}", f"time.step={step}"]
        if is_adaptive:
            overrides += ["integrator.options.relative=1e-7", "integrator.options.absolute=1e-9"]
        simulation = stepped(TWO, *overrides, steps=steps)
        errors.append(np.abs(simulation.frame("load.body").position - wanted).max())
        velocity = [state.v[:3] for state in simulation.state.body_states]
        momentum = np.array([2.0, 1.0]) @ np.array(velocity)
        start = 3.0 * np.array([0.3, 0.0, 2.0]) + np.cross([0.5, 3.0, 1.0], [0.3, 0.0, 0.05])
        assert momentum == pytest.approx(start + 3.0 * 0.2 * np.array([0.0, 0.0, -9.81]), abs=1e-9)
        # held to each other: within what the scheme leaves in a step, or Baumgarte's time
        system: Any = simulation.system
        joints = system.terms.joints
        assert np.abs(joints.errors(simulation.state)).max() < 2e-5
    is_first = integrator in ("implicit-euler", "semi-implicit-euler")
    if is_adaptive:
        assert errors[0] < 1e-9
    else:
        assert errors[1] < (1e-3 if is_first else 5e-6)
        assert errors[0] / errors[1] == pytest.approx(2.0 if is_first else 4.0, rel=0.2)


GVS_LINK = """
[[bodies.options.links]]
name = "arm"
on = "ON"
[[bodies.options.links.divisions]]
length = 0.3
radius = 0.01
young = 1e6
density = 1000.0
strain = [{ modes = ["bend-y", "bend-z"], kind = "legendre", order = 2 }]
"""
MOUNTED = (
    HEAD
    + """
integrator = { use = "implicit-midpoint" }
[[bodies]]
name = "carrier"
use = "rigid"
options = { shape = "box", size = [0.1, 0.1, 0.1], mass = 0.2 }
initial = { velocity = [0.3, 0.0, 2.0], angular_velocity = [0.5, 3.0, 1.0] }
[[bodies]]
name = "arm"
use = "gvs"
base = { mount = "carrier.body", position = [0.05, 0.0, 0.0] }
"""
    + GVS_LINK.replace("ON", "")
)
TREE = (
    HEAD
    + f"""
integrator = {{ use = "implicit-midpoint" }}
[[bodies]]
name = "tree"
use = "gvs"
initial = {{ velocity = [0.5, 3.0, 1.0, 0.3, 0.0, 2.0, 0, 0, 0, 0, 0, 0] }}
[[bodies.options.links]]
name = "carrier"
kind = "rigid"
joint = {{ kind = "free" }}
mass = 0.2
inertia = [{0.2 / 600}, {0.2 / 600}, {0.2 / 600}]
tip = [0.05, 0.0, 0.0]
"""
    + GVS_LINK.replace("ON", "carrier.tip")
)


@pytest.mark.parametrize(("integrator", "bound"), [("scipy-radau", 2e-8), ("implicit-midpoint", 4e-6)])
def test_a_soft_arm_on_a_flying_box_is_the_tree_of_both(integrator, bound):
    """The same robot once as two bodies with a weld, once in the coordinates of one tree without any row."""
    pytest.importorskip("corekit_gvs")
    use = f"integrator.use={integrator}"
    two, one = stepped(MOUNTED, use, steps=200), stepped(TREE, use, steps=200)
    assert two.frame("arm.arm.tip").position == pytest.approx(one.frame("tree.arm.tip").position, abs=bound)
    energy = [
        sum(
            sum(cast("Any", body.model).compute_energies(own))
            for body, own in zip(each.bodies, each.state.body_states, strict=True)
        )
        for each in (two, one)
    ]
    assert energy[0] == pytest.approx(energy[1], abs=10.0 * bound)


PCC = """
use = "pcc"
[bodies.options]
sections = 2
mass = 0.5
coriolis = true
disk_inertia = 1e-4
[bodies.initial]
elongation = [0.02, 0.0, 0.0, 0.0, 0.01, 0.0]
[[bodies.inputs]]
channel = "chamber-force"
signal = { kind = "ramp", from = 0.0, to = 0.1, value = [5.0, 0.0, 0.0, 0.0, 8.0, 0.0] }
"""


@pytest.mark.parametrize("integrator", ["implicit-midpoint", "verlet", "generalized-alpha"])
def test_an_arm_of_arcs_mounted_on_the_world_is_the_arm_that_stands_there(integrator):
    pytest.importorskip("corekit_pcc")
    tips, use = [], f"integrator.use={integrator}"
    for mount in ('mount = "world", ', ""):
        base = f"base = {{ {mount}position = [0.1, 0.0, 0.2], rotation_rpy = [0.4, 0.9, -0.3] }}"
        text = HEAD + 'integrator = { use = "verlet" }\n[[bodies]]\nname = "arm"\n' + base + PCC
        tips.append(stepped(text, use, steps=200).frame("arm.section-2-tip").position)
    # within Newton's tolerance, and what Baumgarte's rows of the split family leave
    assert tips[0] == pytest.approx(tips[1], abs=1e-7)


def test_an_arm_of_arcs_and_its_carrier_keep_momentum_and_energy():
    pytest.importorskip("corekit_pcc")
    body = '\n[[bodies]]\nname = "arm"\nbase = { mount = "carrier.body", position = [0.0, 0.0, 0.1] }'
    text = TWO.partition('[[bodies]]\nname = "load"')[0] + body + PCC
    free = ("world.gravity=[0,0,0]", "bodies[1].inputs=[]", "bodies[1].options.damping=0.0")
    drift = []
    for step, steps in ((2e-3, 75), (1e-3, 150)):
        simulation = loads(text, (*free, f"time.step={step}")).compose()
        before = momentum_and_energy(simulation)
        for _ in range(steps):
            simulation.step()
        drift.append(np.abs(momentum_and_energy(simulation) - before).max())
    assert drift[1] < 1e-5
    assert drift[0] / drift[1] == pytest.approx(4.0, rel=0.1)


def momentum_and_energy(simulation):
    """Linear momentum: the first three rows of M·v count ẋ of a rigid body's centre and of an arm's base alike."""
    total = np.zeros(4)
    for body, own in zip(simulation.bodies, simulation.state.body_states, strict=True):
        mass, product = body.model.new_mass_matrix(), np.zeros(body.nv)
        body.model.compute_mass_and_force(own, np.zeros(body.description.input_size), mass, np.zeros(body.nv))
        mass.multiply(own.v, product)
        total[:3] += product[:3]
        total[3] += sum(body.model.compute_energies(own))
    return total


ROD = (
    HEAD
    + """
integrator = { use = "implicit-midpoint", options = { tolerance = 1e-10 } }
[[bodies]]
name = "rod"
use = "der"
[bodies.options]
collision = "capsules"
CLAMP
[[bodies.options.limbs]]
start = [0, 0, 0]
end = [0.3, 0, 0]
nodes = 16
radius = 0.01
young = 1e6
director = [0, 0, 1]
"""
)


def test_a_weld_of_an_edge_holds_a_rod_as_a_clamp_does():
    """But for the stretch of the edge, which a clamp prevents: F·l/(E·A) is 40 µm for 0.6 N."""
    pytest.importorskip("corekit_der")
    weld = '[[joints]]\nname = "hold"\nbetween = ["rod.edge-rod-0", "world"]\n'
    held = stepped(ROD.replace("CLAMP", "") + weld, steps=200)
    clamped = stepped(ROD.replace("CLAMP", 'clamps = [{ at = "rod.start", kind = "edge" }]'), steps=200)
    tips = [each.frame("rod.rod-15").position for each in (held, clamped)]
    assert tips[0] == pytest.approx(tips[1], abs=4e-5)
    assert np.linalg.norm(tips[0] - [0.3, 0.0, 0.0]) > 0.2
    with pytest.raises(CompositionError, match="a node of a rod does not turn"):
        loads(ROD.replace("CLAMP", "") + weld.replace("edge-rod-0", "rod-0")).compose()


PENDULUM = (
    HEAD
    + """
integrator = { use = "implicit-midpoint" }
[[bodies]]
name = "rod"
use = "rigid"
options = { shape = "box", size = [0.1, 0.02, 0.4], mass = 1.0 }
initial = { position = [0.0, 0.0, -0.2], rotation_rpy = [0.0, 0.0, 0.0] }
[[joints]]
name = "hinge"
kind = "KIND"
axis = [0.0, 1.0, 0.0]
place = [0.0, 0.0, 0.2]
between = ["rod.body", "world"]
"""
)


def test_a_hinge_swings_with_the_period_of_a_compound_pendulum():
    angle, arm = 0.1, 0.2
    text = PENDULUM.replace("KIND", "hinge").replace("rpy = [0.0, 0.0", f"rpy = [0.0, {-angle}")
    inertia = 1.0 / 12.0 * (0.1**2 + 0.4**2) + arm**2
    quarter = ellipk(np.sin(0.5 * angle) ** 2) * np.sqrt(inertia / (9.81 * arm))
    simulation = stepped(text, steps=int(quarter / 1e-3))
    # the pivot is where the rod's upper end began, and the rod starts to its left or right
    pivot = 0.2 * np.sin(-angle)
    before = simulation.state.q[0] - pivot
    simulation.step()
    assert before * (simulation.state.q[0] - pivot) <= 0.0
    # at the lowest point it carries the weight and what turns it: ½·I·ω² = m·g·r·(1 − cos α)
    carried = 9.81 * (1.0 + 2.0 * arm**2 * (1.0 - np.cos(angle)) / inertia)
    assert simulation.joint_force("hinge").force[2] == pytest.approx(carried, rel=1e-4)


def test_a_ball_joint_leaves_every_turn_and_keeps_the_spin_about_the_vertical():
    text = PENDULUM.replace("KIND", "ball")
    start = "bodies[0].initial.angular_velocity=[1.0,2.0,3.0]"
    simulation = loads(text, [start, "bodies[0].initial.velocity=[-0.4,0.2,0.0]"]).compose()

    def momentum():
        rod = simulation.state.body_states[0]
        turned = rotation_from_quat_wxyz(rod.q[3:])
        inertia = np.diag([0.02**2 + 0.4**2, 0.1**2 + 0.4**2, 0.1**2 + 0.02**2]) / 12.0
        return (np.cross(rod.q[:3], rod.v[:3]) + turned @ inertia @ rod.v[3:])[2]

    before = momentum()
    for _ in range(250):
        simulation.step()
    assert momentum() == pytest.approx(before, abs=1e-5)
    assert np.linalg.norm(simulation.state.body_states[0].q[:3]) == pytest.approx(0.2, abs=1e-6)


LIFT = (
    HEAD
    + """
integrator = { use = "implicit-euler" }
contact = { detector = "sdf", solver = "lcp", friction = 0.5 }
[[bodies]]
name = "plate"
use = "rigid"
options = { shape = "box", size = [0.4, 0.4, 0.02], mass = 2.0 }
[bodies.base]
position = { kind = "sine", amplitude = [0.0, 0.0, 0.064], frequency = 1.25 }
rotation_rpy = { kind = "ramp", from = 0.0, to = 1.0, value = [0.0, 0.0, 1.0] }
[[bodies]]
name = "ball"
use = "rigid"
base = { position = [0.1, 0.0, 0.06] }
options = { shape = "sphere", size = [0.05], mass = 1.0 }
"""
)


@pytest.mark.parametrize(
    ("integrator", "solver"),
    [
        ("implicit-euler", "lcp"),
        ("implicit-midpoint", "cone"),
        ("semi-implicit-euler", "qp"),
        ("verlet", "lcp"),
        ("scipy-rk45", "lcp"),
    ],
)
def test_a_moving_base_carries_what_lies_on_the_body(integrator, solver):
    """The plate follows its path; the joint gives what accelerates plate and ball."""
    pytest.importorskip("corekit_sdf")
    pytest.importorskip(f"corekit_{solver}")
    overrides = f"integrator.use={integrator}", f"contact.solver.use={solver}"
    simulation = stepped(LIFT, *overrides, steps=200)
    plate, ball = simulation.state.body_states
    assert plate.q[2] == pytest.approx(0.064, abs=1e-7)
    assert plate.v[2] == pytest.approx(0.0, abs=2.1e-3)  # h·z̈/2, the mean of an Euler step
    assert 2.0 * np.arctan2(plate.q[6], plate.q[3]) == pytest.approx(0.2, abs=1e-6)
    assert plate.v[5] == pytest.approx(1.0, abs=1e-6)
    assert ball.q[2] - plate.q[2] == pytest.approx(0.06, abs=5e-6)
    wanted = (2.0 + 1.0) * (9.81 - 0.064 * (2.5 * np.pi) ** 2)
    assert simulation.joint_force("plate.base").force[2] == pytest.approx(wanted, rel=2e-4)


@pytest.mark.parametrize("integrator", ["implicit-euler", "generalized-alpha"])
def test_a_potential_presses_on_what_is_mounted(integrator):
    """A ball rests on a plate that a weld holds in the air: the weld carries both."""
    pytest.importorskip("corekit_sdf")
    pytest.importorskip("corekit_imc")
    overrides = (
        f"integrator.use={integrator}",
        "contact.solver.use=imc",
        "bodies[0].base={mount='world'}",
        "bodies[1].base.position=[0.1,0.0,0.0605]",
        "bodies[1].options.linear_damping=20.0",
    )
    simulation = stepped(LIFT, *overrides, steps=500)  # ten times 1/20 s, in which it comes to rest
    joint = simulation.joint_force("plate.base")
    assert joint.force == pytest.approx([0.0, 0.0, 3.0 * 9.81], rel=1e-3, abs=1e-3)
    assert joint.torque == pytest.approx([0.0, -9.81 * 0.1, 0.0], rel=1e-2, abs=1e-3)


@pytest.mark.parametrize(
    ("scenario", "integrator"),
    [(LIFT, None), (MOUNTED, "implicit-midpoint"), (MOUNTED, "generalized-alpha"), (MOUNTED, "verlet")],
)
def test_a_run_goes_on_from_its_state_bit_for_bit(scenario, integrator):
    for needed in ("corekit_gvs", "corekit_sdf", "corekit_lcp"):
        pytest.importorskip(needed)
    sets = [] if integrator is None else [f"integrator.use={integrator}"]
    whole, again = (loads(scenario, sets).compose() for _ in range(2))
    for _ in range(40):
        whole.step()
    again.restore(whole.internal_state())
    for _ in range(40):
        whole.step()
        again.step()
    assert np.array_equal(whole.state.qv, again.state.qv)
    joint = "plate.base" if scenario is LIFT else "arm.base"
    assert np.array_equal(whole.joint_force(joint).force, again.joint_force(joint).force)


def test_a_mounted_body_begins_where_its_carrier_has_it():
    simulation = loads(TWO, ["bodies[0].initial.rotation_rpy=[0.2,-0.4,1.0]"]).compose()
    carrier, load = (simulation.frame(f"{name}.body") for name in ("carrier", "load"))
    assert load.position == pytest.approx(carrier.position + carrier.rotation @ [0.3, 0.0, 0.05])
    assert load.rotation == pytest.approx(carrier.rotation @ rotation_from_rpy((0.3, 0.2, 0.1)))
    arm = load.position - carrier.position
    assert load.velocity == pytest.approx(carrier.velocity + np.cross(carrier.angular_velocity, arm))
    assert load.angular_velocity == pytest.approx(carrier.angular_velocity)
