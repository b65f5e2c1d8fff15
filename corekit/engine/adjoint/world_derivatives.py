"""The derivatives of a world's steps, as tools ask for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, final

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.engine.adjoint.charts import Charts
from corekit.engine.adjoint.sweep import Pullers, linearise_tape, sweep_back
from corekit.roles.derivatives import ModelTwins, RunDerivative, StateCovector, StepLinearisation, Twins

if TYPE_CHECKING:
    from corekit.engine.world.world_system import WorldSystem

__all__ = ["WorldDerivatives"]


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
