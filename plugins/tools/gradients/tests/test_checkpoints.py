"""Gradients of runs that are recorded piece by piece: the same bits, memory that does not grow, few repetitions."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from corekit.errors import GradientError
from corekit_gradients.checkpoints import pieces_back

from .test_run_gradient import arm, ball, place, tip


def scheduled(count, states):
    """How often each piece is passed on the way, and how many states are kept at once at most."""
    passed, order, at, kept = [0] * count, [], [0], set()
    most = [0]

    def keep():
        kept.add(at[0])
        return at[0]

    def lead(state, piece):
        for k in range(state, piece):
            passed[k] += 1
        at[0] = piece

    def pull(state, piece):
        assert state == piece
        order.append(piece)
        most[0] = max(most[0], len({each for each in kept if each <= piece} - {0}))
        kept.discard(piece)

    pieces_back(count, states, keep, lead, pull)
    assert order == list(reversed(range(count)))
    return passed, most[0]


@pytest.mark.parametrize("states", [1, 2, 3, 7])
@pytest.mark.parametrize("count", [1, 2, 6, 35, 84])
def test_no_step_is_repeated_more_often_than_so_few_states_make_it(count, states):
    """P ≤ (c + r)!/(c!·r!) with the least r, and no more than c states beside that of the start."""
    passed, most = scheduled(count, states)
    repeats = 0
    while comb(states + repeats, repeats) < count:
        repeats += 1
    assert max(passed) == repeats
    assert most <= states + 1


@pytest.mark.parametrize("checkpoints", [1, 3, 60])
def test_a_run_in_pieces_has_the_gradient_of_the_whole_to_the_bit(checkpoints):
    """A ball that slides, with impulses and tangents that steps keep, and an arm with inputs and a parameter."""
    for scenario, loss, options in (
        (ball(duration=0.05), place, {"until": 0.05, "running": place}),
        (
            arm(duration=0.05),
            tip,
            {"until": 0.05, "inputs": True, "parameters": ["bodies.arm.options.stiffness"]},
        ),
    ):
        whole_run, pieces_run = scenario.compose(), scenario.compose()
        whole = whole_run.gradient(loss, **options)
        left, heard = [], []
        pieces_run.observe(lambda simulation, _, heard=heard: heard.append(simulation.step_index))
        pieces = pieces_run.gradient(loss, checkpoints=checkpoints, progress=left.append, **options)
        assert pieces.value == whole.value
        np.testing.assert_array_equal(pieces.initial.displacement, whole.initial.displacement)
        np.testing.assert_array_equal(pieces.initial.velocity, whole.initial.velocity)
        # sums of pieces are rounded another way than those of the whole
        assert pieces.parameters == pytest.approx(whole.parameters, rel=1e-13)
        for body, channels in whole.inputs.items():
            for channel, values in channels.items():
                np.testing.assert_array_equal(pieces.inputs[body][channel], values)
        assert pieces.report == whole.report
        assert left == list(reversed(range(whole.report.steps)))
        assert heard == list(range(whole.report.steps))  # of what is repeated nobody hears
        np.testing.assert_array_equal(pieces_run.state.qv, whole_run.state.qv)


@pytest.mark.parametrize("checkpoints", [-1, 0.5])
def test_wrong_checkpoints_are_refused(checkpoints):
    with pytest.raises(GradientError, match="checkpoints"):
        ball().compose().gradient(place, until=0.05, checkpoints=checkpoints)
