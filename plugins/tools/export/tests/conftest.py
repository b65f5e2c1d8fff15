"""A run with a pile of balls on a floor, and a rod that a clamp holds."""

from __future__ import annotations

from pathlib import Path

import pytest

import corekit
from corekit.scenario.load import loads

WORLD = """
format = "corekit-scenario/1"
name = "pile and rod"
time = { duration = 0.1, step = 2e-3 }
integrator = "implicit-euler"
output.every = 0.01

[[bodies]]
name = "top"
use = "rigid"
base.position = [0.0, 0.0, 0.15]
options = { shape = "sphere", size = [0.05], mass = 1.0 }
[[bodies]]
name = "bottom"
use = "rigid"
base.position = [0.0, 0.0, 0.05]
options = { shape = "box", size = [0.1, 0.1, 0.1], mass = 2.0, inertia = [4e-3, 4e-3, 4e-3] }
[[bodies]]
name = "rod"
use = "der"
[bodies.options]
clamps = [{ at = "beam.start", kind = "edge" }]
[[bodies.options.limbs]]
name = "beam"
start = [0.5, 0.0, 0.5]
end = [0.8, 0.0, 0.5]
nodes = 31
radius = 5e-3
young = 5e7
density = 1000.0
viscosity = 2e5

[[world.obstacles]]
name = "floor"
shape = "half-space"
[contact]
friction = 0.5
detector = ["sdf", "edges"]
solver = "lcp"
"""


@pytest.fixture(scope="session")
def results(tmp_path_factory) -> corekit.Results:
    """The run's records."""
    folder: Path = tmp_path_factory.mktemp("export") / "run"
    return loads(WORLD.replace("pile and rod", "pile-and-rod")).run(directory=folder)
