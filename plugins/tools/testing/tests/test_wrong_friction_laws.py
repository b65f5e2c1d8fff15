"""Friction laws of a third party: a sound one passes, wrong ones and solvers that disobey are caught."""

from typing import final

import numpy as np
import pytest
from attrs import evolve, frozen

from corekit.cli import FAILED, MISUSE, main
from corekit.data.status import SolveInfo
from corekit.registry.spec import ComponentSpec
from corekit.roles.contact import ImpulseSolver
from corekit.roles.friction import friction_law
from corekit_testing.conformance import Subject, run_checks
from corekit_testing.conformance.check import Verdict
from corekit_testing.conformance.claims import judged
from corekit_testing.conformance.friction_laws import LAWS as OF_SOLVERS
from corekit_testing.conformance.laws import LAW_CLAIMS

from .defects import bring
from .mistakes_of_laws import LAWS, box


@frozen(kw_only=True)
class Options:
    """None."""


class Clipped(ImpulseSolver):
    """Solves one contact with W = 1/m and the law `box`."""

    share = 1.0

    def __init__(self, config, context=None):
        pass

    def solve(self, problem, impulse):
        mass = 1.0 / np.diag(problem.delassus())
        wanted = -mass * problem.free_velocity
        impulse[0] = max(wanted[0], 0.0)
        bound = self.share * problem.friction_record[0, : len(impulse) - 1] * impulse[0]
        impulse[1:] = np.clip(wanted[1:], -bound, bound)
        return SolveInfo()


@final
class BoxSolver(Clipped):
    """Obeys the law."""


@final
class Weak(Clipped):
    """Gives half of the friction."""

    share = 0.5


@final
class Strong(Clipped):
    """Gives more friction than the law admits."""

    share = 1.1


@final
class Round(Clipped):
    """Knows the circle of the largest coefficient alone."""

    def solve(self, problem, impulse):
        super().solve(problem, impulse)
        wanted = -problem.free_velocity[1:] / problem.delassus()[0, 0]
        size, bound = np.linalg.norm(wanted), problem.friction[0] * impulse[0]
        impulse[1:] = wanted * min(1.0, bound / size)
        return SolveInfo()


@final
class Sideways(Clipped):
    """Takes the last coefficients where there is one tangent."""

    def solve(self, problem, impulse):
        if problem.rows_per_contact == 3:
            return super().solve(problem, impulse)
        mass = 1.0 / np.diag(problem.delassus())
        wanted = -mass * problem.free_velocity
        impulse[0] = max(wanted[0], 0.0)
        bound = problem.friction_record[0, 1] * impulse[0]
        impulse[1:] = np.clip(wanted[1:], -bound, bound)
        return SolveInfo()


SPEC = ComponentSpec(
    role="contact_solvers",
    name="box-solver",
    target=f"{__name__}:BoxSolver",
    config=f"{__name__}:Options",
    summary="Boxes of friction.",
    api="0.2",
    provides={"impulses", "kit:box", "kit:another-ability"},
)
law = box
"""What the entry point names."""


@pytest.fixture(autouse=True)
def lab(tmp_path, monkeypatch):
    """A distribution that brings the law."""
    bring(tmp_path, monkeypatch, "corekit.friction_laws", "kit:box", f"{__name__}:law")


def verdicts(target=BoxSolver):
    subject = Subject(spec=SPEC, entry=f"{__name__}:SPEC", target=target)
    return {each.check: each.verdict for each in run_checks(subject, checks=OF_SOLVERS)}


def test_a_law_of_ones_own_and_its_solver_pass():
    assert set(verdicts().values()) == {Verdict.PASSED}


@pytest.mark.parametrize("target", [Weak, Strong, Round])
def test_a_solver_that_disobeys_the_law_is_caught(target):
    assert verdicts(target) == {
        "friction-law-dual": Verdict.PASSED,
        "friction-law-obeyed": Verdict.FAILED,
        "friction-law-in-plane": Verdict.FAILED,
    }


def test_a_solver_that_disobeys_the_law_in_planar_worlds_alone_is_caught():
    failed = {name for name, verdict in verdicts(Sideways).items() if verdict is Verdict.FAILED}
    assert failed == {"friction-law-in-plane"}


TOLD_TWICE = [name for name, (_, check, _) in LAWS.items() if check == "law-dual"]
"""What the law's own check refuses, whose solver must not pass either."""


@pytest.mark.parametrize("name", TOLD_TWICE)
def test_a_law_whose_parts_do_not_fit_is_caught_with_its_solver_too(name, monkeypatch):
    monkeypatch.setitem(globals(), "law", evolve(box, **LAWS[name][0]))
    assert verdicts()["friction-law-dual"] is Verdict.FAILED


def test_every_check_of_laws_refuses_a_wrong_one():
    assert {check for _, check, _ in LAWS.values()} == set(LAW_CLAIMS) - {"law-light"}


def test_a_law_is_judged_by_its_name(capsys):
    """Its module, which is this one, imports too much for every listing."""
    assert main(["conform", "friction_laws.kit:box"]) == FAILED
    said = capsys.readouterr().out
    assert "law-light                       failed: importing" in said
    assert f"friction_laws.kit:box: {len(LAW_CLAIMS) - 1} passed, 1 failed" in said


@pytest.mark.parametrize("name", ["coulomb", "anisotropic-coulomb"])
def test_the_laws_of_the_kernel_pass(name):
    assert {
        each.check for each in judged(LAW_CLAIMS, friction_law(name)) if each.verdict is Verdict.FAILED
    } == set()


def test_a_law_that_nobody_brings_is_told(capsys):
    assert main(["conform", "friction_laws.kit:bxo"]) == MISUSE
    assert "unknown friction law 'kit:bxo'; friction laws are coulomb" in capsys.readouterr().err


def test_words_that_are_no_laws_are_passed_over():
    plain = evolve(SPEC, provides=SPEC.provides - {"kit:box"})
    subject = Subject(spec=plain, entry=f"{__name__}:SPEC", target=BoxSolver)
    assert {each.verdict for each in run_checks(subject, checks=OF_SOLVERS)} == {Verdict.NOT_APPLICABLE}
