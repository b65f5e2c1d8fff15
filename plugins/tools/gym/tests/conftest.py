"""A ball in free space, pushed along its axes: everything about it is known in closed form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from corekit.scenario.load import loads
from corekit_gym.environment import Environment
from corekit_gym.task import Action, Quantity, Task

BALL = """
format = "corekit-scenario/1"
name = "ball"

[time]
duration = 1.0
step = 0.01

[world]
gravity = [0.0, 0.0, 0.0]

[[bodies]]
name = "ball"
use = "rigid"
base = { position = [0.0, 0.0, 1.0] }
options = { shape = "sphere", size = [0.1], mass = 2.0 }

[integrator]
use = "semi-implicit-euler"
"""
FORCE = 4.0
"""Of an action of 1 along an axis [N]."""


def pushed() -> Task:
    """A task of the ball: it sees its place and velocity, and three numbers push it."""
    rows = tuple(tuple(FORCE if k == axis else 0.0 for k in range(6)) for axis in range(3))
    return Task(
        name="pushed",
        loaded=loads(BALL),
        frame_skip=5,
        duration=0.5,
        quantities=(
            Quantity(name="place", kind="position", frame="ball.body", scale=2.0),
            Quantity(name="speed", kind="velocity", frame="ball.body"),
        ),
        actions=(Action(body="ball", channel="wrench", rows=rows),),
    )


@pytest.fixture
def make() -> Callable[..., Environment]:
    """Return what makes an environment of the ball, with other entries of its task."""

    def made(**changes: Any) -> Environment:
        return Environment(attrs.evolve(pushed(), **changes))

    return made


@pytest.fixture
def ball_file(tmp_path: Path) -> Path:
    """Return a task file of the ball, with its scenario beside it."""
    (tmp_path / "ball.toml").write_text(BALL, encoding="utf-8")
    file = tmp_path / "push.toml"
    file.write_text(
        """
format = "corekit-task/1"
name = "push"
scenario = "ball.toml"
frame_skip = 5
duration = 0.5

[[targets]]
name = "goal"
low = [0.1, 0.0, 1.0]
high = [0.3, 0.0, 1.0]

[[quantities]]
name = "error"
kind = "position"
frame = "ball.body"
relative_to = "goal"
scale = 0.1

[[quantities]]
name = "speed"
kind = "velocity"
frame = "ball.body"

[[actions]]
body = "ball"
channel = "wrench"
rows = [[4.0, 0.0, 0.0, 0.0, 0.0, 0.0]]

[[rewards]]
name = "near"
quantity = "error"
weight = -1.0
""",
        encoding="utf-8",
    )
    return file
