"""Options of a task: target, contacts, horizon and bounds."""

from __future__ import annotations

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.roles.options import option

__all__ = ["Bounds", "Contact", "Horizon", "Rotation", "Target"]

_Triple = tuple[float, float, float]
_Pair = tuple[float, float]


def _metadata(help: str) -> dict[str, str]:
    return {"help": help, "unit": "", "allowed": ""}


def _check_not_zero(value: tuple[float, ...]) -> str | None:
    return None if np.linalg.norm(value) > 1e-9 else "must not be zero"


def _check_increasing(value: _Pair) -> str | None:
    return None if value[0] < value[1] else "the lower bound must be below the upper one"


def _check_contains_zero(value: _Pair) -> str | None:
    return _check_increasing(value) or (None if value[0] <= 0 <= value[1] else "must contain 0")


@frozen(kw_only=True)
class Rotation:
    """Rotation from the initial orientation about an axis of the world."""

    axis: _Triple = option(help="axis in the world", check=_check_not_zero)
    angle: float = option(help="angle of the rotation", unit="rad", low=-np.pi, high=np.pi)

    @property
    def quat_wxyz(self) -> Array:
        """Unit quaternion, shape (4,)."""
        axis = np.array(self.axis) / np.linalg.norm(self.axis)
        return np.concatenate([[np.cos(0.5 * self.angle)], np.sin(0.5 * self.angle) * axis])


@frozen(kw_only=True)
class Target:
    """Target pose of the object at the end."""

    rotation: Rotation | None = field(
        default=None, metadata=_metadata("rotation from the initial orientation")
    )
    position: _Triple | None = option(None, "position of the centre", unit="m")
    angle_tolerance: float | None = option(
        1e-3,
        "largest angle between the orientation and its target at the end; with π only the cost contains the error",
        unit="rad",
        above=0,
        high=np.pi,
    )
    position_tolerance: float = option(
        1e-3, "largest distance of the centre from the target at the end", unit="m", above=0
    )


@frozen(kw_only=True)
class Contact:
    """Contact with the object: a shape of a body, or an obstacle of the world."""

    body: str = option("", "body that touches the object; empty for an obstacle")
    frame: str = option("", "frame of the touching shape")
    obstacle: str = option("", "obstacle that touches the object, instead of a body")
    at: _Triple | None = option(
        None,
        "centre of the object at the start, in the shape's axes; if absent, at the shape's end in +z",
        unit="m",
    )
    starts: bool = option(True, "whether the contact is closed at the start")
    holds: bool = option(
        True,
        "whether the contact stays closed, with a normal force within `bounds.normal_force` (from 0 on: φ = 0)",
    )

    @property
    def name(self) -> str:
        """Name in results."""
        return f"{self.body}.{self.frame}" if self.body else self.obstacle


@frozen(kw_only=True)
class Horizon:
    """Duration and count of steps."""

    duration: float = option(4.0, "duration of the motion", unit="s", above=0)
    steps: int = option(100, "count of implicit Euler steps", low=2)

    @property
    def step(self) -> float:
        """Step size [s]."""
        return self.duration / self.steps


@frozen(kw_only=True)
class Bounds:
    """Bounds of the motion; coordinates and velocities in the units of the bodies."""

    coordinate: _Pair = option(
        (-0.05, 0.2), "bounds of every coordinate of the bodies", check=_check_increasing
    )
    velocity: float = option(1.0, "bound of every velocity of the bodies", above=0)
    angular_velocity: float = option(
        5.0, "bound of each component of the object's angular velocity", unit="rad/s", above=0
    )
    linear_velocity: float = option(
        1.0, "bound of each component of the velocity of the object's centre", unit="m/s", above=0
    )
    normal_force: _Pair = option(
        (1.0, 10.0),
        "bounds of the normal force; the lower one is 0 for a contact that need not hold",
        unit="N",
        low=0,
        check=_check_increasing,
    )
    friction_force: float = option(20.0, "bound along each direction of the pyramid", unit="N", above=0)
    slip: float = option(5.0, "bound of the slip velocity", unit="m/s", above=0)
    effort: _Pair = option((-60.0, 60.0), "bounds of every input", check=_check_contains_zero)
