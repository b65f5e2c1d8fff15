"""What an arm's own parts did is told apart from what contacts did, where this can be done."""

from __future__ import annotations

import numpy as np
import pytest

from corekit_feedback.force_estimate import ForceEstimate, IntervalBalance

CHANCE = np.random.default_rng(7)
NV, LENGTH = 6, 0.02


def balance(unknown, parts):
    spread = CHANCE.normal(size=(NV, NV))
    count = len(unknown)
    return IntervalBalance(
        length=LENGTH, mass=spread @ spread.T + np.eye(NV), stiffness=200.0 * np.eye(NV), damping=100.0 * np.eye(NV),
        drive=np.eye(NV), force=CHANCE.normal(size=NV), terms=parts, slopes=np.zeros((len(parts), NV, NV)),
        unknown=unknown, normals=np.zeros((count, NV)), pressing=np.eye(count), driven=np.ones(NV),
    )  # fmt: skip


def test_parts_are_found_whatever_contacts_do():
    """θ to the prior's size, and then the contacts' forces, from motions that obey the balance exactly."""
    parts = CHANCE.normal(size=(2, NV))
    share, estimate = np.array([0.1, -0.2]), ForceEstimate(balance(np.eye(3, NV), parts))
    for _ in range(20):
        about = balance(CHANCE.normal(size=(3, NV)), parts)
        middle, moved, driven = CHANCE.normal(size=(3, NV)) * 1e-2
        pushed = CHANCE.normal(size=3)
        force = about.force + about.drive @ driven - about.stiffness @ middle - about.damping @ moved / LENGTH
        force += share @ parts + about.unknown.T @ pushed
        faster = LENGTH * np.linalg.solve(about.mass, force)
        left = about.left_over(middle, moved, faster, driven)
        pressed = estimate.add(about, middle, left, is_open=False)
    np.testing.assert_allclose(estimate.shares(), share, rtol=1e-4)
    np.testing.assert_allclose(pressed, pushed, atol=1e-4)


def test_a_part_that_a_contact_can_be_is_not_believed_until_it_is_open():
    """A straight arm's stiffness looks like a push at its end: θ stays 0, and follows from the first open interval."""
    part = CHANCE.normal(size=NV)
    about = balance(part[None], part[None])
    estimate = ForceEstimate(about)
    none = np.zeros(NV)
    pressed = estimate.add(about, none, 0.1 * part, is_open=False)
    assert estimate.shares() == pytest.approx([0.0], abs=1e-9)
    assert pressed == pytest.approx([0.1])
    pressed = estimate.add(about, none, 0.1 * part, is_open=True)
    assert estimate.shares() == pytest.approx([0.1], rel=1e-5)
    assert pressed == pytest.approx([0.0])
