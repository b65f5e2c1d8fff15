"""Wrong contact solvers: each breaks one promise, and exactly the checks of that promise fail."""

import numpy as np
import pytest
from attrs import evolve

from corekit.data.status import Status
from corekit_testing.conformance import checks_of
from corekit_testing.conformance.common import PAPER

from .defects import after, counting, failing, flattering, iterations_by_lot, remembering_buffer, wrong

QUICK = {"max_iterations": 500, "tolerance": 1e-9}


def impulses(**methods):
    return wrong("contact_solvers", "reference-gauss-seidel", QUICK, **methods)


def potential(**methods):
    return wrong("contact_solvers", "reference-penalty", **methods)


@after
def touch_the_problem(self, problem, impulse):
    problem.gap[:] += 1e-12


def changed_where(matches, change):
    """The right answer, changed on problems of one sort, with residuals measured afterwards."""

    def method(right, self, problem, impulse):
        info = right(self, problem, impulse)
        if matches(problem):
            change(problem, impulse)
            true = problem.normal_error(impulse)
            info = evolve(info, residuals=evolve(info.residuals, normal=true, cone=info.residuals.cone + 1.0))
        return info

    return method


def resting(problem):
    return problem.contacts == 1 and problem.free[1] == 0.0 and -0.1 < problem.free[0] < 0.0


def opening(problem):
    return problem.contacts == 1 and problem.free[0] > 0.0


def sliding(problem):
    return problem.contacts == 1 and problem.width == 2


def random_and_rough(problem):
    return problem.contacts == 4 and problem.friction[0] > 0.5


def repeated(problem):
    return problem.contacts == 3 and problem.matrix[0, 3] == problem.matrix[0, 0]


def scale_all(problem, impulse):
    impulse *= 1.01


def tug(problem, impulse):
    impulse[0] += 0.01


def turn_friction(problem, impulse):
    impulse[1::3], impulse[2::3] = -impulse[2::3], impulse[1::3].copy()


def optimistic(right, self, problem, impulse):
    return evolve(right(self, problem, impulse), status=Status.CONVERGED)


def lost_by_a_guess(right, self, problem, impulse):
    bad = bool(np.abs(impulse).max(initial=0.0) > 10.0)
    info = right(self, problem, impulse)
    return evolve(info, status=Status.ITERATION_LIMIT) if bad else info


def slack_brake(problem, impulse):
    impulse[:] = 0.0


IMPULSES = {
    "inputs-unchanged": (lambda: impulses(solve=touch_the_problem), ()),
    "answers-own-memory": (lambda: impulses(solve=remembering_buffer), ()),
    "deterministic": (lambda: impulses(solve=iterations_by_lot), ("answers-own-memory", "saved-and-loaded")),
    "saved-and-loaded": (lambda: impulses(solve=counting), ()),
    "resting-impulse": (lambda: impulses(solve=changed_where(resting, scale_all)), ()),
    "separating-untouched": (lambda: impulses(solve=changed_where(opening, tug)), ()),
    "sticking-and-sliding": (lambda: impulses(solve=changed_where(sliding, scale_all)), ()),
    "complementarity": (lambda: impulses(solve=changed_where(random_and_rough, scale_all)), ()),
    "friction-cone": (
        lambda: impulses(solve=changed_where(random_and_rough, turn_friction)),
        ("complementarity",),
    ),
    "duplicates-harmless": (lambda: impulses(solve=changed_where(repeated, tug)), ()),
    "infeasible-not-solved": (lambda: impulses(solve=optimistic), ()),
    "residuals-truthful": (lambda: impulses(solve=flattering), ()),
    "guess-harmless": (lambda: impulses(solve=lost_by_a_guess), ()),
    "bounded-rows-held": (lambda: impulses(solve=changed_where(lambda p: p.bounded, slack_brake)), ()),
}


@after
def one_sided(self, contacts, position, velocity, step, out):
    out.energy[:] *= 1.001


@after
def stiffer(self, contacts, position, velocity, step, out):
    out.stiffness[:] *= 1.001


@after
def more_damping(self, contacts, position, velocity, step, out):
    out.damping[:] *= 1.001


@after
def far_reaching(self, contacts, position, velocity, step, out):
    n = contacts.count
    out.energy[:] += np.where(contacts.gap[:n] >= self.reach, 1.0, 0.0)


@after
def unreadable(self, contacts, position, velocity, step, out):
    out.normal_force[:] *= 1.001


def pushing(right, self, contacts, position, velocity, step, out):
    """Friction that drives: the right terms at the opposite slip."""
    return right(self, contacts, position, -velocity, step, out)


POTENTIALS = {
    "force-is-slope-of-energy": (lambda: potential(evaluate=one_sided), ()),
    "potential-stiffness-is-slope": (lambda: potential(evaluate=stiffer), ()),
    "potential-damping-is-slope": (lambda: potential(evaluate=more_damping), ()),
    "within-reach": (lambda: potential(evaluate=far_reaching), ()),
    "forces-readable": (lambda: potential(evaluate=unreadable), ()),
    "friction-opposes": (lambda: potential(evaluate=pushing), ("potential-damping-is-slope",)),
}


@pytest.mark.parametrize(
    ("cases", "name"), [(cases, name) for cases in (IMPULSES, POTENTIALS) for name in cases]
)
def test_exactly_the_right_checks_catch_it(cases, name):
    make, others = cases[name]
    assert failing(make()) == {name, *others}


def test_every_check_of_contact_solvers_catches_a_wrong_one():
    names = {check.name for check in checks_of("contact_solvers")} - {check.name for check in PAPER}
    assert names == {*IMPULSES, *POTENTIALS}
