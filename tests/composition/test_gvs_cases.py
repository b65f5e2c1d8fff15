"""The GVS paper's cases beside their runs: peers against closed forms, the mismatch, and the shipped files."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import corekit
from corekit_scenarios.cases.beam.theories import modes_of, refined
from corekit_scenarios.cases.gvs import beam as gvs_beam
from corekit_scenarios.cases.gvs.arms import why_apart
from corekit_scenarios.cases.gvs.at_rest import FAMILIES, error_of, field_of, fits, needed
from corekit_scenarios.cases.gvs.dependent import tip_of_moment
from corekit_scenarios.cases.gvs.moment import outside_of_bump
from corekit_scenarios.cases.gvs.muscle_motion import _place, _shape
from corekit_scenarios.cases.gvs.octopus_motion import _curving, _strain
from corekit_scenarios.cases.gvs.pairs import (
    Taken,
    below_rows,
    faster_row,
    mismatch,
    mismatch_row,
    stiffest_rate,
)
from corekit_scenarios.cases.gvs.strain_fields import BY_HAND, MOMENTS, bending
from corekit_scenarios.cases.gvs.underwater import first_touch, hull_gap
from corekit_study.case_run import Difference
from corekit_testing.rounding import rounding


class Records:
    """As much of `Results` as the mismatch needs."""

    def __init__(self, time, path):
        self.time, self.frames = np.array(time), ("arm.arm.base", "arm.arm.tip")
        self.frame_position = np.stack([np.zeros_like(path), path], axis=1)


def recorded(time, path) -> Any:
    return Records(time, np.array(path, dtype=float))


def test_the_mismatch_is_the_distance_of_the_tips_in_lengths():
    one = recorded([0.0, 1.0], [[0, 0, 0], [1, 0, 0]])
    other = recorded([0.0, 1.0], [[0, 0, 0], [1, 0.3, 0.4]])
    apart = mismatch(one, other, "arm.tip", 2.0)
    np.testing.assert_allclose(apart, [0.0, 0.25])
    near, small, large = (
        mismatch_row(apart, printed, "a sentence", "", Difference("why", "so", holds))
        for printed, holds in (((25.1, 12.6), True), ((50.0, 25.0), False), ((20.0, 10.0), False))
    )
    assert [str(row.verdict) for row in (near, small, large)] == ["kept", "MISSED", "MISSED"]
    for limit, kept in ((25.1, True), (24.9, False)):
        largest, mean = below_rows(apart, limit, "a sentence", "")
        assert (largest.passed, mean.passed) == (kept, None)
        assert mean.ours == pytest.approx(12.5)
    with pytest.raises(ValueError, match="every"):
        mismatch(one, recorded([0.0, 2.0], [[0, 0, 0], [1, 0, 0]]), "arm.tip", 2.0)


def test_the_octopus_s_mismatch_is_explained_by_the_paper_s_equations_or_missed():
    apart = np.array([0.0, 0.0273, 0.004])
    for published, verdict in (([0.0, 0.0640, 0.0320], "differs"), ([0.0, 0.0273, 0.004], "MISSED")):
        row = mismatch_row(apart, (6.59, 3.39), "section 6", "", why_apart(np.array(published), apart))
        assert str(row.verdict) == verdict


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [(0.09, "MISSED"), (0.11, "kept"), (0.39, "kept"), (0.41, "MISSED"), (-0.2, "MISSED")],
)
def test_a_basis_gains_by_half_to_twice_what_it_does_in_the_paper(gain, verdict):
    """A fifth in the paper, whose times are of another machine."""
    taken = {"slow": Taken(2.0 * (1.0 + gain), 900, 70.0), "fast": Taken(2.0, 700, 1500.0)}
    assert str(faster_row(taken, {"fast": 10.0, "slow": 12.0}, "a sentence").verdict) == verdict


def test_the_stiffest_rate_of_a_straight_beam_is_its_highest_frequency():
    """By a generalised symmetric problem, and by det(λ²·M + λ·D + K) = 0."""
    simulation = corekit.load("beam/gvs", refined("gvs", 3, 0.0)).compose()
    highest = 2.0 * math.pi * modes_of("gvs", 3).max()
    assert stiffest_rate(simulation) == pytest.approx(highest, rel=1e-3)


def test_what_is_outside_of_a_bump_is_counted_where_it_has_no_height():
    """Elements at rest with κ·L = 1 on the last of ten, against a bump of height 1 and width 0.02 in the middle."""
    q = np.zeros((1, 31))
    q[0, 27:] = 1.0
    bump, elements = (
        cast("Any", SimpleNamespace(time=np.array([1.0]), q=each)) for each in (np.array([[1.0, 50.0]]), q)
    )
    # the fourth node of the ninth element rises to 1; ∫ of the bump's square is √(π/2)/50
    X = np.linspace(0.8, 0.9, 10_001)
    nodes = 0.8 + np.arange(4) / 30
    rise = np.prod([(X - node) / (nodes[3] - node) for node in nodes[:3]], axis=0)
    far = 0.1 + 0.1 * float(np.mean(rise**2))
    near = math.sqrt(math.pi / 2) / 50
    share, beam = outside_of_bump(bump, elements)
    assert share == pytest.approx(far / (far + near), rel=5e-3)
    # √ln 100/50 on either side of the middle is on the bump
    assert beam == pytest.approx(1.0 - 2.0 * math.sqrt(math.log(100.0)) / 50, abs=5e-3)


def test_the_octopus_s_strains_accelerate_by_second_differences_of_them():
    q, rate, step = (
        np.array([-14.5, 10.7, 0.5, 0.3, -0.2, 0.1]),
        np.array([3.0, -4.0, 0.2, 1.0, 2.0, -1.0]),
        1e-4,
    )
    before, now, after = (_strain(q + k * step * rate)[0] for k in (-1, 0, 1))
    # rounding 4·16·ε/h² = 1.5e-6 beside h²/12 of fourth derivatives, 14.5·(10.7·0.2)⁴·24 ≈ 1e4
    np.testing.assert_allclose(_curving(q, rate), (after - 2 * now + before) / step**2, atol=1e-4)
    # h²/6 of third derivatives, 14.5·10.7³·6 ≈ 1e5
    ends = [(_strain(q + each)[0], _strain(q - each)[0]) for each in 1e-5 * np.eye(6)]
    np.testing.assert_allclose(_strain(q)[1], [(b - a) / 2e-5 for b, a in ends], atol=1e-5)


def test_the_beam_s_peer_is_the_heavy_elastica(monkeypatch):
    """γ = ρ·A·g·L³/(E·I) = 5, whose tip is known to 1e-13."""
    monkeypatch.setattr(gvs_beam, "LINE_WEIGHT", 5 * gvs_beam.RIGIDITY / gvs_beam.LENGTH**3)
    tip = gvs_beam.elastica(0.0).place[-1] / gvs_beam.LENGTH
    np.testing.assert_allclose(tip, [0.8466571799542212, -0.49590504462247625], atol=1e-9)


@pytest.mark.parametrize(("title", "global_over_local"), BY_HAND.items())
def test_what_a_changed_coordinate_moves_by_hand_is_what_the_functions_of_the_bases_give(
    title, global_over_local
):
    X = np.linspace(0.0, 1.0, 401)
    weight = np.full(401, 1 / 400)
    weight[[0, -1]] /= 2
    moment = eval(MOMENTS[title], {"X": X})
    q = np.polynomial.legendre.legfit(2 * X - 1, moment, 4)[1], np.interp(0.25, X, moment)
    tips = [
        abs(weight @ (bending(basis, value * np.eye(5)[1]) * (1 - X)))
        for basis, value in zip(("Legendre", "quadratic FEM"), q, strict=True)
    ]
    assert tips[0] / tips[1] == pytest.approx(global_over_local, abs=1e-4)  # the trapezoidal rule leaves 4e-5


def test_a_narrow_moment_bends_an_arc_up_to_its_place_and_leaves_the_rest_straight():
    length, curvature = 0.8, 0.5 * 0.1 * 0.8 / (1e6 * math.pi * 0.015**4 / 4)
    arc = 0.5 * length
    angle = curvature * arc
    straight = length - arc
    wanted = (
        math.sin(angle) / curvature + straight * math.cos(angle),
        -(1 - math.cos(angle)) / curvature - straight * math.sin(angle),
    )
    assert tip_of_moment(1.0, 0.5) == pytest.approx(wanted, abs=2e-4)


def test_the_muscle_s_accelerations_are_second_differences_of_its_places():
    q, rate, step = np.array([9.0, 20.0]), np.array([3.0, -5.0]), 1e-4
    x, z, _ = (
        (after - 2 * now + before) / step**2
        for before, now, after in zip(*(_place(0.8 + k * step, q + k * step * rate) for k in (-1, 0, 1)), strict=True)
    )  # fmt: skip
    at = _shape(0.8, q, rate, 1.0)
    # rounding 4·ε/h² = 9e-8 m/s² beside h²/12 of fourth rates, (q̇/q + 1/(t_f·width))⁴·L ≈ 1e5 m/s⁴
    np.testing.assert_allclose(x, at.x_rest, atol=2e-4)
    np.testing.assert_allclose(z, at.z_rest, atol=2e-4)


def test_the_hull_touches_the_rod_where_their_surfaces_meet():
    """Below the rod by both radii; on the line of its axis, by half of it more; across the rod that does not count."""
    reach = 0.09 + 0.02
    centres = np.array([[0.02, 0.0, 0.22 - reach], [0.02, 0.3, 0.0], [0.02 - reach - 0.015, 0.0, 0.22]])
    axes = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(hull_gap(centres, axes), [0.0, 0.22 - reach, 0.0], atol=rounding(16))
    times = np.array([0.0, 1.0, 2.0, 3.0])
    assert first_touch(times, np.array([3.0, 1.0, -1.0, 2.0])) == 1.5
    assert first_touch(times, np.array([-1.0, 1.0, -1.0, 2.0])) == 0.0
    assert first_touch(times, np.ones(4)) is None


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("beam", 5),
        ("cable-manipulator", 30),
        ("cdpr", 61),
        ("dependent-external", 3),
        ("dependent-moment", 2),
        ("octopus", 6),
        ("underwater", 58),
    ],
)
def test_every_file_composes_with_the_paper_s_number_of_coordinates(name, size):
    assert len(corekit.load(f"gvs/{name}").compose().state.q) == size


@pytest.mark.parametrize("name", FAMILIES)
def test_a_written_down_span_has_the_basis_number_of_coordinates(name):
    family = FAMILIES[name]
    for n in (1, 2, 5):
        span = family.span(n)
        assert span.shape[1] == family.coordinates(n) == np.linalg.matrix_rank(span)


def test_the_fewest_coordinates_are_those_of_elements_that_end_where_the_moment_kinks():
    """At 0.45, 0.5 and 0.55, as 20 do: linear ones hold the triangle and quadratic ones the step, no fewer do."""
    triangle, step = field_of(external=False), field_of(external=True)
    linear = fits(FAMILIES["linear FEM"], triangle, 40)
    assert needed(linear, triangle, 1e-10) == 21
    assert error_of(linear[20][1], triangle) > 1e-3
    assert needed(fits(FAMILIES["quadratic FEM"], step, 60), step, 1e-5) == 41
    assert needed(linear, step, 0.0) == 41  # none: one beyond the most


def test_the_external_moment_bends_the_base_by_all_of_it():
    rigidity = 1e6 * np.pi * 0.015**4 / 4
    assert field_of(external=True)[0] == pytest.approx(0.05 * 0.8 * 0.8 / rigidity, rel=1e-6)
    assert field_of(external=True)[-1] == 0.0
