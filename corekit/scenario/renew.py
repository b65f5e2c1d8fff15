"""Other parameters for a composed simulation: bodies get new models where only numbers change."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, final

import attrs
import numpy as np

from corekit.data.state import State
from corekit.errors import ControlError, CorekitError
from corekit.roles.code import code_allowed
from corekit.roles.model import Model
from corekit.scenario.component_selection import load_config
from corekit.scenario.compose import Builder
from corekit.scenario.dump import resolved_document
from corekit.scenario.initial_states import initialise, read_initials
from corekit.scenario.load import with_values
from corekit.scenario.overrides import path_steps
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation

__all__ = ["Renewal"]


@final
class Renewal:
    """Gives the simulation of a scenario other parameters, those of earlier calls included.

    Numbers among the options of a body make a new model alone, which a model that can (`new-numbers`) derives from the
    old one. The body gets it if its description and the structure of its matrices are the same, because all that
    composition derives follows from them. In every other case, and where joints or an equilibrium tie the start to
    several bodies, the scenario is composed anew; the result is the same, to the bit.

    Args:
        scenario: as it was composed.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._changes: dict[str, Any] = {}
        self._builder = Builder(scenario)
        self._configs: dict[str, Any] = {}
        self._initials: dict[str, Any] = {}
        tied = bool(scenario.joints) or any(body.base.moves for body in scenario.bodies)
        self._is_tied = tied or scenario.start == "equilibrium"

    def __call__(self, simulation: Simulation, parameters: Mapping[str, Any]) -> None:
        """Give a simulation at its start other parameters, path in the scenario → value.

        Raises:
            CorekitError: as from `load` and `compose`; the simulation is then as before.
        """
        # the newest change comes last: two paths may mean one entry
        changes = {path: value for path, value in self._changes.items() if path not in parameters}
        changes |= parameters
        with code_allowed(self._scenario.allow_code):
            try:
                self._replace_models(simulation, parameters)
            except (CorekitError, LookupError, AttributeError, TypeError, ValueError):
                # more than numbers changes, or a value is wrong, which loading the scenario says
                simulation.become(with_values(self._scenario, changes).compose())
                return
        self._changes = changes
        simulation.mark_start(self)

    def twin(self, parameters: Mapping[str, Any]) -> Simulation:
        """Compose the scenario with the changes so far and others."""
        return with_values(self._scenario, {**self._changes, **parameters}).compose()

    def value(self, path: str) -> Any:
        """What an entry of the scenario is now.

        Raises:
            ControlError: there is no such entry.
        """
        place: Any = resolved_document(with_values(self._scenario, self._changes))
        try:
            for step in path_steps(path):
                if isinstance(place, list) and isinstance(step, str):
                    place = next(each for each in place if each.get("name") == step)
                else:
                    place = place[step]
        except (LookupError, TypeError, StopIteration):
            raise ControlError(f"the scenario has no entry {path!r}") from None
        return place

    def other_models(
        self, simulation: Simulation, parameters: Mapping[str, Any]
    ) -> tuple[dict[str, Model], State] | None:
        """Models of a simulation's bodies with other parameters, and the start with them; it stays as it is.

        None where more than models changes, or a value is wrong, which composing a twin says.
        """
        kept = simulation.internal_state()
        with code_allowed(self._scenario.allow_code):
            try:
                models, _ = self._make_models(simulation, parameters)
                replaced = {name: simulation.body(name).model for name in models}
                self._use(simulation, models)
            except (CorekitError, LookupError, AttributeError, TypeError, ValueError):
                simulation.restore(kept)
                return None
        start = simulation.state.copy()
        simulation.replace_models(replaced)
        simulation.restore(kept)
        return models, start

    def _replace_models(self, simulation: Simulation, parameters: Mapping[str, Any]) -> None:
        models, configs = self._make_models(simulation, parameters)
        self._use(simulation, models)
        self._configs |= configs

    def _make_models(
        self, simulation: Simulation, parameters: Mapping[str, Any]
    ) -> tuple[dict[str, Model], dict[str, Any]]:
        """Models with other parameters, and their options."""
        if self._is_tied:
            raise ValueError("the start depends on several bodies")
        tables = {body.name: body for body in self._scenario.bodies}
        configs: dict[str, Any] = {}
        for path, value in parameters.items():
            group, entry, part, *inner = path_steps(path)
            if (group, part) != ("bodies", "options"):
                raise ValueError(f"{path} is no option of a body")
            name = self._scenario.bodies[entry].name if isinstance(entry, int) else entry
            table = tables[name]
            if name not in self._configs:
                spec, _ = self._builder.target("models", table.use, f"bodies.{name}")
                self._configs[name] = load_config(spec, table.options, f"bodies.{name}.options")
            configs[name] = _with_number(configs.get(name, self._configs[name]), inner, value)
        self._builder.made.clear()
        models: dict[str, Model] = {}
        for name, config in configs.items():
            able = simulation.body(name).abilities.new_numbers
            model = None if able is None else able.with_numbers(config)
            models[name] = self._builder.build_model(tables[name], config) if model is None else model
        changed_form = any(
            not _is_same(simulation.body(name).model.description, model.description)
            for name, model in models.items()
        )
        if changed_form or len(self._builder.made) > len(models):
            raise ValueError("what was derived from a model's description has to be derived anew")
        return models, configs

    def _use(self, simulation: Simulation, models: Mapping[str, Model]) -> None:
        """Give a simulation other models and the start that they have."""
        replaced = {name: simulation.body(name).model for name in models}
        try:
            simulation.replace_models(models)
            for name in ("q", "v", "aux"):
                getattr(simulation.state, name)[:] = 0.0
            if not self._initials:
                tables = {body.name: body for body in self._scenario.bodies}
                specs = {
                    name: self._builder.target("models", each.use, name)[0] for name, each in tables.items()
                }
                self._initials = read_initials(self._scenario, specs)
            initialise(simulation, self._scenario, self._initials, ())
        except BaseException:  # whatever a model raises, its simulation keeps the models that it has
            simulation.replace_models(replaced)
            raise


def _with_number(old: Any, steps: Sequence[str | int], value: Any) -> Any:
    """Return a config in which a path leads to another number, or to as many other numbers, checked by its options."""
    if not steps:
        return _converted(old, value)
    step, *rest = steps
    if attrs.has(type(old)) and isinstance(step, str):
        inner, converter = getattr(old, step), getattr(attrs.fields(type(old)), step).converter
        if converter is not None and not rest and isinstance(value, numbers.Real) and inner == inner[:1]:
            value = (value,)  # an option that may be given as a list, or one number for all
        return attrs.evolve(old, **{step: _with_number(inner, rest, value)})
    if isinstance(old, Mapping):
        return {**old, step: _with_number(old[step], rest, value)}
    if not isinstance(old, tuple):
        raise TypeError("no part of an option")
    place = step if isinstance(step, int) else [getattr(each, "name", None) for each in old].index(step)
    return (*old[:place], _with_number(old[place], rest, value), *old[place + 1 :])


def _converted(old: Any, value: Any) -> Any:
    if isinstance(old, tuple) and isinstance(value, (list, tuple, np.ndarray)) and len(old) == len(value):
        return tuple(_converted(one, other) for one, other in zip(old, value, strict=True))
    kind = numbers.Integral if isinstance(old, int) else numbers.Real
    is_number = isinstance(value, kind) and not isinstance(value, bool) and value == value  # nan is none
    if type(old) not in (int, float) or not is_number:
        raise TypeError("not a number in place of a number")
    return type(old)(value)


def _is_same(one: Any, other: Any) -> bool:
    """Whether two descriptions agree in all but `doubts`, which only `corekit check` reads."""
    kind = type(one)
    if one is other or kind is not type(other):
        return one is other
    if kind is np.ndarray:
        return one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if kind is tuple:
        return len(one) == len(other) and all(map(_is_same, one, other))
    if kind.__eq__ is not object.__eq__:
        return bool(one == other)
    fields = _fields_of(kind)
    return _is_same(fields(one), fields(other))


@cache
def _fields_of(kind: type) -> Callable[[Any], Any]:
    return attrgetter(*(name for name in attrs.fields_dict(kind) if name != "doubts"))
