"""Random points of a sweep: they cover ranges evenly, whatever their number, and the same seed gives the same ones."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit_study.sampling import draw


def test_every_stratum_of_every_axis_has_one_point():
    """One point in each of N equal parts, of the range or of its logarithm; every word as often as the others."""
    points = draw(["a=-1:3", "b=1e-4:1e-2:log", "solver=lcp,qp,cone"], 300, seed=7)
    a, b = (np.array([float(dict(point.values)[name]) for point in points]) for name in "ab")
    for place in ((a + 1.0) / 4.0, np.log(b / 1e-4) / np.log(100.0)):
        assert sorted((place * 300).astype(int).tolist()) == list(range(300))
    words = [dict(point.values)["solver"] for point in points]
    assert {word: words.count(word) for word in set(words)} == {"lcp": 100, "qp": 100, "cone": 100}


def test_axes_are_independent_and_places_within_a_stratum_uniform():
    points = draw(["a=0:1", "b=0:1"], 4000, seed=0)
    a, b = (np.array([float(dict(point.values)[name]) for point in points]) for name in "ab")
    assert abs(np.corrcoef(a, b)[0, 1]) < 4.0 / np.sqrt(4000)  # four standard deviations of independent axes
    within = (a * 4000) % 1.0
    assert within.mean() == pytest.approx(0.5, abs=4.0 / np.sqrt(12 * 4000))
    assert within.std() == pytest.approx(1.0 / np.sqrt(12.0), rel=0.05)


def test_a_seed_gives_the_same_points_and_another_one_others():
    first, same, other = (draw(["a=0:1"], 10, seed) for seed in (1, 1, 2))
    assert first == same
    assert first != other


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        (["a=2:1"], "LOW:HIGH"),
        (["a=0:1:log"], "LOW:HIGH"),
        (["a=0:inf"], "LOW:HIGH"),
        (["a=x:y"], "LOW:HIGH"),
        (["a=0:1", "a=1:2"], "varied twice"),
        (["a"], "PATH=VALUE"),
    ],
)
def test_what_is_no_range_is_refused(vary, said):
    with pytest.raises(ConfigError, match=said):
        draw(vary, 5, seed=0)


@pytest.mark.parametrize("count", [0, -3, 10**9])
def test_a_number_of_points_that_cannot_be_run_is_refused(count):
    with pytest.raises(ConfigError, match="must be 1 to"):
        draw(["a=0:1"], count, seed=0)


def test_sobol_covers_every_square_of_a_grid_once_and_goes_on_where_it_was():
    """Of 2^m points of a (0, m, 2)-net each of 2^m boxes of equal area, of whatever form, holds exactly one."""
    points = draw(["a=0:1", "b=0:1"], 64, 5, "sobol")
    places = np.array([[float(value) for _, value in point.values] for point in points])
    for columns in (1, 2, 4, 8, 16, 32, 64):
        boxes = (places * [columns, 64 // columns]).astype(int)
        assert len({tuple(box) for box in boxes.tolist()}) == 64
    assert draw(["a=0:1", "b=0:1"], 100, 5, "sobol")[:64] == points
    assert draw(["a=0:1", "b=0:1"], 64, 6, "sobol") != points


def test_random_points_are_independent_of_each_other():
    """The number in each of k equal parts is binomial: its variance n·p·(1 − p), where a hypercube has none."""
    points = draw(["a=0:1"], 6400, 3, "random")
    counts = np.bincount([int(64 * float(point.values[0][1])) for point in points], minlength=64)
    # a χ² of 63 degrees has deviation √126
    chi_squared = float(np.sum((counts - 100.0) ** 2) / 100.0)
    assert abs(chi_squared - 63.0) < 4.0 * np.sqrt(126.0)


def test_another_way_to_draw_is_refused_with_a_near_one():
    with pytest.raises(ConfigError, match="did you mean 'sobol'"):
        draw(["a=0:1"], 4, 0, "sobel")
