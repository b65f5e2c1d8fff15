"""Rigid bodies drawn at random that joints hold together, and a contact potential: images, momentum, what joints hold.

How far two motions may be apart is measured in each world itself, see `corekit_testing.worlds.motion`.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from corekit.scenario.load import from_document
from corekit_testing.rounding import rounding
from corekit_testing.worlds.balances import given_by_contacts, motions, total_mass
from corekit_testing.worlds.drawing import joined, make_world, worlds
from corekit_testing.worlds.images import in_units, mirrored, reordered, turned
from corekit_testing.worlds.motion import compare

for needed in ("rigid", "lcp", "qp", "cone", "imc", "sdf", "mpr", "timestep"):
    pytest.importorskip(f"corekit_{needed}")

TOLERANCE = 1e-9
INTEGRATORS = [
    {"use": "semi-implicit-euler"},
    {"use": "implicit-euler", "options": {"tolerance": TOLERANCE}},
    {"use": "implicit-midpoint", "options": {"tolerance": TOLERANCE}},
]
SOLVED = [
    {"solver": {"use": solver, "options": {"tolerance": TOLERANCE}}, "friction": friction}
    for solver, friction in (("cone", 0.0), ("cone", 0.5), ("lcp", 0.0), ("qp", 0.0))
]
"""Without the pyramids, which lie as the tangents do where nothing slides yet."""
POTENTIAL = [
    {
        "solver": {"use": "imc", "options": {"restitution": restitution}},
        "friction": friction,
        "impact": {"restitution": 0.0},
    }
    for friction, restitution in ((0.0, 0.5), (0.5, 0.0))
]
"""Its springs bounce; impacts of impulses it has none."""
JOINED = st.builds(joined, worlds(SOLVED, INTEGRATORS, ["rigid"]), st.integers(0, 999))
SOFT = worlds(POTENTIAL, INTEGRATORS, ["rigid"])
STEPS = st.integers(5, 20)
FOUR_AT_REST = make_world(
    141398859, ["rigid"] * 4, ["sphere", "floor", "box"], True, 4e-3, SOLVED[1], INTEGRATORS[1], 0.0
)
"""Joined, its slow bodies were solved to what is left of 1 m/s, and turned it went another way."""


def few(count):
    """So many examples where they are the same in every run, and many where they are drawn anew."""
    return settings(max_examples=count if settings().derandomize else 50)


def agree(world, image, steps):
    found = compare(world, image, steps)
    event("touched" if found.touched else "flew")
    assert found.excess < 1.0, found


@few(3)
@given(world=JOINED | SOFT, steps=STEPS)
def test_a_world_in_a_mirror_moves_as_the_mirror_shows(world, steps):
    agree(world, mirrored(world), steps)


@few(3)
@example(world=joined(FOUR_AT_REST, 178), steps=11, seed=585)
@given(world=JOINED | SOFT, steps=STEPS, seed=st.integers(0, 999))
def test_a_world_that_is_turned_and_shifted_moves_alike(world, steps, seed):
    agree(world, turned(world, Rotation.random(rng=seed), [0.4, -0.2, 0.3]), steps)


@few(3)
@given(world=JOINED | SOFT, steps=STEPS, data=st.data())
def test_the_order_of_bodies_and_obstacles_does_not_matter(world, steps, data):
    bodies, obstacles = (
        data.draw(st.permutations(range(len(each))))
        for each in (world["bodies"], world["world"]["obstacles"])
    )
    agree(world, reordered(world, bodies, obstacles), steps)


@few(3)
@given(world=JOINED, steps=STEPS)
def test_centimetres_and_grams_change_nothing(world, steps):
    agree(world, in_units(world, 1e2, 1e3, 1.0), steps)


@few(3)
@given(world=JOINED)
def test_joints_give_no_momentum(world):
    """A step adds h·Σm·g and the impulses of obstacles; what joints give one body they take from the other.

    Beside the bound of worlds without joints stands the rounding of impulses that end the bodies' first velocities.
    """
    simulation = from_document(world).compose()
    mass, weight = total_mass(world), world["time"]["step"] * np.array(world["world"]["gravity"])
    implicit = world["integrator"]["use"].startswith("implicit")
    before = motions(simulation, world)
    for _ in range(10):
        simulation.step()
        after, contacts = motions(simulation, world), given_by_contacts(simulation)
        speed = 1.0 + max(before.speed, after.speed)
        bound = rounding(1024, contacts.largest + mass * speed) + implicit * TOLERANCE * mass * speed
        change = after.momentum - before.momentum
        assert change == pytest.approx(mass * weight + contacts.impulse, rel=0.0, abs=bound)
        before = after
