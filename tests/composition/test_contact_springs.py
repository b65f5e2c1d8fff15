"""What a contact potential does by default: impacts end, what rests stays at rest, and all of it within the layer δ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from corekit.registry.discover import discover
from corekit.scenario.load import from_document
from corekit_record.energy_balance import EnergyBalance
from corekit_run.running import run

for _package in ("rigid", "gvs", "sdf", "imc", "timestep", "record"):
    pytest.importorskip(f"corekit_{_package}")

G, LAYER, NU, STEP = 9.81, 5e-4, 1e-3, 1e-3
FLOOR = {"name": "floor", "shape": "half-space"}
WALL = {"name": "wall", "shape": "half-space", "rotation_rpy": [0.0, -math.pi / 2, 0.0]}
"""In the way along x."""
INTEGRATORS = sorted(
    row.name
    for row in discover()
    # scipy-rk45 follows the drag of friction by thousands of tiny steps, for minutes a world
    if row.role == "integrators" and row.usable and not row.reference and row.name != "scipy-rk45"
)
MU_G = 0.5 * G
FEW = ["implicit-euler", "implicit-midpoint", "newmark", "rk23", "semi-implicit-euler", "verlet"]


def compose(bodies, integrator, *, obstacles=(FLOOR,), friction=0.5, step=STEP, gravity=G, options=None):
    solver = {"use": "imc", "options": options or {}}
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "springs", "time": {"duration": 10.0, "step": step},
            "output": {"every": step}, "world": {"gravity": [0.0, 0.0, -gravity], "obstacles": list(obstacles)},
            "bodies": bodies, "contact": {"detector": "sdf", "solver": solver, "friction": friction},
            "integrator": {"use": integrator},
        }
    ).compose()  # fmt: skip


def rigid(name, shape, size, mass, position, **initial):
    return {
        "name": name, "use": "rigid", "options": {"shape": shape, "size": size, "mass": mass},
        "initial": {"position": position, **initial},
    }  # fmt: skip


def finger(name, x, size, push):
    """A link that slides along x with a box at its origin, 0.1 kg, and a force on it."""
    link = {
        "name": name, "kind": "rigid", "position": [0.0, 0.0, 0.0], "mass": 0.1, "inertia": [1e-4] * 3,
        "joint": {"kind": "prismatic", "axis": "x", "driven": True},
        "solids": [{"shape": "box", "size": size, "position": [x, 0.0, 0.0]}],
    }  # fmt: skip
    return link, {"channel": f"joint-{name}", "signal": push}


class Look:
    """The deepest contact, the highest a body rose, and the most energy it ever had, over all steps."""

    def __init__(self, simulation, body=0):
        self.deepest, self.highest, self._body = 0.0, -math.inf, body
        self.start = self.most = self.energy(simulation)
        simulation.observe(self)

    def energy(self, simulation):
        models = [body.model for body in simulation.bodies]
        states = simulation.state.body_states
        return sum(sum(each.compute_energies(state)) for each, state in zip(models, states, strict=True))

    def __call__(self, simulation, _report):
        self.deepest = max(self.deepest, simulation.system.penetration(simulation.state))
        self.highest = max(self.highest, simulation.state.body_states[self._body].q[2])
        self.most = max(self.most, self.energy(simulation))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_launched_cube_slides_to_its_stop_and_stays_down(integrator):
    """After v²/(2·μ·g). It starts at gap 0 and settles; undamped, its edges took turns, and it rose by 0.2 to 0.4 m."""
    speed = 1.5
    cube = rigid("cube", "box", [0.1, 0.1, 0.1], 1.0, [0.0, 0.0, 0.05], velocity=[speed, 0.0, 0.0])
    simulation = compose([cube], integrator)
    look = Look(simulation)
    simulation.run(0.4)
    assert look.highest < 0.05 + 0.1 * LAYER
    assert look.deepest < LAYER
    # a step of first order ends ½·h·v off; while it settles, its weight swings by what settles of it in the way g·t²/2
    settled = MU_G * math.sqrt(2.0 * LAYER / G) * math.sqrt(2.0 * LAYER / G)
    assert simulation.state.q[0] == pytest.approx(
        speed**2 / (2.0 * MU_G), abs=0.5 * STEP * speed + settled + NU
    )
    assert np.abs(simulation.state.v[:3]).max() < NU


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_grasp_creeps_as_fast_as_the_readme_says(integrator):
    """(2/K₂)·artanh(F/(μ·N)), K₂ = 15/ν: contacts that ring let it fall many times as fast."""
    push, friction, mass = 0.8, 0.7, 0.045
    fingers = [
        finger("left", -0.009, [0.01, 0.04, 0.04], push),
        finger("right", 0.009, [0.01, 0.04, 0.04], -push),
    ]
    grip = {
        "name": "grip", "use": "gvs", "inputs": [each for _, each in fingers],
        "options": {"links": [link for link, _ in fingers]},
    }  # fmt: skip
    rod = rigid("rod", "capsule", [0.004, 0.02], mass, [0.0, 0.0, 0.0], rotation_rpy=[math.pi / 2, 0.0, 0.0])
    simulation = compose([grip, rod], integrator, obstacles=(), friction=friction)
    simulation.run(0.15)
    before = simulation.state.body_states[1].q[2]
    simulation.run(0.25)
    creep = NU * 2.0 / 15.0 * math.atanh(0.5 * mass * G / (friction * push))
    assert (before - simulation.state.body_states[1].q[2]) / 0.1 == pytest.approx(creep, rel=1e-2)


@pytest.mark.parametrize("integrator", FEW)
def test_a_jaw_stays_where_it_presses(integrator):
    """A finger with 20 N runs 5 mm to a wall: it comes back by less than δ, and ends where k·φ′ carries its force."""
    link, drive = finger("jaw", 0.0, [0.02, 0.04, 0.04], 20.0)
    jaw = {"name": "jaw", "use": "gvs", "inputs": [drive], "options": {"links": [link]}}
    wall = {**WALL, "position": [0.015, 0.0, 0.0]}
    simulation = compose([jaw], integrator, obstacles=[wall], gravity=0.0)
    places = []
    simulation.observe(lambda now, _: places.append(float(now.state.q[0])))
    simulation.run(0.6)
    first = next(i for i, x in enumerate(places) if x > 0.005)
    assert 0.005 - LAYER < min(places[first:]) <= max(places[first:]) < 0.005 + LAYER
    assert places[-1] == pytest.approx(0.005 + 0.2 * LAYER, abs=0.05 * LAYER)
    record = simulation.contacts()
    assert record.normal_impulse.sum() / record.step_size == pytest.approx(20.0, rel=1e-2)


@pytest.mark.parametrize("integrator", FEW)
def test_a_box_that_lands_does_not_leave_the_floor_again(integrator):
    box = rigid("box", "box", [0.2, 0.2, 0.1], 1.0, [0.0, 0.0, 0.06], velocity=[0.2, 0.0, 0.0])
    simulation = compose([box], integrator)
    simulation.run(0.055)  # it lands after 45 ms
    look = Look(simulation)
    simulation.run(0.4)
    assert look.highest < 0.05 + LAYER
    assert look.deepest < LAYER
    assert np.abs(simulation.state.v).max() < NU


@pytest.mark.parametrize("integrator", [name for name in INTEGRATORS if "scipy" not in name])
def test_a_cube_that_falls_on_a_corner_gains_nothing_at_large_friction(integrator):
    """μ = 5. Of what undamped contacts store and give back in turns, one linear solve a step made 350 J of 0.5 J."""
    cube = rigid("cube", "box", [0.1, 0.1, 0.1], 1.0, [0.0, 0.0, 0.11], rotation_rpy=[0.3, 0.5, 0.0])
    simulation = compose([cube], integrator, friction=5.0)
    look = Look(simulation)
    simulation.run(0.25)
    assert look.most <= look.start * (1.0 + 1e-12)
    assert look.deepest < LAYER


@pytest.mark.parametrize(
    ("integrator", "restitution", "step"),
    [
        *((name, 0.0, 1e-3) for name in FEW), ("implicit-midpoint", 0.0, 2.5e-4), ("implicit-midpoint", 0.5, 1e-3),
        ("newmark", 1.0, 1e-3),
    ],
)  # fmt: skip
def test_a_rod_that_falls_over_its_end_stays_within_the_layer(integrator, restitution, step):
    """When the far end lands, the end that rests is driven down at twice the speed: it sank by 8 to 11 mm."""
    tilt, half = math.radians(60.0), 0.5
    rod = rigid(
        "rod", "capsule", [0.001, 2.0 * half], 1.0,
        [half * math.sin(tilt), 0.0, half * math.cos(tilt) + 0.001], rotation_rpy=[0.0, tilt, 0.0],
    )  # fmt: skip
    simulation = compose([rod], integrator, step=step, options={"restitution": restitution})
    look = Look(simulation)
    simulation.run(0.4)
    assert simulation.state.q[2] < 0.2
    assert 0.1 * LAYER < look.deepest < LAYER


@pytest.mark.parametrize("integrator", FEW)
def test_a_ball_under_something_heavy_stays_within_the_layer(integrator):
    """A box of 2 kg falls on a ball of 10 g: its contacts have to stop 200 times the mass that they feel at first."""
    ball = rigid("ball", "sphere", [0.02], 0.01, [0.0, 0.0, 0.0199])
    box = rigid("box", "box", [0.1, 0.1, 0.1], 2.0, [0.0, 0.0, 0.091], velocity=[0.0, 0.0, -1.0])
    simulation = compose([ball, box], integrator, friction=0.3)
    look = Look(simulation)
    simulation.run(0.04)
    assert 0.1 * LAYER < look.deepest < LAYER


@pytest.mark.parametrize("integrator", FEW)
def test_a_motor_that_is_switched_on_presses_nothing_through_the_layer(integrator):
    """From rest at gap 0 by 600 m/s² in 4 ms: no velocity of the start told of it, and 2.6 mm were gone in a step."""
    link, drive = finger("jaw", 0.0, [0.02, 0.04, 0.04], 60.0)
    jaw = {"name": "jaw", "use": "gvs", "inputs": [drive], "options": {"links": [link]}}
    wall = {**WALL, "position": [0.01, 0.0, 0.0]}
    simulation = compose([jaw], integrator, obstacles=[wall], gravity=0.0, step=4e-3)
    deepest = []
    simulation.observe(lambda now, _: deepest.append(now.system.penetration(now.state)))
    simulation.run(0.1)
    assert 0.1 * LAYER < max(deepest) < LAYER


def test_a_run_says_which_contact_left_the_layer(tmp_path, monkeypatch, recwarn):
    """A fixed spring of 10 kN/m lets a ball of 1 kg in by 8 mm at 1 m/s, less than the 10 mm of other worlds."""
    monkeypatch.chdir(tmp_path)
    ball = rigid("ball", "sphere", [0.05], 1.0, [0.0, 0.0, 0.051], velocity=[0.0, 0.0, -1.0])
    options: dict[str, Any] = {"adapt": False, "damping": 0.0}
    document = {
        "format": "corekit-scenario/1", "name": "soft", "time": {"duration": 0.02, "step": STEP},
        "world": {"obstacles": [FLOOR]}, "bodies": [ball], "integrator": {"use": "implicit-midpoint"},
        "contact": {"friction": 0.0, "detector": "sdf", "solver": {"use": "imc", "options": options}},
    }  # fmt: skip
    results = run(from_document(document), directory="out")
    said = [event["said"] for event in results.events if event["event"] == "watchdog"]
    assert len(said) == 1
    assert said[0].startswith("ball.0 is 0.5")
    assert (
        "mm inside floor, more than 0.5 mm. Contacts should stay within 0.5 mm: choose stiffer ones."
        in said[0]
    )
    assert any("inside floor" in str(each.message) for each in recwarn)
    # k·d² = ½·m·v² + m·g·d, with what it gained in the first millimetre
    depth = (G + math.sqrt(G**2 + 2e4 * (1.0 + 2e-3 * G))) / 2e4
    assert results.events[-1]["watchdog"]["penetration"]["worst"] == pytest.approx(depth, rel=0.01)


def test_what_touches_at_the_start_has_energy_then():
    """The layer pushes off a ball that touches: k·(ln 2·δ/15)², by S(0), is there before the first step."""
    ball = rigid("ball", "sphere", [0.05], 0.05, [0.0, 0.0, 0.05])
    options = {"restitution": 1.0, "stiffness": 2e4}
    simulation = compose([ball], "scipy-rk45", gravity=0.0, options=options)
    balance = EnergyBalance(simulation)
    for _ in range(60):
        simulation.step()
        balance.sample(simulation)
        assert not balance.exceeds(0.01)
    assert not simulation.contacts().normal_impulse.any()
    kinetic = 0.5 * 0.05 * float(simulation.state.v @ simulation.state.v)  # it does not turn
    stored = 2e4 * (math.log(2.0) * LAYER / 15.0) ** 2
    # some hundred of the scheme's own steps, each within its relative tolerance of 1e-6
    assert balance.scale == pytest.approx(stored, rel=1e-12)
    assert kinetic == pytest.approx(stored, rel=1e-4)
