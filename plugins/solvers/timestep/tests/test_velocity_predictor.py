"""The guess from mean velocities: exact where it must be, and absent where it is invalid."""

from __future__ import annotations

import numpy as np
import pytest

from corekit_timestep.velocity_predictor import VelocityPredictor

SLOPE, START, RING = np.array([[0.3, -2.0, 0.0], [1.0, 0.5, -1.0], [0.0, 5.0, -40.0]])


def add_steps(history, lengths, ringing):
    """Add steps of v = START + SLOPE·t, with a component that changes sign from step to step."""
    t, sign, v = 0.0, 1.0, START + ringing
    for h in lengths:
        t, sign = t + h, -sign
        after = START + SLOPE * t + sign * ringing
        history.add_step(0.5 * (v + after), after, h)
        v = after
    return t, v, sign


@pytest.mark.parametrize(("lengths", "ringing"), [((0.1, 0.1), RING), ((0.1, 0.05), 0.0 * RING)])
def test_the_guess_is_exact_for_ringing_about_a_linear_motion(lengths, ringing):
    """For equal steps with any ringing; without ringing also for unequal ones."""
    history = VelocityPredictor(0.5)
    t, v, sign = add_steps(history, lengths, ringing)
    for h in {lengths[-1], 0.1}:
        best = next(history.guesses(v, h))
        assert best == pytest.approx(START + SLOPE * (t + h) - sign * ringing, abs=1e-12)


def test_another_start_has_its_own_velocity_and_zero_as_guesses():
    """After an impulse or new coordinates, before the second step, and for implicit Euler."""
    history, euler, young = VelocityPredictor(0.5), VelocityPredictor(1.0), VelocityPredictor(0.5)
    _, v, _ = add_steps(history, (0.1, 0.1), RING)
    add_steps(euler, (0.1, 0.1), RING)
    add_steps(young, (0.1,), RING)
    for predictor, start in ((history, v + 1e-9), (euler, v), (young, v)):
        assert [guess.tolist() for guess in predictor.guesses(start, 0.1)] == [
            start.tolist(),
            [0.0, 0.0, 0.0],
        ]
    assert len(list(history.guesses(np.zeros(3), 0.1))) == 1


def test_the_restored_predictor_has_the_same_guess():
    history, other = VelocityPredictor(0.5), VelocityPredictor(0.5)
    _, v, _ = add_steps(history, (0.1, 0.2, 0.1), RING)
    other.restore(history.internal_state())
    assert np.array_equal(next(other.guesses(v, 0.1)), next(history.guesses(v, 0.1)))
    other.restore({})
    assert np.array_equal(next(other.guesses(v, 0.1)), v)
