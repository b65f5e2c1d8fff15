"""Ctrl-C ends a search inside of a solver that takes what Python raises for a bad point, and goes on."""

from __future__ import annotations

import contextlib
import os
import signal

import pytest

from corekit.cli import stop_at_sigterm
from corekit.errors import Terminated
from corekit_study.stoppable import stoppable


def forgetful(evaluate, report, count=100):
    """A solver as IPOPT is behind CasADi: it calls back, and what an evaluation raises is a bad point to it."""
    for k in range(count):
        with contextlib.suppress(BaseException):
            evaluate(k)
        report({"iteration": k})


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize(
    ("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)], ids=str
)
def test_a_request_is_heard_at_the_next_report(number, raised):
    usual = signal.signal(signal.SIGTERM, stop_at_sigterm)
    seen: list[float] = []

    def stop_at_three(k):
        if k == 3:
            os.kill(os.getpid(), number)

    try:
        with pytest.raises(raised), stoppable(lambda numbers: seen.append(numbers["iteration"])) as report:
            forgetful(stop_at_three, report)
        assert signal.getsignal(signal.SIGTERM) is stop_at_sigterm
    finally:
        signal.signal(signal.SIGTERM, usual)
    assert seen == [0, 1, 2]


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_request_to_a_search_that_reports_nothing_is_heard_at_its_end():
    with pytest.raises(KeyboardInterrupt), stoppable(None):
        forgetful(lambda k: os.kill(os.getpid(), signal.SIGINT) if k == 3 else None, lambda _numbers: None)


def test_without_a_request_all_is_reported():
    seen: list[float] = []
    with stoppable(lambda numbers: seen.append(numbers["iteration"])) as report:
        forgetful(lambda _k: None, report, 5)
    assert seen == [0, 1, 2, 3, 4]
