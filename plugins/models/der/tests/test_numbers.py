"""Other materials and drag without building the rods anew: to the bit what building gives, and None for all else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from corekit.data.state import State
from corekit.roles.component import BuildContext
from corekit_der.config import DERConfig
from corekit_der.model import DER
from corekit_testing.conformance.check import Verdict
from corekit_testing.conformance.model_numbers import NUMBERS
from corekit_testing.conformance.runner import outcome
from corekit_testing.conformance.subject import Subject

from .test_conformance import FREE, PLANAR, SWIMMER, TREE

RODS = {"free": FREE, "tree": TREE, "swimmer": SWIMMER, "planar": PLANAR}
MATTER: dict[str, Any] = {"young": 3e5, "poisson": 0.2, "density": 700.0}
DRAG: dict[str, Any] = {"viscous_drag": 0.7, "drag_normal": 0.6, "drag_tangential": 0.1, "viscosity": (4e3,)}


def without_cables(name: str) -> dict[str, Any]:
    return {**RODS[name], "cables": []}


def config_of(name: str) -> DERConfig:
    config = Subject.installed("models", "der", without_cables(name)).config()
    assert isinstance(config, DERConfig)
    return config


def with_options(config: DERConfig, limb: int = 0, **options: Any) -> DERConfig:
    limbs = [evolve(each, **options) if i == limb else each for i, each in enumerate(config.limbs)]
    return evolve(config, limbs=tuple(limbs))


def answers(model: DER, state: State) -> np.ndarray:
    inputs = np.linspace(0.5, 1.5, model.description.input_size)
    jacobian = np.zeros((state.v.size, inputs.size))
    model.compute_input_jacobian(state, inputs, jacobian)
    terms = model.compute_force_terms(state, inputs)
    return np.concatenate([*terms.values(), jacobian.ravel(), model.compute_energies(state)])


@pytest.mark.parametrize("name", RODS)
def test_the_kit_finds_no_difference_in_rods_without_cables(name):
    (as_built,) = NUMBERS
    result = outcome(as_built, Subject.installed("models", "der", without_cables(name)))
    assert result.verdict is Verdict.PASSED, result.reason


@pytest.mark.parametrize("name", RODS)
def test_energies_terms_and_the_input_jacobian_are_those_of_rods_built_anew(name):
    config, context = config_of(name), BuildContext(gravity=np.array([1.0, -2.0, -9.0]))
    last = len(config.limbs) - 1
    changed = with_options(with_options(config, **MATTER), last, density=(500.0, 900.0), viscous_drag=0.9)
    if name == "swimmer":
        changed = with_options(changed, **DRAG)
    model, built = DER(config, context), DER(changed, context)
    n = len(model.description.coordinates)
    state = State.zeros(n, n, model.description.aux)
    model.compute_initial_state(None, state)
    random = np.random.default_rng(0)
    state.q += 0.01 * random.normal(size=n)
    state.v[:] = random.normal(size=n)
    before = answers(model, state)
    other = model.with_numbers(changed)
    assert other is not None
    np.testing.assert_array_equal(answers(other, state), answers(built, state))
    np.testing.assert_array_equal(answers(model, state), before)
    assert np.abs(answers(other, state) - before).max() > 1e-3 * np.abs(before).max()
    again = other.with_numbers(config)
    assert again is not None
    np.testing.assert_array_equal(answers(again, state), before)


def test_what_is_more_than_materials_and_drag_is_built_anew():
    config = config_of("tree")
    model = DER(config)
    assert model.with_numbers(with_options(config, **MATTER)) is not None
    for name in ("viscosity", "drag_normal", "drag_tangential"):  # K and D get another form
        assert model.with_numbers(with_options(config, **{name: DRAG[name]})) is None
    others: dict[str, Any] = {"radius": 0.02, "natural_curvature": (1.0, 0.0), "friction": 0.2, "nodes": 5}
    for name, value in others.items():
        assert model.with_numbers(with_options(config, **{name: value})) is None
    assert model.with_numbers(evolve(config, joints=())) is None
    held = evolve(config, clamps=(evolve(config.clamps[0], displacement=None, angle=None),))
    mounted = DER(held, BuildContext(free_base=True))
    assert mounted.with_numbers(with_options(held, **MATTER)) is None
    cabled = Subject.installed("models", "der", FREE).config()
    assert DER(cabled).with_numbers(with_options(cabled, **MATTER)) is None
