"""The verb that this distribution adds to the command line."""

from __future__ import annotations

from corekit.hooks.specs import Verb, hookimpl

__all__ = ["corekit_verbs"]


@hookimpl
def corekit_verbs() -> list[Verb]:
    """Return the verb `train`."""
    return [
        Verb(
            "train",
            "corekit_gym.cli.train:train",
            "A policy for a task, searched for by trial on every core.",
        )
    ]
