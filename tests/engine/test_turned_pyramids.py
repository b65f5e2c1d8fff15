"""Pyramids that turn to the slip of their contacts."""

import math

import numpy as np
import pytest

from corekit.errors import PluginError
from corekit.roles.contact_blocks import ReducedStepProblem
from corekit.roles.friction import ANISOTROPIC_COULOMB, COULOMB, FrictionLaw
from corekit.roles.friction_edge import NO_EDGES, FrictionEdges
from corekit.roles.pyramid import pull_turned_directions, pyramid_directions, turn_directions
from corekit_testing.rounding import rounding

TABLED = 2e-11
"""Relative error of tables that miss r by 1e-12 where it is 0.1 or more."""


def turned(
    count, free, *, delassus=None, records=None, aligned=True, impulse=None, friction=None, law=COULOMB
):
    """The directions of contacts with these free velocities."""
    contacts = len(free) // 3
    edges = NO_EDGES if records is None else FrictionEdges(law).of_records(records)
    delassus = np.zeros((0, 0)) if delassus is None else delassus
    directions, impulse = np.empty((contacts, 2, count)), np.zeros(len(free)) if impulse is None else impulse
    carried = impulse.copy()
    friction = 0.5 * np.ones(contacts) if friction is None else friction
    turn_directions(
        pyramid_directions(3, count), friction, *edges, delassus, 1.0, np.array(free, dtype=float), carried, aligned,
        directions, impulse,
    )  # fmt: skip
    return directions


@pytest.mark.parametrize("count", [4, 6, 8, 10])
def test_pyramids_oppose_the_free_sliding_and_stay_regular(count):
    free = [-1.0, 0.3, -0.4, -1.0, 0.0, 0.0, -1.0, -2.0, 1e-3]
    directions = turned(count, free)
    np.testing.assert_allclose(directions[0, :, 0], [-0.6, 0.8], atol=rounding(8))
    np.testing.assert_allclose(directions[1], pyramid_directions(3, count), atol=rounding(8))
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0, atol=rounding(8))
    for own in directions:
        np.testing.assert_allclose(
            own[:, : count // 2], -own[:, count // 2 :], atol=rounding(16)
        )  # angles up to 2π are rounded
        turns = own[0] * np.roll(own[1], -1) - own[1] * np.roll(own[0], -1)
        np.testing.assert_allclose(turns, np.sin(2 * np.pi / count), atol=rounding(24))


@pytest.mark.parametrize("share", [0.5, 0.97])
def test_friction_that_sticks_turns_nothing_within_every_pyramid_and_is_in_its_own_beyond(share):
    """μ·λ_n = 1; eight directions hold cos(π/8) = 0.924 of it whatever they are, and all of it along one of them."""
    angle = 0.3
    load = np.array([2.0, share * math.cos(angle), share * math.sin(angle)])
    found = turned(8, -load, delassus=np.eye(3), impulse=load)[0, :, 0]
    expected = [1.0, 0.0] if share < math.cos(math.pi / 8) else [math.cos(angle), math.sin(angle)]
    np.testing.assert_allclose(found, expected, atol=rounding(8))


def test_friction_at_its_bound_turns_with_the_pyramid():
    """t = λ_t − w_t/W_tt = (1, 0) − (0, 2)/2, of W = 2: w₀ = w − W·λ."""
    load = np.array([2.0, 1.0, 0.0])
    free = np.array([0.0, 0.0, 2.0]) - 2.0 * load
    found = turned(8, free, delassus=2.0 * np.eye(3), impulse=load)[0, :, 0]
    half = math.sqrt(0.5)
    np.testing.assert_allclose(found, [half, -half], atol=rounding(8))
    np.testing.assert_allclose(load, [2.0, half, -half], atol=rounding(8))


def test_a_rod_that_falls_straight_slips_where_its_impact_drives_it():
    """Of a rod of mass 1 and inertia I that leans, struck at r: W = 1 − r̂·I⁻¹·r̂; slip is W_tn·|w_n|/W_nn."""
    r, fall = np.array([0.3, -0.4, -0.5]), 2.0
    cross = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
    in_world = np.eye(3) - cross @ cross / 0.1
    order = [2, 0, 1]
    delassus = in_world[np.ix_(order, order)]
    slip = delassus[1:, 0] * fall / delassus[0, 0]
    for small in (0.0, 1e-12):
        first = turned(8, [-fall, small, small], delassus=delassus)[0, :, 0]
        np.testing.assert_allclose(first, -slip / np.linalg.norm(slip), atol=2e-11 + rounding(30))


def test_a_ball_that_falls_straight_keeps_the_tangents():
    free = [-1.0, 1e-16, -2e-16]
    np.testing.assert_array_equal(turned(8, free, delassus=np.eye(3))[0], pyramid_directions(3, 8))


def test_a_turned_world_has_turned_pyramids_and_a_mirrored_one_mirrored_ones():
    random = np.random.default_rng(3)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    for approach in (0.0, 1.0, 1e3):  # (2), (2) and (3)
        root, slip = random.normal(size=(3, 3)), random.normal(size=2)
        delassus = root @ root.T + np.eye(3)
        plain = turned(8, [-approach, *slip], delassus=delassus)[0, :, 0]
        for change in (turn, np.diag([1.0, -1.0])):
            whole = np.eye(3)
            whole[1:, 1:] = change
            other = turned(8, [-approach, *(change @ slip)], delassus=whole @ delassus @ whole.T)[0, :, 0]
            # (3) is a sum of terms of up to `approach` that leave a slip of 0.1 of it or more
            np.testing.assert_allclose(other, change @ plain, atol=rounding(40, 10.0))


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("count", [4, 6, 8, 10])
def test_anisotropic_directions_are_corners_of_the_admissible_friction(count, aligned):
    """μ·d_k has the gauge 1, in the order of the angle; a turned d₁ dissipates the most against the free slip."""
    random = np.random.default_rng(count)
    records, free = random.uniform(0.1, 1.0, (20, 3)), random.normal(size=60)
    law, largest = ANISOTROPIC_COULOMB, records.max(axis=1)
    directions = turned(count, free, records=records, law=law, aligned=aligned, friction=largest)
    for c in range(20):
        corners = largest[c] * directions[c]
        gauges = [law.gauge(records[c], *corner) for corner in corners.T]
        np.testing.assert_allclose(gauges, 1.0, rtol=TABLED)
        turns = corners[0] * np.roll(corners[1], -1) - corners[1] * np.roll(corners[0], -1)
        assert turns.min() > 0.0
        slip = free[3 * c + 1 : 3 * c + 3]
        dissipation = -corners.T @ slip
        if aligned:
            most = law.dissipation(records[c], *slip)
            np.testing.assert_allclose(dissipation[0], most, rtol=TABLED)
        else:
            np.testing.assert_allclose(corners[:, 0], [records[c, 1], 0.0], rtol=TABLED)


def test_a_turned_pyramid_has_the_corner_of_a_box_where_slip_is_oblique():
    """Whatever the slip is, but for along an axis: (±a, ±b) dissipates the most; one of six that stands cuts it off."""
    law = FrictionLaw(
        name="box", coefficients=("along", "across"), is_directional=True,
        gauge=lambda record, along, across: max(abs(along) / record[0], abs(across) / record[1]),
        dissipation=lambda record, along, across: record[0] * abs(along) + record[1] * abs(across),
    )  # fmt: skip
    record, free = np.array([[0.2, 0.6]] * 5), np.random.default_rng(5).normal(size=15)
    largest = np.full(5, law.max_coefficient(record[0]))
    corner = -np.sign(free.reshape(5, 3)[:, 1:]) * record
    found = turned(8, free, records=record, law=law, friction=largest)
    np.testing.assert_allclose(
        largest[:, None] * found[:, :, 0], corner, atol=1e-10
    )  # an interval of 1e-11 rad
    standing = turned(6, free, records=record, law=law, friction=largest, aligned=False)
    assert np.linalg.norm(largest[:, None, None] * standing, axis=1).max() < 0.99 * np.hypot(*record[0])


def test_a_law_without_friction_in_a_direction_has_no_polygon():
    law = FrictionLaw(
        name="rail", coefficients=("along",), is_directional=True,
        gauge=lambda record, along, across: abs(along) / record[0] if not across else math.inf,
        dissipation=lambda record, along, across: record[0] * abs(along),
    )  # fmt: skip
    with pytest.raises(PluginError, match="friction law 'rail': its gauge is inf in the direction"):
        FrictionEdges(law).of_records(np.array([[0.3]]))


@pytest.mark.parametrize("struck", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_covector_of_directions_is_that_of_differences(seed, struck):
    """Of contacts that slide with and without friction of the last step, and of those that are struck straight."""
    draw, contacts, count = np.random.default_rng(seed), 3, 8
    rows = 3 * contacts
    half = draw.standard_normal((rows, rows))
    delassus, free = half @ half.T + np.eye(rows), 5.0 * draw.standard_normal(rows)
    carried = np.zeros(rows)
    if struck:
        free[::3], free[1::3], free[2::3] = -1.0, 3e-3, 1e-3
    else:
        carried[::3], carried[1::3] = 0.1, 0.02 * draw.standard_normal(contacts)
        free[::3] = -(delassus @ carried)[::3] + 1e-3 * (seed % 2)  # what λ stops, or not
    friction, weight = 0.5 * np.ones(contacts), draw.standard_normal((contacts, 2, count))

    def directions(matrix, given, start):
        out = np.empty((contacts, 2, count))
        turn_directions(
            pyramid_directions(3, count),
            friction,
            *NO_EDGES,
            matrix,
            0.0,
            given,
            start,
            True,
            out,
            start.copy(),
        )
        return out

    problem = ReducedStepProblem(3, 1e-3, free, delassus, contacts, friction=friction, start_impulse=carried)
    here = directions(delassus, free, carried)
    assert (np.abs(here - pyramid_directions(3, count)) > 1e-6).any(axis=(1, 2)).all()  # all of them turned
    found = pull_turned_directions(problem, here, weight)
    given = (
        found.matrix + np.outer(found.velocity, carried), found.velocity + found.free,
        found.start + delassus.T @ found.velocity,
    )  # fmt: skip
    for place, own in enumerate(given):
        for at in np.ndindex(own.shape):
            if struck and place == 2 and at[0] % 3 == 0:
                continue  # λ_n = 0 is the kink from where on no impact is straight
            ends = []
            for size in (1e-6, -1e-6):
                changed = [delassus.copy(), free.copy(), carried.copy()]
                changed[place][at] += size
                ends.append(np.sum(weight * directions(*changed)))
            assert own[at] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6 * np.abs(own).max())
