"""The results of a run, read by the recorder that is installed: the kernel reads none itself."""

from __future__ import annotations

from typing import Any

from corekit.errors import PluginError
from corekit.hooks.installed import installed_hooks
from corekit.registry.first_party import RECORDER
from corekit.registry.resolve import load_target
from corekit.simulation.folder import RunFolder

__all__ = ["recorded_results", "results_class"]


def results_class() -> Any:
    """What `corekit.Results` is: the installed class that reads records.

    Raises:
        PluginError: none is installed.
    """
    target = installed_hooks().results()
    if not target:
        raise PluginError(
            f"corekit.Results reads records, and no recorder is installed: pip install {RECORDER}"
        )
    return load_target(target)


def recorded_results(folder: RunFolder) -> Any:
    """The results in a run's folder; the folder itself where no recorder is installed."""
    return results_class()(folder.path) if installed_hooks().results() else folder
