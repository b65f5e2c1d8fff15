"""Tiny components in a folder of their own (`site`), and worlds made of them without a scenario."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corekit.data.signals import Constant, Ramp
from corekit.engine.contact.contact_pipeline import ContactPipeline
from corekit.engine.world.world_system import WorldSystem
from corekit.geometry.shapes import Shape
from corekit.roles.body import stack_bodies
from corekit.roles.collision_scene import CollisionScene
from corekit.roles.component import BuildContext
from corekit.roles.obstacles import Obstacle
from corekit.roles.surface_pairs import friction_table
from corekit.roles.world import Stabilisation
from corekit.simulation.loop import Simulation

SITE = Path(__file__).parent / "site"

SCENARIO = """
format = "corekit-scenario/1"
name = "tiny"

[time]
duration = 0.5
step = 1e-3

[[world.obstacles]]
name = "floor"
shape = "half-space"
friction = 0.5

[[bodies]]
name = "ball"
use = "tiny-ball"
friction = 0.5
initial = { position = [0.0, 0.0, 0.3], velocity = [1.0, 0.0, 0.0] }

[contact]
detector = { use = "tiny-floor" }
solver = { use = "tiny-sweeps" }

[integrator]
use = "tiny-euler"

[output]
every = 0.01
"""


@pytest.fixture
def ctrl_c() -> Iterator[Callable[[], None]]:
    """Presses Ctrl-C, also where the tests were started in the background, which ignores it."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: os.kill(os.getpid(), signal.SIGINT)
    signal.signal(signal.SIGINT, usual)


@pytest.fixture(scope="module")
def tiny() -> Iterator[Callable[..., Any]]:
    """Modules of the tiny components, by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SITE))
        yield lambda name: import_module(f"tiny_plugin.{name}")


@pytest.fixture(scope="module")
def world(tiny) -> Callable[..., Simulation]:
    """A ball that falls from z = 0.3 m with 1 m/s along x onto a floor with μ = 0.5."""

    def make(balls: int = 1, step: float = 1e-3, floor: bool = True, **options: Any) -> Simulation:
        ball, contact, stepping = tiny("ball"), tiny("contact"), tiny("stepping")
        push = {"push": Ramp(begin=0.0, end=0.1, value=(0.0, 0.0, -1.0))}
        bodies = stack_bodies(
            [
                (
                    f"ball{i or ''}",
                    ball.Ball(ball.BallConfig(**options)),
                    frozenset({"point-jacobian", "force-terms"} | ({"energy"} if i == 0 else set())),
                    push if i == 0 else {},
                    0.5,
                )
                for i in range(balls)
            ]
        )
        still = Constant((0.0, 0.0, 0.0))
        sinks = Ramp(begin=0.0, end=10.0, value=(0.0, 0.0, -0.5))
        table = Obstacle(
            name="floor", shape=Shape("half-space", ()), position=sinks, rotation_rpy=still, friction=0.5
        )
        obstacles = (table,) if floor else ()
        scene = CollisionScene(bodies, obstacles)
        stage = ContactPipeline(
            bodies, scene, [contact.Floor(None)], friction_table(scene, bodies, obstacles, {}),
            Stabilisation(), 1e-3,
        )  # fmt: skip
        system = WorldSystem(bodies, stage, contact.Sweeps(None))
        integrator = stepping.Euler(stepping.EulerConfig(), BuildContext(step=step))
        simulation = Simulation(system, integrator, obstacles, step)
        for i, part in enumerate(simulation.state.body_states):
            part.q[:], part.v[:] = (0.5 * i, 0.0, 0.3), (1.0, 0.0, 0.0)
        return simulation

    return make


@pytest.fixture(scope="session")
def tiny_site() -> tuple[Path, str]:
    """The folder of the tiny components and the tiny scenario, for fixtures that outlive a test."""
    return SITE, SCENARIO


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    """The tiny scenario in a file."""
    path = tmp_path / "tiny.toml"
    path.write_text(SCENARIO)
    return path


class Shell:
    """The command line in processes of their own that see the tiny components."""

    def __init__(self, folder: Path, forked: Any) -> None:
        self.folder, self._forked = folder, forked
        self.environment = {**os.environ, "COLUMNS": "160", "NO_COLOR": "1", "PYTHONPATH": str(SITE)}

    def start(self, *arguments: str, module: str = "corekit.cli") -> Any:
        """Start `corekit ...`, or a module of the folder that does, and leave it running."""
        return self._forked.start(*arguments, module=module, folder=self.folder, environment=self.environment)

    def corekit(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `corekit ...` to its end."""
        return self._forked.run(*arguments, folder=self.folder, environment=self.environment)

    def python(self, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a module of the folder where the tiny components are not installed."""
        elsewhere = {**self.environment, "PYTHONPATH": ""}
        return self._forked.run(*arguments, module=module, folder=self.folder, environment=elsewhere)

    def fresh(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The same in a fresh interpreter, as a user starts it."""
        return subprocess.run(
            [sys.executable, "-m", "corekit.cli", *arguments], cwd=self.folder, env=self.environment,
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip


@pytest.fixture
def shell(tmp_path: Path, forked: Any) -> Shell:
    """A command line in an empty folder."""
    return Shell(tmp_path, forked)


@pytest.fixture(scope="session")
def recomputed() -> Callable[[Simulation], dict[str, list[Any]]]:
    """Watch a simulation apart from the recorder: time, q, deepest gap and contacts of every step."""

    def watch(simulation: Simulation) -> dict[str, list[Any]]:
        seen: dict[str, list[Any]] = {
            "time": [],
            "q": [],
            "gap": [],
            "contacts": [],
            "residual": [],
            "iterations": [],
        }

        def observe(simulation: Simulation, report: Any) -> None:
            contacts = simulation.contacts()
            seen["time"].append(simulation.time)
            seen["q"].append(simulation.state.q.copy())
            seen["gap"].append(float(np.min(contacts.gap, initial=np.inf)))
            seen["contacts"].append(contacts)
            seen["residual"].append(report.solve_info.residuals.worst)
            seen["iterations"].append(report.solve_info.iterations)

        simulation.observe(observe)
        return seen

    return watch
