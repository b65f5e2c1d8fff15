"""A scenario written back: as given, and with every default filled in, as a run folder holds it."""

from __future__ import annotations

import tomllib
from typing import Any

from corekit.errors import ConfigError, Mistake
from corekit.scenario.plain import plain
from corekit.scenario.schema import ScenarioTables

__all__ = ["dump_given", "dump_resolved", "resolved_document"]

_CODE_ALLOWED = (
    "# Python functions named in this file were allowed to be imported; a new run must allow them again.\n"
)


def resolved_document(scenario: ScenarioTables) -> dict[str, Any]:
    """The table of a scenario; `from_document` makes an equal scenario of it. File paths are absolute."""
    mistakes: list[Mistake] = []
    document = plain(scenario, "", mistakes)
    if mistakes:
        raise ConfigError(mistakes, f"scenario {scenario.name!r}")
    return document


def dump_resolved(scenario: ScenarioTables) -> str:
    """The same as TOML text, for `loads`; it tells that code was allowed, and does not allow it."""
    import tomli_w

    return (_CODE_ALLOWED if scenario.allow_code else "") + tomli_w.dumps(resolved_document(scenario))


def dump_given(scenario: ScenarioTables) -> str:
    """The text of its file if that still says the same, else its table as TOML: overrides are in it.

    A scenario made in Python has neither; its resolved form stands for it.
    """
    import tomli_w

    if not scenario.document:
        return dump_resolved(scenario)
    mistakes: list[Mistake] = []
    document = plain(scenario.document, "", mistakes)
    if scenario.source is not None:
        try:
            text = scenario.source.read_bytes().decode("utf-8")
            if tomllib.loads(text) == document:
                return text
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            pass  # the file has changed or gone since it was loaded
    head = "" if scenario.source is None else f"# {scenario.source.name} with overrides applied\n"
    return head + tomli_w.dumps(document)
