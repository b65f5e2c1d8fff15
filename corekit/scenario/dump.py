"""A scenario written back, every default filled in: what `resolved.toml` of a run folder holds."""

from __future__ import annotations

from typing import Any

from corekit.errors import ConfigError, Mistake
from corekit.scenario.plain import plain
from corekit.scenario.schema import Scenario

__all__ = ["dump_resolved", "resolved_document"]


def resolved_document(scenario: Scenario) -> dict[str, Any]:
    """The table of a scenario; `from_document` makes an equal scenario of it. File paths are absolute."""
    mistakes: list[Mistake] = []
    document = plain(scenario, "", mistakes)
    if mistakes:
        raise ConfigError(mistakes, f"scenario {scenario.name!r}")
    return document


def dump_resolved(scenario: Scenario) -> str:
    """The same as TOML text, for `loads`."""
    import tomli_w

    return tomli_w.dumps(resolved_document(scenario))
