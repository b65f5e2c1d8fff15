"""What this distribution adds to the kernel: gradients of simulations and scenarios, and the verb `optimise`."""

from __future__ import annotations

from corekit.hooks.specs import Verb, hookimpl

__all__ = ["corekit_gradient_tool", "corekit_verbs"]


@hookimpl
def corekit_gradient_tool() -> str:
    """The functions that the kernel calls."""
    return "corekit_gradients.tool:GradientTool"


@hookimpl
def corekit_verbs() -> list[Verb]:
    """Return the verb `optimise`."""
    return [
        Verb(
            "optimise",
            "corekit_gradients.cli.optimise:optimise",
            "Inputs or numbers of a scenario for a loss, by gradients through contact.",
        )
    ]
