"""The guess from mean velocities: exact where it must be, and absent where it is invalid."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from corekit_timestep.velocity_predictor import VelocityPredictor

SLOPE, START, RING = np.array([[0.3, -2.0, 0.0], [1.0, 0.5, -1.0], [0.0, 5.0, -40.0]])


def add_steps(history, theta, lengths, ringing):
    """Add steps of v = START + SLOPE·t, and of a stiff mode, which a step multiplies by −(1 − θ)/θ."""
    t, factor, v = 0.0, 1.0, START + ringing
    for h in lengths:
        t, factor = t + h, -factor * (1.0 - theta) / theta
        after = START + SLOPE * t + factor * ringing
        history.add_step(v, theta * after + (1.0 - theta) * v, after, h)
        v = after
    return t, v, -factor * (1.0 - theta) / theta


@pytest.mark.parametrize("theta", [0.5, 0.7, 1.0])
@pytest.mark.parametrize("lengths", [(0.1, 0.1), (0.1, 0.05), (0.1, 0.3, 0.2)])
def test_the_guess_is_exact_for_ringing_about_a_linear_motion(theta, lengths):
    """For every θ and any sizes of steps."""
    history = VelocityPredictor(theta)
    t, v, factor = add_steps(history, theta, lengths, RING)
    for h in (lengths[-1], 0.1):
        best = next(history.guesses(v, h))
        assert best == pytest.approx(START + SLOPE * (t + h) + factor * RING, abs=1e-12)


def test_another_start_has_its_own_velocity_and_zero_as_guesses():
    """After an impulse or new coordinates, and before the second step."""
    history, euler, young = VelocityPredictor(0.5), VelocityPredictor(1.0), VelocityPredictor(0.5)
    _, v, _ = add_steps(history, 0.5, (0.1, 0.1), RING)
    add_steps(euler, 1.0, (0.1, 0.1), RING)
    _, first, _ = add_steps(young, 0.5, (0.1,), RING)
    for predictor, start in ((history, v + 1e-9), (euler, v + 1e-9), (young, first)):
        assert [guess.tolist() for guess in predictor.guesses(start, 0.1)] == [
            start.tolist(),
            [0.0, 0.0, 0.0],
        ]
    assert len(list(history.guesses(np.zeros(3), 0.1))) == 1


def first_guess(history, v):
    return float(next(history.guesses(np.array([v]), 0.1))[0])


def add_ends(history, *ends):
    """Add steps of implicit Euler between velocities that follow each other."""
    for start, end in pairwise(ends):
        history.add_step(*np.array([[start], [end], [end]]), 0.1)


def test_a_jump_between_two_steps_starts_the_line_anew():
    history = VelocityPredictor(1.0)
    add_ends(history, 0.0, 1.0, 2.0)
    add_ends(history, -5.0, -4.0)  # an impact turned 2 into −5
    assert first_guess(history, -4.0) == -4.0
    add_ends(history, -4.0, -3.0)
    assert first_guess(history, -3.0) == -2.0


def test_no_guess_is_given_while_a_bend_within_a_step_makes_it_worse_than_the_start():
    history = VelocityPredictor(1.0)
    add_ends(history, 0.0, 1.0, 2.0, 3.0)
    assert first_guess(history, 3.0) == 4.0
    add_ends(history, 3.0, 10.0)  # a contact closed
    assert first_guess(history, 10.0) == 10.0
    add_ends(history, 10.0, 11.0)
    assert first_guess(history, 11.0) == 11.0
    add_ends(history, 11.0, 12.0)
    assert first_guess(history, 12.0) == 13.0


@pytest.mark.parametrize("radius", [1e-3, 1e3])
def test_what_a_line_missed_is_measured_at_the_surface_and_in_no_unit(radius):
    """A ball that goes on along its line, and whose spin of one of its radii a second bends."""
    moves = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.4]])
    bends = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 40.0]])
    for unit in (1.0, 1e-3):
        for ends, is_line in ((moves, True), (bends, False)):
            history = VelocityPredictor(1.0)
            for start, end in pairwise(ends / [unit, radius]):
                history.add_step(start, end, end, 0.1, np.array([1.0, radius / unit]))
            first = next(history.guesses(end, 0.1))
            assert (first[0] == pytest.approx(5.0 / unit)) == is_line


@pytest.mark.parametrize("theta", [0.5, 0.7, 1.0])
def test_after_a_bend_the_guess_rings_on_about_the_last_mean(theta):
    """A stiff mode has no mean: the guess turns it by −(1 − θ)/θ, as the step does; v₀ would leave it where it is."""
    history = VelocityPredictor(theta)
    t, v, factor = add_steps(history, theta, (0.1, 0.1, 0.1), RING)
    bent = START + SLOPE * (t + 0.1) + factor * RING + [70.0, 0.0, 0.0]  # a contact closed
    history.add_step(v, theta * bent + (1.0 - theta) * v, bent, 0.1)
    first, *others = history.guesses(bent, 0.1)
    assert first[2] == pytest.approx(START[2] - factor * (1.0 - theta) / theta * RING[2], abs=1e-12)
    assert first[0] == pytest.approx(bent[0] - (bent[0] - v[0]) * (1.0 - theta) / theta, abs=1e-12)
    assert [each.tolist() for each in others[-1:]] == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_the_restored_predictor_has_the_same_guess(theta):
    history, other = VelocityPredictor(theta), VelocityPredictor(theta)
    _, v, _ = add_steps(history, theta, (0.1, 0.2, 0.1), RING)
    other.restore(history.internal_state())
    assert np.array_equal(next(other.guesses(v, 0.1)), next(history.guesses(v, 0.1)))
    other.restore({})
    assert np.array_equal(next(other.guesses(v, 0.1)), v)


def test_a_restored_predictor_gives_no_guess_after_a_bend_either():
    history, other = VelocityPredictor(1.0), VelocityPredictor(1.0)
    add_ends(history, 0.0, 1.0, 2.0, 10.0)
    other.restore(history.internal_state())
    assert first_guess(other, 10.0) == 10.0
