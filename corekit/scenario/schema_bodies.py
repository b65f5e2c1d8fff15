"""Tables of bodies and of what holds them, `[[bodies]]` and `[[joints]]`; kinds of fields that all tables share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from corekit.data.signals import Constant, Signal, as_signal
from corekit.roles.friction import friction_problem
from corekit.roles.options import option

__all__ = ["OF_SURFACE", "Base", "Body", "Input", "Joint", "Triple", "about", "name_problem", "triple_signal"]

Triple = tuple[float, float, float]

OF_SURFACE = (
    "friction coefficient of its surface, or { forward, backward, sideways } along its axis, or { sliding, torsional, "
    "rolling } with the largest moments about the normal and the tangents per normal force in m"
)


def name_problem(name: str) -> str | None:
    """Return what is wrong with a name; None if nothing is."""
    fits = re.fullmatch(r"\w[\w-]*", name)
    return None if fits else "must be made of letters, digits, '-' and '_' only"


def _three_numbers(_instance: object, _attribute: object, value: Signal) -> None:
    if value.size != 3:
        raise ValueError(f"must have 3 numbers, has {value.size}")


def about(help: str, **more: str) -> dict[str, str]:
    """Return the metadata of a field that `option` cannot make, because its bounds are not those of a number."""
    return {"help": help, "unit": "", "allowed": "", **more}


def triple_signal(help: str, unit: str) -> Any:
    """Return a field of three numbers, or of a signal of three; zero if absent."""
    return field(
        default=Constant((0.0, 0.0, 0.0)),
        converter=as_signal,
        validator=_three_numbers,
        metadata=about(help, unit=unit),
    )


@frozen(kw_only=True)
class Base:
    """Where a body's base stands, or how it moves."""

    position: Signal = triple_signal("origin in the world or in the mount, 3 numbers or a signal of 3", "m")
    rotation_rpy: Signal = triple_signal(
        "roll, pitch, yaw about the same axes, 3 numbers or a signal of 3", "rad"
    )
    mount: str | None = option(
        None,
        "what carries it: a frame of another body as BODY.FRAME, an obstacle or 'world'; a model with free-base",
    )

    @property
    def moves(self) -> bool:
        """Whether the base is carried by anything but the ground."""
        return self.mount is not None or not (self.position.constant and self.rotation_rpy.constant)


@frozen(kw_only=True)
class Joint:
    """Holds a frame of one body to a frame of another one, or to what surrounds them, as they stand at the start."""

    name: str = option(help="what messages and Python call it", check=name_problem)
    kind: str = option(
        "weld",
        "what it leaves free: nothing, the turn about an axis, every turn",
        choices=("weld", "hinge", "ball"),
    )
    between: tuple[str, str] = option(
        help="the frame that is carried, BODY.FRAME, and what carries it: BODY.FRAME, an obstacle or 'world'"
    )
    place: Triple = option(
        (0.0, 0.0, 0.0), "of the joint, in the axes of the first frame from its origin", unit="m"
    )
    axis: Triple = option(
        (0.0, 0.0, 1.0),
        "of a hinge, in the axes of the first frame; its length does not count",
        check=lambda axis: None if any(axis) else "must not be zero",
    )


@frozen(kw_only=True)
class Input:
    """What drives one input channel of a body."""

    channel: str = option(help="name of the channel, see `corekit info MODEL`")
    signal: Signal = field(converter=as_signal, metadata=about("its values over time, in the channel's unit"))


@frozen(kw_only=True)
class Body:
    """A model placed in the world."""

    name: str = option(help="what inputs, friction pairs and results call it", check=name_problem)
    use: str = field(metadata=about("the model", role="models"))
    base: Base = field(default=Base(), metadata=about("where its base stands"))
    options: Mapping[str, Any] = field(factory=dict, metadata=about("the model's own options"))
    initial: Mapping[str, Any] | None = field(
        default=None, metadata=about("the state it begins in; its rest state if absent")
    )
    inputs: tuple[Input, ...] = field(default=(), metadata=about("what drives it; other channels are zero"))
    friction: float | Mapping[str, Any] | None = option(None, OF_SURFACE, low=0, check=friction_problem)
