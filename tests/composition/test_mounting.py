"""Every kind of robot on a base that moves: balances of momentum and energy, and the same robot that stands there."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.data.state import State
from corekit.errors import ConfigError
from corekit.scenario.load import load

pytest.importorskip("corekit_rigid")
pytest.importorskip("corekit_timestep")

HEAD = """
format = "corekit-scenario/1"
name = "mounted"
time = { duration = 1.0, step = 1e-3 }
output = { every = 1e-2 }
integrator = { use = "implicit-midpoint", options = { tolerance = 1e-10 } }
"""
CARRIER = """
[[bodies]]
name = "carrier"
use = "rigid"
options = { shape = "box", size = [0.1, 0.08, 0.06], mass = 0.3 }
initial = { velocity = [0.3, 0.0, 1.0], angular_velocity = [0.5, 2.0, 1.0] }
"""
RESTING = CARRIER.rsplit("initial", 1)[0]
ROD = """
use = "der"
options.clamps = [{ at = "rod.start", kind = "KIND" }]
options.forces = [{ name = "tip", at = "rod.end" }]
[[bodies.options.limbs]]
start = [0.02, 0, 0]
end = [0.22, 0, 0.05]
nodes = 9
radius = 0.01
young = 1e5
poisson = 0.5
natural_curvature = [2.0, 0.5]
"""
ARM = """
use = "lagrangian"
options.equations = "arm.py:arm"
options.parameters = { lengths = [0.15, 0.1], masses = [0.1, 0.05], k = 0.3, foot = 0.1, damping = 0.0 }
initial = { coordinates = [0.4, -0.3] }
"""
EQUATIONS = """
import casadi as ca


def arm(system, option):
    q, v = system.coordinates("shoulder", "elbow")
    c, s, d, e = ca.cos(q[0]), ca.sin(q[0]), ca.cos(q[1]), ca.sin(q[1])
    first = ca.vertcat(ca.horzcat(c, 0, s), ca.horzcat(0, 1, 0), ca.horzcat(-s, 0, c))
    second = first @ ca.vertcat(ca.horzcat(1, 0, 0), ca.horzcat(0, d, -e), ca.horzcat(0, e, d))
    joint = ca.SX.zeros(3)
    system.body(option.foot, [option.foot / 5e3] * 3, joint, ca.SX.eye(3))
    for i, turn in enumerate((first, second)):
        length, mass = option.lengths[i], option.masses[i]
        across = mass * length**2 / 12
        system.body(mass, [across, across, across / 5], joint + turn @ ca.vertcat(0, 0, length / 2), turn)
        joint += turn @ ca.vertcat(0, 0, length)
        system.frame(f"end{i}", joint, turn)
    system.potential_energy(option.k / 2 * ca.dot(q, q), "springs")
    system.dissipation(option.damping / 2 * ca.dot(v, v))
"""
VINE = """
use = "vine"
inputs = [{ channel = "growth-rate", signal = GROWTH }]
[bodies.options]
bodies = 10
length = 0.2
heading = 0.3
body_mass = 0.01
bending_stiffness = 2e-3
natural_curvature = 2.0
"""
PUSHED = """
use = "vine"
inputs = [{ channel = "tip-force", signal = [1.0, 0.0] }]
options = { bodies = 4, length = 0.2, body_mass = 0.01, base_mass = 0.01, bending_stiffness = 1.0 }
"""
ROBOTS = {
    "rod": (ROD.replace("KIND", "clamp"), "rod-8", "corekit_der"),
    "rod-by-edge": (ROD.replace("KIND", "edge"), "rod-8", "corekit_der"),
    "mechanism": (ARM, "end1", "corekit_lagrangian"),
    "vine": (VINE.replace("GROWTH", "0.0"), "body-10-end", "corekit_vine"),
    "pushed": (PUSHED, "body-4-end", "corekit_vine"),
    "growing-vine": (VINE.replace("GROWTH", "0.05"), "body-10-end", "corekit_vine"),
}


@pytest.fixture
def compose(tmp_path):
    """Compose a carrier or none, and a robot by name on a base."""
    (tmp_path / "arm.py").write_text(EQUATIONS)

    def of(robot, base, *overrides, carrier=""):
        pytest.importorskip(ROBOTS[robot][2])
        text = f'{HEAD}{carrier}\n[[bodies]]\nname = "robot"\n{base}\n{ROBOTS[robot][0]}'
        file = tmp_path / "mounted.toml"
        file.write_text(text)
        return load(file, overrides, allow_code=True).compose()

    return of


def balances(simulation):
    """Momentum, angular momentum about the world's origin and energy of all bodies, shape (7,).

    The momentum along a rigid motion v_e of a body, translation or rotation, is v_eᵀ·M·v, whatever its coordinates.
    """
    total = np.zeros(7)
    for body, own in zip(simulation.bodies, simulation.state.body_states, strict=True):
        frame = simulation.frame(f"{body.name}.{body.description.frames[0]}")
        twist = np.concatenate([frame.velocity, frame.angular_velocity])

        def placed(twist, own=own, body=body, frame=frame) -> State:
            state = own.copy()
            place = body.abilities.free_base.place_base
            place(state, frame.position, frame.rotation, twist[:3], twist[3:])
            return state

        here = placed(twist)
        mass, product = body.model.new_mass_matrix(), np.zeros(body.nv)
        body.model.compute_mass_and_force(
            here, np.zeros(body.description.input_size), mass, np.zeros(body.nv)
        )
        mass.multiply(here.v, product)
        for k, e in enumerate(np.eye(3)):
            total[k] += product @ (placed(np.concatenate([e, np.zeros(3)])).v - placed(np.zeros(6)).v)
            turn = np.concatenate([np.cross(e, frame.position), e])
            total[3 + k] += product @ (placed(turn).v - placed(np.zeros(6)).v)
        total[6] += sum(body.model.compute_energies(own))
    return total


ON_CARRIER = (
    'base = { mount = "carrier.body", position = [0.05, 0.01, 0.02], rotation_rpy = [0.3, -0.2, 0.4] }'
)


def drift_in_free_flight(compose, robot, step, steps):
    """How far `balances` moved from their start in 0.1 s without weight and damping, shape (7,)."""
    overrides = "world.gravity=[0,0,0]", f"time.step={step}"
    simulation = compose(robot, ON_CARRIER, *overrides, carrier=CARRIER)
    before = balances(simulation)
    for _ in range(steps):
        simulation.step()
    return np.abs(balances(simulation) - before)


@pytest.mark.parametrize("robot", ["mechanism", "vine"])
def test_a_robot_and_its_carrier_keep_momentum_and_energy_to_second_order(compose, robot):
    coarse, fine = (drift_in_free_flight(compose, robot, h, round(0.1 / h)) for h in (1e-3, 5e-4))
    assert fine.max() < 1e-5
    large = fine > 1e-10  # above what Newton's tolerance leaves
    assert large.any()
    assert coarse[large] / fine[large] == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize("robot", ["rod", "rod-by-edge"])
def test_a_rod_and_its_carrier_keep_momentum_and_energy(compose, robot):
    """But for the part A·ė of the rods' spin, (2) of `frames`: their mass counts θ̇ alone, on any base."""
    drift = drift_in_free_flight(compose, robot, 1e-3, 100)
    assert drift[:3].max() < 1e-14  # midpoint, positions as coordinates: rounding of 0.4 N·s
    assert drift[6] < 1e-8  # of 0.37 J
    spin, inertia = np.linalg.norm([0.5, 2.0, 1.0]), 1000.0 * 0.5 * np.pi * 0.01**4 * np.hypot(0.2, 0.05)
    assert drift[3:6].max() < inertia * spin * np.tan(0.5 * 0.1 * spin)


@pytest.mark.parametrize("robot", ["rod", "mechanism", "growing-vine"])
@pytest.mark.parametrize("integrator", ["implicit-midpoint", "verlet", "generalized-alpha"])
def test_a_robot_mounted_on_the_world_is_the_one_that_stands_there(compose, robot, integrator):
    tips = []
    for mount in ('mount = "world", ', ""):
        base = f"base = {{ {mount}position = [0.1, 0.0, 0.2], rotation_rpy = [0.4, 0.9, -0.3] }}"
        simulation = compose(robot, base, f"integrator={{use='{integrator}'}}", "time.step=4e-4")
        for _ in range(150):
            simulation.step()
        tips.append(simulation.frame(f"robot.{ROBOTS[robot][1]}").position)
    moved = np.linalg.norm(tips[0] - compose(robot, base).frame(f"robot.{ROBOTS[robot][1]}").position)
    assert moved > 0.01
    # what Newton's method and Baumgarte's rows leave, and where the mass of the rod's clamped half edge is
    assert tips[0] == pytest.approx(tips[1], abs=2e-7)


def test_the_weld_of_a_rod_carries_its_weight_and_bends_the_moment(compose):
    """Statics of a damped cantilever: the weld gives m·g, and the moment of the weight about the mount."""
    overrides = (
        "bodies[0].options.limbs[0].viscous_drag=3.0", "bodies[0].options.limbs[0].young=1e6",
        "integrator={use='implicit-euler'}", "time={step=0.05,duration=20.0}", "output.every=1.0",
    )  # fmt: skip
    simulation = compose("rod", 'base = { mount = "world" }', *overrides)
    for _ in range(400):
        simulation.step()
    body, weight = simulation.bodies[0], np.array([0.0, 0.0, -9.81])
    mass, force = body.model.new_mass_matrix(), np.zeros(body.nv)
    body.model.compute_mass_and_force(simulation.state.body_states[0], np.zeros(3), mass, force)
    frames = [f"robot.rod-{k}" for k in range(9)]
    places = np.array([simulation.frame(each).position for each in frames])
    edge = 1000.0 * np.pi * 0.01**2 * np.hypot(0.2, 0.05) / 8
    lumps = np.full(9, edge)
    lumps[[0, -1]] *= 0.5
    joint = simulation.joint_force("robot.base")
    assert joint.force == pytest.approx(-lumps.sum() * weight, abs=1e-6)
    # the ghost holds a twelfth of the half edge behind the clamp
    lumps[0] -= edge / 24
    ghost = places[0] - (places[1] - places[0])
    moment = -(np.cross(places, lumps[:, None] * weight).sum(axis=0) + np.cross(ghost, edge / 24 * weight))
    assert joint.torque == pytest.approx(moment, abs=2e-5)


@pytest.mark.parametrize(
    ("robot", "overrides", "said"),
    [
        ("rod", ["bodies[0].options.planar=true"], "carries the plane away"),
        ("rod", ["bodies[0].options.clamps=[]"], "holds the rods at one clamp"),
        ("rod", ["bodies[0].options.clamps[0].kind=pin"], "a base holds a direction"),
        ("rod", ["bodies[0].options.clamps[0].angle=0.1"], "what carries the base moves it"),
        ("mechanism", ["bodies[0].options.parameters.foot=0.0"], "the link on which the first joint stands"),
    ],
)
def test_what_cannot_be_mounted_says_why(compose, robot, overrides, said):
    with pytest.raises(ConfigError, match=said):
        compose(robot, 'base = { mount = "world" }', *overrides)


def test_a_load_at_the_tip_of_a_vine_pushes_its_carrier(compose):
    """1 N along a straight tube of 0.05 kg on 0.3 kg: F·t²/2m."""
    simulation = compose(
        "pushed", 'base = { mount = "carrier.body" }', "world.gravity=[0,0,0]", carrier=RESTING
    )
    for _ in range(200):
        simulation.step()
    moved = simulation.frame("carrier.body").position
    assert moved == pytest.approx([0.5 * 1.0 / 0.35 * 0.2**2, 0.0, 0.0], abs=1e-10)


def test_a_load_across_the_tip_gives_its_momentum_to_vine_and_carrier(compose):
    """0.3 N across the tip for 0.5 s; the load turns with the plane, whose turn decides where the momentum goes."""
    simulation = compose(
        "pushed", 'base = { mount = "carrier.body" }', "world.gravity=[0,0,0]",
        "bodies[1].inputs[0].signal=[0.0,0.3]", carrier=RESTING,
    )  # fmt: skip
    impulse = np.zeros(3)
    for _ in range(100):
        before = simulation.frame("carrier.body").rotation
        simulation.step()
        after = simulation.frame("carrier.body").rotation
        impulse += 0.5e-3 * 0.3 * (before + after)[:, 2]
    assert np.linalg.norm(impulse) > 0.02
    assert balances(simulation)[:3] == pytest.approx(impulse, abs=1e-7)


def test_the_base_of_signals_of_a_vine_holds_the_load_at_its_tip(compose):
    base = 'base = { position = { kind = "ramp", from = 10.0, to = 11.0, value = [0.2, 0.0, 0.0] } }'
    simulation = compose("pushed", base, "world.gravity=[0,0,0]")
    for _ in range(20):
        simulation.step()
    assert simulation.joint_force("robot.base").force == pytest.approx([-1.0, 0.0, 0.0], abs=1e-9)
