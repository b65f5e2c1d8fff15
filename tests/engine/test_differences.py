"""Derivatives without formulas against formulas."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from corekit.data.state import State
from corekit.errors import PluginError
from corekit.roles.differences import DIFFERENCE_ERROR, DifferencedForce, DifferencedPoints, complex_step
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.rounding import rounding


class Differenced(DifferencedForce, DifferencedPoints):
    """The reference pendulum without its formulas of K, D and point Jacobians."""

    def __init__(self, exact):
        self._exact = exact

    @property
    def description(self):
        return evolve(self._exact.description, derivative_error=DIFFERENCE_ERROR)

    def compute_initial_state(self, initial, out):
        self._exact.compute_initial_state(initial, out)

    def new_mass_matrix(self):
        return self._exact.new_mass_matrix()

    def compute_mass_and_force(self, state, inputs, mass, force):
        self._exact.compute_mass_and_force(state, inputs, mass, force)

    def integrate(self, start, velocity, step, previous, out):
        self._exact.integrate(start, velocity, step, previous, out)

    def compute_frame_poses(self, state, position, rotation):
        self._exact.compute_frame_poses(state, position, rotation)

    def compute_outline(self, state):
        return self._exact.compute_outline(state)


def test_the_complex_step_is_exact_to_rounding():
    def function(x):
        return np.array([np.sin(x[0]) * np.exp(x[1]), x[0] ** 3 - x[1] / x[0], x[1] + 0.0 * x[0]])

    x = np.array([0.7, -1.3])
    slope = np.array(
        [
            [np.cos(0.7) * np.exp(-1.3), np.sin(0.7) * np.exp(-1.3)],
            [3 * 0.49 - 1.3 / 0.49, -1 / 0.7],
            [0.0, 1.0],
        ]
    )
    np.testing.assert_allclose(complex_step(function, x), slope, rtol=0, atol=rounding(10, 4.2))


def test_a_function_that_drops_the_imaginary_part_is_refused():
    def function(x):
        out = np.zeros(2)
        out[:] = x.real
        return out

    with pytest.raises(PluginError, match="dtype of its argument"):
        complex_step(function, np.ones(2))


@pytest.fixture
def pendulum():
    return Pendulum(
        PendulumConfig(
            lengths=(0.4, 0.3, 0.2), masses=(1.0, 0.5, 2.0), angles=(0.3, -1.1, 2.0), rates=(4.0, -7.0, 9.0),
            damping=0.2,
        )
    )  # fmt: skip


def assert_within_declared_error(found, formula):
    error = float(np.abs(found - formula).max())
    assert 0.0 < error <= DIFFERENCE_ERROR * float(np.abs(formula).max())


def test_differences_of_a_spinning_pendulum_meet_the_error_that_they_declare(pendulum):
    model, state, inputs = Differenced(pendulum), State.zeros(3, 3), np.array([0.1, -0.2, 0.3])
    pendulum.compute_initial_state(None, state)
    before = state.copy()
    wanted, found = pendulum.new_stiffness_and_damping(), model.new_stiffness_and_damping()
    pendulum.compute_stiffness_and_damping(state, inputs, *wanted)
    model.compute_stiffness_and_damping(state, inputs, *found)
    assert (state.q == before.q).all()
    assert (state.v == before.v).all()
    for formula, difference in zip(wanted, found, strict=True):
        assert_within_declared_error(difference.dense(), formula.dense())


def test_point_jacobians_are_differences_of_the_poses(pendulum):
    state = State.zeros(3, 3)
    pendulum.compute_initial_state(None, state)
    frame, local = (
        np.array([0, 2, 2, 1]),
        np.array([[0.0, 0, 0], [0.1, -0.2, 0.3], [0, 0, -0.1], [0.2, 0, 0]]),
    )
    found, formula = np.zeros((2, 4, 3, 3))
    dofs = np.zeros((4, 3), dtype=np.int64)
    Differenced(pendulum).compute_point_jacobians(state, frame, local, dofs, found)
    assert (dofs == [0, 1, 2]).all()
    pendulum.compute_point_jacobians(state, frame, local, dofs, formula)
    assert_within_declared_error(found, formula)
