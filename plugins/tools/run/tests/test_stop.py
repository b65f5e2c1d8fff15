"""A request to stop is not lost, wherever it comes."""

from __future__ import annotations

import contextlib
import signal

import pytest

from corekit.errors import Terminated
from corekit_run.run_end import Stop


def test_a_request_that_a_callback_swallowed_ends_the_run_after_its_first_step():
    """Python drops what is raised while compiled code calls back, as it does when kernels are loaded."""
    stop = Stop()
    with contextlib.suppress(Terminated):
        stop.handle(signal.SIGTERM, None)
    assert stop.wanted
    assert isinstance(stop.why, Terminated)
    with stop.waits(), pytest.raises(KeyboardInterrupt):
        stop.handle(signal.SIGINT, None)
