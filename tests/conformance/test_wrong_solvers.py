"""Wrong contact and LCP solvers: each breaks one promise, and exactly the checks of that promise fail."""

import numpy as np
import pytest
from attrs import evolve

from corekit.data.status import Residuals, Status
from corekit.testing.conformance import checks_of
from corekit.testing.conformance.common import PAPER

from .defects import after, counter, drift, failing, wrong

QUICK = {"max_iterations": 500, "tolerance": 1e-9}


def impulses(**methods):
    return wrong("contact_solvers", "reference-gauss-seidel", QUICK, **methods)


def potential(**methods):
    return wrong("contact_solvers", "reference-penalty", **methods)


@after
def touch_the_problem(self, problem, impulse):
    problem.gap[:] += 1e-12


def remembering_buffer(right, self, problem, impulse):
    """Trusts that nobody writes to the impulse it gave out last."""
    info = right(self, problem, impulse)
    last = getattr(self, "last", None)
    if last is not None and not np.isfinite(last).all():
        info = evolve(info, iterations=info.iterations + 1)
    self.last = impulse
    return info


def iterations_by_lot(right, self, problem, impulse):
    return evolve(right(self, problem, impulse), iterations=int(1e9 * abs(drift(self))))


def counting(right, self, problem, impulse):
    return evolve(right(self, problem, impulse), iterations=counter(self))


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


def flattering(right, self, problem, impulse):
    return evolve(right(self, problem, impulse), residuals=Residuals())


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


def lemke(**methods):
    """A sound LCP solver of few lines stands in for an installed one."""
    return wrong("lcp_solvers", "lemke", **methods)


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
    return evolve(right(self, problem, z), status=Status.CONVERGED)


LCP = {
    "inputs-unchanged": (lambda: lemke(solve=touch_the_matrix), ()),
    "answers-own-memory": (lambda: lemke(solve=remembering_buffer), ()),
    "deterministic": (lambda: lemke(solve=iterations_by_lot), ("answers-own-memory", "saved-and-loaded")),
    "saved-and-loaded": (lambda: lemke(solve=counting), ()),
    "known-answers": (lambda: lemke(solve=lcp_where(lambda p: len(p.vector) == 8, add_to_all)), ()),
    "trivial-answers": (
        lambda: lemke(solve=lcp_where(lambda p: len(p.vector) == 2 and p.vector[0] == 0.0, add_to_all)),
        (),
    ),
    "contacts-answered": (lambda: lemke(solve=lcp_where(lambda p: p.blocks is not None, add_to_all)), ()),
    "scaling-harmless": (lambda: lemke(solve=lcp_where(lambda p: (p.row_scale != 1).any(), add_to_all)), ()),
    "guess-harmless": (lambda: lemke(solve=lost_by_a_guess), ()),
    "no-false-convergence": (lambda: lemke(solve=claims), ("residual-truthful",)),
    "residual-truthful": (lambda: lemke(solve=flattering), ()),
}


@pytest.mark.parametrize("name", list(LCP))
def test_exactly_the_right_checks_catch_a_wrong_lcp_solver(name):
    make, others = LCP[name]
    assert failing(make()) == {name, *others}


def test_every_check_of_lcp_solvers_catches_a_wrong_one():
    assert {check.name for check in checks_of("lcp_solvers")} - {check.name for check in PAPER} == set(LCP)
