"""Equilibria in contact: what a resting body's contacts carry, stick, slip and what cannot rest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from corekit.data.contacts import ContactMode
from corekit.data.signals import Constant
from corekit.errors import StaticsFailed
from corekit.roles.component import BuildContext
from corekit_statics.equilibria import move_to_equilibrium
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel, ProjectedGaussSeidelConfig
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world

G, RADIUS = 9.81, 0.1


def rest(models, solver=None, *, load_steps=1, **options):
    integrator = SemiImplicitEuler(None, BuildContext(step=1e-3))
    given: dict[str, Any] = {"obstacles": [floor()], **options}
    simulation = small_world(
        models if isinstance(models, dict) else {"ball": models},
        integrator,
        step=1e-3,
        solver=solver or ProjectedGaussSeidel(ProjectedGaussSeidelConfig(max_iterations=300)),
        detector=ReferenceDetector(),
        **given,
    )
    return move_to_equilibrium(simulation, load_steps=load_steps)[-1]


def ball(place, mass=2.0, **options):
    return PointChain(
        PointChainConfig(masses=(mass,), positions=(place,), shape="sphere", radius=RADIUS, **options)
    )


@pytest.mark.parametrize("height", [0.1, 0.35, 40.0, 0.06])
def test_a_ball_let_go_above_the_floor_or_inside_it_rests_on_it(height):
    found = rest(ball((0.3, 0.0, height)), friction=0.5)
    assert np.allclose(found.q, [0.3, 0.0, RADIUS], atol=1e-9)
    assert found.contacts.normal_impulse == pytest.approx([2.0 * G])
    assert found.contacts.mode[0] == ContactMode.STICK
    assert found.gap_error < 1e-9


def test_a_potential_gives_way_by_what_its_spring_law_says():
    stiffness, thickness = 3e5, 1e-3
    potential = Penalty(PenaltyConfig(stiffness=stiffness, power=2, thickness=thickness))
    found = rest(ball((0.0, 0.0, 0.4)), potential)
    depth = math.sqrt(2.0 * G / stiffness)
    assert found.q[2] == pytest.approx(RADIUS + thickness - depth, abs=1e-10)
    # along the floor nothing holds it
    assert found.stability.verdict == "neutral"
    assert "friction is a drag" in found.note


@pytest.mark.parametrize("angle", [0.1, 0.4])
def test_friction_holds_a_mass_on_a_slope_below_its_angle_and_only_there(angle):
    normal = np.array([math.sin(angle), 0.0, math.cos(angle)])
    slope = [floor(rpy=(0.0, angle, 0.0))]
    start = tuple(RADIUS * normal)
    found = rest(ball(start), obstacles=slope, friction=math.tan(angle) + 0.01)
    assert np.allclose(found.q, start, atol=1e-9)
    record = found.contacts
    assert record.normal_impulse[0] == pytest.approx(2.0 * G * math.cos(angle))
    assert np.linalg.norm(record.tangential_impulse[0]) == pytest.approx(2.0 * G * math.sin(angle))
    with pytest.raises(StaticsFailed, match="moves away without end"):
        rest(ball(start), obstacles=slope, friction=math.tan(angle) - 0.01)


def hung(place, stiffness=300.0, length=0.2):
    """A ball on a spring from the origin."""
    return ball(place, links=("spring",), lengths=(length,), stiffness=stiffness)


@pytest.mark.parametrize("load_steps", [1, 5])
def test_a_ball_on_a_spring_shares_its_weight_with_the_floor(load_steps):
    """The free length would reach below the floor at z = −0.3: the floor takes what the spring does not."""
    found = rest(
        hung((0.0, 0.0, -0.15)), obstacles=[floor((0.0, 0.0, -0.35))], friction=0.4, load_steps=load_steps
    )
    assert found.q[2] == pytest.approx(-0.35 + RADIUS, abs=1e-9)
    spring = 300.0 * (0.25 - 0.2)
    assert found.contacts.normal_impulse[0] == pytest.approx(2.0 * G - spring)
    assert found.stability.stable


def test_without_friction_the_spring_draws_the_ball_under_its_anchor():
    found = rest(hung((0.2, 0.1, -0.2)), obstacles=[floor((0.0, 0.0, -0.35))], friction=0.0)
    assert np.allclose(found.q, [0.0, 0.0, -0.25], atol=1e-8)
    # held down on the floor it swings sideways like under the spring's tension alone
    tension = 300.0 * (0.25 - 0.2)
    assert found.stability.smallest == pytest.approx(tension / 0.25 / 2.0, rel=1e-6)


def test_two_balls_stacked_between_floor_and_load_pass_the_weight_on():
    lower, upper = ball((0.0, 0.0, 0.12), mass=1.0), ball((0.0, 0.0, 0.5), mass=3.0)
    pull = {"upper": {"pull": Constant((0.0, 0.0, -5.0))}}
    found = rest({"lower": lower, "upper": upper}, inputs=pull, friction=0.5)
    assert np.allclose(found.q, [0.0, 0.0, RADIUS, 0.0, 0.0, 3 * RADIUS], atol=1e-8)
    carried = sorted(found.contacts.normal_impulse[found.contacts.normal_impulse > 1e-6])
    assert carried == pytest.approx([3.0 * G + 5.0, 4.0 * G + 5.0])


def test_a_slack_tendon_carries_nothing_and_a_tight_one_lifts():
    """Down to its length 0.3 a tendon would let the ball; the floor stops it before, or not."""
    options = {"links": ("tendon",), "lengths": (0.3,), "lower": -100.0, "upper": 0.0}
    slack = rest(ball((0.0, 0.0, -0.15), **options), obstacles=[floor((0.0, 0.0, -0.35))])
    assert slack.q[2] == pytest.approx(-0.25, abs=1e-9)
    assert abs(slack.constraint_forces[0][0]) < 1e-9
    tight = rest(ball((0.0, 0.0, -0.15), **options), obstacles=[floor((0.0, 0.0, -0.45))])
    assert tight.q[2] == pytest.approx(-0.3, abs=1e-9)
    assert tight.constraint_forces[0][0] == pytest.approx(-2.0 * G)


def test_what_was_remembered_of_contacts_on_the_way_does_not_enter_the_run():
    integrator = SemiImplicitEuler(None, BuildContext(step=1e-3))

    def simulation():
        return small_world(
            {"ball": ball((0.0, 0.0, RADIUS))}, integrator, step=1e-3, solver=ProjectedGaussSeidel(),
            detector=ReferenceDetector(), obstacles=[floor()], friction=0.5,
        )  # fmt: skip

    settled, fresh = simulation(), simulation()
    move_to_equilibrium(settled)
    kept, new = settled.internal_state(), fresh.internal_state()
    assert kept.keys() == new.keys()
    assert all(np.array_equal(kept[name], new[name]) for name in new)
    settled.run(0.05)
    assert settled.contacts().normal_impulse == pytest.approx([2.0 * G * 1e-3])
