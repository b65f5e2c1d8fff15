"""What a loss sees of an instant, and its derivative.

A loss is a function of an `Instant` that returns a number. Its derivative in the state is one of central differences,

    ∂ℓ/∂δ_j = (ℓ(q ⊕ ε·e_j) − ℓ(q ⊖ ε·e_j))/(2ε),     ∂ℓ/∂v_j alike,                                       (1)

which err by ε² and cost two calls per velocity and coordinate. A loss that knows better has a method `covector` of the
same instant, which returns (∂ℓ/∂δ, ∂ℓ/∂v), each of shape (nv,).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import GradientError
from corekit.roles.body import frame_state
from corekit.roles.controller import FrameState
from corekit.roles.derivatives import StateCovector, WorldDerivatives
from corekit.simulation.frames import find_body, find_frame
from corekit.simulation.loop import Simulation

__all__ = ["Instant", "Loss", "differentiate", "evaluate"]

_STEP: Final = 2.0**-17


@final
class Instant:
    """A state of a world.

    Args:
        simulation: of the world. state: there.
    """

    def __init__(self, simulation: Simulation, state: State) -> None:
        self._simulation, self.state = simulation, state

    @property
    def time(self) -> float:
        """Time [s]."""
        return self.state.time

    @property
    def q(self) -> Array:
        """Coordinates of all bodies, shape (nq,)."""
        return self.state.q

    @property
    def v(self) -> Array:
        """Velocities of all bodies, shape (nv,)."""
        return self.state.v

    def body(self, name: str) -> State:
        """The state of a body."""
        return self.state.body_states[find_body(self._simulation.bodies, name).index]

    def frame(self, name: str) -> FrameState:
        """Pose and velocities of a frame, by `body.frame`."""
        body, index = find_frame(self._simulation.bodies, name)
        return frame_state(body, self.state.body_states[body.index], index)

    def energies(self) -> tuple[float, float]:
        """Kinetic and potential energy of all bodies [J].

        Raises:
            GradientError: a body has none.
        """
        kinetic = potential = 0.0
        for body, own in zip(self._simulation.bodies, self.state.body_states, strict=True):
            if body.abilities.energy is None:
                raise GradientError(
                    f"the model of body {body.name!r} gives no energy, which the loss asks for"
                )
            one, other = body.abilities.energy.compute_energies(own)
            kinetic, potential = kinetic + one, potential + other
        return kinetic, potential


Loss = Callable[[Instant], float]
"""A number [-] of an instant, smooth in q and v."""


def evaluate(loss: Loss, instant: Instant) -> float:
    """The loss at an instant.

    Raises:
        GradientError: it is no finite number.
    """
    value = loss(instant)
    if not (np.ndim(value) == 0 and np.isfinite(value)):
        raise GradientError(f"the loss is {value!r} at t = {instant.time:.6g} s; it must be a finite number")
    return float(value)


def differentiate(
    loss: Loss, simulation: Simulation, charts: WorldDerivatives, state: State
) -> StateCovector:
    """∂ℓ/∂x at a state, by the loss itself or by (1)."""
    own = getattr(loss, "covector", None)
    if own is not None:
        by_displacement, by_velocity = own(Instant(simulation, state))
        return StateCovector(np.asarray(by_displacement, dtype=float), np.asarray(by_velocity, dtype=float))
    nv = simulation.system.nv
    moved, move = state.copy(), np.zeros(nv)
    by_displacement, by_velocity = np.zeros((2, nv))
    at = Instant(simulation, moved)
    for j in range(nv):
        move[j] = _STEP
        charts.displace(state, move, moved)
        ahead = evaluate(loss, at)
        move[j] = -_STEP
        charts.displace(state, move, moved)
        by_displacement[j] = (ahead - evaluate(loss, at)) / (2.0 * _STEP)
        move[j] = 0.0
    moved.copy_from(state)
    for j in range(nv):
        size = _STEP * max(1.0, abs(state.v[j]))
        moved.v[j] = state.v[j] + size
        ahead = evaluate(loss, at)
        moved.v[j] = state.v[j] - size
        by_velocity[j] = (ahead - evaluate(loss, at)) / (2.0 * size)
        moved.v[j] = state.v[j]
    return StateCovector(by_displacement, by_velocity)
