"""What a run takes from a scenario, and which versions of everything it depends on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from corekit.run.folder import versions_of
from corekit.run.simulation import Simulation

__all__ = ["Runnable", "all_versions", "decisive"]


class _Times(Protocol):
    @property
    def duration(self) -> float: ...


class _Kept(Protocol):
    @property
    def every(self) -> float: ...
    @property
    def directory(self) -> str: ...


class Runnable(Protocol):
    """What is needed of a scenario."""

    @property
    def name(self) -> str: ...
    @property
    def time(self) -> _Times: ...
    @property
    def output(self) -> _Kept: ...
    @property
    def watchdog(self) -> Any: ...
    def compose(self) -> Simulation: ...
    def given_text(self) -> str: ...
    def resolved_text(self) -> str: ...


def all_versions(simulation: Simulation, others: Mapping[str, str]) -> dict[str, Any]:
    """Of the kernel, Python, libraries, every plugin that the simulation uses, and of other distributions."""
    models = [body.model for body in simulation.bodies]
    components = [*models, *simulation.components.values(), simulation.integrator, simulation.system.solver]
    return versions_of((component for component in components if component is not None), others)


def decisive(versions: dict[str, Any]) -> dict[str, str]:
    """Those of the kernel and the plugins."""
    return {"corekit": versions["corekit"], **versions["plugins"]}
