"""Options of the estimators."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from attrs import field, frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import option

__all__ = [
    "Attached",
    "CurvatureDescentConfig",
    "GaussNewtonConfig",
    "IpoptFitConfig",
    "KnownContact",
    "Markers",
    "Parameter",
    "Unmodelled",
]

Triple = tuple[float, float, float]


def _about(help: str, unit: str = "", key: str = "") -> dict[str, str]:
    said = {"help": help, "unit": unit, "allowed": ""}
    return {**said, "key": key} if key else said


@frozen(kw_only=True)
class Attached:
    """A marker that is fixed in a frame of the body."""

    marker: str = option(help="its name in the file of markers")
    frame: str = option(help="name of the frame, see `corekit info`")
    local: Triple = option((0.0, 0.0, 0.0), "where in the frame", unit="m")


@frozen(kw_only=True)
class Markers:
    """What was observed: places of markers over time, from a CSV or NetCDF file, see `observations`."""

    file: Path = field(
        metadata=_about(
            "CSV with columns time, marker and some of x, y, z; or NetCDF (.nc) with time and position"
        )
    )
    deviation: float = option(1e-3, "standard deviation of a coordinate's noise", unit="m", above=0)
    along: tuple[str, ...] = option(
        (), "frames along which the markers are evenly spaced in the order of the file; all if left out"
    )
    attached: tuple[Attached, ...] = field(
        default=(), metadata=_about("where each marker is, instead of even spacing along the frames")
    )


@frozen(kw_only=True)
class Parameter:
    """A number of the model that is sought.

    Raises ConfigError with all that contradicts itself.
    """

    name: str = option(help="name of the option of the model")
    start: float | None = option(None, "where the search begins; left out, the scenario's value")
    low: float | None = option(None, "lowest value")
    high: float | None = option(None, "highest value")
    scale: str = option(
        "", "log for what is positive, linear for the rest; left out, log if `low` ≥ 0 or the start is positive",
        choices=("", "log", "linear"),
    )  # fmt: skip
    prior: float | None = option(None, "what is known beforehand: its mean, with `prior_deviation`")
    prior_deviation: float | None = option(
        None, "how well that is known; of the logarithm on a log scale", above=0
    )

    def __attrs_post_init__(self) -> None:
        wrong: list[Mistake] = []
        low, high = self.low, self.high
        if low is not None and high is not None and not low < high:
            wrong.append(Mistake("high", high, f"must be > low = {low:g}"))
        for name in ("start", "prior"):
            value = getattr(self, name)
            if value is None:
                continue
            if (low is not None and value < low) or (high is not None and value > high):
                wrong.append(Mistake(name, value, "must lie between low and high"))
            if self.scale == "log" and value <= 0.0:
                wrong.append(Mistake(name, value, "must be > 0 on a log scale"))
        if (self.prior is None) != (self.prior_deviation is None):
            wrong.append(Mistake("prior", self.prior, "needs prior_deviation, and the other way round"))
        if wrong:
            raise ConfigError(wrong, f"parameter {self.name!r}")


@frozen(kw_only=True)
class KnownContact:
    """A contact that the video shows: a point of the body keeps a distance of 0 to an obstacle for a while."""

    obstacle: str = option(help="its name in the scenario")
    frame: str = option("", "frame that carries the point; the last one if left out")
    local: Triple = option((0.0, 0.0, 0.0), "where in the frame", unit="m")
    radius: float | None = option(
        None,
        "of the body around the point; left out, that of a ball the frame carries, or 0",
        unit="m",
        low=0,
    )
    begin: float = option(0.0, "when it begins", unit="s", low=0)
    end: float = option(math.inf, "when it ends", unit="s", low=0, infinite=True)


@frozen(kw_only=True)
class Unmodelled:
    """How far from the equations the motion may be, by the unit of a velocity."""

    unit: str = option(help="unit of the velocities it is about: m/s, rad/s, …")
    force: float = option(
        help="standard deviation of the generalised force that the equations miss, in N for m/s, N·m for rad/s",
        above=0,
    )


@frozen(kw_only=True)
class IpoptFitConfig:
    """Options of `ipopt-fit`."""

    markers: Markers = field(metadata=_about("what was observed"))
    parameters: tuple[Parameter, ...] = field(metadata=_about("what is sought"))
    contacts: tuple[KnownContact, ...] = field(default=(), metadata=_about("contacts that the video shows"))
    unmodelled: tuple[Unmodelled, ...] = field(
        default=(), metadata=_about("how far the motion may be from the equations; not at all if left out")
    )
    scheme: str | None = option(
        None, "steps of the motion, of the integrators of these names; left out, those of the scenario's integrator",
        choices=(None, "semi-implicit-euler", "explicit-euler", "implicit-euler", "implicit-midpoint"),
    )  # fmt: skip
    beta: float | None = option(
        None, "implicit share β of stiffness in `semi-implicit-euler`; left out, that of the scenario's integrator",
        low=0, high=1,
    )  # fmt: skip
    start: str = option(
        "free", "whether the state at time 0 is sought, too, or known from the scenario", choices=("free", "known")
    )  # fmt: skip
    profile: str = option(
        "weak", "which parameters get a profile: those that are weakly determined, all, or none",
        choices=("weak", "all", "none"),
    )  # fmt: skip
    profile_points: int = option(11, "values at which a profile is computed", low=3, high=201)
    max_iterations: int = option(300, "iterations of IPOPT", low=1)
    tolerance: float = option(1e-8, "tolerance of IPOPT", above=0)

    def __attrs_post_init__(self) -> None:
        names = [each.name for each in self.parameters]
        wrong = [
            Mistake(f"parameters[{i}].name", name, "is sought twice")
            for i, name in enumerate(names)
            if name in names[:i]
        ]
        if not names:
            wrong.append(Mistake("parameters", names, "name at least one"))
        if wrong:
            raise ConfigError(wrong, "the fit")


def _curvature_channels() -> Any:
    return option((), "input channels that are sought; left out, all whose name begins with `curvature`")


@frozen(kw_only=True)
class CurvatureDescentConfig:
    """Options of `curvature-descent`."""

    markers: Markers = field(metadata=_about("what was observed"))
    channels: tuple[str, ...] = _curvature_channels()
    components: tuple[int, ...] = option(
        (0, 1), "entries of each channel that are sought: κ₁, κ₂, twist", low=0
    )
    rate: float = option(
        0.5, "first α, in units of the step that would do for one value alone", above=0, high=2
    )
    probe: float = option(1e-3, "step of the finite differences", unit="1/m", above=0)
    tolerance: float = option(1e-3, "step below which a shape counts as matched", unit="1/m", above=0)
    max_iterations: int = option(300, "steps for each shape", low=1)


@frozen(kw_only=True)
class GaussNewtonConfig:
    """Options of `gauss-newton`."""

    markers: Markers = field(metadata=_about("what was observed"))
    channels: tuple[str, ...] = _curvature_channels()
    components: tuple[int, ...] = option(
        (0, 1), "entries of each channel that are sought: κ₁, κ₂, twist", low=0
    )
    prior_deviation: float = option(
        100.0, "how much a value may differ from that of the shape before, for directions that markers do not show",
        unit="1/m", above=0,
    )  # fmt: skip
    tolerance: float = option(1e-6, "change at which a shape is matched, of the largest value", above=0)
    max_iterations: int = option(30, "Gauss-Newton steps for each shape", low=1)
