"""Wrong QP solvers: each breaks one promise, and exactly the checks of that promise fail."""

from importlib.util import find_spec

import numpy as np
import pytest
from attrs import evolve

from corekit.data.status import Residuals, Status
from corekit.linalg.matrices import Banded
from corekit.roles.compiled_form import PROGRAM_ENTRIES, entries_of
from corekit_testing.conformance.qp_programs import residual

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
from .mistakes_of_qp_solvers import QP_SOLVERS

pytestmark = pytest.mark.skipif(
    find_spec("corekit_quadratic") is None,
    reason="the solver that is made wrong here is banded, of corekit-quadratic",
)


def banded(**methods):
    own = {"compiled_form": lambda _right, _self: "a mistake"}  # which its entry would not have
    return wrong("qp_solvers", "banded", **(own | methods))


def with_an_idle_entry(right, self):
    return evolve(right(self), entries=entries_of(PROGRAM_ENTRIES, program=idle))


def idle(
    _index, _numbers, _work, _sizes, _hessian, _gradient, _dofs, _values, _lower, _upper, _compliance, _least, _most,
    _tolerance, _x, _multiplier, _residuals,
):  # fmt: skip
    """An entry that says to have solved and writes nothing."""
    return 1


@after
def touch_the_program(self, problem, x, y):
    problem.gradient[:] += 1e-15


def shifted_where(matches):
    """The right answer with x moved on programs of one sort, and truthful residuals."""

    def method(right, self, problem, x, y):
        guess = y.copy()
        info = right(self, problem, x, y)
        if info.status.solved and matches(problem, guess):
            x += 0.01
            balance = problem.hessian.dense() @ x + problem.gradient + problem.values.T @ y
            true = Residuals(normal=residual(problem, x, y), equation=float(np.abs(balance).max()))
            info = evolve(info, residuals=true)
            if true.normal > problem.tolerance:
                info = evolve(info, status=Status.INACCURATE)
        return info

    return method


def signs_turned(right, self, problem, x, y):
    """Multipliers of the other sign, in the one program that has one variable in a box."""
    info = right(self, problem, x, y)
    if len(x) == 1 and problem.lower[0] == -2.0 and y[0] != 0.0:
        y *= -1.0
    return info


def claims(right, self, problem, x, y):
    """Calls what contradicts itself solved, with the true residual."""
    info = right(self, problem, x, y)
    return evolve(info, status=Status.CONVERGED) if info.status is Status.INFEASIBLE else info


def blind(right, self, problem, x, y):
    """Calls any Hessian definite."""
    info = right(self, problem, x, y)
    return evolve(info, status=Status.INACCURATE) if info.status is Status.SINGULAR else info


def deaf_to_nan(right, self, problem, x, y):
    info = right(self, problem, x, y)
    unknown = any(np.isnan(each).any() for each in (problem.hessian.data, problem.gradient, problem.values))
    return evolve(info, status=Status.CONVERGED) if unknown else info


def unsure_without_rows(right, self, problem, x, y):
    info = right(self, problem, x, y)
    return info if len(y) else evolve(info, status=Status.INACCURATE)


def under_a_foreign_name(right, self, problem, x, y):
    return evolve(right(self, problem, x, y), answered_by="osqp")


def in_other_units(problem, guess):
    return len(problem.gradient) == 4 and not 0.1 < abs(problem.hessian.dense()).max() < 10.0


WRONG = {
    "inputs-unchanged": (lambda: banded(solve=touch_the_program), ()),
    "answers-own-memory": (lambda: banded(solve=remembering_buffer), ()),
    "deterministic": (
        lambda: banded(solve=iterations_by_lot),
        OF_A_LOTTERY,
    ),
    "saved-and-loaded": (lambda: banded(solve=counting), ()),
    "known-answers": (lambda: banded(solve=shifted_where(lambda p, _: len(p.gradient) == 3)), ()),
    "multipliers-signed": (lambda: banded(solve=signs_turned), ()),
    "bounds-of-equalities-alone": (
        lambda: banded(solve=shifted_where(lambda p, _: (p.multiplier_upper == 1e-3).any())),
        (),
    ),
    "rows-gathered": (lambda: banded(**QP_SOLVERS["unused entries erase used ones"][0]), ()),
    "unbound-free": (lambda: banded(solve=unsure_without_rows), ()),
    "structures-alike": (
        lambda: banded(solve=shifted_where(lambda p, _: isinstance(p.hessian, Banded))),
        (),
    ),
    "units-harmless": (lambda: banded(solve=shifted_where(in_other_units)), ()),
    "dependent-rows-harmless": (
        lambda: banded(solve=shifted_where(lambda p, _: len(p.lower) == 7 and len(p.gradient) == 4)),
        (),
    ),
    "guess-harmless": (
        lambda: banded(solve=shifted_where(lambda _, guess: np.abs(guess).max(initial=0.0) > 100.0)),
        (),
    ),
    "no-false-convergence": (lambda: banded(solve=claims), ("residual-truthful",)),
    "singular-refused": (lambda: banded(solve=blind), ()),
    "residual-truthful": (lambda: banded(solve=flattering), ()),
    "nan-unsolved": (lambda: banded(solve=deaf_to_nan), ()),
    "compiled-program-solves-alike": (lambda: banded(compiled_form=with_an_idle_entry), ()),
    "answered-by-itself": (lambda: banded(solve=under_a_foreign_name), ()),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_exactly_the_right_checks_catch_a_wrong_qp_solver(name):
    make, others = WRONG[name]
    assert failing(make()) == {name, *others}


def test_an_internal_state_that_is_not_saved_shows_in_a_series_of_problems_of_one_size():
    assert failing(banded(solve=secretive)) == {"saved-and-loaded"}


def test_every_check_of_qp_solvers_catches_a_wrong_one():
    assert role_checks("qp_solvers") == set(WRONG)
