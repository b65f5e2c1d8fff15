"""Models whose forces, derivatives and energies do not fit each other: check → a model, and others that see it."""

import numpy as np

from .defects import after, pendulum

__all__ = ["FORCES"]


@after
def stiffer_tangent(self, state, inputs, stiffness, damping):
    stiffness.data[0, -1] += 1e-4 * np.abs(stiffness.data).max()


@after
def lighter_balance(self, state, inputs, acceleration, out, mass=None):
    out += 1e-4 * np.abs(acceleration).max()


@after
def still_balance_tangent(self, state, inputs, acceleration, stiffness, damping):
    """Leaves ∂(M·w)/∂q out."""
    self.compute_stiffness_and_damping(state, inputs, stiffness, damping)


def all_that_is_linear(model, state, inputs, out):
    """Takes inertia for damping."""
    stiffness = model.new_stiffness_and_damping()[0]
    model.compute_stiffness_and_damping(state, inputs, stiffness, out)


@after
def damped_tangent(self, state, inputs, stiffness, damping):
    damping.data[0, -1] += 1e-4 * np.abs(damping.data).max()


@after
def stronger_inputs(self, state, inputs, out):
    out[0, 0] *= 1.0001


def phantom_term(right, self, state, inputs):
    return {**right(self, state, inputs), "phantom": np.ones_like(state.v)}


@after
def without_the_phantom(self, state, inputs, mass, force):
    force -= 1.0


def heavier(right, self, state):
    kinetic, potential = right(self, state)
    return 1.00001 * kinetic, potential


def higher(right, self, state):
    kinetic, potential = right(self, state)
    return kinetic, 1.0001 * potential


def windy_terms(right, self, state, inputs):
    """A force of second order in v that takes power from nowhere."""
    wind = np.zeros_like(state.v)
    wind[0] = 0.1 * state.v[0] ** 2
    return {**right(self, state, inputs), "wind": wind}


@after
def windy_tangent(self, state, inputs, stiffness, damping):
    damping.data[0, 0] -= 0.2 * state.v[0]


def eastern_terms(right, self, state, inputs):
    """A constant force that knows where the world's x axis is."""
    east = np.zeros_like(state.v)
    east[0] = 0.2 * self._base.rotation[0, 0]
    return {**right(self, state, inputs), "east": east}


def eastern_energy(right, self, state):
    kinetic, potential = right(self, state)
    return kinetic, potential - 0.2 * self._base.rotation[0, 0] * state.q[0]


def driven_terms(right, self, state, inputs):
    """A dashpot that pushes."""
    return {**right(self, state, inputs), "push": 0.5 * state.v}


@after
def smaller_gradient(self, state, w, x, out):
    out *= 0.5


@after
def driven_tangent(self, state, inputs, stiffness, damping):
    for i in range(len(state.v)):
        damping.data[i, i] -= 0.5


FORCES = {
    "damping-dissipates": (
        lambda: pendulum(compute_force_terms=driven_terms, compute_stiffness_and_damping=driven_tangent),
        (),
    ),
    "stiffness-is-slope": (
        lambda: pendulum(compute_stiffness_and_damping=stiffer_tangent),
        ("balance-tangent-is-slope",),
    ),
    "damping-is-slope": (lambda: pendulum(compute_stiffness_and_damping=damped_tangent), ()),
    "dissipation-apart": (
        lambda: pendulum(
            spec={"provides": pendulum().spec.provides | {"dissipation"}},
            compute_dissipation=all_that_is_linear,
        ),
        (),
    ),
    "balance-is-force-less-inertia": (lambda: pendulum(compute_dynamics_residual=lighter_balance), ()),
    "balance-tangent-is-slope": (lambda: pendulum(compute_residual_derivatives=still_balance_tangent), ()),
    "mass-gradient-is-slope": (lambda: pendulum(compute_mass_gradient=smaller_gradient), ()),
    "input-jacobian-is-slope": (lambda: pendulum(compute_input_jacobian=stronger_inputs), ()),
    "terms-sum-to-force": (
        lambda: pendulum(compute_force_terms=phantom_term, compute_mass_and_force=without_the_phantom),
        (),
    ),
    "kinetic-energy-from-mass": (lambda: pendulum(compute_energies=heavier), ()),
    "power-balance": (lambda: pendulum(compute_energies=higher), ()),
    "inertial-power": (
        lambda: pendulum(compute_force_terms=windy_terms, compute_stiffness_and_damping=windy_tangent),
        (),
    ),
    "rigid-motion-invariance": (
        lambda: pendulum(compute_force_terms=eastern_terms, compute_energies=eastern_energy),
        (),
    ),
}
