"""The Delassus operator against dense algebra: bodies diagonal and small and dense, a velocity of each prescribed."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from corekit.engine.step.delassus import DelassusOperator
from corekit.linalg.factorisation import BlockFactorisation, make_factorisation
from corekit.linalg.matrices import Dense, Diagonal


def _world(random):
    """Two bodies with a prescribed velocity each: their factorisations, A, and which velocities are prescribed."""
    diagonal, dense = Diagonal(4), Dense(5)
    diagonal.data[:] = random.uniform(0.5, 2.0, 4)
    root = random.normal(size=(5, 5))
    dense.data[:] = root @ root.T + np.eye(5)
    bodies = []
    for matrix, held, where in (
        (diagonal, np.array([1]), slice(0, 4)),
        (dense, np.array([3]), slice(4, 9)),
    ):
        own = make_factorisation(matrix, None, held)
        assert isinstance(own, BlockFactorisation)
        assert own.refactor(matrix, None)
        bodies.append((SimpleNamespace(factor=own, body=SimpleNamespace(nv=where.stop - where.start)), where))
    full = np.zeros((9, 9))
    full[:4, :4], full[4:, 4:] = diagonal.dense(), dense.dense()
    factorisation: Any = SimpleNamespace(bodies=bodies, clusters=[])
    return DelassusOperator(factorisation), full, np.array([1, 7])


@pytest.mark.parametrize("count", [3, 20])  # W by loops and by BLAS
def test_two_bodies_are_reduced_as_the_whole_matrix_is(count):
    random = np.random.default_rng(count)
    delassus, full, held = _world(random)
    moves = np.setdiff1d(np.arange(9), held)
    inverse = np.zeros((9, 9))
    inverse[np.ix_(moves, moves)] = np.linalg.inv(full[np.ix_(moves, moves)])

    rows, velocity = random.normal(size=(count, 9)), random.normal(size=9)
    free, matrix = np.ones(count), np.full((count, count), np.nan)
    delassus.assemble(rows, velocity, free, matrix)
    assert free == pytest.approx(1.0 + rows @ velocity)
    assert matrix == pytest.approx(rows @ inverse @ rows.T)

    impulse, end = random.normal(size=count), velocity.copy()
    delassus.add_response(impulse, end)
    assert end == pytest.approx(velocity + inverse @ rows.T @ impulse)
    assert np.array_equal(end[held], velocity[held])


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
