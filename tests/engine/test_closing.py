"""How far shapes come closer in a step, from where their frames were and are."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.roles.collision_scene import max_closing

NO_PLANES = np.zeros((0, 3))
FLOOR = np.array([[0.0, 0.0, 1.0]])
ROUNDING = 64 * np.finfo(float).eps
"""Of sums and differences of some numbers of order one."""
PROBES = np.random.default_rng(5).normal(size=(7, 3))


def test_what_all_do_alike_closes_nothing_but_towards_surfaces() -> None:
    slid = PROBES + [3.0, -2.0, 0.0]
    assert max_closing(PROBES, slid, FLOOR, False) <= ROUNDING
    assert max_closing(PROBES, slid, FLOOR, True) == pytest.approx(np.hypot(3.0, 2.0))
    assert max_closing(PROBES, PROBES - [0.0, 0.0, 0.4], FLOOR, False) == pytest.approx(0.4)
    assert max_closing(PROBES, PROBES + [0.0, 0.0, 0.4], FLOOR, False) == pytest.approx(0.4), (
        "parting counts too"
    )
    assert max_closing(PROBES, PROBES - [0.0, 0.0, 0.4], NO_PLANES, False) <= ROUNDING


def test_two_that_meet_close_by_what_both_move() -> None:
    moved = np.array([[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0]])
    assert max_closing(np.zeros((2, 3)), moved, NO_PLANES, False) == pytest.approx(0.2)


def test_no_pair_of_points_comes_closer_than_it_says() -> None:
    rng = np.random.default_rng(11)
    for _ in range(200):
        now = PROBES + rng.normal(size=3) + 0.1 * rng.normal(size=PROBES.shape)
        normal = rng.normal(size=(2, 3))
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        gaps = [
            np.concatenate([np.linalg.norm(at[:, None] - at[None], axis=2).ravel(), (at @ normal.T).ravel()])
            for at in (PROBES, now)
        ]
        assert np.abs(gaps[1] - gaps[0]).max() <= max_closing(PROBES, now, normal, False) + 1e-12
