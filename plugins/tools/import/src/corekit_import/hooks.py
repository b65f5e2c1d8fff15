"""What this distribution adds to the kernel: it replaces references to files in scenarios by what the files hold."""

from __future__ import annotations

from corekit.hooks.specs import hookimpl

__all__ = ["corekit_scenario_doubts", "corekit_scenario_imports"]


@hookimpl
def corekit_scenario_imports() -> list[str]:
    """The function that puts meshes and robots in the place of their files' names."""
    return ["corekit_import.expand:expand"]


@hookimpl
def corekit_scenario_doubts() -> list[str]:
    """The function that reports what of files was left out or is improbable."""
    return ["corekit_import.doubts:import_doubts"]
