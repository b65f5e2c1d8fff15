"""The springs of contacts from step to step: chosen before they are loaded, and no source of energy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from corekit.data.contacts import ContactSet
from corekit.roles.component import BuildContext
from corekit_imc.barrier import barrier
from corekit_imc.config import ImplicitContactConfig
from corekit_imc.imc import ImplicitContact
from corekit_imc.restitution import damping_ratio
from corekit_testing.conformance.potentials import GivenMotion
from corekit_testing.rounding import rounding

LAYER, STIFFNESS, MASS = 0.01, 1e3, 2.0


def potential(**options):
    defaults: dict[str, Any] = {"distance_tolerance": LAYER, "stiffness": STIFFNESS}
    return ImplicitContact(ImplicitContactConfig(**(defaults | options)))


def one_contact(gap, number=7, shapes=(0, 1)):
    contacts = ContactSet(1)
    contacts.count, contacts.gap[0], contacts.normal[0], contacts.weight[0, 0] = 1, gap, [0, 0, 1], 1.0
    contacts.id[0], contacts.shape[0], contacts.frame[0] = number, shapes, [0, -1, -1, -1]
    return contacts


def moving(rate, acceleration=0.0, mass=MASS):
    return GivenMotion(np.array([rate]), np.array([acceleration]), mass)


def spring(model, contacts):
    """k, s and b."""
    return tuple(model.springs(contacts)[0, :3])


def force(stiffness, shift, gap):
    return -stiffness * barrier(gap + shift, LAYER)[1]


@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
def test_a_spring_is_chosen_before_it_is_loaded_and_holds_until_the_contact_opens(restitution):
    """e·m·v²/δ² + 2.5·m·a/δ: the depth at which k·g² takes what a dashpot leaves is within the layer."""
    model = potential(restitution=restitution)
    entering = one_contact(0.8 * LAYER)
    model.on_step_accepted(entering, moving(-1.0, -9.81), 1e-3)
    chosen = spring(model, entering)
    k = max(0.05, restitution) * MASS / LAYER**2 + 2.5 * MASS * 9.81 / LAYER
    assert chosen == pytest.approx((k, 0.0, 2.0 * damping_ratio(restitution) * math.sqrt(2.0 * k * MASS)))
    inside, stopped = one_contact(-0.6 * LAYER), force(chosen[0], 0.0, -0.6 * LAYER) / MASS
    for speed in (-0.1, 0.0, 1.0):
        model.on_step_accepted(inside, moving(speed, stopped), 1e-3)
        assert spring(model, inside) == chosen
    other = potential(restitution=restitution)
    other.restore(model.internal_state())
    assert spring(other, inside) == chosen
    neighbour = one_contact(-0.6 * LAYER, number=8, shapes=(0, 5))
    assert spring(model, neighbour) == chosen  # the next edge of a rod that slides
    assert spring(model, one_contact(0.0, number=8, shapes=(2, 3))) == (STIFFNESS, 0.0, 0.0)
    model.on_step_accepted(one_contact(2.0 * LAYER), moving(1.0), 1e-3)
    assert spring(model, inside) == (STIFFNESS, 0.0, 0.0)
    model.restore({})
    assert spring(model, inside) == (STIFFNESS, 0.0, 0.0)


@given(
    gap=st.floats(-1.5, 0.4), speed=st.floats(0.1, 100.0), load=st.floats(0.0, 1e4), restitution=st.floats(0.0, 1.0)
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_loaded_contact_that_is_hit_stiffens_at_the_same_force_and_loses_energy(
    gap, speed, load, restitution
):
    """What was stored, less what is stored: never negative, however it is hit."""
    model, hit = potential(restitution=restitution), one_contact(gap * LAYER)
    before = STIFFNESS * barrier(gap * LAYER, LAYER)[0]
    pushed = force(STIFFNESS, 0.0, gap * LAYER)
    model.on_step_accepted(hit, moving(-speed, (pushed - load) / MASS), 1e-3)
    k, s, _ = spring(model, hit)
    assert k >= STIFFNESS
    assert s >= 0.0
    assert force(k, s, gap * LAYER) == pytest.approx(pushed, rel=1e-6)
    assert k * barrier(gap * LAYER + s, LAYER)[0] <= before * (1.0 + 1e-6)


def test_a_hit_that_the_spring_can_take_changes_nothing():
    """½·m·v² is far below what k stores on the way that is left."""
    model, resting = potential(restitution=1.0), one_contact(-0.2 * LAYER)
    pushed = force(STIFFNESS, 0.0, -0.2 * LAYER)
    speed = 0.3 * LAYER * math.sqrt(2.0 * STIFFNESS / MASS)
    for _ in range(3):
        model.on_step_accepted(resting, moving(-speed, 0.0), 1e-3)
    assert spring(model, resting)[:2] == (STIFFNESS, 0.0)
    assert pushed > 0.0


def test_the_stiffened_spring_stops_what_hits_it_within_the_layer():
    """With e = 1 by energy: F·x + k·x² takes ½·m·v² before the layer ends."""
    model, hit, gap, speed = potential(restitution=1.0), one_contact(-0.2 * LAYER), -0.2 * LAYER, 20.0
    pushed = force(STIFFNESS, 0.0, gap)
    model.on_step_accepted(hit, moving(-speed, 0.0), 1e-3)
    k, _, _ = spring(model, hit)
    way = (-pushed + math.sqrt(pushed**2 + 2.0 * k * MASS * speed**2)) / (2.0 * k)
    assert 0.2 * LAYER + way < LAYER


@pytest.mark.parametrize("step", [1e-3, 1e-4])
def test_a_load_that_comes_later_is_followed_by_resting_contacts(step):
    """Ten periods of the mass on the contact's spring 2·k make a rest, however many steps that are."""
    model = potential(restitution=1.0)
    resting = one_contact(-0.7 * LAYER)
    rest = 10.0 * 2.0 * math.pi * math.sqrt(MASS / (2.0 * STIFFNESS))
    assert rest > 100 * BuildContext().step
    for _ in range(math.ceil(rest / step)):
        model.on_step_accepted(resting, moving(0.0), step)
    assert spring(model, resting)[0] == STIFFNESS
    model.on_step_accepted(resting, moving(0.0), step)
    target = 2.5 * force(STIFFNESS, 0.0, -0.7 * LAYER) / LAYER
    assert spring(model, resting)[0] == pytest.approx(
        STIFFNESS + step / rest * (target - STIFFNESS), rel=1e-5
    )


def test_a_moved_spring_goes_back_to_the_surface_under_a_load_that_rests():
    """Else what was hit once would stay deep for ever; in the end the load is at δ/5, where k·φ′ carries it."""
    model, hit = potential(), one_contact(-0.5 * LAYER)
    load = force(STIFFNESS, 0.0, -0.5 * LAYER)
    model.on_step_accepted(hit, moving(-20.0), 1e-3)
    s = spring(model, hit)[1]
    assert s > 0.3 * LAYER
    for _ in range(3000):
        k, shift, _ = spring(model, hit)
        hit.gap[0] = brentq(lambda gap, k=k, shift=shift: force(k, shift, gap) - load, -LAYER, LAYER)
        model.on_step_accepted(hit, moving(0.0), 1e-3)
    after, left, dashpot = spring(model, hit)
    assert left < 1e-3 * s
    assert after == pytest.approx(2.5 * load / LAYER, rel=1e-3)
    assert hit.gap[0] == pytest.approx(-LAYER / 5, rel=1.0 - 1.0 / (1.0 + math.exp(-3.0)))  # 1 − σ there
    assert dashpot == pytest.approx(2.0 * damping_ratio(0.0) * math.sqrt(2.0 * after * MASS))


def test_a_moved_spring_follows_a_contact_that_opens():
    """It is ready at the surface when the contact closes again, and holds nothing on the way."""
    model, hit = potential(), one_contact(-0.5 * LAYER)
    model.on_step_accepted(hit, moving(-20.0), 1e-3)
    for gap in (-0.1, 0.1, 0.4):
        model.on_step_accepted(one_contact(gap * LAYER), moving(1.0), 1e-3)
        assert spring(model, hit)[1] <= max(0.0, 0.5 - gap) * LAYER + rounding(4, LAYER)


def test_a_fixed_stiffness_stays_and_its_dashpot_follows_the_mass():
    model = potential(adapt=False, restitution=0.5)
    for gap, speed in ((0.8, 30.0), (-0.5, 30.0), (-3.0, 10.0)):
        model.on_step_accepted(one_contact(gap * LAYER), moving(-speed), 1e-3)
        expected = STIFFNESS, 0.0, 2.0 * damping_ratio(0.5) * math.sqrt(2.0 * STIFFNESS * MASS)
        assert spring(model, one_contact(gap * LAYER)) == pytest.approx(expected)


def test_a_dashpot_of_one_number_stands_beside_any_spring():
    for adapt in (True, False):
        model = potential(adapt=adapt, damping=7.0)
        model.on_step_accepted(one_contact(0.8 * LAYER), moving(-1.0), 1e-3)
        assert spring(model, one_contact(0.8 * LAYER))[2] == 7.0
    assert not potential(adapt=False, damping=7.0).internal_state()


def test_what_nothing_can_move_needs_no_dashpot():
    model, closing = potential(), one_contact(0.8 * LAYER)
    model.on_step_accepted(closing, moving(-1.0, mass=math.inf), 1e-3)
    assert spring(model, closing) == (STIFFNESS, 0.0, 0.0)
