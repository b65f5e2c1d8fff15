"""Mass of the tube, and invalid options."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from corekit.data.state import State
from corekit.errors import ConfigError
from corekit.roles.component import BuildContext
from corekit_vine.config import VineConfig, VineInitial
from corekit_vine.inertia import compute_body_inertia, compute_streams
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
        ({"body_mass": 1e-3, "wall_density": 1e3}, "wall_density.*must be left out: `body_mass` says it"),
        ({"body_mass": 1e-3, "body_inertia": 1e-9}, r"must be ≥ 1\.48e-08 .* or form = 'telescope'"),
    ],
)
def test_contradictory_options_are_refused(options, message):
    with pytest.raises((ConfigError, ValueError), match=message):
        VineConfig(**options)


SWAPS = [
    ("collision", "none", {"friction": 0.3}, {}),
    ("moment_law", "linear", {"pressure": 10.0, "bending_stiffness": 1.0}, {"moment_law": "wrinkling"}),
    ("growth", "rate", {"yield_pressure": 10.0, "extensibility": 1e-3}, {"growth": "pressure"}),
]


@pytest.mark.parametrize(("choice", "swapped", "beside", "before"), SWAPS)
def test_a_choice_is_swapped_by_name_and_says_what_it_leaves_unread(choice, swapped, beside, before):
    assert not Vine(VineConfig(**beside, **before), BuildContext()).description.doubts
    unread = next(iter(beside))
    model = Vine(VineConfig(**beside, **{choice: swapped}), BuildContext())
    assert model.description.doubts == (f"{unread} does nothing with {choice} = {swapped!r}",)
    del beside[unread]
    assert not Vine(VineConfig(**beside, **{choice: swapped}), BuildContext()).description.doubts


BODIES: dict[str, Any] = {"body_mass": 1e-3, "body_inertia": 1e-3}
TELESCOPE = {**BODIES, "form": "telescope"}
STANDS, SAID = "the base given a motion or a mount: it stands", "`body_mass` and `body_inertia` say it"


@pytest.mark.parametrize(
    ("beside", "given", "said"),
    [
        ({}, {"base_mass": 1.0}, STANDS),
        ({}, {"base_inertia": 1.0}, STANDS),
        (BODIES, {"wall_thickness": 1e-3}, SAID),
        (TELESCOPE, {"wall_thickness": 1e-3}, SAID),
        (TELESCOPE, {"wall_layers": 1.0}, SAID),
        (TELESCOPE, {"gas_density": 1.0}, SAID),
    ],
)
def test_what_only_a_moving_base_or_flowing_matter_needs_is_refused(beside, given, said):
    with pytest.raises(ConfigError) as caught:
        Vine(VineConfig(**beside, **given), BuildContext(path="bodies.b"))
    (found,) = caught.value.mistakes
    assert [found.path] == [f"bodies.b.options.{name}" for name in given]
    assert said in found.allowed
    Vine(VineConfig(**beside))
    Vine(VineConfig(**beside, **given), BuildContext(free_base=True))


def test_other_numbers_are_refused_as_they_would_be_at_first():
    """Without the gas nothing reads the thickness of the wall any more."""
    given: dict[str, Any] = {**BODIES, "wall_thickness": 2e-4}
    robot = Vine(VineConfig(**given, gas_density=2.0), BuildContext(path="bodies.b"))
    assert robot.with_numbers(VineConfig(**given, gas_density=1.0)) is not None
    with pytest.raises(ConfigError, match=r"wall_thickness: found 0\.0002; must be left out"):
        robot.with_numbers(VineConfig(**given, gas_density=0.0))


def test_gas_shares_the_flow_of_a_tube_with_its_wall():
    """So the wall is read beside the mass of the bodies: of equal masses m and m_g, Σ φ·n = 2·¼ + ½."""
    gas: dict[str, Any] = {"gas_density": 2.0, "wall_density": 2e3, "wall_thickness": 2e-4}
    Vine(VineConfig(**BODIES, **gas))
    inner, wall = 0.012 - 2e-4, math.pi * (0.012**2 - (0.012 - 2e-4) ** 2)
    alike = 2.0 * 2e3 * wall / (math.pi * inner**2)
    streams = compute_streams(VineConfig(**BODIES, **gas | {"gas_density": alike}))
    assert streams == pytest.approx((1.0, 1.5, 0.5))


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
