"""What another computer must have installed to make the same runs."""

from __future__ import annotations

from contextlib import suppress

from corekit.distributions import KERNEL, version_of
from corekit.errors import CorekitError
from corekit.scenario.scenario import Scenario
from corekit_run.versions import all_versions

__all__ = ["needs_of"]

_TOOLS = (KERNEL, "corekit-run", "corekit-record", "corekit-study")


def needs_of(scenario: Scenario | None = None) -> dict[str, str]:
    """Return distribution → version of the tools, and of the plugins that a scenario is composed of, if it can be."""
    found = {name: version for name in _TOOLS if (version := version_of(name)) is not None}
    if scenario is not None:
        with suppress(CorekitError):
            found |= all_versions(scenario.compose(), {})["plugins"]
    return found
