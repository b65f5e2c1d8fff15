"""What this distribution adds to the kernel: `Simulation.gradient`, `Simulation.linearise`, `Scenario.objective`."""

from __future__ import annotations

from corekit.hooks.specs import hookimpl

__all__ = ["corekit_gradient_tool"]


@hookimpl
def corekit_gradient_tool() -> str:
    """The functions that the kernel calls."""
    return "corekit_gradients.tool:GradientTool"
