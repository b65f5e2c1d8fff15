"""Bodies of every shape, placed obliquely, and Runge–Kutta steps of their equations."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.data.state import State
from corekit.geometry.frames import Pose, rotation_from_rpy
from corekit.roles.component import BuildContext
from corekit_rigid.config import RigidConfig
from corekit_rigid.model import Rigid

WEDGE = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.02, 0.12, 0.0), (0.03, 0.01, 0.2), (0.08, 0.09, 0.1))

BODIES = {
    "ball": {"shape": "sphere", "size": (0.05,), "mass": 0.2},
    "box": {"shape": "box", "size": (0.1, 0.2, 0.3), "density": 500.0},
    "capsule": {"shape": "capsule", "size": (0.03, 0.2), "linear_damping": 0.3},
    "disk": {"shape": "disk", "size": (0.1, 0.01), "angular_damping": 0.02},
    "wedge": {"shape": "polytope", "vertices": WEDGE},
    "given": {
        "shape": "box", "size": (0.1, 0.1, 0.1), "mass": 2.0, "inertia": (0.02, 0.03, 0.04, 0.002, -0.001, 0.003),
        "centre_of_mass": (0.01, -0.02, 0.005),
    },
    "fixed box": {"shape": "box", "size": (0.1, 0.2, 0.3), "fixed_centre": True, "angular_damping": 0.01},
    "top": {
        "shape": "cylinder", "size": (0.06, 0.04), "fixed_centre": True, "pivot": (0.01, 0.0, -0.08),
        "linear_damping": 0.4,
    },
}  # fmt: skip


@pytest.fixture(params=list(BODIES))
def options(request) -> dict:
    """Options of one of a few different bodies."""
    return BODIES[request.param]


@pytest.fixture
def context() -> BuildContext:
    """A base that is turned and moved, and gravity along no axis."""
    base = Pose(np.array([0.4, -0.3, 0.2]), rotation_from_rpy((0.3, -0.9, 2.0)))
    return BuildContext(base=base, gravity=np.array([1.5, -2.0, -9.0]))


@pytest.fixture
def make(context):
    """A body, and an oblique moving state of it with a wrench."""

    def build(options, seed=0, **more) -> tuple[Rigid, State, np.ndarray]:
        model = Rigid(RigidConfig(**{**options, **more}), context)
        random = np.random.default_rng(seed)
        description = model.description
        state = State.zeros(len(description.coordinates), len(description.velocities))
        model.compute_initial_state(None, state)
        model.integrate(state, random.normal(size=state.v.size), 1.0, state, state)
        state.v[:] = random.normal(size=state.v.size) * 3
        return model, state, random.normal(size=6)

    return build


def evaluate(model, state, inputs=None):
    """M as a full matrix, and f."""
    mass, force = model.new_mass_matrix(), np.zeros(state.v.size)
    model.compute_mass_and_force(state, np.zeros(6) if inputs is None else inputs, mass, force)
    return mass.dense(), force


def pose(model, state):
    """Of the body's frame."""
    position, rotation = np.zeros((1, 3)), np.zeros((1, 3, 3))
    model.compute_frame_poses(state, position, rotation)
    return position[0], rotation[0]


def acceleration(model, state, inputs=None):
    """v̇ = M⁻¹·f."""
    M, f = evaluate(model, state, inputs)
    return np.linalg.solve(M, f)


def still_of(model) -> State:
    """The body at rest at its base."""
    state = State.zeros(len(model.description.coordinates), len(model.description.velocities))
    model.compute_initial_state(None, state)
    return state


def runge_kutta(model, state, step, inputs=None) -> None:
    """One step of order four on the group (Munthe-Kaas), from the model's dynamics and advance alone.

    The coordinates move by advance(q₀, u, 1), u̇ = dexp⁻¹(v): for the rotation, in body axes and to the order
    needed, u̇ = ω + ½·u × ω + u × (u × ω)/12.
    """
    first = state.v.size - 3
    trial = state.copy()

    def rates(u, v):
        model.integrate(state, u, 1.0, state, trial)
        trial.v[:] = v
        du, a, w = v.copy(), u[first:], v[first:]
        du[first:] += 0.5 * np.cross(a, w) + np.cross(a, np.cross(a, w)) / 12
        return du, acceleration(model, trial, inputs)

    v0, zero = state.v.copy(), np.zeros(state.v.size)
    u1, a1 = rates(zero, v0)
    u2, a2 = rates(step / 2 * u1, v0 + step / 2 * a1)
    u3, a3 = rates(step / 2 * u2, v0 + step / 2 * a2)
    u4, a4 = rates(step * u3, v0 + step * a3)
    model.integrate(state, step / 6 * (u1 + 2 * u2 + 2 * u3 + u4), 1.0, state, trial)
    state.q[:] = trial.q
    state.v[:] = v0 + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    state.time += step
