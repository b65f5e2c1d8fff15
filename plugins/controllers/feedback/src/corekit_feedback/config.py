"""Options of the controllers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from corekit.data.signals import Signal, as_signal
from corekit.roles.options import option

__all__ = ["AdaptiveTrackingConfig", "ComputedTorqueConfig", "PDConfig", "TrackingLqrConfig"]


def _three(_instance: object, _attribute: object, value: Signal) -> None:
    if value.size != 3:
        raise ValueError(f"must have 3 numbers, has {value.size}")


def _sensor(value: str | None) -> str | None:
    named = value is None or all(value.partition("."))
    return None if named else "must be `controller.reading`, for example `eyes.tip`"


def _not_negative(_instance: object, _attribute: object, value: Mapping[str, float]) -> None:
    bad = [name for name, weight in value.items() if not 0.0 <= weight < float("inf")]
    if bad:
        raise ValueError(f"must be finite and at least 0, and {value[bad[0]]} for {bad[0]} is not")


@frozen(kw_only=True)
class PDConfig:
    """One entry of the channel for each coordinate."""

    body: str = option("arm", "name of the body")
    channel: str = option("torque", "the channel that is driven")
    coordinates: tuple[str, ...] = option(
        (), "names of the coordinates; left out, the first ones", converter=tuple
    )
    target: Signal = field(
        default=as_signal(0.0),
        converter=as_signal,
        metadata={
            "help": "where they shall be, one number for all or one for each",
            "unit": "unit of q",
            "allowed": "",
        },
    )
    proportional: float = option(1.0, "input per error", unit="unit of u/unit of q", low=0)
    derivative: float = option(0.0, "input per rate of the error", unit="unit of u·s/unit of q", low=0)
    integral: float = option(0.0, "input per integral of the error", unit="unit of u/(unit of q·s)", low=0)


@frozen(kw_only=True)
class ComputedTorqueConfig:
    """A frame follows a path."""

    frame: str = option("arm.mass1", "the frame, `body.frame`")
    target: Signal = field(
        default=as_signal((0.0, 0.0, 0.0)),
        converter=as_signal,
        validator=_three,
        metadata={
            "help": "path of the frame's origin in the world, 3 numbers or a signal",
            "unit": "m",
            "allowed": "",
        },
    )
    channels: tuple[str, ...] = option(
        (), "the body's channels that are driven; left out, all of its efforts", converter=tuple
    )
    weights: tuple[float, float, float] = option(
        (1.0, 1.0, 1.0), "how much an error along x, y, z counts, 0: not at all", low=0
    )
    frequency: float = option(30.0, "with which an error would swing back undamped", unit="rad/s", above=0)
    damping_ratio: float = option(1.0, "1: an error decays without overshoot", low=0)
    integral: float = option(0.0, "rate at which a lasting error is removed", unit="1/s", low=0)
    horizon: float = option(
        0.01, "time over which the next motion is predicted by an implicit step", unit="s", above=0
    )
    lower: float = option(float("-inf"), "lower bound of every input", infinite=True)
    upper: float = option(float("inf"), "upper bound of every input", infinite=True)
    regularisation: float = option(1e-4, "weight of the inputs' size against the errors, relative", above=0)
    sensor: str | None = option(
        None,
        "`controller.reading` of a frame sensor that measures the position; left out, the true one",
        check=_sensor,
    )


@frozen(kw_only=True)
class TrackingLqrConfig:
    """A motion with the differences of its steps, and the weights of errors and inputs."""

    file: Path = field(
        metadata={
            "help": "motion with its differences, as a plan's folder holds it",
            "unit": "",
            "allowed": "",
        }
    )
    coordinates: Mapping[str, float] = field(
        factory=dict,
        validator=_not_negative,
        metadata={
            "help": "body → weight of its coordinates' errors",
            "unit": "1/unit of q²",
            "allowed": ">= 0",
        },
    )
    rates: Mapping[str, float] = field(
        factory=dict,
        validator=_not_negative,
        metadata={
            "help": "body → weight of its velocities' errors",
            "unit": "s²/unit of q²",
            "allowed": ">= 0",
        },
    )
    effort: float = option(1.0, "weight of the inputs' change", unit="1/unit of u²", above=0)
    final: float = option(10.0, "weight of the errors at the end, in those on the way", low=0)


@frozen(kw_only=True)
class AdaptiveTrackingConfig(TrackingLqrConfig):
    """As `tracking-lqr`, in a world that differs from the planned one."""

    estimated: tuple[str, ...] = option(
        (), "parts of bodies' forces, `body.term`, that may differ by a factor", converter=tuple
    )
    arrival: float = option(
        0.4, "time over which the motion moves to where its object is measured", unit="s", above=0
    )
    approach: float = option(
        0.04, "velocity with which a contact that presses too little is closed", unit="m/s", low=0
    )
    open_gap: float = option(
        5e-4,
        "gap along the planned normals above which a contact is surely open: what shapes curve is less",
        unit="m",
        above=0,
    )
