"""Models that are wrong in some states, for many contacts or in some entries alone, and a check that must see it."""

import numpy as np
import pytest

from .defects import after, answering, failing, pendulum


@after
def undefined_at_rest(self, state, inputs, mass, force):
    """0/0 where nothing is bent and nothing moves."""
    if not state.v.any():
        force[0] = np.nan


@after
def undefined_when_bent(self, state, inputs, mass, force):
    if np.abs(state.q - [0.5, -0.3]).max() > 1.0:
        force[0] = np.nan


@after
def eight_rows(self, state, frame, local, dofs, values):
    """Rows beyond the eighth point are those of the first."""
    values[8:] = values[:1]


def only_the_last(right, self, state, inputs, acceleration, *more):
    """∂(M·w)/∂q of the last entry of w alone."""
    last = np.zeros_like(acceleration)
    last[-1] = acceleration[-1]
    right(self, state, inputs, last, *more)


def inertia_times(factor):
    """A method with ∂(M·w)/∂q times a factor: K is linear in w."""

    def method(right, self, state, inputs, acceleration, *more):
        right(self, state, inputs, factor * acceleration, *more)

    return method


MUTANTS = {
    "undefined at rest": (lambda: pendulum(compute_mass_and_force=undefined_at_rest), "answers-finite"),
    "undefined when bent": (lambda: pendulum(compute_mass_and_force=undefined_when_bent), "answers-finite"),
    "inertia of the last acceleration": (
        lambda: pendulum(compute_residual_derivatives=only_the_last),
        "balance-tangent-is-slope",
    ),
    "inertia of the other sign": (
        lambda: pendulum(compute_residual_derivatives=inertia_times(-1.0)),
        "balance-tangent-is-slope",
    ),
    "ten times the inertia": (
        lambda: pendulum(compute_residual_derivatives=inertia_times(10.0)),
        "balance-tangent-is-slope",
    ),
    "eight rows": (lambda: pendulum(compute_point_jacobians=eight_rows), "rows-are-slopes-of-points"),
}


@pytest.mark.parametrize("name", list(MUTANTS))
def test_states_and_points_out_of_the_ordinary_are_asked_for(name):
    make, check = MUTANTS[name]
    assert check in failing(make())


def without_inertia_of_velocity(right, self, state, *more):
    """K and D of a model that leaves centrifugal and Coriolis forces out."""
    still = state.copy()
    still.v[:] = 0.0
    right(self, still, *more)


def test_a_model_without_coriolis_forces_and_without_an_option_for_them_is_caught():
    mutant = pendulum(
        compute_force_terms=answering(lambda terms: {**terms, "centrifugal": 0.0 * terms["centrifugal"]}),
        compute_stiffness_and_damping=without_inertia_of_velocity,
    )
    assert failing(mutant) == {"inertial-power"}


def with_the_inertia_of_the_last(right, self, state, inputs, mass, force):
    """Keeps what it has computed once in its class, where all pendulums find it."""
    right(self, state, inputs, mass, force)
    mass.data[...] = mass.data / self._inertia * type(self).shared


def made_last(right, self, config, context=None):
    right(self, config, context)
    type(self).shared = self._inertia


def test_a_class_that_keeps_numbers_for_all_of_its_models_is_caught():
    mutant = pendulum(__init__=made_last, compute_mass_and_force=with_the_inertia_of_the_last)
    assert failing(mutant) == {"instances-apart"}


def found_by_state_alone(right, self, state, inputs, mass, force):
    """Keeps answers in its class by the state, and forgets that options decide too."""
    kept = type(self).__dict__.get("kept")
    if kept is None:
        type(self).kept = kept = {}
    key = state.q.tobytes(), state.v.tobytes(), state.time, inputs.tobytes()
    if key not in kept:
        right(self, state, inputs, mass, force)
        kept[key] = mass.data.copy(), force.copy()
    mass.data[...], force[:] = kept[key]


def test_a_class_that_finds_answers_by_the_state_alone_is_caught():
    assert failing(pendulum(compute_mass_and_force=found_by_state_alone)) == {"numbers-apart"}


def by_state_in_its_own_memory(right, self, state, inputs, mass, force):
    kept = self.__dict__.setdefault("kept", {})
    key = state.q.tobytes(), state.v.tobytes(), state.time, inputs.tobytes()
    if key not in kept:
        right(self, state, inputs, mass, force)
        kept[key] = mass.data.copy(), force.copy()
    mass.data[...], force[:] = kept[key]


def test_a_model_that_finds_its_own_answers_by_the_state_passes():
    assert failing(pendulum(compute_mass_and_force=by_state_in_its_own_memory)) == set()
