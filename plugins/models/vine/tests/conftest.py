"""Robots, their states, and the linear algebra of small motions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

from corekit.data.signals import Constant
from corekit.data.state import State
from corekit.roles.component import BuildContext
from corekit_testing.semi_implicit_euler import SemiImplicitEuler, SemiImplicitEulerConfig
from corekit_testing.small_world import MODEL_ABILITIES, small_world
from corekit_vine.config import VineConfig, VineInitial
from corekit_vine.model import Vine

WEIGHTLESS = np.zeros(3)


class Robot:
    """A robot at one state, with its matrices as dense arrays."""

    def __init__(self, *, step: float = 0.01, initial: dict[str, Any] | None = None, **options: Any) -> None:
        self.config = VineConfig(**options)
        self.model = Vine(self.config, BuildContext(gravity=WEIGHTLESS, step=step))
        n = len(self.model.description.velocities)
        self.state = State.zeros(n, n, self.model.description.aux)
        self.model.compute_initial_state(VineInitial(**(initial or {})), self.state)
        self.inputs = np.zeros(self.model.description.input_size)

    def dynamics(self) -> tuple[np.ndarray, np.ndarray]:
        """Return M and f."""
        mass, force = self.model.new_mass_matrix(), np.zeros(self.state.v.size)
        self.model.compute_mass_and_force(self.state, self.inputs, mass, force)
        return mass.dense(), force

    def stiffness(self) -> np.ndarray:
        """Return K."""
        stiffness, damping = self.model.new_stiffness_and_damping()
        self.model.compute_stiffness_and_damping(self.state, self.inputs, stiffness, damping)
        return stiffness.dense()

    def rows(self) -> tuple[np.ndarray, Any]:
        """Return J_b, and the rows."""
        rows = self.model.new_constraints()
        self.model.compute_constraints(self.state, self.inputs, rows)
        dense = np.zeros((rows.count, self.state.v.size))
        np.add.at(dense, (np.arange(rows.count)[:, None], rows.dofs), rows.values)
        return dense, rows

    def free_motions(self) -> np.ndarray:
        """Return a basis of the velocities that satisfy every constraint, without growth."""
        return scipy.linalg.null_space(self.rows()[0])

    def force_gradient(self, force: np.ndarray) -> np.ndarray:
        """Return ∂(J_bᵀ·λ)/∂q for the constraint forces in equilibrium with `force`."""
        J, _ = self.rows()
        reaction = np.linalg.lstsq(J.T, -force, rcond=None)[0]
        out = self.model.new_stiffness_and_damping()[0]
        self.model.compute_constraint_force_gradient(self.state, reaction, out)
        return out.dense()


@pytest.fixture
def robot():
    """Make a robot without gravity and velocity: `robot(**options)`."""
    return Robot


@pytest.fixture
def moving():
    """Make a simulation from a robot's state: `moving(robot, beta, **inputs)`."""

    def make(robot: Robot, *, step: float = 0.01, beta: float = 0.5, implicit: bool = True, **inputs: Any):
        scheme = SemiImplicitEulerConfig(beta=beta if implicit else 0.0, damping=implicit)
        signals = {name.replace("_", "-"): Constant(value) for name, value in inputs.items()}
        simulation = small_world(
            {"robot": robot.model},
            SemiImplicitEuler(scheme, BuildContext(step=step)),
            step=step,
            inputs={"robot": signals},
            abilities=MODEL_ABILITIES | {"reparametrisation"},
        )
        simulation.state.body_states[0].copy_from(robot.state)
        return simulation

    return make
