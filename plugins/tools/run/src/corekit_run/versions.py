"""Versions of everything that a run depends on, and in what two runs differ there."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

from corekit.distributions import KERNEL, import_path, version_of
from corekit.registry.discover import discover
from corekit.version import __version__

if TYPE_CHECKING:
    from corekit.simulation.loop import Simulation

__all__ = ["all_versions", "decisive", "version_differences", "versions_of"]


def all_versions(simulation: Simulation, others: Mapping[str, str]) -> dict[str, Any]:
    """Return the versions of kernel, Python, libraries, plugins of the simulation, and other distributions."""
    models = [body.model for body in simulation.bodies]
    components = [*models, *simulation.components.values(), simulation.integrator, simulation.system.solver]
    return versions_of((component for component in components if component is not None), others)


def decisive(versions: dict[str, Any]) -> dict[str, str]:
    """Select the versions of the kernel and the plugins, which decide what a run computes."""
    return {"corekit": versions["corekit"], **versions["plugins"]}


def versions_of(components: Iterable[object], others: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the versions of interpreter, platform, kernel, plugins of these components and libraries.

    Args:
        others: version of further distributions that are used.
    """
    packages = {type(component).__module__.partition(".")[0] for component in components}
    rows = [row for row in discover() if row.entry.partition(":")[0].partition(".")[0] in packages]
    plugins = dict(sorted({**(others or {}), **{row.distribution: row.version for row in rows}}.items()))
    return {
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "platform": platform.platform(),
        "corekit": __version__,
        "plugins": plugins,
        "libraries": dict(_libraries((KERNEL, *plugins), import_path())),
    }


@lru_cache(maxsize=32)
def _libraries(
    distributions: tuple[str, ...], _import_path: tuple[tuple[str, int], ...]
) -> Mapping[str, str]:
    """Return what the distributions require, with the installed versions; parsing metadata is slow."""
    from packaging.requirements import Requirement

    found: dict[str, str] = {}
    for name in distributions:
        try:
            lines = metadata.requires(name) or []
        except (metadata.PackageNotFoundError, UnicodeDecodeError):
            continue
        for line in lines:
            requirement = Requirement(line)
            if requirement.name in found:  # metadata are slow to parse
                continue
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
                continue
            version = version_of(requirement.name)
            if version is not None:
                found[requirement.name] = version
    found.pop(KERNEL, None)
    return dict(sorted(found.items()))


def version_differences(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return `name: was …, is …` for every version that differs."""
    return [
        f"{name}: was {then.get(name, 'absent')}, is {now.get(name, 'absent')}"
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    ]
