"""Parts of a task: where the object is to be, what may touch it, in which time, within which bounds."""

from __future__ import annotations

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.roles.options import option

__all__ = ["Bounds", "Contact", "Horizon", "Rotation", "Target"]

_Triple = tuple[float, float, float]
_Pair = tuple[float, float]


def _about(help: str) -> dict[str, str]:
    return {"help": help, "unit": "", "allowed": ""}


def _not_zero(value: tuple[float, ...]) -> str | None:
    return None if np.linalg.norm(value) > 1e-9 else "must not be zero"


def _increasing(value: _Pair) -> str | None:
    return None if value[0] < value[1] else "the lower bound must be below the upper one"


def _around_zero(value: _Pair) -> str | None:
    return _increasing(value) or (None if value[0] <= 0 <= value[1] else "must contain 0")


@frozen(kw_only=True)
class Rotation:
    """A rotation from the orientation at the start, about an axis of the world."""

    axis: _Triple = option(help="of the world", check=_not_zero)
    angle: float = option(help="by how much", unit="rad", low=-np.pi, high=np.pi)

    @property
    def quat_wxyz(self) -> Array:
        """As a unit quaternion, shape (4,)."""
        axis = np.array(self.axis) / np.linalg.norm(self.axis)
        return np.concatenate([[np.cos(0.5 * self.angle)], np.sin(0.5 * self.angle) * axis])


@frozen(kw_only=True)
class Target:
    """Where the object is to be at the end."""

    rotation: Rotation | None = field(default=None, metadata=_about("how it is to be turned"))
    position: _Triple | None = option(None, "where its centre is to be", unit="m")
    within: float | None = option(
        1e-3,
        "bound of the three components of the orientation that is missing at the end; left out, only cost asks for it",
        unit="rad",
        above=0,
    )
    distance: float = option(
        1e-3, "largest distance of the centre from the target at the end", unit="m", above=0
    )


@frozen(kw_only=True)
class Contact:
    """A place that may touch the object: a shape of a body, or a half-space of the world."""

    body: str = option("", "the body that touches; left out, an obstacle does")
    frame: str = option("", "the frame of the body whose shape touches")
    obstacle: str = option("", "the obstacle that touches, in place of a body")
    at: _Triple | None = option(
        None,
        "where the object's centre is at the start, in the shape's axes; left out, at its end in +z",
        unit="m",
    )
    starts: bool = option(True, "whether it touches at the start")
    holds: bool = option(True, "whether it keeps touching: a normal force not below `bounds.normal_force`")

    @property
    def name(self) -> str:
        """What results call it."""
        return f"{self.body}.{self.frame}" if self.body else self.obstacle


@frozen(kw_only=True)
class Horizon:
    """How long, and in how many steps."""

    duration: float = option(4.0, "of the motion", unit="s", above=0)
    steps: int = option(100, "implicit Euler steps", low=2)

    @property
    def step(self) -> float:
        """Length of a step [s]."""
        return self.duration / self.steps


@frozen(kw_only=True)
class Bounds:
    """What must not be exceeded; coordinates and velocities in the units of the bodies."""

    coordinate: _Pair = option((-0.05, 0.2), "of every coordinate of the bodies", check=_increasing)
    velocity: float = option(1.0, "of every velocity of the bodies", above=0)
    angular_velocity: float = option(5.0, "of the object, each component", unit="rad/s", above=0)
    linear_velocity: float = option(1.0, "of the object's centre, each component", unit="m/s", above=0)
    normal_force: _Pair = option(
        (1.0, 10.0),
        "of a contact that holds; one that need not hold begins at 0",
        unit="N",
        low=0,
        check=_increasing,
    )
    friction_force: float = option(20.0, "along each direction of the pyramid", unit="N", above=0)
    slip: float = option(5.0, "speed", unit="m/s", above=0)
    effort: _Pair = option((-60.0, 60.0), "of every input", check=_around_zero)
