"""The compiled loops over contacts against the same written with NumPy, in few contacts and in many."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.engine.contact.contact_kernels import (
    assign_tangents_and_friction,
    has_immovable,
    id_order,
    isolate_immovable,
    match_by_id,
)
from corekit.roles.collision_scene import max_probe_displacement
from corekit_testing.rounding import rounding

few_and_many = pytest.mark.parametrize("count", [1, 7, 64, 65, 400])


@few_and_many
@pytest.mark.parametrize("order", ["the same", "shifted", "shuffled", "some new"])
def test_contacts_are_found_by_id_whatever_their_order(count, order):
    random = np.random.default_rng(count)
    known = random.choice(10_000, size=count, replace=False)
    wanted = {
        "the same": known.copy(),
        "shifted": np.roll(known, 3),
        "shuffled": random.permutation(known),
        "some new": np.where(random.random(count) < 0.3, known + 10_000, random.permutation(known)),
    }[order]
    impulse = random.normal(size=3 * count)
    by_id = {int(i): impulse[3 * k : 3 * k + 3] for k, i in enumerate(known)}
    expected = np.concatenate([by_id.get(int(i), np.zeros(3)) for i in wanted])

    found = np.zeros(3 * count)
    match_by_id(3, wanted, known, id_order(known), impulse, found)
    assert np.array_equal(found, expected)

    value, otherwise = impulse[:count].copy(), random.normal(size=count)
    out = otherwise.copy()
    match_by_id(1, wanted, known, id_order(known), value, out)
    places = {int(i): value[k] for k, i in enumerate(known)}
    assert np.array_equal(out, [places.get(int(i), otherwise[c]) for c, i in enumerate(wanted)])


def test_nothing_is_found_among_nothing():
    out = np.arange(6.0)
    nobody = np.zeros(0, dtype=np.int64)
    match_by_id(3, np.array([4, 5]), nobody, id_order(nobody), np.zeros(0), out)
    assert np.array_equal(out, np.arange(6.0))


@few_and_many
def test_tangents_are_unit_and_orthogonal_and_stay_near_those_of_the_last_step(count):
    random = np.random.default_rng(count)
    normal = random.normal(size=(count, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    ids, shape = (
        random.permutation(count),
        np.stack([random.integers(0, 2, count), np.full(count, 2)], axis=1),
    )
    surface, pair = np.array([0, 1, 2]), np.array([[0, 0, 0.3], [0, 0, 0.7], [0.3, 0.7, 0]])
    tangent, friction = np.zeros((count, 3)), np.zeros(count)
    nobody = np.zeros(0, dtype=np.int64)
    nothing = nobody, nobody, np.zeros((0, 3))
    gap = np.zeros(count)
    assert assign_tangents_and_friction(
        count, False, np.zeros(3), surface, pair, *nothing, ids, shape, gap, normal, tangent, friction
    )
    assert np.linalg.norm(tangent, axis=1) == pytest.approx(1.0)
    assert np.sum(tangent * normal, axis=1) == pytest.approx(0.0, abs=rounding(16))
    assert np.array_equal(friction, np.where(shape[:, 0] == 0, 0.3, 0.7))

    turned = normal + 1e-3 * random.normal(size=(count, 3))
    turned /= np.linalg.norm(turned, axis=1)[:, None]
    again, mixed = np.zeros((count, 3)), random.permutation(count)
    known = ids[mixed], id_order(ids[mixed]), np.ascontiguousarray(tangent[mixed])
    assert assign_tangents_and_friction(
        count, False, np.zeros(3), surface, pair, *known, ids, shape, gap, turned, again, friction
    )
    assert np.linalg.norm(again - tangent, axis=1).max() < 0.02
    assert np.sum(again * turned, axis=1) == pytest.approx(0.0, abs=rounding(16))


def test_the_tangent_of_a_planar_world_lies_in_its_plane():
    plane_normal = np.array([0.0, -1.0, 0.0])  # x–z
    normal = np.array([[0.6, 0.0, 0.8], [0.0, 0.0, 1.0]])
    tangent, friction = np.zeros((2, 3)), np.zeros(2)
    ids, shape = np.array([3, 4]), np.array([[0, 1], [0, 1]])
    nobody = np.zeros(0, dtype=np.int64)
    nothing = nobody, nobody, np.zeros((0, 3))
    assign_tangents_and_friction(
        2,
        True,
        plane_normal,
        np.array([0, 0]),
        np.zeros((1, 1)),
        *nothing,
        ids,
        shape,
        np.zeros(2),
        normal,
        tangent,
        friction,
    )
    assert tangent == pytest.approx(np.cross(plane_normal, normal))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("what", ["gap", "normal"])
@pytest.mark.parametrize("planar", [False, True])
def test_a_contact_that_is_not_finite_is_noticed(planar, what, value):
    gap, normal = np.zeros(2), np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    (gap if what == "gap" else normal[:, 1])[1] = value
    nobody = np.zeros(0, dtype=np.int64)
    assert not assign_tangents_and_friction(
        2, planar, np.array([0.0, -1.0, 0.0]), np.array([0, 0]), np.zeros((1, 1)), nobody, nobody, np.zeros((0, 3)),
        np.array([3, 4]), np.array([[0, 1], [0, 1]]), gap, normal, np.zeros((2, 3)), np.zeros(2),
    )  # fmt: skip


def test_the_farthest_probe_is_found_on_a_turning_shape():
    angle, radius = 0.1, 0.5
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    position, rotation = np.zeros((1, 3)), np.eye(3)[None]
    before, now = np.zeros((4, 3)), np.zeros((4, 3))
    max_probe_displacement(position, rotation, np.array([radius]), before, before)
    moved = max_probe_displacement(position, turn[None].copy(), np.array([radius]), before, now)
    assert moved == pytest.approx(2 * radius * np.sin(angle / 2))
    assert now[1] == pytest.approx(radius * turn[:, 0])
    turn[0, 0] = np.nan
    assert np.isnan(max_probe_displacement(position, turn[None], np.array([radius]), before, now))


@pytest.mark.parametrize("rounding", [0.0, 4e-35])
def test_a_contact_that_cannot_move_becomes_an_open_frictionless_row(rounding):
    """Its normal row of J may hold what rounding left of a clamped edge, 6e-18 beside 1."""
    delassus = np.diag([1.0, 2.0, 3.0, rounding, 1.0, 1.0])
    assert not has_immovable(1, 3, np.full((3, 3), np.nan))  # which its solver has to see
    delassus[1, 4] = delassus[4, 1] = 0.5
    free, friction = np.array([-1.0, 0.5, 0.5, -1.0, 0.5, 0.5]), np.array([0.5, 0.5])
    assert has_immovable(2, 3, delassus)
    isolate_immovable(3, np.array([True, False]), delassus, free, friction)
    assert not has_immovable(2, 3, delassus)
    assert np.array_equal(delassus, np.diag([1.0, 2.0, 3.0, 3.0, 3.0, 3.0]))
    assert free.tolist() == [-1.0, 0.5, 0.5, 1.0, 0.0, 0.0]
    assert friction.tolist() == [0.5, 0.0]
