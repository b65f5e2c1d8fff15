"""The kit inside a plugin's own tests: one line, one pytest test a check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from corekit_testing.conformance.check import Check, Verdict
from corekit_testing.conformance.runner import checks_of, outcome
from corekit_testing.conformance.subject import States, Subject

__all__ = ["checks_for", "conformance"]


def checks_for(subject: Subject) -> list[Check]:
    """The checks of its role that it offers the abilities for; nothing is symbolic where the base moves."""
    fitting = [check for check in checks_of(subject.spec.role) if not check.absent(subject)]
    return [
        check
        for check in fitting
        if not (subject.free_base and any(ability.startswith("symbolic") for ability in check.needs))
    ]


def conformance(
    role: str,
    name: str,
    options: Mapping[str, Any] | None = None,
    *,
    states: States | None = None,
    spread: float = 1.0,
    expected: Mapping[str, str] | None = None,
    free_base: bool = False,
) -> Callable[[str], None]:
    """A parametrised pytest test of an installed plugin: `test_pcc = conformance("models", "pcc")`.

    Checks of abilities that the plugin does not offer are left out.

    Args:
        role, name: as in `corekit info`.
        options: of its config, as in a scenario file.
        states: where a model is looked at: tables of `[bodies.initial]`, or a function of the model and a
            random generator; None: random displacements of the rest state (see `model_states`).
        spread: factor on those displacements, for a model with narrow limits.
        expected: check → why it is known to fail; it must then fail.
        free_base: whether a model with the ability `free-base` is built with a base that moves; not symbolic then.
    """
    import pytest

    subject = Subject.installed(role, name, options, states, spread, free_base=free_base)
    checks = {check.name: check for check in checks_for(subject)}
    unknown = sorted(set(expected or {}) - set(checks))
    if unknown:
        raise ValueError(f"no check is called {', '.join(unknown)}; checks are {', '.join(checks)}")

    @cache
    def fails(basis: str) -> bool:
        return outcome(checks[basis], subject, expected).verdict is Verdict.FAILED

    names = list(checks)

    @pytest.mark.parametrize("check", names)
    def test(check: str) -> None:
        for before in names[: names.index(check)]:
            if checks[before].is_basis and fails(before):
                pytest.skip(f"not judged: {before} fails")
        result = outcome(checks[check], subject, expected)
        if result.verdict is Verdict.NOT_APPLICABLE:
            pytest.skip(result.reason)
        if result.verdict is Verdict.EXPECTED:
            pytest.xfail(result.reason)
        if result.verdict is Verdict.FAILED:
            pytest.fail(f"{checks[check].claim}: {result.reason}", pytrace=False)

    return test
