"""What this distribution adds: the verb `export`, and `corekit.open`."""

from __future__ import annotations

from corekit.hooks.specs import Verb, hookimpl

__all__ = ["corekit_open", "corekit_verbs"]


@hookimpl
def corekit_verbs() -> list[Verb]:
    """Return the verb `export`."""
    line = "A run for ParaView (.vtkhdf), Blender (.glb), USD (.usd) or MuJoCo (.mjcf)."
    return [Verb("export", "corekit_export.cli.export:export", line)]


@hookimpl
def corekit_open() -> str:
    """Return the function that is `corekit.open`."""
    return "corekit_export.tree:open_tree"
