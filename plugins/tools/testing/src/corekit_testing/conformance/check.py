"""What a check is: a name, a claim, a function that raises where the claim does not hold."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array

if TYPE_CHECKING:
    from corekit.data.status import SolveInfo
    from corekit_testing.conformance.subject import Subject

__all__ = [
    "Check",
    "CheckFailed",
    "NotApplicable",
    "Outcome",
    "Verdict",
    "check",
    "expect",
    "expect_close",
    "expect_own_name",
    "expect_unsolved",
]


class CheckFailed(AssertionError):
    """A claim that does not hold; the message says where and by how much."""


class NotApplicable(Exception):
    """A check that has nothing to say about this plugin; the message says why."""


class Verdict(enum.Enum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"
    NOT_JUDGED = "not judged"
    EXPECTED = "fails as expected"


@frozen
class Outcome:
    """A check's verdict, with the reason where it did not simply pass."""

    check: str
    verdict: Verdict
    reason: str = ""


@frozen
class Check:
    """One named check.

    Args:
        name: what the two runners call it.
        claim: what must hold, as a sentence.
        run: raises `CheckFailed`, or `NotApplicable`; any other exception is a failure too.
        needs: abilities without which it is not applicable.
        is_basis: whether the checks after it would only say in other words that it fails, or never end.
        of_stateful: whether it is of components with internal state alone.
    """

    name: str
    claim: str
    run: Callable[[Subject], None]
    needs: frozenset[str] = frozenset()
    is_basis: bool = False
    of_stateful: bool = False

    def absent(self, subject: Subject) -> str:
        """Why it does not apply to what the subject offers, or nothing."""
        if self.of_stateful and not subject.is_stateful:
            return "has no internal state"
        lacking = sorted(self.needs - subject.spec.provides)
        return f"does not offer {', '.join(lacking)}" if lacking else ""


def check(
    name: str, claim: str, *needs: str, is_basis: bool = False
) -> Callable[[Callable[[Subject], None]], Check]:
    """Make a function a check of this name, claim and needed abilities."""

    def make(run: Callable[[Subject], None]) -> Check:
        return Check(name, claim, run, frozenset(needs), is_basis)

    return make


def expect(condition: object, message: str) -> None:
    """Raise `CheckFailed` unless the condition holds."""
    if not condition:
        raise CheckFailed(message)


def expect_unsolved(what: str, info: SolveInfo) -> None:
    """Raise `CheckFailed` where a problem that has no answer is said to be solved."""
    expect(not info.status.solved, f"{what} is {info.status.name}")


def expect_own_name(subject: Subject, info: SolveInfo) -> None:
    """Raise `CheckFailed` where an answer is ascribed to another component of the role."""
    first = info.answered_by.partition(":")[0].partition(",")[0].strip()
    expect(
        first not in subject.other_names(), f"{info.answered_by!r} is another component: it answered itself"
    )


def expect_close(what: str, found: Array, wanted: Array, tolerance: float) -> None:
    """Raise `CheckFailed` unless |found − wanted| ≤ tolerance for every entry (nan never is)."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    expect(found.shape == wanted.shape, f"{what}: shape {found.shape}, expected {wanted.shape}")
    found, wanted = np.atleast_1d(found), np.atleast_1d(wanted)
    with np.errstate(invalid="ignore"):
        away = np.abs(found - wanted)
    away[np.isnan(away)] = np.inf
    away[found == wanted] = 0.0
    if away.size and float(away.max()) > tolerance:
        where = tuple(int(i) for i in np.unravel_index(int(away.argmax()), away.shape))
        place = f" at {where}" if where else ""
        raise CheckFailed(
            f"{what}{place}: {found[where]:.10g}, expected {wanted[where]:.10g} within {tolerance:.2g}"
        )
