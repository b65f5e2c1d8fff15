"""What this distribution adds to the kernel: many worlds in one call, and many steps of one."""

from __future__ import annotations

from corekit.hooks.specs import hookimpl

__all__ = ["corekit_batch"]


@hookimpl
def corekit_batch() -> str:
    """The class that `Scenario.batch` makes."""
    return "corekit_batch.batch:Batch"
