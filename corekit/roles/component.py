"""What every component is built with, and how it hands over what it remembers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.errors import PluginError
from corekit.geometry.frames import Pose
from corekit.roles.options import ComponentRef

__all__ = ["BuildContext", "Component", "InternalState"]

InternalState = dict[str, np.ndarray[Any, Any]]
"""What a component remembers between steps, as named arrays."""


def _cannot_build(role: str, use: ComponentRef) -> Any:
    raise PluginError(f"no builder for {role} {use.use!r}: pass BuildContext(build=...) or run a scenario")


@frozen(eq=False)
class BuildContext:
    """What the kernel tells a component when it builds it, beside its own config.

    Every component class is called as `Class(config, context)`; `context` may be left out in tests.

    Args:
        path: where the component stands in the scenario, for messages, for example `bodies.arm`.
        base: pose of the body's base in the world (models).
        gravity: gravitational acceleration in the world [m/s²], shape (3,) (models).
        step: step of the scenario [s] (integrators).
        seed: seed of the component's own random stream.
        friction_law: name of the law of all contacts in the world (contact solvers).
        build: makes another component, named in the config by a `ComponentRef`, of a given role.
    """

    path: str = ""
    base: Pose = field(factory=Pose)
    gravity: Array = field(factory=lambda: np.array([0.0, 0.0, -9.81]))
    step: float = 1e-3
    seed: int = 0
    friction_law: str = "coulomb"
    build: Callable[[str, ComponentRef], Any] = _cannot_build


class Component(ABC):
    """Anything a scenario composes.

    A component's answers depend on its arguments, its config and its memory, on nothing else: with
    the memory handed over and taken back, a run continues bit for bit.
    """

    @abstractmethod
    def internal_state(self) -> InternalState:
        """What it remembers between steps (warm starts, contact cache, history): copies, or an empty dict."""

    @abstractmethod
    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over a memory that `internal_state()` gave; an empty one means a fresh start."""
