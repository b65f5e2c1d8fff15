"""The lowest modes of matrices whose modes are known, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import block_diag, csc_array, diags_array

from corekit_statics.lowest_modes import IndefiniteError, lowest_modes
from corekit_statics.small_motions import SmallMotions


def motions(stiffness, mass, kernel=None, *, is_dense=True):
    n = stiffness.shape[0]
    stiffness, mass = (
        csc_array(each).toarray() if is_dense else csc_array(each) for each in (stiffness, mass)
    )
    return SmallMotions(stiffness, mass, np.arange(n), kernel, n)


def line(n, *, is_free=False, shift=0.0):
    """Springs of stiffness 1 between n masses of 1, in a row; the ends hang free, or on walls."""
    stiffness = csc_array(2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)).tolil()
    if is_free:
        stiffness[0, 0] = stiffness[n - 1, n - 1] = 1.0
    return stiffness.tocsc() + shift * diags_array(np.ones(n))


def squares(n, *, is_free=False):
    """ω² of such a row: 4·sin²(kπ/2(n + 1)), or 4·sin²((k − 1)π/2n) if it is free."""
    k = np.arange(1, n + 1)
    return 4 * np.sin((k - 1) * np.pi / (2 * n) if is_free else k * np.pi / (2 * (n + 1))) ** 2


@pytest.mark.parametrize(("n", "is_dense"), [(40, True), (40, False), (400, False)])
def test_a_row_of_springs_has_the_modes_of_the_closed_form(n, is_dense):
    found = lowest_modes(motions(line(n), diags_array(np.ones(n)), is_dense=is_dense), 5)
    assert np.all(np.abs(found.squares - squares(n)[:5]) <= found.errors)
    wanted = np.sin(np.outer(np.arange(1, n + 1), np.arange(1, 6)) * np.pi / (n + 1))
    agreement = np.abs(np.sum(found.shapes * wanted, axis=0)) / np.linalg.norm(wanted, axis=0)
    assert agreement == pytest.approx(np.ones(5), abs=1e-9)


@pytest.mark.parametrize(("n", "is_dense"), [(12, True), (12, False), (80, False)])
def test_every_one_of_six_equal_modes_is_found(n, is_dense):
    """Six free rows that know nothing of each other: a Krylov space of one vector holds one mode of each ω²."""
    six = block_diag([line(n, is_free=True)] * 6)
    found = lowest_modes(motions(six, diags_array(np.ones(6 * n)), is_dense=is_dense), 8)
    assert np.all(np.abs(found.squares[:6]) <= found.errors[:6])
    assert found.squares[6:] == pytest.approx(np.repeat(squares(n, is_free=True)[1], 2), rel=1e-9)


@pytest.mark.parametrize(("n", "is_dense"), [(40, True), (40, False), (400, False)])
def test_unstable_modes_come_first_whatever_their_size(n, is_dense):
    found = lowest_modes(motions(line(n, shift=-1.0), diags_array(np.ones(n)), is_dense=is_dense), 6)
    assert found.squares == pytest.approx(squares(n)[:6] - 1.0, rel=1e-9)


@pytest.mark.parametrize(("n", "is_dense"), [(40, True), (40, False), (400, False)])
def test_a_mode_is_told_from_zero_beside_one_a_thousand_million_million_times_as_stiff(n, is_dense):
    """A spring of 10¹² at one end leaves the slow modes alone: 4·sin²(kπ/2n) of the masses that are left."""
    stiffness = line(n).tolil()
    stiffness[n - 1, n - 1] = 1e12
    found = lowest_modes(motions(stiffness, diags_array(np.ones(n)), is_dense=is_dense), 3)
    assert found.squares == pytest.approx(squares(n - 1)[:3], rel=1e-9)
    assert np.all(found.squares > found.errors)


def test_masses_of_zero_are_no_modes():
    """Every second of 20 masses is 0: springs of ½ between the others, with walls behind springs of 1 and ½."""
    mass = np.tile([1.0, 0.0], 10)
    full = line(20).toarray()
    kept, gone = np.arange(0, 20, 2), np.arange(1, 20, 2)
    inner = full[np.ix_(gone, gone)]
    reduced = (
        full[np.ix_(kept, kept)] - full[np.ix_(kept, gone)] @ np.linalg.inv(inner) @ full[np.ix_(gone, kept)]
    )
    found = lowest_modes(motions(line(20), diags_array(mass)), 20)
    assert found.squares == pytest.approx(np.linalg.eigvalsh(reduced), rel=1e-9)


def test_a_massless_coordinate_that_is_pushed_away_is_reported():
    stiffness, mass = diags_array([1.0, -1.0]), diags_array([1.0, 0.0])
    with pytest.raises(IndefiniteError):
        lowest_modes(motions(stiffness, mass), 1)


def test_constraints_leave_the_modes_of_their_kernel():
    """Two masses on springs of 1 and 3, tied together: ω² = 4/2."""
    kernel = np.array([[1.0], [1.0]]) / np.sqrt(2.0)
    found = lowest_modes(motions(diags_array([1.0, 3.0]), diags_array([1.0, 1.0]), kernel), 3)
    assert found.squares == pytest.approx([2.0])
