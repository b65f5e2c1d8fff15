"""A small scenario of the kernel's reference plugins, and a scheduler of Dask that runs already."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from corekit.interpreters import safe_children

SCENARIO = """
format = "corekit-scenario/1"
name = "dropped"
time = { duration = 0.1, step = 0.002 }
integrator = { use = "reference-semi-implicit-euler" }
output = { every = 0.02 }
[[world.obstacles]]
name = "floor"
shape = "half-space"
friction = 0.5
[contact]
detector = { use = "reference-detector" }
solver = { use = "reference-gauss-seidel" }
[[bodies]]
name = "ball"
use = "reference-point-chain"
[bodies.options]
positions = [[0.0, 0.0, 0.15]]
velocities = [[0.5, 0.0, 0.0]]
shape = "sphere"
"""


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    path = tmp_path / "dropped.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a scheduler with one worker in a process of its own."""
    from distributed import LocalCluster

    with (
        safe_children(),
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster.scheduler_address
