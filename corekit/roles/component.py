"""What every component is built with, and the internal state that some save and restore."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.errors import PluginError
from corekit.geometry.frames import Pose
from corekit.roles.options import ComponentRef

__all__ = [
    "BuildContext",
    "Component",
    "InternalState",
    "Rehearsed",
    "Seeded",
    "Stateful",
    "collect_states",
    "component_seed",
    "restore_states",
    "states_below",
]

InternalState = dict[str, np.ndarray[Any, Any]]
"""What a component carries from step to step, as named arrays."""


def _cannot_build(role: str, use: ComponentRef) -> Any:
    raise PluginError(f"no builder for {role} {use.use!r}: pass BuildContext(build=...) or run a scenario")


def _nothing(_role: str, _use: ComponentRef) -> frozenset[str]:
    return frozenset()


@frozen(eq=False)
class BuildContext:
    """What the kernel gives a component when it builds it, beside its own config.

    Every component class is called as `Class(config, context)`; `context` may be left out in tests.

    Args:
        path: where the component stands in the scenario, for messages, for example `bodies.arm`.
        base: pose of the body's base in the world (models).
        free_base: whether the base moves, carried by a joint, and starts at `base` (models with `free-base`).
        gravity: gravitational acceleration in the world [m/s²], shape (3,) (models, integrators).
        step: step of the scenario [s] (integrators).
        seed: seed of the component's own random stream.
        friction_law: name of the law of all contacts in the world (contact solvers).
        build: makes another component, named in the config by a `ComponentRef`, of a given role.
        provides: the words of abilities that its spec promises.
    """

    path: str = ""
    base: Pose = field(factory=Pose)
    free_base: bool = False
    gravity: Array = field(factory=lambda: np.array([0.0, 0.0, -9.81]))
    step: float = 1e-3
    seed: int = 0
    friction_law: str = "coulomb"
    build: Callable[[str, ComponentRef], Any] = _cannot_build
    provides: Callable[[str, ComponentRef], frozenset[str]] = _nothing


class Component:
    """Anything a scenario composes.

    The results of a component depend on its arguments, its config and its internal state, on nothing else. A component
    that carries anything from one step to the next derives from `Stateful`.
    """


class Stateful(Component, ABC):
    """A component with internal state: warm starts, caches that change results, history.

    A run that restores the internal state continues bit for bit.
    """

    @abstractmethod
    def internal_state(self) -> InternalState:
        """Return copies of all that the component carries from step to step."""

    @abstractmethod
    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore what `internal_state` returned; an empty mapping means a fresh start."""


class Seeded(Component, ABC):
    """A component with a random stream of its own."""

    @abstractmethod
    def reseed(self, seed: int) -> None:
        """Begin the stream anew, as if it was built with `BuildContext.seed` = `seed`."""


class Rehearsed(Component, ABC):
    """A component with kernels that few steps call."""

    @abstractmethod
    def rehearse(self, width: int, *, many_contacts: bool) -> None:
        """Call them on numbers of its own, so that they are loaded before the first step; results do not change.

        Args:
            width: rows per contact, 3, or 2 in a planar world.
            many_contacts: whether so many bodies may touch that their contacts are solved by islands.
        """


@lru_cache(maxsize=1024)  # NumPy's mixing of bits takes longer than making a small component
def component_seed(seed: int, path: str) -> int:
    """Return the seed of the component at a path of a scenario with a seed: no two components share a stream."""
    return int(np.random.SeedSequence([seed, *path.encode()]).generate_state(1)[0])


def collect_states(components: Mapping[str, object]) -> InternalState:
    """Return the internal states of all components that have one, each array under `name of the component/its name`."""
    return {
        f"{name}/{key}": array
        for name, component in components.items()
        if isinstance(component, Stateful)
        for key, array in component.internal_state().items()
    }


def restore_states(
    components: Mapping[str, object], internal_state: Mapping[str, np.ndarray[Any, Any]]
) -> None:
    """Restore what `collect_states` returned; a component without arrays starts afresh."""
    for name, component in components.items():
        if isinstance(component, Stateful):
            component.restore(states_below(f"{name}/", internal_state))


def states_below(prefix: str, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> InternalState:
    """Return the arrays whose names begin with a prefix, by what follows it."""
    return {name[len(prefix) :]: each for name, each in internal_state.items() if name.startswith(prefix)}
