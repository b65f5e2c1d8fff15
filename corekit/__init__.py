"""A small kernel and swappable plugins for simulating soft robots in contact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corekit.scenario.load import load

__all__ = ["__version__", "load"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`corekit.load` is imported at its first use, so that `import corekit` stays light."""
    if name == "load":
        from corekit.scenario.load import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
