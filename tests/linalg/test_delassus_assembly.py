"""The halves of two bodies at once against dense algebra: one diagonal, one small and dense, one velocity held."""

import numpy as np
import pytest

from corekit.linalg.delassus_assembly import (
    DelassusAssembly,
    add_impulse_response,
    compute_delassus,
    forward_substitute,
)
from corekit.linalg.factorisation_choice import make_factorisation
from corekit.linalg.matrices import Dense, Diagonal
from corekit.linalg.square_root import SquareRootFactorisation


def _world(random):
    """Two bodies with a prescribed velocity each: their halves, A, b, which velocities are prescribed, and to what."""
    diagonal, dense = Diagonal(4), Dense(5)
    diagonal.data[:] = random.uniform(0.5, 2.0, 4)
    root = random.normal(size=(5, 5))
    dense.data[:] = root @ root.T + np.eye(5)
    bodies = []
    for matrix, held in ((diagonal, np.array([1])), (dense, np.array([3]))):
        own = make_factorisation(matrix, None, held)
        assert isinstance(own, SquareRootFactorisation)
        assert own.refactor(matrix, None)
        bodies.append((own, random.normal(size=matrix.n), random.normal(size=1), matrix))
    full = np.zeros((9, 9))
    full[:4, :4], full[4:, 4:] = diagonal.dense(), dense.dense()
    right = np.concatenate([body[1] for body in bodies])
    return (
        DelassusAssembly(bodies),
        full,
        right,
        np.array([1, 7]),
        np.concatenate([body[2] for body in bodies]),
    )


@pytest.mark.parametrize("count", [3, 20])  # W by loops and by BLAS
def test_halves_of_two_bodies_answer_as_the_whole_matrix_does(count):
    random = np.random.default_rng(count)
    halves, full, right, held, fixed = _world(random)
    moves = np.setdiff1d(np.arange(9), held)
    inverse = np.zeros((9, 9))
    inverse[np.ix_(moves, moves)] = np.linalg.inv(full[np.ix_(moves, moves)])

    x = np.full(9, np.nan)
    halves.solve_free_velocity(x)
    expected = inverse @ (right - full[:, held] @ fixed)
    expected[held] = fixed
    assert x == pytest.approx(expected)

    rows = random.normal(size=(count, 9))
    free, half, delassus = np.ones(count), np.full(9 * count, np.nan), np.full((count, count), np.nan)
    forward_substitute(halves.table, rows, x, free, half.reshape(9, count))
    assert free == pytest.approx(1.0 + rows @ expected)
    least = compute_delassus(half.reshape(9, count), delassus)
    assert delassus == pytest.approx(rows @ inverse @ rows.T)
    assert least == delassus.diagonal().min()

    impulse = random.normal(size=count)
    add_impulse_response(halves.table, half, impulse, x)
    assert x == pytest.approx(expected + inverse @ rows.T @ impulse)
    assert np.array_equal(x[held], fixed)


def test_a_small_matrix_solves_for_prescribed_velocities_as_a_large_one_does():
    random = np.random.default_rng(1)
    root = random.normal(size=(30, 30))
    right, fixed, held = random.normal(size=30), random.normal(size=2), np.array([0, 4])
    answers = []
    for n in (30, 10):  # the second by compiled loops
        matrix = Dense(n)
        matrix.data[:] = (root[:10, :10] @ root[:10, :10].T + np.eye(10)) if n == 10 else np.eye(30)
        if n == 30:
            matrix.data[:10, :10] = root[:10, :10] @ root[:10, :10].T + np.eye(10)
        own = make_factorisation(matrix, None, held)
        assert own.refactor(matrix, None)
        x = np.zeros(n)
        own.solve(right[:n], fixed, x, np.zeros(0))
        answers.append(x[:10])
    assert answers[0] == pytest.approx(answers[1])
