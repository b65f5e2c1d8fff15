"""Hooks of this distribution: the verb `run`, and `Scenario.run`."""

from __future__ import annotations

from corekit.hooks.specs import Verb, hookimpl

__all__ = ["corekit_runner", "corekit_verbs"]


@hookimpl
def corekit_verbs() -> list[Verb]:
    """Return the verb `run`."""
    return [Verb("run", "corekit_run.cli.run:run", "Run a scenario into a new folder.")]


@hookimpl
def corekit_runner() -> str:
    """Return what runs a scenario into a new folder."""
    return "corekit_run.running:run"
