"""Parameters of a run: numbers of its scenario, by their paths, and twins of the world that have others.

A path names a number, `bodies.arm.options.stiffness`, or a list, of which every entry is a parameter. A twin has one
parameter moved by ±ε, ε = 2⁻¹⁵ of its size; where a number cannot be moved one way, as a friction of 0, by ε the other
way alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, GradientError
from corekit.roles.derivatives import Twins
from corekit.simulation.loop import Simulation

__all__ = ["Parameter", "as_twins", "find_parameters", "make_twins", "start_slope", "world_slope"]

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


def make_twins(simulation: Simulation, parameter: Parameter) -> tuple[Simulation, Simulation, float]:
    """Twins with a parameter moved ahead and behind, and half of the distance between them.

    Raises:
        GradientError: it can be moved neither way.
    """
    renew, size = simulation.renew, _STEP * (abs(parameter.number) or 1.0)
    assert renew is not None
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
    (one, ahead), (other, behind) = made
    return (one, other, 0.5 * (ahead - behind)) if ahead > behind else (other, one, 0.5 * (behind - ahead))


def start_slope(
    simulation: Simulation, ahead: Simulation, behind: Simulation, size: float
) -> tuple[Array, Array]:
    """Displacement and v of the start per unit of a parameter; zero where the start is not the scenario's."""
    here = simulation.state
    middle = 0.5 * (ahead.state.qv + behind.state.qv)
    nv = simulation.system.nv
    if simulation.step_index or np.abs(middle - here.qv).max(initial=0.0) > 1e-3 * (
        1.0 + np.abs(here.qv).max()
    ):
        return np.zeros(nv), np.zeros(nv)
    moved = simulation.system.derivatives(here).difference(here, ahead.state.q - behind.state.q)
    return moved / (2.0 * size), (ahead.state.v - behind.state.v) / (2.0 * size)


def world_slope(
    held: Callable[[Simulation], float], ahead: Simulation, behind: Simulation, size: float
) -> float:
    """The derivative of a loss of given states by a parameter, which moves frames at the same coordinates.

    Lengths and places of bases do; what it does to the states comes by the equations of the steps.

    Args:
        held: the loss of these states in a world.
    """
    return (held(ahead) - held(behind)) / (2.0 * size)


def as_twins(made: tuple[Simulation, Simulation, float]) -> Twins:
    """The worlds of two twins."""
    ahead, behind, size = made
    return Twins(ahead.system, behind.system, size)
