"""What a contact does over time, in words."""

from __future__ import annotations

import numpy as np

from corekit_scenarios.cases.cusp.ball_printed import contact_modes


def test_instants_of_a_mode_are_told_together_with_their_ends():
    pressed = np.array([1.0, 1.0, 2.0, 0.0, 0.0])
    slip = np.array([0.0, 0.0, 0.1, 0.3, 0.0])
    said = contact_modes(pressed, slip, 2.0)
    assert said == "sticks 40 %, slides 20 %, open 40 % (sticks to 0.8 s, slides to 1.2 s, open to 2 s)"


def test_more_than_six_changes_are_cut():
    assert contact_modes(np.array([0.0, 1.0] * 5), np.zeros(10), 1.0).endswith("sticks to 0.6 s, …)")


def test_what_keeps_its_gap_closed_touches_where_nothing_presses():
    said = contact_modes(np.array([1.0, 0.0]), np.array([0.0, 0.3]), 1.0, closed=True)
    assert said == "sticks 50 %, touches without force 50 % (sticks to 0.5 s, touches without force to 1 s)"
