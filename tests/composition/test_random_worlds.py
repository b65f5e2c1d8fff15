"""Worlds drawn at random move as their images do: in a mirror, and with bodies and obstacles in another order.

How far two motions may be apart is measured in each world itself, see `corekit_testing.worlds.motion`.
"""

from __future__ import annotations

import copy

import pytest
from attrs import evolve
from hypothesis import event, given, settings
from hypothesis import strategies as st

from corekit_testing.worlds.drawing import make_world, rigid, worlds
from corekit_testing.worlds.images import mirrored, reordered
from corekit_testing.worlds.motion import compare

NEEDED = ("corekit_rigid", "corekit_lcp", "corekit_qp", "corekit_cone", "corekit_sdf", "corekit_mpr")
MAKERS = {"rigid": rigid}
TOLERANCE = {"tolerance": 1e-9}
INTEGRATORS = [
    {"use": "semi-implicit-euler"},
    {"use": "semi-implicit-euler", "options": {"form": "explicit"}},
    {"use": "implicit-euler", "options": {"tolerance": 1e-11}},
    {"use": "implicit-midpoint", "options": {"tolerance": 1e-11}},
    {"use": "verlet"},
]
WITH_FRICTION = [
    {"solver": {"use": solver, "options": TOLERANCE}, "friction": friction}
    for solver in ("cone", "lcp", "qp")
    for friction in (0.0, 0.5)
]
NO_DIRECTION = [each for each in WITH_FRICTION if each["solver"]["use"] == "cone" or not each["friction"]]
"""A pyramid lies as the tangents do, where nothing slides yet."""
STEPS = st.integers(5, 20)


@pytest.fixture(scope="module", autouse=True)
def plugins():
    for needed in NEEDED:
        pytest.importorskip(needed)


def few(count):
    """So many examples where they are the same in every run, and many where they are drawn anew."""
    return settings(max_examples=count if settings().derandomize else 50)


def agree(world, image, steps):
    found = compare(world, image, steps)
    event("touched" if found.touched else "flew")
    assert found.excess < 1.0, found


@few(6)
@given(world=worlds(MAKERS, NO_DIRECTION, INTEGRATORS), steps=STEPS)
def test_a_world_in_a_mirror_moves_as_the_mirror_shows(world, steps):
    agree(world, mirrored(world), steps)


@few(6)
@given(world=worlds(MAKERS, WITH_FRICTION, INTEGRATORS), steps=STEPS, data=st.data())
def test_the_order_of_bodies_and_obstacles_does_not_matter(world, steps, data):
    bodies, obstacles = (
        data.draw(st.permutations(range(len(each))))
        for each in (world["bodies"], world["world"]["obstacles"])
    )
    agree(world, reordered(world, bodies, obstacles), steps)


@pytest.mark.parametrize("solver", ["cone", "lcp", "qp"])
def test_a_world_that_bounces_by_a_ten_thousandth_is_told_apart(solver):
    """A bounce at 0.2 m/s or more goes on for some of the 40 ms: micrometres, where nanometres are allowed."""
    world = make_world(
        7, ["rigid", "rigid"], MAKERS, ["floor"], True, 2e-3, {"solver": solver, "friction": 0.5},
        {"use": "semi-implicit-euler"}, 0.0,
    )  # fmt: skip
    other = copy.deepcopy(world)
    other["contact"]["impact"]["restitution"] = 1e-4
    found = compare(world, evolve(reordered(world, [0, 1], [0]), world=other), 20)
    assert found.touched
    assert found.excess > 1.0
