"""Which frame tables call the tip: where the drawn line of the first extended body ends."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.scenario.load import loads
from corekit_record.results import Results
from corekit_run.running import run

WORLD = """
format = "corekit-scenario/1"
name = "tip"
time = { duration = 0.002, step = 1e-3 }
output = { every = 1e-3 }

[[bodies]]
name = "ball"
use = "rigid"
options = { size = [0.02], mass = 0.1 }
base = { position = [0.0, 1.0, 0.0] }

[[bodies]]
name = "arm"
use = "gvs"
[[bodies.options.links]]
name = "rod"
collision = "capsules"
shapes = 5
[[bodies.options.links.divisions]]
length = 0.3
radius = 0.01
young = 1e6
density = 1000.0
strain = [{ kind = "legendre", order = 0 }]

[integrator]
use = "semi-implicit-euler"
"""


def recorded(text: str, folder) -> Results:
    return run(loads(text), directory=folder)


def test_the_tip_is_the_end_of_the_rod_and_no_shape_of_it(tmp_path):
    """The frames of an arm's shapes follow those of its links, and a ball stands first."""
    for model in ("gvs", "rigid"):
        pytest.importorskip(f"corekit_{model}")
    results = recorded(WORLD, tmp_path / "run")
    assert results.frames[-1] == "arm.rod/5"
    assert results.tip is not None
    assert results.frames[results.tip] == "arm.rod.tip"
    np.testing.assert_allclose(results.frame_position[0, results.tip], [0.3, 0.0, 0.0], atol=1e-12)


def test_in_a_world_of_points_it_is_the_first_body(tmp_path):
    pytest.importorskip("corekit_rigid")
    ball, rest = WORLD.split('[[bodies]]\nname = "arm"')
    other = ball.split("[[bodies]]")[1].replace('"ball"', '"other"')
    results = recorded(
        f"{ball}[[bodies]]{other}[integrator]{rest.partition('[integrator]')[2]}", tmp_path / "run"
    )
    assert results.tip is not None
    assert results.frames[results.tip] == "ball.body"
