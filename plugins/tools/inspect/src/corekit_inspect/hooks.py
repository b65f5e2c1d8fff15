"""What this distribution adds to the kernel: the verbs that inspect an installation."""

from __future__ import annotations

from corekit.hooks.specs import Verb, hookimpl

__all__ = ["corekit_verbs"]


@hookimpl
def corekit_verbs() -> list[Verb]:
    """The verbs `list`, `info` and `doctor`."""
    return [
        Verb("list", "corekit_inspect.cli.listing:list_components", "What is installed, and what could be."),
        Verb(
            "info",
            "corekit_inspect.cli.info:info",
            "A component and its options; or a run and how it went.",
        ),
        Verb(
            "doctor",
            "corekit_inspect.cli.doctor:doctor",
            "Whether everything installed works, and what is missing.",
        ),
    ]
