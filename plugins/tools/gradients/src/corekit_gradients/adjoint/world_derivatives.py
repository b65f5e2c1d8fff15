"""The derivatives of a world's steps, as tools ask for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, final

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.engine.world.world_system import WorldSystem
from corekit.errors import GradientError
from corekit.roles import derivatives as roles
from corekit.roles.derivatives import ModelTwins, RunDerivative, StateCovector, StepLinearisation, Twins
from corekit.roles.world import World
from corekit_gradients.adjoint.charts import Charts
from corekit_gradients.adjoint.sweep import Pullers, linearise_tape, sweep_back

__all__ = ["WorldDerivatives", "derivatives_of"]


@final
class WorldDerivatives:
    """Implements `corekit.roles.derivatives.WorldDerivatives`.

    Args:
        system: the world. state: one of its states.
    """

    def __init__(self, system: WorldSystem, state: State) -> None:
        self._system, self._charts = system, Charts(system.terms, state)
        self._pullers: Pullers | None = None

    def displace(self, state: State, displacement: Array, out: State) -> None:
        """Write q(δ) and its aux."""
        self._charts.displace(state, displacement, out)

    def difference(self, state: State, change: Array) -> Array:
        """δ for a change of coordinates."""
        return self._charts.difference(state, change)

    def sweep_back(
        self,
        tape: Sequence[Any],
        loss: Callable[[int], StateCovector | None],
        *,
        wants_inputs: bool | Collection[int] = False,
        twins: Sequence[Twins | ModelTwins] = (),
        progress: Callable[[int], object] | None = None,
        after: RunDerivative | None = None,
    ) -> RunDerivative:
        """Pull a loss back through a tape."""
        if self._pullers is None:
            self._pullers = Pullers.of(self._system, self._charts, tape[0].start)
        return sweep_back(
            self._pullers, tape, loss, wants_inputs=wants_inputs, twins=twins, progress=progress,
            after=after,
        )  # fmt: skip

    def linearise(self, tape: Sequence[Any]) -> StepLinearisation:
        """The derivative of the end of a tape by its start and by what its steps held."""
        return linearise_tape(self._system, self._charts, tape)


def derivatives_of(system: World, state: State) -> roles.WorldDerivatives:
    """Derivatives of the steps that a world froze, with the charts of its states, of which `state` is one.

    Raises:
        GradientError: its engine has none.
    """
    if isinstance(system, WorldSystem):
        return WorldDerivatives(system, state)
    if isinstance(system, roles.DifferentiableWorld):
        return system.derivatives(state)
    raise GradientError(
        f"{type(system).__name__} has no derivatives of its steps: use the engine 'step-equation', or ask the authors "
        "of this one for a `DifferentiableWorld` (corekit.roles.derivatives)"
    )
