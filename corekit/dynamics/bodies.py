"""A body in the world: its model, its name, its place in the stacked vectors, and its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.data.signals import Signal
from corekit.dynamics.body_inputs import BodyInputs
from corekit.roles.friction import SurfaceFriction, surface_friction
from corekit.roles.model import Model, ModelDescription

__all__ = ["ROUNDING", "Body", "stack_bodies", "stacked_reach"]

ROUNDING = 1e-12
"""How far apart two instants are the same but for rounding, relative to 1 s + t."""


@frozen(eq=False)
class Body:
    """A body of the world.

    Args:
        name: as in the scenario.
        model: who computes it.
        abilities: what its spec declares, e.g. `point-jacobian`.
        inputs: u(t).
        description: the model's.
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
