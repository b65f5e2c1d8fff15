"""The kit on options that hypothesis draws: one line makes the test, a strategy beside it says what is valid."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from corekit_testing.conformance.check import Check, Verdict
from corekit_testing.conformance.in_pytest import checks_for
from corekit_testing.conformance.runner import run_checks
from corekit_testing.conformance.subject import Subject

__all__ = ["conformance_of_drawn", "rounded"]

_MANY = 50
"""Examples a round where they are drawn at random; `tools/fuzz.py` adds rounds until its time is over."""


def conformance_of_drawn(
    role: str, name: str, options: Any, *, examples: int, spread: float = 1.0, free_base: bool = False
) -> Callable[[], None]:
    """A pytest test that no drawn options let a check fail: `test_arms = conformance_of_drawn("models", "pcc", ARMS)`.

    The first check that fails is the only one asked from then on: what is drawn next only shrinks its example, which
    takes a fraction of the time and cannot slip to another mistake.

    Args:
        role, name: as in `corekit info`.
        options: a strategy of hypothesis for options of its config, as in a scenario file, all of them valid.
        examples: how many are drawn where they are the same in every run.
        spread, free_base: as in `conformance`.
    """
    from hypothesis import given, settings

    failed: list[Check] = []

    @settings(max_examples=examples if settings().derandomize else _MANY)
    @given(options=options)
    def test(options: Mapping[str, Any]) -> None:
        subject = Subject.installed(role, name, options, spread=spread, free_base=free_base)
        checks = failed or checks_for(subject)
        for check, outcome in zip(checks, run_checks(subject, None, checks), strict=True):
            if outcome.verdict is Verdict.FAILED:
                failed[:] = [check]
                raise AssertionError(f"{check.name}: {check.claim}: {outcome.reason}")

    return test


def rounded(low: float, high: float) -> Any:
    """A strategy for numbers in steps of at most a hundredth of the larger bound, as people write them."""
    from hypothesis import strategies as st

    decimals = 2 - math.floor(math.log10(max(abs(low), abs(high))))
    return st.floats(low, high).map(lambda x: min(max(low, round(x, decimals)), high))
