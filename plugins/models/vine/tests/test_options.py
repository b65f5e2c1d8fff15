"""Mass of the tube, and invalid options."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit.data.state import State
from corekit.errors import ConfigError
from corekit_vine.config import VineConfig, VineInitial
from corekit_vine.inertia import compute_body_inertia
from corekit_vine.model import Vine


def test_a_body_has_the_mass_of_its_walls():
    config = VineConfig(
        bodies=10, length=0.5, diameter=0.02, wall_thickness=1e-3, wall_density=1000.0, wall_layers=1.0
    )
    mass, inertia = compute_body_inertia(config)
    volume = math.pi * (0.01**2 - 0.009**2) * 0.05
    assert mass == pytest.approx(1000.0 * volume)
    # quadrature over rings of the wall
    radius, z = np.meshgrid(np.linspace(0.009, 0.01, 401), np.linspace(-0.025, 0.025, 401), indexing="ij")
    weight = 1000.0 * 2 * math.pi * radius
    rings = np.trapezoid(np.trapezoid(weight * (radius**2 / 2 + z**2), z[0], axis=1), radius[:, 0])
    assert inertia == pytest.approx(rings, rel=1e-4)
    assert inertia == pytest.approx(mass * (0.05**2 / 12 + 0.0095**2 / 2), rel=2e-3)


def test_the_papers_inertia_is_far_above_that_of_its_bodies():
    true = compute_body_inertia(VineConfig(bodies=30, length=0.4, body_mass=1e-3))[1]
    assert 200e-6 / true > 1e3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bodies": 7}, "even"),
        ({"bending_stiffness": 1.0, "joint_stiffness": 1.0}, "not both"),
        ({"natural_curvature": (1.0, 2.0)}, "one per pin"),
        ({"actuators": ((0, 20),)}, "first ≤ last"),
        ({"wall_thickness": 0.1}, "at most the radius"),
        ({"moment_law": "wrinkling"}, "must be > 0 if the wall can wrinkle"),
        ({"growth": "pressure"}, "must be > 0 if pressure drives growth"),
        ({"irreversible": True}, "needs extensibility > 0"),
        ({"diameter": math.nan}, "finite"),
        ({"body_mass": 1e-3, "body_inertia": 1e-9}, r"must be ≥ 1\.48e-08 .* or form = 'telescope'"),
    ],
)
def test_contradictory_options_are_refused(options, message):
    with pytest.raises((ConfigError, ValueError), match=message):
        VineConfig(**options)


@pytest.mark.parametrize(
    ("initial", "message"),
    [
        ({"grown_length": 0.1}, r"must be > 0\.2"),
        ({"bend": (0.1, 0.2)}, "one per pin"),
        ({"bend_rate": (1.0,) * 4}, "one per pin"),
    ],
)
def test_impossible_starts_are_refused(initial, message):
    model = Vine(VineConfig(bodies=6, length=0.4))
    with pytest.raises(ConfigError, match=message):
        model.compute_initial_state(VineInitial(**initial), State.zeros(18, 18))
