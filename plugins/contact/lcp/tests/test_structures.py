"""The pipeline uses W = J·G·Jᵀ alone: any structure of the step matrix, with constraints eliminated."""

import numpy as np
import pytest

from corekit.data.status import Status
from corekit.linalg.constraint_rows import EliminatedConstraints
from corekit.linalg.factorisation import make_factorisation
from corekit.linalg.matrices import Banded, BlockDiagonal, Dense, Diagonal
from corekit_lcp.config import Equilibration, RankSelection, Regularisation

N = 12
STAGES = ["", "q", "r", "t", "qr", "qt", "rt", "qrt"]


def stages(letters, **others):
    return {
        "rank_selection": RankSelection(enabled="q" in letters),
        "equilibration": Equilibration(enabled="r" in letters, **others),
        "regularisation": Regularisation(enabled="t" in letters),
    }


def stepped(matrix, rows, solver, problem_of, bilateral=None):
    """v⁺ of one step with the given matrix; asserts that the contacts are solved."""
    nothing = np.zeros(0)
    solved = make_factorisation(matrix, bilateral)
    assert solved.refactor(matrix, bilateral)
    free, held = np.zeros(N), np.zeros(bilateral.count if bilateral else 0)
    solved.solve(np.linspace(-1.0, 0.5, N), nothing, free, held)
    response = np.array(rows.T, order="F")
    solved.solve_columns(response)
    problem = problem_of(np.eye(N), rows, free, 0.4)
    problem._delassus = rows @ response
    impulse = np.zeros(len(rows))
    info = solver.solve(problem, impulse)
    assert info.status is Status.CONVERGED
    assert info.residuals.worst <= 1e-8
    return free + response @ impulse


def same_in_every_layout():
    """One diagonal matrix in all four layouts."""
    entries = np.linspace(1.0, 3.0, N)
    diagonal, blocks, band, dense = Diagonal(N), BlockDiagonal(4, 3), Banded(N, 2), Dense(N)
    diagonal.data[:] = entries
    for matrix in (blocks, band, dense):
        matrix.add(diagonal)
    return {"diagonal": diagonal, "block diagonal": blocks, "banded": band, "dense": dense}


def contact_rows():
    rng = np.random.default_rng(3)
    return rng.normal(size=(12, N))


def test_layout_of_the_step_matrix_makes_no_difference(problem_of, solver_of):
    ends = {
        name: stepped(matrix, contact_rows(), solver_of(), problem_of)
        for name, matrix in same_in_every_layout().items()
    }
    for end in ends.values():
        np.testing.assert_allclose(end, ends["dense"], atol=1e-10)


@pytest.mark.parametrize("letters", STAGES)
def test_coupled_band_gives_what_its_dense_form_does(letters, problem_of, solver_of):
    band, dense = Banded(N, 2), Dense(N)
    band.data[0], band.data[1, :-1], band.data[2, :-2] = 4.0, -1.0, 0.5
    dense.add(band)
    one, other = (
        stepped(matrix, contact_rows(), solver_of(**stages(letters)), problem_of) for matrix in (band, dense)
    )
    np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("name", ["diagonal", "block diagonal", "banded", "dense"])
@pytest.mark.parametrize("letters", ["", "qrt"])
def test_bilateral_rows_hold_while_contacts_are_answered(name, letters, problem_of, solver_of):
    bilateral = EliminatedConstraints(2, 2)
    bilateral.dofs[:] = [[0, 4], [3, 9]]
    bilateral.values[:] = [[1.0, -1.0], [1.0, 2.0]]
    rows = contact_rows()[:6]
    end = stepped(same_in_every_layout()[name], rows, solver_of(**stages(letters)), problem_of, bilateral)
    np.testing.assert_allclose(bilateral.product(end), 0.0, atol=1e-9)
    # the same in the coordinates that the rows leave free
    joints = np.zeros((2, N))
    joints[0, [0, 4]], joints[1, [3, 9]] = [1.0, -1.0], [1.0, 2.0]
    basis = np.linalg.svd(joints)[2][2:].T
    mass = basis.T @ np.diag(np.linspace(1.0, 3.0, N)) @ basis
    velocity = np.linalg.solve(mass, basis.T @ np.linspace(-1.0, 0.5, N))
    reduced = problem_of(mass, rows @ basis, velocity, 0.4)
    impulse = np.zeros(6)
    solver_of(**stages(letters)).solve(reduced, impulse)
    np.testing.assert_allclose(basis @ reduced.after(impulse), end, atol=1e-8)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("letters", STAGES)
def test_every_choice_of_stages_gives_the_same_velocity(letters, symmetric, problem_of, solver_of):
    problem = problem_of(np.diag(np.linspace(1.0, 3.0, N)), contact_rows(), np.linspace(-1, 0.5, N), 0.1)
    impulse, reference = np.zeros(12), np.zeros(12)
    info = solver_of(**stages(letters, symmetric=symmetric)).solve(problem, impulse)
    assert info.status is Status.CONVERGED
    solver_of(**stages("")).solve(problem, reference)
    np.testing.assert_allclose(problem.after(impulse), problem.after(reference), atol=1e-8)
