"""What a sweep keeps of a run while it goes on."""

from __future__ import annotations

import pytest

from corekit.scenario.load import loads
from corekit_study.run_watch import RunWatch

for needed in ("lagrangian", "rigid", "sdf", "lcp", "timestep"):
    pytest.importorskip(f"corekit_{needed}")

H, WEIGHT = 1e-3, 9.81
BALL = """
format = "corekit-scenario/1"
name = "thrown"
time = { duration = 0.01, step = 1e-3 }
integrator = { use = "semi-implicit-euler" }
contact = { detector = "sdf", solver = "lcp", friction = 0.0 }
[[bodies]]
name = "ball"
use = "rigid"
options = { shape = "sphere", size = [0.1], mass = 1.0 }
initial = { position = [0.0, 0.0, 0.1] }
[[bodies.inputs]]
channel = "wrench"
signal = { kind = "ramp", from = BEGIN, to = 1.0, value = [0, 0, 1e-9, 0, 0, 0] }
[[world.obstacles]]
name = "floor"
shape = "half-space"
"""


@pytest.mark.parametrize("beside", [-0.5, 0.0, 0.5])
def test_the_only_step_counts_though_a_breakpoint_moves_its_end(beside):
    """By half of 1e-9 of it: a ball that rests for one step pushed with its weight."""
    simulation = loads(BALL.replace("BEGIN", repr(H * (1.0 + beside * 1e-9)))).compose()
    watch = RunWatch(simulation)
    simulation.step()
    (force,) = watch._largest.values()
    assert force == pytest.approx(WEIGHT, rel=1e-6)
