"""The chain names the solver that converged, and reports if none did."""

import numpy as np
import pytest

from corekit.data.status import Residuals, SolveInfo, Status
from corekit.errors import ConfigError
from corekit.roles.component import BuildContext, Stateful
from corekit.roles.options import ComponentRef
from corekit.roles.problem import LCPSolver
from corekit_complementarity.chain import Chain
from corekit_complementarity.config import ChainConfig, LemkeConfig, ProjectedGaussSeidelConfig
from corekit_complementarity.lemke import Lemke
from corekit_complementarity.pgs import ProjectedGaussSeidel


class FailingSolver(LCPSolver, Stateful):
    """Returns a constant, stores its guesses, and reports failure."""

    def __init__(self, value, error):
        self.value, self.error = value, error
        self.guesses = []
        self.count = np.zeros(1)

    def solve(self, problem, z):
        self.guesses.append(z.copy())
        z[:] = self.value
        self.count += 1
        return SolveInfo(Status.RAY, 3, Residuals(normal=self.error))

    def internal_state(self):
        return {"count": self.count.copy()}

    def restore(self, internal_state):
        self.count[:] = internal_state.get("count", 0.0)


def chain_of(**solvers):
    context = BuildContext(path="solver", build=lambda role, use: solvers[use.use])
    return Chain(ChainConfig(solvers=tuple(ComponentRef(name) for name in solvers)), context)


@pytest.fixture
def problem(plain_problem):
    return plain_problem([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])


def test_first_solver_that_converges_is_converged(problem):
    z = np.zeros(2)
    info = chain_of(lemke=Lemke(LemkeConfig()), failing=FailingSolver(0.0, 1.0)).solve(problem, z)
    assert (info.status, info.answered_by) == (Status.CONVERGED, "lemke")


def test_later_solver_is_named_as_a_fallback_and_gets_the_same_guess(problem):
    failing, second = FailingSolver(7.0, 1.0), FailingSolver(8.0, 1.0)
    z = np.array([0.25, 0.5])
    info = chain_of(failing=failing, second=second, lemke=Lemke(LemkeConfig())).solve(problem, z)
    assert (info.status, info.answered_by) == (Status.FALLBACK, "lemke")
    assert info.iterations > 6
    np.testing.assert_array_equal(second.guesses[0], [0.25, 0.5])
    np.testing.assert_allclose(z, [4 / 3, 7 / 3])


def test_exhausted_chain_returns_the_smallest_residual_as_inaccurate(problem):
    z = np.zeros(2)
    info = chain_of(
        far=FailingSolver(7.0, 2.0), near=FailingSolver(8.0, 0.5), lost=FailingSolver(9.0, np.inf)
    ).solve(problem, z)
    assert (info.status, info.answered_by) == (Status.INACCURATE, "near")
    assert info.residuals.normal == 0.5
    np.testing.assert_array_equal(z, 8.0)


def test_default_chain_does_not_solve_an_infeasible_problem(plain_problem):
    chain = chain_of(
        lemke=Lemke(LemkeConfig()), pgs=ProjectedGaussSeidel(ProjectedGaussSeidelConfig(max_iterations=100))
    )
    info = chain.solve(plain_problem([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]), np.zeros(2))
    assert info.status is Status.INACCURATE


def test_internal_state_is_restored_to_the_solver_that_it_came_from(problem):
    chain = chain_of(one=FailingSolver(0.0, 1.0), two=FailingSolver(0.0, 1.0))
    chain.solve(problem, np.zeros(2))
    memory = chain.internal_state()
    assert set(memory) == {"0/count", "1/count"}
    memory["1/count"][:] = 5.0
    fresh = chain_of(one=FailingSolver(0.0, 1.0), two=FailingSolver(0.0, 1.0))
    fresh.restore(memory)
    assert {key: float(value[0]) for key, value in fresh.internal_state().items()} == {
        "0/count": 1.0,
        "1/count": 5.0,
    }


def test_default_order_and_the_empty_chain():
    assert ChainConfig().solvers == (ComponentRef("lemke"), ComponentRef("pgs"))
    with pytest.raises(ConfigError, match="at least one LCP solver"):
        chain_of()
