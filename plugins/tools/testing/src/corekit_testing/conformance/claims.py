"""Checks of what is no component: observers, friction laws and shapes, with both runners of the kit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from corekit_testing.conformance.check import CheckFailed, NotApplicable, Outcome, Verdict

__all__ = ["Claim", "Claims", "judged", "outcome_of", "parametrised"]


class Claim(NamedTuple):
    """What must hold, and what raises `CheckFailed` where it does not; any other exception is a failure too."""

    claim: str
    run: Callable[..., None]


Claims = Mapping[str, Claim]
"""Name → check."""


def outcome_of(claims: Claims, name: str, *arguments: object) -> Outcome:
    """Run one check."""
    try:
        claims[name].run(*arguments)
    except CheckFailed as failure:
        return Outcome(name, Verdict.FAILED, str(failure))
    except NotApplicable as reason:
        return Outcome(name, Verdict.NOT_APPLICABLE, str(reason))
    except Exception as error:  # noqa: BLE001 - whatever a stranger raises where it must answer is its failure
        return Outcome(name, Verdict.FAILED, f"raised {type(error).__name__}: {error}")
    return Outcome(name, Verdict.PASSED)


def judged(claims: Claims, *arguments: object) -> Iterator[Outcome]:
    """What every check says, one after the other."""
    for name in claims:
        yield outcome_of(claims, name, *arguments)


def parametrised(claims: Claims, arguments: Callable[[Path], tuple[object, ...]]) -> Callable[..., None]:
    """A parametrised pytest test, one a check.

    Args:
        claims: the checks.
        arguments: makes their arguments, in a folder of the test's own.
    """
    import pytest

    @pytest.mark.parametrize("check", list(claims))
    def test(check: str, tmp_path: Path) -> None:
        found = outcome_of(claims, check, *arguments(tmp_path))
        if found.verdict is Verdict.NOT_APPLICABLE:
            pytest.skip(found.reason)
        if found.verdict is Verdict.FAILED:
            pytest.fail(f"{claims[check].claim}: {found.reason}", pytrace=False)

    return test
