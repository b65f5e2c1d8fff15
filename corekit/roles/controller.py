"""The controller role: computes inputs from the state of the world, once per sampling period."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.roles.component import Component

__all__ = ["ControlledWorld", "Controller", "FrameState", "Inputs"]

Inputs = Mapping[str, Mapping[str, Any]]
"""Values by body and channel, each one number for all entries of the channel or one for each.

What is driven once is driven at every sample from then on.
"""


@frozen(eq=False)
class FrameState:
    """A frame in the world.

    Args:
        position: of its origin [m], shape (3,).
        rotation: its axes as columns, shape (3, 3).
        velocity: of its origin [m/s], shape (3,).
        angular_velocity: in world axes [rad/s], shape (3,).
        jacobian: ∂velocity/∂v of the body's velocities, shape (3, nv).
    """

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    jacobian: Array


class ControlledWorld(Protocol):
    """What a controller may read of the simulation; it must change nothing of it."""

    @property
    def time(self) -> float:
        """Time now [s]."""

    @property
    def step_length(self) -> float:
        """h [s]."""

    @property
    def bodies(self) -> Sequence[Any]:
        """Bodies, each with `name`, `model`, `description` and `inputs`."""

    @property
    def state(self) -> State:
        """The world's state, with `body_states` in the order of the bodies."""

    def names(self) -> Mapping[str, Sequence[str]]:
        """Return all names: `bodies`, `obstacles`, `joints`, …; the joint of a base that moves is `BODY.base`."""

    def body(self, name: str) -> Any:
        """Return a body by its name."""

    def controller(self, name: str) -> Any:
        """Return a controller by its name, for example one that reads sensors."""

    def frame(self, name: str) -> FrameState:
        """Return a frame by `body.frame`."""

    def contacts(self) -> ContactRecord:
        """Return what every contact did in the last step."""


class Controller(Component, ABC):
    """Feedback: the kernel calls it at time 0 and after every sampling period, and holds its inputs in between.

    A controller with memory (an integral, a filter, delayed readings, a random stream) derives from
    `corekit.roles.component.Stateful` too, so that checkpoints keep it; one that draws random numbers derives from
    `Seeded` and uses `context.seed`.
    """

    @abstractmethod
    def compute_inputs(self, world: ControlledWorld) -> Inputs:
        """Return the inputs that hold from now until the next sample, by body and channel.

        It is called once per sample, in order of time. Every channel it ever drives is in each answer.
        """
