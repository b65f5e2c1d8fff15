"""Friction laws of a third party: a sound one passes, wrong ones and solvers that disobey are caught."""

from typing import Any, final

import numpy as np
import pytest
from attrs import evolve, frozen

from corekit.data.status import SolveInfo
from corekit.registry.spec import ComponentSpec
from corekit.roles.contact import ImpulseSolver
from corekit.roles.friction import FrictionLaw
from corekit_testing.conformance import Subject, run_checks
from corekit_testing.conformance.check import Verdict
from corekit_testing.conformance.friction_laws import LAWS

box = FrictionLaw(
    name="kit:box",
    coefficients=("along", "across"),
    is_directional=True,
    gauge=lambda record, along, across: max(abs(along) / record[0], abs(across) / record[1]),
    dissipation=lambda record, along, across: record[0] * abs(along) + record[1] * abs(across),
)
"""|f₁| ≤ along, |f₂| ≤ across per unit of normal impulse."""


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
    info = tmp_path / "lab_boxes-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lab-boxes\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[corekit.friction_laws]\nkit:box = {__name__}:law\n")
    monkeypatch.syspath_prepend(str(tmp_path))


def verdicts(target=BoxSolver):
    subject = Subject(spec=SPEC, entry=f"{__name__}:SPEC", target=target)
    return {each.check: each.verdict for each in run_checks(subject, checks=LAWS)}


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


WRONG: dict[str, dict[str, Any]] = {
    "gauge is nan": {"gauge": lambda record, along, across: np.nan},
    "gauge is negative": {"gauge": lambda record, along, across: along / record[0]},
    "gauge is a square": {"gauge": lambda record, along, across: box.gauge(record, along, across) ** 2},
    "dissipation drives": {"dissipation": lambda record, *w: -box.dissipation(record, *w)},
    "dissipation is too small": {"dissipation": lambda record, *w: 0.9 * box.dissipation(record, *w)},
    "dissipation is too large": {"dissipation": lambda record, *w: 1.1 * box.dissipation(record, *w)},
    "dissipation of a turned slip": {"dissipation": lambda record, x, y: box.dissipation(record, y, x)},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_law_whose_parts_do_not_fit_is_caught(name, monkeypatch):
    monkeypatch.setitem(globals(), "law", evolve(box, **WRONG[name]))
    assert verdicts()["friction-law-dual"] is Verdict.FAILED


def test_words_that_are_no_laws_are_passed_over():
    plain = evolve(SPEC, provides=SPEC.provides - {"kit:box"})
    subject = Subject(spec=plain, entry=f"{__name__}:SPEC", target=BoxSolver)
    assert {each.verdict for each in run_checks(subject, checks=LAWS)} == {Verdict.NOT_APPLICABLE}
