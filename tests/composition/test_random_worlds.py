"""Worlds drawn at random move as their images do: in a mirror, turned, in another order, in other units.

How far two motions may be apart is measured in each world itself, see `corekit_testing.worlds.motion`.
"""

from __future__ import annotations

import copy

import pytest
from attrs import evolve
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from corekit.errors import CompositionError
from corekit_testing.worlds.drawing import make_world, worlds
from corekit_testing.worlds.images import in_units, mirrored, reordered, turned
from corekit_testing.worlds.motion import compare

NEEDED = ("rigid", "pcc", "gvs", "der", "vine", "lagrangian", "lcp", "qp", "cone", "sdf", "mpr", "timestep")
TOLERANCE = {"tolerance": 1e-9}
STIFF = [
    {"use": "semi-implicit-euler"},
    {"use": "implicit-euler", "options": {"tolerance": 1e-9}},
    {"use": "implicit-midpoint", "options": {"tolerance": 1e-9}},
]
EXPLICIT = [{"use": "semi-implicit-euler", "options": {"form": "explicit"}}, {"use": "verlet"}]
WITH_FRICTION = [
    {"solver": {"use": solver, "options": TOLERANCE}, "friction": friction}
    for solver in ("cone", "lcp", "qp")
    for friction in (0.0, 0.5)
]
NO_DIRECTION = [each for each in WITH_FRICTION if each["solver"]["use"] == "cone" or not each["friction"]]
"""A pyramid lies as the tangents do, where nothing slides yet."""
STEPS = st.integers(5, 20)


def any_worlds(solvers):
    """Rigid bodies with every integrator; soft ones are too stiff for explicit steps of milliseconds."""
    return worlds(solvers, [*STIFF, *EXPLICIT], ["rigid"]) | worlds(solvers, STIFF)


@pytest.fixture(scope="module", autouse=True)
def plugins():
    for needed in NEEDED:
        pytest.importorskip(f"corekit_{needed}")


def few(count):
    """So many examples where they are the same in every run, and many where they are drawn anew."""
    return settings(max_examples=count if settings().derandomize else 50)


def agree(world, image, steps):
    try:
        found = compare(world, image, steps)
    except CompositionError as refused:
        if " starts " not in str(refused):
            raise
        reject()  # an arm that starts bent may be inside what its straight shape is beside
    event("touched" if found.touched else "flew")
    assert found.excess < 1.0, found


@few(4)
@given(world=any_worlds(NO_DIRECTION), steps=STEPS)
def test_a_world_in_a_mirror_moves_as_the_mirror_shows(world, steps):
    agree(world, mirrored(world), steps)


@few(4)
@given(world=any_worlds(NO_DIRECTION), steps=STEPS, seed=st.integers(0, 999))
def test_a_world_that_is_turned_and_shifted_moves_alike(world, steps, seed):
    agree(world, turned(world, Rotation.random(rng=seed), [0.4, -0.2, 0.3]), steps)


@few(4)
@given(world=any_worlds(WITH_FRICTION), steps=STEPS, data=st.data())
def test_the_order_of_bodies_and_obstacles_does_not_matter(world, steps, data):
    bodies, obstacles = (
        data.draw(st.permutations(range(len(each))))
        for each in (world["bodies"], world["world"]["obstacles"])
    )
    agree(world, reordered(world, bodies, obstacles), steps)


@few(4)
@given(world=any_worlds(NO_DIRECTION), steps=STEPS)
def test_centimetres_and_grams_change_nothing(world, steps):
    agree(world, in_units(world, 1e2, 1e3, 1.0), steps)


@pytest.mark.parametrize("solver", ["cone", "lcp", "qp"])
def test_a_world_that_bounces_by_a_ten_thousandth_is_told_apart(solver):
    """A bounce at 0.2 m/s or more goes on for some of the 40 ms: micrometres, where nanometres are allowed."""
    contact, integrator = {"solver": solver, "friction": 0.5}, {"use": "semi-implicit-euler"}
    world = make_world(7, ["rigid", "der"], ["floor"], True, 2e-3, contact, integrator, 0.0)
    other = copy.deepcopy(world)
    other["contact"]["impact"]["restitution"] = 1e-4
    found = compare(world, evolve(reordered(world, [0, 1], [0]), world=other), 20)
    assert found.touched
    assert found.excess > 1.0
