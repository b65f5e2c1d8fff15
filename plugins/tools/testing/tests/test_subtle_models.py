"""Models that are wrong in some states, for many contacts or in some entries alone, and a check that must see it."""

import numpy as np
import pytest
from attrs import evolve

from .defects import after, answering, failing, pendulum, wrong


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


def weighing(factor):
    """A description whose velocities are weighed by a factor times how fast they move the surface."""
    reach = np.array([1.0 + 0.1, 0.7 + 0.1])  # of the rod and the ball at its end
    return answering(lambda found: evolve(found, velocity_scale=factor * reach))


@pytest.mark.parametrize(("factor", "caught"), [(1.0, set()), (0.01, {1}), (100.0, {1})])
def test_a_weight_of_velocities_that_is_wrong_by_a_factor_is_caught(factor, caught):
    assert failing(pendulum(description=weighing(factor))) == {"velocity-scale-of-surface" for _ in caught}


NET = {"masses": [1.0] * 4, "positions": [[0.4, 0.0, 0.0], [0.4, 0.4, 0.0], [0.0, 0.4, 0.1], [0.0, 0.8, 0.1]]}
EDGES = {"links": ["spring"] * 4, "shape": "edge", "radius": 0.02}


def net(**methods):
    return wrong("models", "reference-point-chain", {**NET, **EDGES}, **methods)


def between(pairs):
    def changed(right, self):
        if not hasattr(self, "changed"):
            found = right(self)
            ends = zip(found.shapes, pairs, strict=True)
            shapes = tuple(evolve(shape, frame=one, second_frame=other) for shape, (one, other) in ends)
            self.changed = evolve(found, shapes=shapes)
        return self.changed

    return changed


@pytest.mark.parametrize(
    ("pairs", "caught"),
    [
        ([(0, 1), (1, 2), (2, 3)], set()),
        ([(1, 0), (1, 2), (3, 2)], set()),
        ([(0, 2), (1, 2), (2, 3)], {1}),
        ([(1, 2), (2, 3), (3, 0)], {1}),
        ([(0, 1), (0, 1), (2, 3)], {1}),
    ],
)
def test_edges_between_wrong_frames_are_caught(pairs, caught):
    assert failing(net(description=between(pairs))) == {"edges-along-outline" for _ in caught}
