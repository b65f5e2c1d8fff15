"""The list of checks of a role, and what each of them says of a plugin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from corekit_testing.conformance.check import Check, CheckFailed, NotApplicable, Outcome, Verdict
from corekit_testing.conformance.subject import Subject

__all__ = ["checks_of", "outcome", "run_checks"]


def _models() -> tuple[Check, ...]:
    from corekit_testing.conformance.models import CHECKS

    return CHECKS


def _detectors() -> tuple[Check, ...]:
    from corekit_testing.conformance.contact_detectors import CHECKS

    return CHECKS


def _solvers() -> tuple[Check, ...]:
    from corekit_testing.conformance.contact_solvers import CHECKS

    return CHECKS


def _integrators() -> tuple[Check, ...]:
    from corekit_testing.conformance.integrators import CHECKS

    return CHECKS


def _controllers() -> tuple[Check, ...]:
    from corekit_testing.conformance.controllers import CHECKS

    return CHECKS


def _lcp_solvers() -> tuple[Check, ...]:
    from corekit_testing.conformance.lcp_solvers import CHECKS

    return CHECKS


def _qp_solvers() -> tuple[Check, ...]:
    from corekit_testing.conformance.qp_solvers import CHECKS

    return CHECKS


def _viewers() -> tuple[Check, ...]:
    from corekit_testing.conformance.viewers import CHECKS

    return CHECKS


def _planners() -> tuple[Check, ...]:
    from corekit_testing.conformance.planners import CHECKS

    return CHECKS


def _estimators() -> tuple[Check, ...]:
    from corekit_testing.conformance.estimators import CHECKS

    return CHECKS


_BY_ROLE: Mapping[str, Callable[[], tuple[Check, ...]]] = {
    "models": _models,
    "contact_detectors": _detectors,
    "contact_solvers": _solvers,
    "integrators": _integrators,
    "controllers": _controllers,
    "lcp_solvers": _lcp_solvers,
    "qp_solvers": _qp_solvers,
    "viewers": _viewers,
    "planners": _planners,
    "estimators": _estimators,
}


_RAISED = "raised"
"""How the reason begins where a plugin raised an error."""


def checks_of(role: str) -> tuple[Check, ...]:
    """The checks of a role, in order."""
    from corekit_testing.conformance.common import PAPER

    return (*PAPER, *_BY_ROLE[role]())


def outcome(check: Check, subject: Subject, expected: Mapping[str, str] | None = None) -> Outcome:
    """Run one check.

    Args:
        check: which.
        subject: of whom.
        expected: check → why it is known to fail; such a check that passes is a failure.
    """
    verdict, reason = _verdict(check, subject)
    why = (expected or {}).get(check.name)
    if why is not None and verdict is Verdict.FAILED:
        return Outcome(check.name, Verdict.EXPECTED, f"{why} ({reason})")
    if why is not None:
        return Outcome(check.name, Verdict.FAILED, f"is expected to fail ({why}) but is {verdict.value}")
    return Outcome(check.name, verdict, reason)


def _verdict(check: Check, subject: Subject) -> tuple[Verdict, str]:
    absent = check.absent(subject)
    if absent:
        return Verdict.NOT_APPLICABLE, absent
    try:
        check.run(subject)
    except NotApplicable as reason:
        return Verdict.NOT_APPLICABLE, str(reason)
    except CheckFailed as failure:
        return Verdict.FAILED, str(failure)
    except Exception as error:  # noqa: BLE001 - whatever a plugin raises where it must answer is its failure
        return Verdict.FAILED, f"{_RAISED} {type(error).__name__}: {error}"
    return Verdict.PASSED, ""


def run_checks(
    subject: Subject,
    expected: Mapping[str, str] | None = None,
    checks: Sequence[Check] | None = None,
) -> Iterator[Outcome]:
    """What every check of the subject's role says, one after the other.

    What rests on a check that fails is not judged, and an error is told once, by the first check that meets it.
    """
    met: dict[str, str] = {}
    broken = ""
    for check in checks_of(subject.spec.role) if checks is None else checks:
        if broken:
            yield Outcome(check.name, Verdict.NOT_JUDGED, f"{broken} fails")
            continue
        found = outcome(check, subject, expected)
        if found.verdict is Verdict.FAILED:
            first = met.setdefault(found.reason, check.name)
            if first != check.name and found.reason.startswith(_RAISED):
                found = Outcome(check.name, Verdict.NOT_JUDGED, f"it meets the error of {first}")
            if check.is_basis:
                broken = first
        yield found
