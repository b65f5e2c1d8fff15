"""Parameters of a run: numbers of its scenario, by their paths, and the world with others.

A path names a number, `bodies.arm.options.stiffness`, or a list, of which every entry is a parameter. It is moved by
±ε, ε = 2⁻¹⁵ of its size: by other models of a body where that is all that changes, else by twins of the world. Where a
number cannot be moved one way, as a friction of 0, it is moved by ε the other way alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import ConfigError, GradientError
from corekit.roles.derivatives import ModelTwins, Twins
from corekit.simulation.loop import Simulation
from corekit_gradients.adjoint.world_derivatives import derivatives_of

__all__ = ["Pair", "Parameter", "find_parameters", "make_pair", "start_slope", "world_slope"]

_STEP: Final = 2.0**-15
_LENGTHS = ("time.",)


class Parameter(NamedTuple):
    """A number at a path, or the entry of a list there; value is that of the whole entry of the scenario."""

    path: str
    index: tuple[int, ...]
    value: Any

    @property
    def name(self) -> str:
        """Path and index."""
        return self.path + "".join(f"[{i}]" for i in self.index)

    @property
    def number(self) -> float:
        """What it is."""
        return float(np.asarray(self.value)[self.index])

    def moved(self, change: float) -> dict[str, Any]:
        """Path → the entry with this number changed."""
        value = np.array(self.value, dtype=float)
        value[self.index] += change
        return {self.path: value.tolist()}


def find_parameters(simulation: Simulation, paths: Sequence[str]) -> list[Parameter]:
    """The numbers at some paths.

    Raises:
        GradientError: a path names no numbers, or lengths of steps, which are data of a run.
    """
    if isinstance(paths, str):
        paths = (paths,)
    if paths and simulation.renew is None:
        raise GradientError("only a simulation that a scenario composed has parameters")
    found: list[Parameter] = []
    for path in paths:
        if path.startswith(_LENGTHS):
            raise GradientError(
                f"{path!r}: lengths of steps are data of a run, which is not differentiated by them"
            )
        assert simulation.renew is not None
        value = simulation.renew.value(path)
        try:
            numbers = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            numbers = np.zeros(0)
        if isinstance(value, (bool, str)) or not numbers.size or not np.isfinite(numbers).all():
            raise GradientError(
                f"{path!r} is {value!r} in the scenario: a parameter is a number or a list of numbers"
            )
        found += [Parameter(path, tuple(map(int, index)), value) for index in np.ndindex(numbers.shape)]
    return found


class Pair(NamedTuple):
    """The world with a parameter moved ahead and behind, and half of the distance between them.

    Args:
        ahead, behind: worlds of their own, or None where other models of a body are all that changes: then the world
            itself, with either model.
        size: ε. starts: states where runs begin. models: of the body by its index.
    """

    ahead: Simulation | None
    behind: Simulation | None
    size: float
    starts: tuple[State, State]
    models: ModelTwins | None

    @property
    def twins(self) -> Twins | ModelTwins:
        """As a sweep takes them."""
        if self.models is not None:
            return self.models
        assert self.ahead is not None and self.behind is not None
        return Twins(self.ahead.system, self.behind.system, self.size)


def make_pair(simulation: Simulation, parameter: Parameter) -> Pair:
    """The world with a parameter moved both ways, as of `Pair`.

    Raises:
        GradientError: it can be moved neither way.
    """
    renew, size = simulation.renew, _STEP * (abs(parameter.number) or 1.0)
    assert renew is not None
    one = renew.other_models(simulation, parameter.moved(size))
    other = None if one is None else renew.other_models(simulation, parameter.moved(-size))
    if one is not None and other is not None:
        (name,) = one[0]
        models = ModelTwins(simulation.body(name).index, one[0][name], other[0][name], size)
        return Pair(None, None, size, (one[1], other[1]), models)
    made: list[tuple[Simulation, float]] = []
    refused: ConfigError | None = None
    for change in (size, -size):
        try:
            made.append((renew.twin(parameter.moved(change)), change))
        except ConfigError as error:
            refused = error
    if not made:
        raise GradientError(f"{parameter.name} cannot be moved: {refused}")
    if len(made) == 1:
        made.append((renew.twin(parameter.moved(0.0)), 0.0))
    (ahead, most), (behind, least) = sorted(made, key=lambda each: -each[1])
    return Pair(ahead, behind, 0.5 * (most - least), (ahead.state.copy(), behind.state.copy()), None)


def start_slope(simulation: Simulation, pair: Pair) -> tuple[Array, Array]:
    """Displacement and v of the start per unit of a parameter; zero where the start is not the scenario's."""
    here, (ahead, behind) = simulation.state, pair.starts
    middle = 0.5 * (ahead.qv + behind.qv)
    nv = simulation.system.nv
    if simulation.step_index or np.abs(middle - here.qv).max(initial=0.0) > 1e-3 * (
        1.0 + np.abs(here.qv).max()
    ):
        return np.zeros(nv), np.zeros(nv)
    if ahead.qv.tobytes() == behind.qv.tobytes():
        return np.zeros(nv), np.zeros(nv)
    moved = derivatives_of(simulation.system, here).difference(here, ahead.q - behind.q)
    return moved / (2.0 * pair.size), (ahead.v - behind.v) / (2.0 * pair.size)


def world_slope(held: Callable[[Simulation], float], simulation: Simulation, pair: Pair) -> float:
    """The derivative of a loss of given states by a parameter, which moves frames at the same coordinates.

    Lengths and places of bases do; what it does to the states comes by the equations of the steps.

    Args:
        held: the loss of these states in a world. simulation: the world.
    """
    if pair.models is None:
        assert pair.ahead is not None and pair.behind is not None
        return (held(pair.ahead) - held(pair.behind)) / (2.0 * pair.size)
    body, ends = simulation.bodies[pair.models.body], []
    kept = body.model
    try:
        for model in (pair.models.ahead, pair.models.behind):
            simulation.replace_models({body.name: model})
            ends.append(held(simulation))
    finally:
        simulation.replace_models({body.name: kept})
    return (ends[0] - ends[1]) / (2.0 * pair.size)
