"""Problem files of Siconos, which are not shipped; the JSON file beside this one has their solutions.

`COREKIT_REFERENCE_DATA` names a folder whose folder `lcp` contains them.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from corekit.data.status import Status
from corekit_complementarity.config import LemkeConfig, ProjectedGaussSeidelConfig, SemismoothNewtonConfig
from corekit_complementarity.lemke import Lemke
from corekit_complementarity.pgs import ProjectedGaussSeidel
from corekit_complementarity.semismooth_newton import SemismoothNewton
from corekit_testing.reference_data import reference_data

SOLUTIONS = json.loads((Path(__file__).parent / "reference_solutions.json").read_text())
OTHERS = {
    "semismooth-newton": lambda: SemismoothNewton(SemismoothNewtonConfig()),
    "pgs": lambda: ProjectedGaussSeidel(ProjectedGaussSeidelConfig()),
}
UNSOLVED_BY_NEWTON = {"lcp_Pang_isolated_sol_perturbed.dat", "lcp_tobenna.dat"}
ON_A_RAY = {"lcp_CPS_3.dat", "lcp_Pang_isolated_sol_perturbed.dat"}
UNIQUE_VALUES = set(SOLUTIONS) - {"lcp_CPS_1.dat", "lcp_CPS_3.dat"}
"""CPS_1 has the segment z₁ + z₂ = 1 of solutions."""


@pytest.fixture(scope="module")
def folder() -> Path:
    return reference_data("lcp")


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read n, storage type 0, four sizes, n·n numbers column by column and the vector; text may follow."""
    numbers = []
    for word in path.read_text().split():
        try:
            numbers.append(float(word))
        except ValueError:
            break
    n = int(numbers[0])
    matrix = np.array(numbers[6 : 6 + n * n]).reshape(n, n).T
    return np.ascontiguousarray(matrix), np.array(numbers[6 + n * n : 6 + n * n + n])


@pytest.mark.parametrize("name", sorted(set(SOLUTIONS) | ON_A_RAY))
def test_file_is_solved_or_declared_unsolved(name, folder, plain_problem, true_residual):
    matrix, vector = read(folder / name)
    problem = plain_problem(matrix, vector, tolerance=1e-8)
    if name in SOLUTIONS:
        assert true_residual(problem, np.array(SOLUTIONS[name])) < 1e-8  # the solutions belong to these data
    z = np.zeros(len(vector))
    info = Lemke(LemkeConfig()).solve(problem, z)
    if name in ON_A_RAY:
        assert info.status is Status.RAY
        assert true_residual(problem, z) > 1e-8
        return
    assert info.status is Status.CONVERGED
    assert true_residual(problem, z) <= 1e-8
    if name in UNIQUE_VALUES:
        np.testing.assert_allclose(z, SOLUTIONS[name], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", sorted(set(SOLUTIONS) | ON_A_RAY))
@pytest.mark.parametrize("solver", OTHERS)
def test_the_status_of_other_solvers_agrees_with_the_residual(
    solver, name, folder, plain_problem, true_residual
):
    matrix, vector = read(folder / name)
    problem = plain_problem(matrix, vector, tolerance=1e-8)
    z = np.zeros(len(vector))
    info = OTHERS[solver]().solve(problem, z)
    assert info.status.solved == (true_residual(problem, z) <= 1e-8)
    if solver == "semismooth-newton":
        assert info.status.solved == (name not in UNSOLVED_BY_NEWTON)


def test_every_file_of_the_folder_has_a_claim(folder):
    assert {path.name for path in folder.glob("*.dat")} == set(SOLUTIONS) | ON_A_RAY


def test_the_file_that_no_solver_solves_has_no_solution(folder):
    # its first row alone: w₁ = −z₂ − z₃ − 1e-4 < 0 for every z ≥ 0
    matrix, vector = read(folder / "lcp_Pang_isolated_sol_perturbed.dat")
    assert (matrix[0] <= 0.0).all()
    assert vector[0] < 0.0


def test_the_other_file_that_ends_on_a_ray_is_solved_by_newton(folder, plain_problem, true_residual):
    problem = plain_problem(*read(folder / "lcp_CPS_3.dat"), tolerance=1e-8)
    z = np.zeros(4)
    assert SemismoothNewton(SemismoothNewtonConfig()).solve(problem, z).status is Status.CONVERGED
    assert true_residual(problem, z) <= 1e-8
