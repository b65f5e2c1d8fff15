"""The verbs that this distribution adds to the command line."""

from __future__ import annotations

from corekit.hooks.specs import Verb, hookimpl

__all__ = ["corekit_verbs"]


@hookimpl
def corekit_verbs() -> list[Verb]:
    """The verbs of authors of plugins."""
    return [
        Verb(
            "new",
            "corekit_testing.cli.new:new",
            "A distribution of your own to start from, with a working example inside.",
        ),
        Verb(
            "conform", "corekit_testing.cli.conform:conform", "Whether a plugin keeps what its role promises."
        ),
    ]
