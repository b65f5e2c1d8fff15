"""What is checked: a plugin's spec, options and states, how to build it, and how to call it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from attrs import evolve, field, frozen

from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit.geometry.frames import Pose, rotation_from_rpy
from corekit.registry.discover import discover
from corekit.registry.resolve import find, load_spec, load_target, resolve
from corekit.registry.spec import ComponentSpec
from corekit.roles.component import (
    BuildContext,
    Component,
    InternalState,
    Stateful,
    collect_states,
    restore_states,
)
from corekit.roles.model import Model
from corekit.roles.options import ComponentRef
from corekit.scenario.dump import plain
from corekit.scenario.structure import structure

__all__ = ["SERIES", "Answer", "Session", "States", "Subject", "skew_context", "structured"]

States = Callable[[Model, np.random.Generator], State] | Sequence[Mapping[str, Any]]
"""States of a model: a function that makes a random one, or tables of `[bodies.initial]`."""


SERIES = (0, 2, 2, 3)
"""By how much the problems of a solver's session are larger than the smallest. The two in the middle, where a session
is saved and loaded, are of one size, so that an answer which is kept in secret to begin with shows.
"""


def skew_context() -> BuildContext:
    """A base that is moved and turned, and gravity along no axis: nothing cancels by symmetry."""
    base = Pose(np.array([0.4, -0.3, 0.2]), rotation_from_rpy((0.3, -0.9, 2.0)))
    return BuildContext(path="conformance", base=base, gravity=np.array([1.5, -2.0, -9.0]))


def structured(cls: Any, table: Mapping[str, Any], path: str) -> Any:
    """An attrs instance from a table, through what a scenario file can hold."""
    mistakes: list[Mistake] = []
    made = structure(cls, plain(table, path, mistakes), path, mistakes)
    if mistakes:
        raise ConfigError(mistakes, path)
    return made


@frozen(kw_only=True, eq=False)
class Subject:
    """A plugin under check.

    Args:
        spec: its light description.
        entry: `module:object` of the spec, for its import to be looked at.
        options: of its config, as in a scenario file.
        states: where a model is looked at; None: random displacements of its rest state, see `model_states`.
        spread: factor on the size of those displacements, for models with narrow limits.
        target: the class itself, if not the spec's.
        free_base: whether a model is built with a base that moves.
        shapes: kind → sizes [m] of shapes in the scenes of detectors, where those of the kit do not suit.
        world: a scenario that uses the component, for controllers in place of the kit's world; None without one.
    """

    spec: ComponentSpec
    entry: str
    options: Mapping[str, Any] = field(factory=dict)
    states: States | None = None
    spread: float = 1.0
    target: Callable[[Any, BuildContext], Any] | None = None
    free_base: bool = False
    shapes: Mapping[str, tuple[float, ...]] = field(factory=dict)
    world: Any = None

    @classmethod
    def installed(
        cls,
        role: str,
        name: str,
        options: Mapping[str, Any] | None = None,
        states: States | None = None,
        spread: float = 1.0,
        *,
        free_base: bool = False,
    ) -> Subject:
        """An installed plugin; raises PluginError where there is none of this name."""
        row = find(role, name, discover())
        return cls(
            spec=load_spec(row),
            entry=row.entry,
            options=options or {},
            states=states,
            spread=spread,
            free_base=free_base,
        )

    def config_class(self) -> Any:
        """The options class."""
        return load_target(self.spec.config)

    def config(self) -> Any:
        """The options as its attrs class."""
        return structured(self.config_class(), self.options, "options")

    def other_names(self) -> set[str]:
        """Names of the other components of its role that are installed, but for those that its options name."""
        others = {row.name for row in discover() if row.role == self.spec.role} - {self.spec.name}
        return others - {ref.use.rpartition(":")[2] for ref in _refs(self.config())}

    @property
    def is_stateful(self) -> bool:
        """Whether its class keeps internal state; true where a function stands for the class."""
        target = self.target or load_target(self.spec.target)
        return not isinstance(target, type) or issubclass(target, Stateful)

    def build(self, context: BuildContext | None = None) -> Any:
        """A new component."""
        return self.build_from(self.config(), context)

    def build_from(self, config: Any, context: BuildContext | None = None) -> Any:
        """A new component with a config of one's own."""
        context = context or BuildContext(path="conformance")
        target = self.target or load_target(self.spec.target)
        free_base = self.free_base or context.free_base
        return target(config, evolve(context, build=_build_named, provides=_words_of, free_base=free_base))


def _refs(config: Any) -> list[ComponentRef]:
    """The components that options name, in lists too."""
    values = [getattr(config, each.name) for each in attrs.fields(type(config))]
    nested = [entry for value in values for entry in (value if isinstance(value, tuple) else (value,))]
    return [entry for entry in nested if isinstance(entry, ComponentRef)]


def _words_of(role: str, use: ComponentRef) -> frozenset[str]:
    """The abilities that the spec of such a component promises."""
    return resolve(role, use.use).provides


def _build_named(role: str, use: ComponentRef) -> Any:
    """A component that a config names."""
    spec = resolve(role, use.use)
    config = structured(load_target(spec.config), use.options, f"{use.use}.options")
    return load_target(spec.target)(
        config, BuildContext(path=use.use, build=_build_named, provides=_words_of)
    )


@frozen(eq=False)
class Answer:
    """What one question gave.

    Args:
        given: what the component was handed, name → (as it was before, as it is after).
        found: what it answered, name → array (the very buffer or returned array).
    """

    given: Mapping[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]
    found: Mapping[str, np.ndarray[Any, Any]]


class Session(ABC):
    """A sequence of questions to one component; a new session has the same ones.

    Args:
        subject: what is checked.
        component: built by the subject.
        reuse: whether the buffers for answers are kept from question to question.
    """

    questions: int = 4

    def __init__(self, subject: Subject, component: Component, *, reuse: bool = False) -> None:
        self.subject = subject
        self.component = component
        self._reuse = reuse
        self._buffers: dict[str, Any] = {}

    def buffer(self, name: str, make: Callable[[], Any]) -> Any:
        """A buffer for an answer: a new one, or the one that holds the previous answer."""
        if not self._reuse:
            return make()
        if name not in self._buffers:
            self._buffers[name] = make()
        return self._buffers[name]

    @abstractmethod
    def ask(self, index: int) -> Answer:
        """Put question `index`."""

    def internal_state(self) -> InternalState:
        """Everything a continuation needs."""
        return collect_states({"own": self.component})

    def restore(self, internal_state: InternalState) -> None:
        """Restore what `internal_state` gave."""
        restore_states({"own": self.component}, internal_state)
