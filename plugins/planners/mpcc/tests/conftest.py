"""A plate that slides in three directions under a ball: the smallest world with a ball turned by contact.

m·v̇ = τ − d·v + m·g,   q = (x, y, z) of the plate's centre;   I·ω̇ = torque − e·ω
"""

from __future__ import annotations

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from corekit.data.state import State
from corekit.geometry.frames import rotation_from_quat_wxyz
from corekit.geometry.shapes import Shape
from corekit.linalg.matrices import Dense
from corekit.roles.model import Channel, Coordinate, ModelDescription
from corekit.roles.planner import PlanningTask, TaskBody

MASS, DRAG, WEIGHT = 2.0, 5.0, -9.81 * 2.0
RADIUS, HALF_HEIGHT, BALL = 0.2, 0.01, 0.05
INERTIA, TURNING_DRAG, BALL_MASS = 1e-4, 1e-3, 0.1


class SymbolicPlate:
    """Expressions of the ability `symbolic` for the planner."""

    def kinetic_energy(self, q, v):
        return 0.5 * MASS * ca.sumsqr(v)

    def force(self, q, v, inputs):
        return inputs - DRAG * v + ca.DM([0.0, 0.0, WEIGHT])

    def pose(self, q, frame):
        return q, ca.DM.eye(3)


class Plate:
    """A flat cylinder with vertical axis."""

    def __init__(self, rows=0):
        three = tuple(Coordinate(axis, "m") for axis in "xyz")
        self.description = ModelDescription(
            coordinates=three,
            velocities=tuple(Coordinate(axis, "m/s") for axis in "xyz"),
            inputs=(Channel("push", "N", 3),),
            frames=("plate",),
            shapes=(Shape("cylinder", (RADIUS, HALF_HEIGHT)),),
            constraint_count=rows,
        )

    def symbolic(self):
        return SymbolicPlate()


class Ball:
    """A ball with its centre fixed at (0, 0, 0.1), or free there without gravity."""

    def __init__(self, *, free=False):
        self.free = free
        names = [*("m/s",) * (3 * free), *("rad/s",) * 3]
        self.description = ModelDescription(
            coordinates=tuple(Coordinate(str(i), "1") for i in range(4 + 3 * free)),
            velocities=tuple(Coordinate(str(i), unit) for i, unit in enumerate(names)),
            frames=("body",),
            shapes=(Shape("sphere", (BALL,)),),
        )

    def new_mass_matrix(self):
        return Dense(3 + 3 * self.free)

    def compute_mass_and_force(self, state, inputs, mass, force):
        mass.data[:] = np.diag([*(BALL_MASS,) * (3 * self.free), *(INERTIA,) * 3])
        force[:] = -np.array([*(0.0,) * (3 * self.free), *(TURNING_DRAG,) * 3]) * state.v

    def compute_frame_poses(self, state, position, rotation):
        position[0] = state.q[:3] if self.free else (0.0, 0.0, 0.1)
        rotation[0] = rotation_from_quat_wxyz(state.q[-4:])


def _state(model):
    state = State.zeros(len(model.description.coordinates), len(model.description.velocities))
    if isinstance(model, Ball):
        state.q[-4] = 1.0
        if model.free:
            state.q[2] = 0.1
    return state


def _task(plate=None, ball=None, **bodies):
    models = {"plate": plate or Plate(), "ball": ball or Ball(), **bodies}
    return PlanningTask(
        bodies={
            name: TaskBody(model, frozenset({"symbolic"}), _state(model)) for name, model in models.items()
        }
    )


@pytest.fixture(scope="session")
def small():
    """Return the models, their parameters, and `task(plate, ball, **others)`."""
    return SimpleNamespace(
        Plate=Plate, Ball=Ball, task=_task, mass=MASS, drag=DRAG, weight=WEIGHT, ball=BALL,
        half_height=HALF_HEIGHT, inertia=INERTIA, turning_drag=TURNING_DRAG,
    )  # fmt: skip
