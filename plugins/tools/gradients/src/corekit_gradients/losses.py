"""What a loss sees of an instant, and its derivative.

A loss is a function of an `Instant` that returns a number. Its derivative in the state is one of central differences,

    ∂ℓ/∂δ_j = (ℓ(q ⊕ ε·e_j) − ℓ(q ⊖ ε·e_j))/(2ε),     ∂ℓ/∂v_j alike,                                       (1)

which err by ε² and cost two calls per velocity and coordinate. A loss that knows better has a method `covector` of the
same instant, which returns (∂ℓ/∂δ, ∂ℓ/∂v), each of shape (nv,).

A loss of the end of a run may ask how contacts pushed in its last step, λ/h. Its derivative by λ, of differences as (1)
in any case, goes into the equations of that step, which λ solves as v⁺ does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import GradientError
from corekit.roles.body import frame_state
from corekit.roles.controller import FrameState
from corekit.roles.derivatives import RecordedStep, StateCovector, WorldDerivatives
from corekit.simulation.frames import find_body, find_frame
from corekit.simulation.loop import Simulation

__all__ = ["ContactForces", "Instant", "Loss", "differentiate", "evaluate"]

_STEP: Final = 2.0**-17


class ContactForces(NamedTuple):
    """How m contacts pushed in a step: what of them is differentiated.

    Args:
        names: whose shapes touch: a body, then a body or an obstacle. shapes: indices of the shapes, shape (m, 2).
        normal: mean force along the normal [N], shape (m,).
        tangential: along the tangents [N], shape (m, 2), in a planar world (m, 1).
        step: h [s]. ids: of the contacts, shape (m,).
    """

    names: tuple[tuple[str, str], ...]
    shapes: IntArray
    normal: Array
    tangential: Array
    step: float
    ids: IntArray

    @classmethod
    def of(cls, simulation: Simulation) -> ContactForces:
        """Those of the last grid step of a simulation."""
        record = simulation.contacts()
        h = record.step_size or simulation.step_length
        return cls(
            record.names, record.shape, record.normal_impulse / h, record.tangential_impulse / h, h, record.id
        )

    def as_recorded(self, last: RecordedStep) -> ContactForces | None:
        """Those with a derivative, of the record of the last step: all, or None where it has other contacts."""
        pushed = last.pushed
        if pushed is None:
            return None if len(self.names) else self
        if pushed.step != self.step or not np.array_equal(pushed.id, self.ids):
            return None
        return self._replace(tangential=self.tangential[:, : pushed.width - 1])


@final
class Instant:
    """A state of a world.

    Args:
        simulation: of the world. state: there. contacts: of the step that ended there, where they are known.
    """

    def __init__(self, simulation: Simulation, state: State, contacts: ContactForces | None = None) -> None:
        self._simulation, self.state, self._contacts = simulation, state, contacts
        self.asked_for_contacts = False

    def with_contacts(self, contacts: ContactForces) -> Instant:
        """The same state after other forces of contacts."""
        return Instant(self._simulation, self.state, contacts)

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

    @property
    def contacts(self) -> ContactForces:
        """How contacts pushed in the step that ended here.

        Raises:
            GradientError: this is not the end of a run, or what they did there has no derivative.
        """
        if self._contacts is None:
            raise GradientError(
                f"a loss asks for contacts at t = {self.time:.6g} s: they are known where they push by impulses, "
                "at the end of a run without checkpoints whose last step nothing cut and whose contacts no area joins"
            )
        self.asked_for_contacts = True
        return self._contacts

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
    loss: Loss,
    simulation: Simulation,
    charts: WorldDerivatives,
    state: State,
    contacts: ContactForces | None = None,
) -> StateCovector:
    """∂ℓ/∂x at a state, by the loss itself or by (1), and ∂ℓ/∂λ of the contacts if it asks for them."""
    own = getattr(loss, "covector", None)
    if own is not None:
        at = Instant(simulation, state, contacts)
        by_displacement, by_velocity = (np.asarray(each, dtype=float) for each in own(at))
        evaluate(loss, at)
        return StateCovector(by_displacement, by_velocity, _by_impulse(loss, at, contacts))
    nv = simulation.system.nv
    moved, move = state.copy(), np.zeros(nv)
    by_displacement, by_velocity = np.zeros((2, nv))
    at = Instant(simulation, moved, contacts)
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
    return StateCovector(by_displacement, by_velocity, _by_impulse(loss, at, contacts))


def _by_impulse(loss: Loss, at: Instant, contacts: ContactForces | None) -> Array | None:
    """∂ℓ/∂λ of the contacts that push, shape (m, width); None where the loss did not ask for them."""
    if contacts is None or not at.asked_for_contacts:
        return None
    given = np.column_stack([contacts.normal, contacts.tangential])
    size, out = _STEP * np.abs(given).max(initial=0.0), np.zeros_like(given)
    for i in np.flatnonzero(contacts.normal).tolist():
        for j in range(given.shape[1]):
            ends = []
            for change in (size, -size):
                moved = given.copy()
                moved[i, j] += change
                there = contacts._replace(normal=moved[:, 0], tangential=moved[:, 1:])
                ends.append(evaluate(loss, at.with_contacts(there)))
            out[i, j] = (ends[0] - ends[1]) / (2.0 * size * contacts.step)
    return out
