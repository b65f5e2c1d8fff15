"""A potential's friction where the slip changes much in a step: it stays in its cone, the record says what acted."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.scenario.load import loads

for _package in ("rigid", "sdf", "imc", "timestep"):
    pytest.importorskip(f"corekit_{_package}")

G, MU, START = 9.81, 0.3, 0.05

WORLD = """
format = "corekit-scenario/1"
name = "jump"
time = {{ duration = 1.0, step = {step} }}
{world}

[[bodies]]
name = "box"
use = "rigid"
options = {{ shape = "box", size = [0.2, 0.2, 0.04], mass = 1.0 }}
initial = {{ position = [0.0, 0.0, {height}] }}
{push}

[contact]
friction = 0.3
detector = ["sdf", "mpr"]
solver = "imc"

[integrator]
use = "{integrator}"
"""
FLOOR = '[[world.obstacles]]\nname = "floor"\nshape = "half-space"'
PUSH = """
[[bodies.inputs]]
channel = "wrench"
signal = { kind = "table", times = [0.0, 0.05, 0.0500001, 0.051, 0.0510001, 1.0], values = [
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1000.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1000.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]] }
"""
PLATE = """
[[bodies]]
name = "plate"
use = "rigid"
base = { position = { kind = "ramp", from = 0.05, to = 1.05, value = [1.0, 0.0, 0.0], start = [0.0, 0.0, 0.0] } }
options = { shape = "box", size = [3.0, 1.0, 0.04], mass = 1.0 }
"""


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "implicit-euler"])
@pytest.mark.parametrize(("case", "arrived"), [("pushed", 1.0 - MU * G * 0.03), ("carried", MU * G * 0.03)])
def test_a_jump_of_the_slip_does_not_carry_friction_out_of_its_cone(case, arrived, integrator):
    """A box gets 1000 N for a millisecond, or lies on a plate that starts with 1 m/s: it slides for 30 ms.

    The layer in which contacts act is 10⁻³ m thick, and the box settles in it: some per cent of its weight swing.
    """
    pushed = case == "pushed"
    text = WORLD.format(
        step=1e-3, integrator=integrator, world=FLOOR if pushed else PLATE, push=PUSH if pushed else "",
        height=0.0201 if pushed else 0.0401,
    )  # fmt: skip
    simulation = loads(text).compose()
    box = simulation.body("box")
    while simulation.time < START + 0.03 - 1e-9:
        before = simulation.state.body_states[box.index].v[0]
        assert simulation.step().solve_info.status.solved
        pulled = simulation.state.body_states[box.index].v[0] - before
        if pushed and START < simulation.time < START + 1.5e-3:
            pulled -= 1.0
        record = simulation.contacts()
        assert abs(pulled) <= 1.25 * MU * record.normal_impulse.sum() + 1e-9
        on_the_box = [1.0 if first == "box" else -1.0 for first, _ in record.names]
        given = record.step_size * float(np.dot(on_the_box, record.force[:, 0]))
        assert given == pytest.approx(pulled, rel=0.05, abs=1e-4)
    assert simulation.state.body_states[box.index].v[0] == pytest.approx(arrived, abs=0.015)
