"""Wrong specs and options, and the two runners' verdicts."""

import json
from typing import Any

import pytest
from attrs import field, frozen

from corekit.cli import main
from corekit.roles.options import option
from corekit_testing.conformance import conformance, run_checks
from corekit_testing.conformance.check import Verdict
from corekit_testing.conformance.common import PAPER

from .defects import failing, wrong

QUICK = {"max_iterations": 500, "tolerance": 1e-9}


@frozen(kw_only=True)
class Undescribed:
    """An option that does not say what it means."""

    tolerance: float = field(default=1e-12)
    max_iterations: int = option(5000, "sweeps over all contacts", low=1)


@frozen(kw_only=True)
class Doubling:
    """An option that is not read as it is written."""

    tolerance: float = option(1e-12, "asked residual", converter=lambda value: 2 * value)
    max_iterations: int = option(5000, "sweeps over all contacts", low=1)


@frozen(kw_only=True)
class Idle:
    """An option that nobody reads."""

    tolerance: float = option(1e-12, "asked residual")
    max_iterations: int = option(5000, "sweeps over all contacts", low=1)
    overrelaxation: float = option(1.0, "of a sweep")


@frozen(kw_only=True)
class Namesake:
    """An option that nobody reads, of the name of a force term in the same distribution."""

    tolerance: float = option(1e-12, "asked residual")
    max_iterations: int = option(5000, "sweeps over all contacts", low=1)
    centrifugal: float = option(1.0, "of nothing")


def solver(**spec):
    return wrong("contact_solvers", "reference-gauss-seidel", QUICK, spec=spec)


WRONG = {
    "light-spec": lambda: wrong(
        "contact_solvers", "reference-gauss-seidel", QUICK, entry="corekit_testing.penalty:spec"
    ),
    "spec-true": lambda: solver(provides={"impulses", "bounded-constraints", "telepathy"}),
    "options-described": lambda: solver(config=f"{__name__}:Undescribed"),
    "options-round-trip": lambda: solver(config=f"{__name__}:Doubling"),
    "options-read": lambda: solver(config=f"{__name__}:Idle"),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_exactly_the_right_check_catches_it(name):
    assert failing(WRONG[name]()) == {name}


def test_a_text_that_equals_its_name_reads_no_option():
    assert failing(solver(config=f"{__name__}:Namesake")) == {"options-read"}


def test_every_check_of_spec_and_options_catches_a_wrong_one():
    assert {check.name for check in PAPER} == set(WRONG)


def test_a_target_of_another_role_and_one_that_is_not_final_are_no_true_spec():
    assert "spec-true" in failing(solver(target="corekit_testing.pendulum:Pendulum"))
    loose = wrong(
        "contact_solvers", "reference-gauss-seidel", QUICK, solve=lambda right, *arguments: right(*arguments)
    )
    cls: Any = loose.target
    cls.__final__ = False
    assert failing(loose) == {"spec-true"}


def test_a_known_failure_has_a_reason_and_must_fail():
    subject = solver(summary=" ")
    (told,) = [
        o for o in run_checks(subject, {"spec-true": "nothing to say"}, PAPER) if o.check == "spec-true"
    ]
    assert told.verdict is Verdict.EXPECTED
    assert "nothing to say" in told.reason
    sound = wrong("contact_solvers", "reference-gauss-seidel")
    (told,) = [o for o in run_checks(sound, {"spec-true": "nothing to say"}, PAPER) if o.check == "spec-true"]
    assert told.verdict is Verdict.FAILED
    with pytest.raises(ValueError, match="spec-flase"):
        conformance("contact_solvers", "reference-gauss-seidel", expected={"spec-flase": "a slip"})


def test_command_line_lists_checks_and_exits_with_their_verdict(capsys):
    assert main(["conform", "contact_solvers.reference-gauss-seidel", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["conforms"]
    verdicts = {row["check"]: row["verdict"] for row in report["checks"]}
    assert verdicts["complementarity"] == "passed"
    assert verdicts["force-is-slope-of-energy"] == "not applicable"
    # one sweep answers next to nothing, and the solver says so: the kit does not take that for an answer
    assert main(["conform", "reference-gauss-seidel", "--set", "max_iterations=1"]) == 1
    printed = capsys.readouterr().out
    assert "friction-cone" in printed
    assert "failed" in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["models.reference-pendulm"], "unknown model"),
        (["nobody"], "unknown component 'nobody'"),
        (["shapes.torsu"], "unknown shape 'torsu'; shapes are half-space"),
        (["shapes"], "unknown shape ''"),
        (["friction_laws.lab:box"], "unknown friction law 'lab:box'; friction laws are coulomb"),
        (["shapes.sphere", "--draw", "3"], "shapes.sphere has no options and no world"),
        (
            ["observers.mine"],
            "conform judges components, and 'observers.mine' is none: `observer_conformance`",
        ),
        (["models.reference-pendulum", "--set", "lenghts=[1.0]"], "lenghts"),
        (["models.reference-pendulum", "--set", "lengths"], "PATH=VALUE"),
        (["models.reference-pendulum", "--spread", "0"], "spread: found 0.0; must be a factor above 0"),
        (["models.reference-pendulum", "--spread=-1"], "spread: found -1.0; must be a factor above 0"),
    ],
)
def test_command_line_refuses_what_it_cannot_check(arguments, said, capsys):
    assert main(["conform", *arguments]) == 2
    assert said in capsys.readouterr().err
