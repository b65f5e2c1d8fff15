"""A small kernel and swappable plugins for simulating soft robots in contact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from corekit.version import __version__

if TYPE_CHECKING:
    from corekit.scenario.load import load

    Results: Any
    open: Any  # noqa: A001 - read as `corekit.open`

__all__ = ["Results", "__version__", "load", "open"]


def __getattr__(name: str) -> Any:
    """`load`, `open` and `Results` are imported at their first use, so that `import corekit` stays light."""
    if name == "load":
        from corekit.scenario.load import load

        return load
    if name == "Results":
        from corekit.simulation.installed_tools import results_class

        return results_class()
    if name == "open":
        from corekit.simulation.installed_tools import open_function

        return open_function()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Names that are imported at their first use, too."""
    return sorted({*globals(), *__all__})
