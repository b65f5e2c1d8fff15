"""The state of a body or of the whole world: time, coordinates, velocities, auxiliary memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corekit.data.arrays import Array

__all__ = ["State"]

_EMPTY = np.zeros(0)


class State:
    """Mutable buffers of one state; the world's state holds its bodies' states as views.

    Attributes:
        time: t [s]; a state and its parts have one.
        q: coordinates, shape (nq,); units are in the description.
        v: velocities, shape (nv,).
        aux: what the model remembers beside q and v (reference frames, unwrapped angles), shape (na,).
        qv: q and v side by side, of which the two above are views, shape (nq + nv,); empty in a
            body's own state.
        body_states: the bodies' states, views into the arrays above; empty for a body's own state.
    """

    __slots__ = ("_clock", "aux", "body_states", "q", "qv", "v")

    def __init__(self, q: Array, v: Array, aux: Array, time: float = 0.0) -> None:
        self._clock = [time]  # one for the world's state and its parts
        self.q, self.v, self.aux = q, v, aux
        self.qv = _EMPTY
        self.body_states: tuple[State, ...] = ()

    @classmethod
    def zeros(cls, coordinates: int, velocities: int, aux: int = 0) -> State:
        """A zeroed state of the given sizes."""
        return cls(np.zeros(coordinates), np.zeros(velocities), np.zeros(aux))

    @classmethod
    def stacked(cls, sizes: Sequence[tuple[int, int, int]]) -> State:
        """A world state whose parts have the given sizes (nq, nv, na), stacked in order."""
        coordinates = velocities = aux = 0
        for nq, nv, na in sizes:
            coordinates, velocities, aux = coordinates + nq, velocities + nv, aux + na
        motion = np.zeros(coordinates + velocities)
        world = cls(motion[:coordinates], motion[coordinates:], np.zeros(aux))
        world.qv = motion
        parts: list[State] = []
        iq = iv = ia = 0
        for nq, nv, na in sizes:
            part = cls(world.q[iq : iq + nq], world.v[iv : iv + nv], world.aux[ia : ia + na])
            part._clock = world._clock
            parts.append(part)
            iq, iv, ia = iq + nq, iv + nv, ia + na
        world.body_states = tuple(parts)
        return world

    @property
    def time(self) -> float:
        """Time t [s]."""
        return self._clock[0]

    @time.setter
    def time(self, value: float) -> None:
        self._clock[0] = value

    def copy_from(self, other: State) -> None:
        """Copy time and every array of `other` (same sizes)."""
        self.time = other.time
        self.q[:] = other.q
        self.v[:] = other.v
        self.aux[:] = other.aux

    def copy(self) -> State:
        """An independent copy; parts become views into the copy."""
        twin = (
            State.stacked([(p.q.size, p.v.size, p.aux.size) for p in self.body_states])
            if self.body_states
            else State(np.empty_like(self.q), np.empty_like(self.v), np.empty_like(self.aux))
        )
        twin.copy_from(self)
        return twin
