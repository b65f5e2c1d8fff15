"""Wrong contact solvers: each breaks one promise, and exactly the checks of that promise fail."""

import os
from copy import copy

import numpy as np
import pytest
from attrs import evolve

from corekit.data.status import SolveInfo, Status
from corekit.roles.compiled_form import SOLVER_ENTRIES, CompiledForm, entries_of
from corekit.roles.pyramid import DirectionCovector
from corekit_testing.conformance.friction_laws import LAWS

from .defects import (
    OF_A_LOTTERY,
    OF_ALL_ROLES,
    after,
    counting,
    failing,
    flattering,
    iterations_by_lot,
    remembering_buffer,
    role_checks,
    wrong,
)
from .test_wrong_potentials import POTENTIALS

QUICK = {"max_iterations": 500, "tolerance": 1e-9}


def impulses(*, spec=None, **methods):
    return wrong("contact_solvers", "reference-gauss-seidel", QUICK, spec=spec, **methods)


def never_pushing(
    _index, _numbers, _work, _contacts, _delassus, _free, _friction, _carried, _impulse, _residuals
):
    """An entry that says to have solved and writes nothing."""
    return 1


def compiled(solve):
    """A solver with a compiled form of this entry."""
    sound = impulses()
    return impulses(
        spec={"provides": sound.spec.provides | {"compiled-form"}},
        compiled_form=lambda _right, _self: CompiledForm(entries=entries_of(SOLVER_ENTRIES, solve=solve)),
    )


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
            told = evolve(info.residuals, normal=true, friction=1.0, cone=info.residuals.cone + 1.0)
            info = evolve(info, residuals=told)
        return info

    return method


def resting(problem):
    return (
        problem.contact_count == 1
        and problem.free_velocity[1] == 0.0
        and -0.1 < problem.free_velocity[0] < 0.0
    )


def opening(problem):
    return problem.contact_count == 1 and problem.free_velocity[0] > 0.0


def sliding(problem):
    return problem.contact_count == 1 and problem.rows_per_contact == 2


def random_and_rough(problem):
    return problem.contact_count == 4 and problem.friction[0] > 0.5


def crawling(problem):
    return 0.0 < np.abs(problem.free_velocity).max(initial=0.0) < 1e-4


def repeated(problem):
    return problem.contact_count == 3 and problem.matrix[0, 3] == problem.matrix[0, 0]


def scale_all(problem, impulse):
    impulse *= 1.01


def tug(problem, impulse):
    impulse[0] += 0.01


def turn_friction(problem, impulse):
    impulse[1::3], impulse[2::3] = -impulse[2::3], impulse[1::3].copy()


def optimistic(right, self, problem, impulse):
    info = right(self, problem, impulse)
    return info if info.status is Status.NON_FINITE else evolve(info, status=Status.CONVERGED)


def lost_by_a_guess(right, self, problem, impulse):
    bad = bool(np.abs(impulse).max(initial=0.0) > 10.0)
    info = right(self, problem, impulse)
    return evolve(info, status=Status.ITERATION_LIMIT) if bad else info


def slack_brake(problem, impulse):
    impulse[:] = 0.0


def one_friction(right, self, problem, impulse):
    """Takes the first contact's friction for all."""
    alike = problem.friction.copy()
    alike[1:] = alike[:1]
    return right(self, altered(problem, friction=alike), impulse)


def four_contacts(right, self, problem, impulse):
    """Leaves contacts beyond the fourth without impulse."""
    info = right(self, problem, impulse)
    impulse[4 * problem.rows_per_contact : problem.contact_count * problem.rows_per_contact] = 0.0
    return measured(info, problem, impulse)


def rows_alone(right, self, problem, impulse):
    """Leaves bounded rows slack where there are contacts."""
    info = right(self, problem, impulse)
    if problem.contact_count:
        impulse[problem.contact_count * problem.rows_per_contact :] = 0.0
    return measured(info, problem, impulse)


def infinite_product(right, self, problem, impulse):
    """Weighs bounds by how much they are used: ∞·0."""
    info = right(self, problem, impulse)
    with np.errstate(invalid="ignore"):
        impulse[problem.contact_count * problem.rows_per_contact :] += 0.0 * (problem.lower + problem.upper)
    return info


def silent_about_friction(right, self, problem, impulse):
    info = right(self, problem, impulse)
    return evolve(info, residuals=evolve(info.residuals, friction=0.0))


def secret_warm_start(right, self, problem, impulse):
    """Begins with the last answer of this size and saves it nowhere."""
    last = getattr(self, "last", None)
    if last is not None and last.shape == impulse.shape and not impulse.any():
        impulse[:] = last
    info = right(self, problem, impulse)
    self.last = impulse.copy()
    return info


def altered(problem, **changes):
    """The same problem with other entries."""
    other = copy(problem)
    for name, value in changes.items():
        setattr(other, name, value)
    return other


def measured(info, problem, impulse):
    """The same outcome with the true residuals."""
    friction = problem.friction * np.maximum(problem.normal(impulse), 0.0)
    beyond = np.max(np.linalg.norm(problem.tangential(impulse), axis=1) - friction, initial=0.0)
    told = evolve(info.residuals, normal=problem.normal_error(impulse), friction=1.0, cone=float(beyond))
    return evolve(info, residuals=told)


def deaf_to_nan(right, self, problem, impulse):
    """Finds nothing to do where nothing can be compared."""
    info = right(self, problem, impulse)
    return SolveInfo() if info.status is Status.NON_FINITE else info


def under_a_foreign_name(right, self, problem, impulse):
    return evolve(right(self, problem, impulse), answered_by="reference-penalty: newton")


def chatting(right, self, problem, impulse):
    print("solving")
    return right(self, problem, impulse)


def chatting_below(right, self, problem, impulse):
    """As a compiled library prints."""
    os.write(1, b"solving")
    return right(self, problem, impulse)


def careless(right, self, problem, impulse):
    np.seterr(invalid="ignore")
    return right(self, problem, impulse)


def drawing(right, self, problem, impulse):
    np.random.random()  # noqa: NPY002 - the stream of everybody
    return right(self, problem, impulse)


def last_tolerance(right, self, config, context=None):
    """All solvers have the tolerance of the one that was made last."""
    right(self, config, context)
    type(self).shared = self._config


def with_the_last(right, self, problem, impulse):
    self._config = type(self).shared
    info = right(self, problem, impulse)
    return evolve(info, iterations=round(1e12 * self._config.tolerance))


def remembering(right, self, problem, impulse):
    info = right(self, problem, impulse)
    if not hasattr(self, "speeds"):
        self.speeds = np.zeros(1)
    self.speeds += 1.0
    return info


def forget(right, self, internal_state):
    self.speeds = internal_state["speeds"].copy() if internal_state else np.zeros(1)


def forget_in_place(right, self, internal_state):
    self.speeds = internal_state["speeds"] if internal_state else np.zeros(1)


def hands_out_its_own(right, self):
    return {"speeds": getattr(self, "speeds", np.zeros(1))}


def hands_out_a_copy(right, self):
    return {"speeds": getattr(self, "speeds", np.zeros(1)).copy()}


TRACES = {
    "prints": {"solve": chatting},
    "prints by compiled code": {"solve": chatting_below},
    "changes numpy": {"solve": careless},
    "draws from the stream of all": {"solve": drawing},
}


@pytest.mark.parametrize("name", TRACES)
def test_what_a_solver_does_to_others_is_seen(name):
    with np.errstate():
        assert failing(impulses(**TRACES[name])) == {"leaves-no-trace"}


ALIASES = {
    "handed out": {"internal_state": hands_out_its_own, "restore": forget},
    "restored": {"internal_state": hands_out_a_copy, "restore": forget_in_place},
}


@pytest.mark.parametrize("name", ALIASES)
def test_internal_state_that_is_no_copy_is_seen(name):
    assert failing(impulses(solve=remembering, **ALIASES[name])) == {"state-copied"}


def test_internal_state_that_is_a_copy_passes():
    sound = impulses(solve=remembering, internal_state=hands_out_a_copy, restore=forget)
    assert failing(sound) == set()


MUTANTS = {
    "one friction": (lambda: impulses(solve=one_friction), "friction-cone"),
    "four contacts": (lambda: impulses(solve=four_contacts), "complementarity"),
    "rows alone": (lambda: impulses(solve=rows_alone), "bounded-rows-beside-contacts"),
    "infinite product": (lambda: impulses(solve=infinite_product), "bounded-rows-held"),
    "silent about friction": (lambda: impulses(solve=silent_about_friction), "residuals-truthful"),
    "secret warm start": (lambda: impulses(solve=secret_warm_start), "saved-and-loaded"),
}
"""Solvers that are wrong on problems with more in them, or in a series, alone, and a check that must see it."""


@pytest.mark.parametrize("name", list(MUTANTS))
def test_larger_problems_and_series_are_asked_for(name):
    make, check = MUTANTS[name]
    assert check in failing(make())


def other_rows(problem, impulse):
    """Moves what a bounded row gives on to its contacts' neighbour."""
    impulse[-1] += 0.01


def turned_by_the_slip(_right, _self, problem):
    """Corners of a square that turns with the slip of w₀."""
    angle = np.arctan2(problem.free_velocity[2::3], problem.free_velocity[1::3])
    corners = angle[:, None] + 0.5 * np.pi * np.arange(4)
    return np.stack([np.cos(corners), np.sin(corners)], axis=1)


def pulled(share):
    """What their covector is of w₀, or a share of that."""

    def method(_right, _self, problem, directions, covector):
        rows = len(problem.free_velocity)
        found = DirectionCovector(np.zeros(rows), np.zeros(rows), np.zeros((rows, rows)), np.zeros(rows))
        x, y = problem.free_velocity[1::3], problem.free_velocity[2::3]
        of_angle = (covector[:, 1] * directions[:, 0] - covector[:, 0] * directions[:, 1]).sum(axis=1)
        found.free[1::3], found.free[2::3] = share * np.array([-y, x]) * of_angle / (x**2 + y**2)
        return found

    return impulses(compute_friction_directions=turned_by_the_slip, pull_friction_directions=method)


def test_directions_that_follow_a_problem_as_they_say_pass():
    assert "directions-pulled" not in failing(pulled(1.0))


IMPULSES = {
    "directions-pulled": (lambda: pulled(0.999), ()),
    "bounded-rows-beside-contacts": (
        lambda: impulses(solve=changed_where(lambda p: p.contact_count and p.bounded_count, other_rows)),
        (),
    ),
    "inputs-unchanged": (lambda: impulses(solve=touch_the_problem), ()),
    "answers-own-memory": (lambda: impulses(solve=remembering_buffer), ()),
    "deterministic": (
        lambda: impulses(solve=iterations_by_lot),
        OF_A_LOTTERY,
    ),
    "saved-and-loaded": (lambda: impulses(solve=counting), ()),
    "resting-impulse": (lambda: impulses(solve=changed_where(resting, scale_all)), ()),
    "separating-untouched": (lambda: impulses(solve=changed_where(opening, tug)), ()),
    "sticking-and-sliding": (lambda: impulses(solve=changed_where(sliding, scale_all)), ()),
    "complementarity": (lambda: impulses(solve=changed_where(random_and_rough, scale_all)), ()),
    "friction-cone": (
        lambda: impulses(solve=changed_where(random_and_rough, turn_friction)),
        ("complementarity",),
    ),
    "anisotropic-friction": (
        # the circular cone of the largest coefficient, whatever the direction
        lambda: impulses(spec={"provides": {"impulses", "bounded-constraints", "anisotropic-coulomb"}}),
        ("friction-law-obeyed", "friction-law-in-plane"),
    ),
    "duplicates-harmless": (lambda: impulses(solve=changed_where(repeated, tug)), ()),
    "scale-harmless": (lambda: impulses(solve=changed_where(crawling, scale_all)), ()),
    "infeasible-not-solved": (lambda: impulses(solve=optimistic), ()),
    "residuals-truthful": (lambda: impulses(solve=flattering), ()),
    "guess-harmless": (lambda: impulses(solve=lost_by_a_guess), ()),
    "nan-unsolved": (lambda: impulses(solve=deaf_to_nan), ()),
    "compiled-form-solves-alike": (lambda: compiled(never_pushing), ()),
    "answered-by-itself": (lambda: impulses(solve=under_a_foreign_name), ()),
    "leaves-no-trace": (lambda: impulses(solve=chatting), ()),
    "state-copied": (lambda: impulses(solve=remembering, **ALIASES["handed out"]), ()),
    "instances-apart": (lambda: impulses(__init__=last_tolerance, solve=with_the_last), ()),
    "bounded-rows-held": (
        lambda: impulses(solve=changed_where(lambda p: p.bounded_count and not p.contact_count, slack_brake)),
        (),
    ),
}


@pytest.mark.parametrize("name", IMPULSES)
def test_exactly_the_right_checks_catch_it(name):
    make, others = IMPULSES[name]
    assert failing(make()) == {name, *others}


def test_every_check_of_contact_solvers_catches_a_wrong_one():
    assert role_checks("contact_solvers") | OF_ALL_ROLES == {
        *IMPULSES, *POTENTIALS, *(check.name for check in LAWS),
    }  # fmt: skip
