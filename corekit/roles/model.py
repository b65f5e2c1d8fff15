"""The model role: a body with coordinates, dynamics and frames. What only some models can do is in `model_abilities`.

Conventions: q ∈ ℝ^nq are coordinates, v ∈ ℝ^nv velocities, and `integrate` realises q̇ = N(q)·v;

    M(q)·v̇ = f(q, v, u, t) + J_bᵀ·(constraint forces) + J_cᵀ·(contact forces)            (1)

f contains all forces but those of constraints and contacts, damping included.
"""

from __future__ import annotations

import enum
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.signal_base import Signal
from corekit.data.state import State
from corekit.geometry.shapes import Shape
from corekit.linalg.matrices import Matrix
from corekit.roles.component import Component

__all__ = [
    "Channel",
    "ChannelKind",
    "Coordinate",
    "Model",
    "ModelDescription",
    "Outline",
]


@frozen
class Coordinate:
    """One coordinate or velocity: its name and unit."""

    name: str
    unit: str


class ChannelKind(enum.Enum):
    """The quantity that an input channel sets."""

    EFFORT = "effort"
    VELOCITY = "velocity"
    POSITION = "position"


@frozen
class Channel:
    """One named input of a model: `size` numbers of one unit.

    Args:
        lower, upper: bounds of every number: a signal beyond them is refused, what is written or computed is clipped.
        sign: what a positive number does, a phrase.
        rate_of: the channel whose rate it is, if any: it follows that one's signal, and is 0 where that one is written
            and it is not, and in statics.
    """

    name: str
    unit: str
    size: int = 1
    kind: ChannelKind = ChannelKind.EFFORT
    lower: float = -math.inf
    upper: float = math.inf
    sign: str = ""
    rate_of: str = ""


def _no_index() -> IntArray:
    return np.zeros(0, dtype=np.int64)


@frozen(eq=False, kw_only=True)
class ModelDescription:
    """All that is constant about a model.

    Args:
        coordinates, velocities: names and units, lengths nq and nv.
        inputs: channels; the input vector u stacks them in order.
        frames: names of the frames that carry shapes and points of interest.
        shapes: collision shapes on those frames.
        excluded_pairs: pairs of own shapes that detectors never test, shape (k, 2).
        self_contact: whether own shapes may touch each other.
        joined_shapes: frames and shapes beside those on the frame that touch nothing which a joint holds there, (k, 2).
        aux: length of the state's auxiliary array.
        prescribed_velocity_index: velocities that follow a given motion p(t) (clamps, driven joints).
        prescribed_coordinate_index: the coordinate index of each, so that q[...] = p(t + h) after a step.
        prescribed_signals: the signals of p(t); steps land on their breakpoints.
        constraint_count: number of constraints, ordered along the model's chain.
        jacobian_width: k, the most velocities on which a material point depends (nv for dense models).
        plane: for a planar model its embedding: origin and two axes in the world, shape (3, 3); else None.
        velocity_scale: largest speed of a point of the surface, at rest, where one velocity is 1 and the others are 0,
            which weighs errors of velocities, shape (nv,): 1 for a centre in m/s, for a rate of turning how far the
            surface is from its axis; None: all are 1.
        derivative_error: declared bound of the error of K and D relative to their largest entry; 0: exact to rounding.
            Those of `corekit.roles.differences` are not.
        untracked_work: names of effects whose work is neither of inputs nor of prescribed motions; empty: none.
        doubts: what is allowed but improbable in its options, a sentence each, for `corekit check`.
        joint_doubts: frame → what is improbable where a joint holds it, what follows the frame's name in a sentence.
    """

    coordinates: tuple[Coordinate, ...]
    velocities: tuple[Coordinate, ...]
    inputs: tuple[Channel, ...] = ()
    frames: tuple[str, ...] = ()
    shapes: tuple[Shape, ...] = ()
    excluded_pairs: IntArray = field(factory=lambda: np.zeros((0, 2), dtype=np.int64))
    self_contact: bool = False
    joined_shapes: IntArray = field(factory=lambda: np.zeros((0, 2), dtype=np.int64))
    aux: int = 0
    prescribed_velocity_index: IntArray = field(factory=_no_index)
    prescribed_coordinate_index: IntArray = field(factory=_no_index)
    prescribed_signals: tuple[Signal, ...] = ()
    constraint_count: int = 0
    jacobian_width: int = 0
    plane: Array | None = None
    velocity_scale: Array | None = None
    derivative_error: float = 0.0
    untracked_work: str = ""
    doubts: tuple[str, ...] = ()
    joint_doubts: Mapping[str, str] = field(factory=dict)

    @property
    def input_size(self) -> int:
        """Length of the stacked input vector u."""
        return sum(channel.size for channel in self.inputs)


@frozen(eq=False)
class Outline:
    """What to draw of a body: polylines through frame origins or free points.

    Args:
        points: [m], shape (n, 3).
        radius: of the drawn tube at each point [m], shape (n,); a polyline of 0 is not drawn, as where shapes show all.
        starts: index of the first point of each polyline, shape (k,).
        actuators: name and polyline [m], shape (m, 3), of each cable, chamber or muscle, shown where users ask for it.
    """

    points: Array
    radius: Array
    starts: IntArray = field(factory=lambda: np.zeros(1, dtype=np.int64))
    actuators: tuple[tuple[str, Array], ...] = ()


class Model(Component, ABC):
    """A body. Every method is a pure function of its arguments and writes into buffers of the caller.

    A concrete model is final and built as `Model(config, context)`; `context` gives the base pose and gravity. An
    ability is what only some models have; specs declare it, and `model_abilities` states its methods.
    """

    @property
    @abstractmethod
    def description(self) -> ModelDescription:
        """All that is constant about the model."""

    @abstractmethod
    def compute_initial_state(self, initial: Any, out: State) -> None:
        """Write the state that `initial` (the spec's attrs class) describes, or the rest state if it is None."""

    @abstractmethod
    def new_mass_matrix(self) -> Matrix:
        """Allocate a buffer for M in the structure of this model, with its fixed pattern."""

    @abstractmethod
    def compute_mass_and_force(self, state: State, inputs: Array, mass: Matrix, force: Array) -> None:
        """Write M(q) into `mass` and f(q, v, u, t) [N or N·m] into `force`, shape (nv,)."""

    @abstractmethod
    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        """Move from `start` with constant velocity v̄ over h: write q and aux of `out` (not v, not time).

        `previous` is an earlier iterate, for branches (unwrapped angles, frames) to stay close to; it may
        be `start` or `out` itself. `velocity` must not alias anything in `out`.
        """

    @abstractmethod
    def compute_frame_poses(self, state: State, position: Array, rotation: Array) -> None:
        """Write the frames' poses in the world, shapes (frames, 3) [m] and (frames, 3, 3)."""

    @abstractmethod
    def compute_outline(self, state: State) -> Outline:
        """Return the curves to draw; performance does not matter here."""
