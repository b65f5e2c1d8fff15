"""Joints driven by position: steps land on the breakpoints of their motion, and momentum decides what a jump does."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from corekit.data.instants import same_instant
from corekit.scenario.load import loads
from corekit_record.energy_balance import EnergyBalance

KINK, RATE = 0.0105, 2.0
# straight, (I + m·c²)·v₂ + (I + m·c² + m·L·c)·v₁ about the pin stays 0
KICK = -(2e-3 + 0.5 * (0.1**2 + 0.3 * 0.1)) / (2e-3 + 0.5 * 0.1**2) * RATE
ARMS = """
format = "corekit-scenario/1"
name = "crank-and-arm"
time = { duration = 0.024, step = 0.004 }
world = { gravity = [0.0, 0.0, 0.0] }

[[bodies]]
name = "arms"
use = "gvs"
[[bodies.options.links]]
name = "crank"
kind = "rigid"
joint = { kind = "revolute", axis = "z", jump = "JUMP", motion = MOTION }
mass = 1.0
inertia = [1e-3, 1e-3, 1e-3]
tip = [0.3, 0.0, 0.0]
[[bodies.options.links]]
name = "arm"
kind = "rigid"
on = "crank.tip"
joint = { kind = "revolute", axis = "z" }
mass = 0.5
inertia = [2e-3, 2e-3, 2e-3]
centre = [0.1, 0.0, 0.0]

[integrator]
use = "INTEGRATOR"

[output]
every = 0.004
"""


MOTION = f'{{ kind = "ramp", from = {KINK}, to = {KINK + 1.0}, value = {RATE} }}'


def steps(jump, integrator, motion=MOTION, duration=0.02, grid_step=0):
    """Times and rates of the arm after every step from a grid step on."""
    text = ARMS.replace("JUMP", jump).replace("MOTION", motion).replace("INTEGRATOR", integrator)
    simulation = loads(text).compose()
    begin = {"time": np.array(grid_step * 0.004), "step_index": np.array(grid_step)}
    simulation.restore(simulation.internal_state() | begin)
    seen = []
    simulation.observe(lambda run, report: seen.append((run.time, float(run.state.v[1]))))
    simulation.run(grid_step * 0.004 + duration)
    return seen


EVERY = (
    "implicit-euler", "implicit-midpoint", "generalized-alpha", "newmark", "rk23", "verlet", "scipy-bdf",
    "scipy-radau", "scipy-rk45",
)  # fmt: skip


@pytest.mark.parametrize("integrator", EVERY)
def test_an_arm_keeps_its_angular_momentum_when_its_crank_starts(integrator):
    """It goes on as it was kicked at first; turned by φ it is slowed by m·L·c·v₁²·sin φ."""
    seen = steps("impulse", integrator)
    assert KINK in [time for time, _ in seen]
    assert all(rate == 0.0 for time, rate in seen if time < KINK)
    assert all(rate == pytest.approx(KICK, rel=2e-3) for time, rate in seen if time > KINK)


@pytest.mark.parametrize(
    "integrator", ["implicit-euler", "generalized-alpha", "rk23", "scipy-bdf", "scipy-rk45"]
)
def test_a_joint_that_jumps_alone_takes_what_it_carries_with_it(integrator):
    seen = steps("alone", integrator)
    assert all(abs(rate) < 1e-6 for _, rate in seen)


@pytest.mark.parametrize("side", [0.0, 1.0])
@pytest.mark.parametrize("integrator", ["implicit-euler", "implicit-midpoint", "generalized-alpha"])
def test_a_breakpoint_counts_as_the_end_of_its_step_despite_rounding(integrator, side):
    """A little before the end of the tenth step or a little behind it, by more than sums of steps round to."""
    begin = 10 * 0.004
    for _ in range(4):
        begin = math.nextafter(begin, side)
    ramp = f'kind = "ramp", from = {begin!r}, to = 1.04, value = 2.0'
    seen = steps("alone", integrator, f"{{ {ramp} }}", 0.06)
    assert all(abs(rate) < 1e-6 for _, rate in seen)


@pytest.mark.parametrize(
    ("grid_step", "beside"), [(0, 1e-12), (0, 5e-10), (10, -5e-10), (10, -2e-11), (10, 2e-11), (10, 5e-10)]
)
@pytest.mark.parametrize("integrator", EVERY)
def test_a_breakpoint_beside_a_grid_point_is_one(integrator, grid_step, beside):
    """By less than 1e-9 of a step, and by more than rounding: the grid point is there."""
    begin = grid_step * 0.004 + beside * 0.004
    ramp = f'kind = "ramp", from = {begin!r}, to = 1.04, value = 2.0'
    seen = steps("alone", integrator, f"{{ {ramp} }}", 0.06)
    assert all(abs(rate) < 1e-6 for _, rate in seen)


@pytest.mark.parametrize("beside", [-0.9, -0.5, 0.5, 0.9])
@pytest.mark.parametrize("integrator", EVERY)
@pytest.mark.parametrize("grid_step", [10_000, 1_000_000])
def test_a_breakpoint_late_in_a_run_is_one_kink(grid_step, integrator, beside):
    """Apart from a grid point by less than rounding of t, which there is more than 1e-9 of a step."""
    point = (grid_step + 3) * 0.004
    begin = point + beside * same_instant(point)
    assert abs(begin - point) > 1e-9 * 0.004
    ramp = f'kind = "ramp", from = {begin!r}, to = {begin + 1.0!r}, value = 2.0'
    alone = steps("alone", integrator, f"{{ {ramp} }}", 0.02, grid_step)
    assert [time for time, _ in alone] == [(grid_step + n) * 0.004 for n in range(1, 6)]
    assert all(abs(rate) < 1e-6 for _, rate in alone)
    kicked = [rate for _, rate in steps("impulse", integrator, f"{{ {ramp} }}", 0.02, grid_step)]
    assert kicked[:3] == [0.0, 0.0, 0.0]
    assert kicked[3:] == pytest.approx([KICK, KICK], rel=2e-3)


@pytest.mark.parametrize("jump", ["impulse", "alone"])
@pytest.mark.parametrize("integrator", EVERY)
def test_energy_that_enters_where_a_rate_jumps_is_the_drive_s_work(integrator, jump):
    """At rest before, driven on afterwards; growth beyond the work would be energy from nothing."""
    simulation = loads(
        ARMS.replace("JUMP", jump).replace("MOTION", MOTION).replace("INTEGRATOR", integrator)
    ).compose()
    balance = EnergyBalance(simulation)

    def watch(run, report):
        balance.add_step(run)
        balance.sample(run)

    simulation.observe(watch)
    simulation.run(0.04)
    body = simulation.bodies[0]
    model: Any = body.model
    energy = sum(model.compute_energies(simulation.state.body_states[0]))
    lowest = json.loads(str(balance.internal_state()["sums"]))["lowest"]
    assert energy > 0.02
    # reactions at the ends of steps, of which some schemes take their work, are of first order
    assert -0.02 * energy < lowest <= 0.0
    assert balance.excess < 1e-4 * energy


PLATE = """
format = "corekit-scenario/1"
name = "plate"
time = {{ duration = 1.0, step = {step} }}
world = {{ gravity = [0.0, 0.0, -9.81] }}

[[bodies]]
name = "plate"
use = "rigid"
base = {{ position = {{ kind = "ramp", from = 0.02, to = 1.02, value = [0.0, 0.0, 1.0], start = [0.0, 0.0, 0.0] }} }}
options = {{ shape = "box", size = [1.0, 1.0, 0.1], mass = 1.0 }}

[[bodies]]
name = "ball"
use = "rigid"
options = {{ shape = "sphere", size = [0.05], mass = 1.0 }}
initial = {{ position = [0.0, 0.0, {height}] }}

[contact]
friction = 0.0
detector = ["sdf", "mpr"]
solver = "lcp"
impact = {{ level = "velocity", restitution = {restitution} }}

[integrator]
use = "{integrator}"
"""
FIVE = ("semi-implicit-euler", "implicit-euler", "implicit-midpoint", "verlet", "rk23")


def plate(integrator, step=1e-3, height=0.1, restitution=0.0):
    for package in ("sdf", "mpr", "lcp"):
        pytest.importorskip(f"corekit_{package}")
    text = PLATE.format(integrator=integrator, step=step, height=height, restitution=restitution)
    return loads(text).compose()


@pytest.mark.parametrize("integrator", FIVE)
def test_a_plate_that_starts_carries_what_rests_on_it(integrator):
    """At 20 ms its rate jumps to 1 m/s, and so does the ball's; it does not fly off. Of first order in the step."""
    for step, error in ((1e-3, 0.012), (2.5e-4, 0.003)):
        simulation = plate(integrator, step)
        while simulation.time < 0.025 - 1e-9:
            simulation.step()
            moved = simulation.frame("plate.body").velocity[2]
            assert moved == pytest.approx(1.0 if simulation.time > 0.0201 else 0.0, abs=1e-9)
        assert simulation.frame("ball.body").velocity[2] == pytest.approx(1.0, abs=error)


@pytest.mark.parametrize("integrator", FIVE[2:])
def test_a_plate_that_starts_strikes_what_is_just_above_it(integrator):
    """At rest 0.1 mm above without gravity; Newton's law with e = 0.5 gives 1.5 m/s."""
    simulation = plate(integrator, height=0.1001, restitution=0.5)
    simulation.reset(parameters={"world.gravity": [0.0, 0.0, 0.0]})
    simulation.run(0.025)
    assert simulation.frame("ball.body").velocity[2] == pytest.approx(1.5, abs=1e-9)


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", *EVERY])
def test_a_drive_s_force_holds_the_impulse_of_its_jump(integrator):
    """The plate of 1 kg alone: 1 N·s over the step of 1 ms in which its rate jumps, and its weight in every step."""
    plate_alone = PLATE.partition('[[bodies]]\nname = "ball"')
    rest = plate_alone[2].partition("[integrator]")[2]
    text = f"{plate_alone[0]}[integrator]{rest}".format(integrator=integrator, step=1e-3)
    simulation = loads(text).compose()
    pushed = []
    while simulation.time < 0.025 - 1e-9:
        simulation.step()
        pushed.append((simulation.time, simulation.joint_force("plate.base").force[2]))
    for time, force in pushed:
        begins = 0.0201 < time < 0.0211
        assert force == pytest.approx(9.81 + (1000.0 if begins else 0.0), rel=2e-3), time
