"""A body in the world: its model, its name, its place in the stacked vectors, and its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.data.signals import Signal
from corekit.errors import CompositionError
from corekit.roles.friction import SurfaceFriction, surface_friction
from corekit.roles.model import Model, ModelDescription

__all__ = ["ROUNDING", "Body", "BodyInputs", "stack_bodies", "stacked_reach"]

ROUNDING = 1e-12
"""How far apart two instants are the same but for rounding, relative to 1 s + t."""


class BodyInputs:
    """The stacked input vector u(t) of one body: signals by channel, zero where none is given.

    Attributes:
        signals: those that were given. constant: whether u never changes.
        buffer: u as it was asked for last, shape (nu,).
    """

    def __init__(self, description: ModelDescription, signals: Mapping[str, Signal], where: str) -> None:
        self.buffer = np.zeros(description.input_size)
        known = {channel.name: channel for channel in description.inputs}
        for name, signal in signals.items():
            if name not in known:
                offered = ", ".join(known) or "none"
                raise CompositionError(
                    f"{where}: there is no input channel {name!r}; this model has {offered}"
                )
            if signal.size not in (1, known[name].size):
                raise CompositionError(
                    f"{where}: channel {name!r} takes {known[name].size} numbers [{known[name].unit}] or one for all, "
                    f"the signal gives {signal.size}"
                )
        self._varying: list[tuple[Signal, Array]] = []
        offset = 0
        for channel in description.inputs:
            signal = signals.get(channel.name)
            view = self.buffer[offset : offset + channel.size]
            offset += channel.size
            if signal is None:
                continue
            signal.value(0.0, view)
            if not signal.constant:
                self._varying.append((signal, view))
        self.signals = tuple(signals.values())
        self.constant = not self._varying

    def at(self, time: float) -> Array:
        """u(t), shape (nu,); the same buffer at every call."""
        for signal, view in self._varying:
            signal.value(time, view)
        return self.buffer

    def breakpoints(self, t0: float, t1: float) -> list[float]:
        """Kinks of the signals in (t0, t1] [s]."""
        return [t for signal in self.signals for t in signal.breakpoints(t0, t1)]


@frozen(eq=False)
class Body:
    """A body of the world.

    Args:
        name: as in the scenario.
        model: who computes it.
        abilities: what its spec declares, e.g. `point-jacobian`.
        inputs: u(t).
        layout: the model's.
        friction: of its surfaces, or None.
        index: its place among the bodies.
        first_q, first_v, first_aux, first_frame, first_shape: offsets in the stacked arrays.
    """

    name: str
    model: Any = field(repr=False)
    abilities: frozenset[str]
    inputs: BodyInputs = field(repr=False)
    description: ModelDescription = field(repr=False)
    friction: SurfaceFriction | None = field(default=None, converter=surface_friction)
    index: int = 0
    first_q: int = 0
    first_v: int = 0
    first_aux: int = 0
    first_frame: int = 0
    first_shape: int = 0

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.description.coordinates)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.description.velocities)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """(nq, nv, na)."""
        return self.nq, self.nv, self.description.aux

    def breakpoints(self, t0: float, t1: float) -> list[float]:
        """Kinks of its inputs and of its prescribed motions in (t0, t1] [s]."""
        instants = self.inputs.breakpoints(t0, t1)
        return instants + [
            t for motion in self.description.prescribed_signals for t in motion.breakpoints(t0, t1)
        ]

    def kinks_at(self, time: float) -> list[float]:
        """Kinks of its prescribed motions that differ from an instant by rounding alone [s]."""
        near = ROUNDING * (1.0 + abs(time))
        return [
            t
            for motion in self.description.prescribed_signals
            for t in motion.breakpoints(time - near, time + near)
        ]


def stack_bodies(
    parts: Sequence[tuple[str, Model, frozenset[str], Mapping[str, Signal], Any]],
) -> tuple[Body, ...]:
    """Bodies with their offsets, from (name, model, abilities, signals by channel, friction)."""
    bodies: list[Body] = []
    q = v = aux = frame = shape = 0
    for name, model, abilities, signals, friction in parts:
        description = model.description
        body = Body(
            name=name,
            model=model,
            abilities=abilities,
            inputs=BodyInputs(description, signals, f"bodies.{name}.inputs"),
            description=description,
            friction=friction,
            index=len(bodies),
            first_q=q,
            first_v=v,
            first_aux=aux,
            first_frame=frame,
            first_shape=shape,
        )
        bodies.append(body)
        q, v, aux = q + body.nq, v + body.nv, aux + description.aux
        frame, shape = frame + len(description.frames), shape + len(description.shapes)
    return tuple(bodies)


def stacked_reach(bodies: Sequence[Body]) -> Array | None:
    """The bodies' `ModelDescription.reach`, (nv,); None where every entry is 1."""
    if all(body.description.velocity_scale is None for body in bodies):
        return None
    own = [
        np.ones(body.nv) if body.description.velocity_scale is None else body.description.velocity_scale
        for body in bodies
    ]
    return np.concatenate(own)
