"""A grid step that ends at a breakpoint beside its grid point is one grid step to whoever records or watches it."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.roles.component import BuildContext
from corekit.scenario.load import loads
from corekit_feedback.sensors import Sensor, Sensors, SensorsConfig
from corekit_record.recorder import Recorder
from corekit_record.results import Results
from corekit_record.statistics import Statistics

H = 1e-3
WORLD = """
format = "corekit-scenario/1"
name = "pressed-box"
time = { duration = 0.01, step = 1e-3 }
integrator = { use = "semi-implicit-euler" }
contact = { detector = ["sdf", "mpr"], solver = "lcp" }

[world]
gravity = [0.0, 0.0, 0.0]

[[world.obstacles]]
name = "floor"
shape = "half-space"

[[bodies]]
name = "box"
use = "rigid"
options = { shape = "box", size = [0.2, 0.2, 0.04], mass = 1.0 }
initial = { position = [0.0, 0.0, 0.02] }
[[bodies.inputs]]
channel = "wrench"
signal = { kind = "table", times = TIMES, values = VALUES }
"""


def pressed(peak, beside, grid_step=0):
    """A box under a hat of 5 N whose three kinks lie beside grid points, by shares of h; 1 N before and after."""
    times = [
        grid_step * H - 1.0,
        *((grid_step + peak + n) * H + share * H for n, share in zip((-1, 0, 1), beside, strict=True)),
        (grid_step + 99) * H,
    ]
    values = [[0.0, 0.0, -force, 0.0, 0.0, 0.0] for force in (1.0, 1.0, 5.0, 1.0, 1.0)]
    simulation = loads(WORLD.replace("TIMES", repr(times)).replace("VALUES", repr(values))).compose()
    late = {"time": np.array(grid_step * H), "step_index": np.array(grid_step)}
    simulation.restore(simulation.internal_state() | late)
    return simulation, times[1:4]


@pytest.mark.parametrize("beside", [-1e-7, -2e-9, -0.9e-9, -1e-11, 1e-11, 0.9e-9, 2e-9, 1e-7])
def test_a_record_has_one_row_a_grid_step(beside, tmp_path):
    """At the end of the step: at the breakpoint where that moves the grid point."""
    simulation, kinks = pressed(4, (beside, beside, beside))
    with Recorder(tmp_path / "results.nc", simulation, H, Statistics()) as recorder:
        simulation.observe(recorder.on_step_accepted)
        simulation.run(8 * H)
    expected = [n * H for n in range(9)]
    if abs(beside) < 1e-9:
        expected[3:6] = kinks
    assert Results(tmp_path).time.tolist() == expected


@pytest.mark.parametrize("grid_step", [0, 1_000_000, 100_000_000, 1_000_000_000])
@pytest.mark.parametrize("beside", [0.0, 0.9e-9, -0.9e-9])
def test_a_delay_of_two_steps_is_two_samples(beside, grid_step):
    """Between sample and reading the grid points move towards each other, or apart."""
    simulation, _ = pressed(4, (beside, 0.0, -beside), grid_step)
    eye = Sensor(name="box", kind="frame", frames=("box.body",), delay=2 * H)
    eyes = Sensors(SensorsConfig(sensors=(eye,)), BuildContext(path="controllers.eyes"))
    simulation.add_controller(eyes, name="eyes")
    simulation.state.v[0] = 1.0
    true = []
    for n in range(10):
        true.append(float(simulation.frame("box.body").position[0]))
        simulation.step()
        assert eyes.reading("box")[0] == true[max(0, n - 2)]
    assert true[-1] > true[0]
