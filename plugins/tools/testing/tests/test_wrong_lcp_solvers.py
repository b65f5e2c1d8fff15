"""Wrong LCP solvers: each breaks one promise, and exactly the checks of that promise fail."""

from importlib.util import find_spec

import numpy as np
import pytest
from attrs import evolve

from corekit.data.status import Residuals, Status

from .defects import (
    OF_A_LOTTERY,
    after,
    counting,
    failing,
    flattering,
    iterations_by_lot,
    remembering_buffer,
    role_checks,
    secretive,
    wrong,
)

pytestmark = pytest.mark.skipif(
    find_spec("corekit_complementarity") is None,
    reason="the solver that is made wrong here is lemke, of corekit-complementarity",
)


def lemke(**methods):
    return wrong("lcp_solvers", "lemke", **methods)


def lost_by_a_guess(right, self, problem, z):
    bad = bool(np.abs(z).max(initial=0.0) > 10.0)
    info = right(self, problem, z)
    return evolve(info, status=Status.ITERATION_LIMIT) if bad else info


@after
def touch_the_matrix(self, problem, z):
    problem.vector[:] += 1e-15


def lcp_where(matches, change):
    def method(right, self, problem, z):
        info = right(self, problem, z)
        if info.status.solved and matches(problem):
            change(z)
            w = (problem.matrix @ z + problem.vector) / problem.row_scale
            true = float(np.max(np.abs(np.minimum(problem.column_scale * z, w)), initial=0.0))
            info = evolve(info, status=Status.INACCURATE, residuals=Residuals(normal=true))
        return info

    return method


def add_to_all(z):
    z += 0.01


def claims(right, self, problem, z):
    """Calls what has no answer solved, with the true residual."""
    info = right(self, problem, z)
    return info if unknown(problem) else evolve(info, status=Status.CONVERGED)


def unknown(problem):
    return not (np.isfinite(problem.matrix).all() and np.isfinite(problem.vector).all())


def deaf_to_nan(right, self, problem, z):
    info = right(self, problem, z)
    return evolve(info, status=Status.CONVERGED) if unknown(problem) else info


def under_a_foreign_name(right, self, problem, z):
    return evolve(right(self, problem, z), answered_by="semismooth-newton")


LCP = {
    "inputs-unchanged": (lambda: lemke(solve=touch_the_matrix), ()),
    "answers-own-memory": (lambda: lemke(solve=remembering_buffer), ()),
    "deterministic": (
        lambda: lemke(solve=iterations_by_lot),
        OF_A_LOTTERY,
    ),
    "saved-and-loaded": (lambda: lemke(solve=counting), ()),
    "known-answers": (lambda: lemke(solve=lcp_where(lambda p: len(p.vector) == 8, add_to_all)), ()),
    "trivial-answers": (
        lambda: lemke(solve=lcp_where(lambda p: len(p.vector) == 2 and p.vector[0] == 0.0, add_to_all)),
        (),
    ),
    "contacts-answered": (
        lambda: lemke(solve=lcp_where(lambda p: p.contact_problem is not None, add_to_all)),
        (),
    ),
    "ties-harmless": (
        lambda: lemke(
            solve=lcp_where(lambda p: len(p.vector) == 4 and p.vector[0] == p.vector[2], add_to_all)
        ),
        (),
    ),
    "scaling-harmless": (lambda: lemke(solve=lcp_where(lambda p: (p.row_scale != 1).any(), add_to_all)), ()),
    "guess-harmless": (lambda: lemke(solve=lost_by_a_guess), ()),
    "no-false-convergence": (lambda: lemke(solve=claims), ("residual-truthful",)),
    "residual-truthful": (lambda: lemke(solve=flattering), ()),
    "nan-unsolved": (lambda: lemke(solve=deaf_to_nan), ()),
    "answered-by-itself": (lambda: lemke(solve=under_a_foreign_name), ()),
}


@pytest.mark.parametrize("name", list(LCP))
def test_exactly_the_right_checks_catch_a_wrong_lcp_solver(name):
    make, others = LCP[name]
    assert failing(make()) == {name, *others}


def test_an_internal_state_that_is_not_saved_shows_in_a_series_of_problems_of_one_size():
    assert failing(lemke(solve=secretive)) == {"saved-and-loaded"}


def test_every_check_of_lcp_solvers_catches_a_wrong_one():
    assert role_checks("lcp_solvers") == set(LCP)
