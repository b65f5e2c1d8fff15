"""A body in the world: its model, its name, its place in the stacked vectors, its inputs and its frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, field, setters

from corekit.data.arrays import Array
from corekit.data.instants import same_instant
from corekit.data.signals import Signal
from corekit.data.state import State
from corekit.errors import CompositionError, ControlError
from corekit.roles.body_inputs import BodyInputs
from corekit.roles.controller import FrameState
from corekit.roles.friction import SurfaceFriction, surface_friction
from corekit.roles.model import Model, ModelDescription
from corekit.roles.model_abilities import ModelAbilities

__all__ = [
    "Body",
    "check_orientation",
    "frame_state",
    "stack_bodies",
    "stacked_velocity_scale",
]


@define(eq=False, on_setattr=setters.frozen)
class Body:
    """A body of the world, which alone holds its model: all others reach it here, so that it can be replaced.

    Args:
        name: as in the scenario.
        model: computes it. abilities: what the model can do beyond the role.
        inputs: u(t).
        description: the model's.
        friction: of its surfaces, or None.
        index: its place among the bodies.
        first_q, first_v, first_aux, first_frame, first_shape: offsets in the stacked arrays.
    """

    name: str
    model: Model = field(repr=False, on_setattr=setters.NO_OP)
    abilities: ModelAbilities = field(repr=False, on_setattr=setters.NO_OP)
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

    def replace_model(self, model: Model, abilities: ModelAbilities | None = None) -> None:
        """Compute the body from now on by another model of the same spec, description and structure of matrices.

        Its abilities are found, unless they are known.
        """
        self.model = model
        self.abilities = abilities or ModelAbilities.from_model(model, self.abilities.words)

    def breakpoints(self, t0: float, t1: float) -> list[float]:
        """Kinks of its inputs and of its prescribed motions in (t0, t1] [s]."""
        instants = self.inputs.breakpoints(t0, t1)
        return instants + [
            t for motion in self.description.prescribed_signals for t in motion.breakpoints(t0, t1)
        ]

    def kinks_at(self, time: float) -> list[float]:
        """Kinks of its prescribed motions that differ from an instant by rounding alone [s]."""
        near = same_instant(time)
        return [
            t
            for motion in self.description.prescribed_signals
            for t in motion.breakpoints(time - near, time + near)
        ]


def stack_bodies(
    parts: Sequence[tuple[str, Model, frozenset[str], Mapping[str, Signal], Any]],
) -> tuple[Body, ...]:
    """Bodies with their offsets, from (name, model, abilities of its spec, signals by channel, friction).

    Raises:
        CompositionError: an index of a model that does not fit its own description.
    """
    bodies: list[Body] = []
    q = v = aux = frame = shape = 0
    for name, model, abilities, signals, friction in parts:
        description = model.description
        body = Body(
            name=name,
            model=model,
            abilities=ModelAbilities.from_model(model, abilities),
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
        _check_indices(body)
        bodies.append(body)
        q, v, aux = q + body.nq, v + body.nv, aux + description.aux
        frame, shape = frame + len(description.frames), shape + len(description.shapes)
    return tuple(bodies)


def _check_indices(body: Body) -> None:
    """Refuse a model whose shapes or prescribed velocities stand on what its description does not have."""
    about, who = body.description, f"{type(body.model).__name__} (body {body.name!r})"
    for what, indices, count in (
        ("frame of a shape", [shape.frame for shape in about.shapes], len(about.frames)),
        (
            "second frame of a shape",
            [max(shape.second_frame, 0) for shape in about.shapes],
            len(about.frames),
        ),
        ("prescribed velocity", about.prescribed_velocity_index, body.nv),
        ("prescribed coordinate", about.prescribed_coordinate_index, body.nq),
    ):
        outside = [int(index) for index in indices if not 0 <= index < count]
        if outside:
            raise CompositionError(
                f"the {what} of {who} is number {outside[0]}, and there are {count}, from 0 on"
            )


def stacked_velocity_scale(bodies: Sequence[Body]) -> Array | None:
    """The bodies' `ModelDescription.velocity_scale`, (nv,); None where every entry is 1."""
    if all(body.description.velocity_scale is None for body in bodies):
        return None
    own = [
        np.ones(body.nv) if body.description.velocity_scale is None else body.description.velocity_scale
        for body in bodies
    ]
    return np.concatenate(own)


def check_orientation(body: Body, state: State) -> None:
    """Refuse a state of a body at which its frames are not turned but distorted, as by a quaternion of zeros.

    Raises:
        ControlError: naming the body and the way to a state.
    """
    count = len(body.description.frames)
    positions, rotations = np.zeros((count, 3)), np.zeros((count, 3, 3))
    with np.errstate(invalid="ignore", divide="ignore"):
        body.model.compute_frame_poses(state, positions, rotations)
        products = rotations @ rotations.transpose(0, 2, 1)
    if not np.allclose(products, np.eye(3), atol=1e-3):
        raise ControlError(
            f"the state has no orientation for body {body.name!r}: what its q or aux hold is no rotation. "
            "Begin with a copy of `sim.state`, or the model's `compute_initial_state`, instead of zeros"
        )


def frame_state(body: Body, state: State, index: int) -> FrameState:
    """Return a frame of a body at a state of the body.

    With ẋ₀ of the origin and ẋᵢ of the ends of the axes rᵢ, ω = ½·Σᵢ rᵢ × (ẋᵢ − ẋ₀).

    Raises:
        ControlError: the model gives no velocities of points.
    """
    points = body.abilities.point_jacobian
    if points is None:
        raise ControlError(
            f"body {body.name!r}: its model gives no velocities of points (ability point-jacobian)"
        )
    description = body.description
    positions, rotations = np.zeros((len(description.frames), 3)), np.zeros((len(description.frames), 3, 3))
    body.model.compute_frame_poses(state, positions, rotations)
    width = description.jacobian_width
    dofs, values = np.zeros((4, width), dtype=np.int64), np.zeros((4, 3, width))
    local = np.vstack([np.zeros(3), np.eye(3)])
    points.compute_point_jacobians(state, np.full(4, index), local, dofs, values)
    rates = np.einsum("cik,ck->ci", values, state.v[dofs])
    axes = rotations[index]
    jacobian = np.zeros((3, body.nv))
    np.add.at(jacobian.T, dofs[0], values[0].T)
    return FrameState(
        position=positions[index],
        rotation=axes,
        velocity=rates[0],
        angular_velocity=0.5 * np.cross(axes.T, rates[1:] - rates[0]).sum(axis=0),
        jacobian=jacobian,
    )
