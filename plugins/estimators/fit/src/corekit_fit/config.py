"""Options of the estimators."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from attrs import field, frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import option

__all__ = [
    "AdjointConfig",
    "Attached",
    "CurvatureDescentConfig",
    "Experiment",
    "GaussNewtonConfig",
    "IpoptFitConfig",
    "KnownContact",
    "Markers",
    "Parameter",
    "SimulationFitConfig",
    "Unmodelled",
]

Triple = tuple[float, float, float]


def _metadata(help: str, unit: str = "", key: str = "") -> dict[str, str]:
    reason = {"help": help, "unit": unit, "allowed": ""}
    return {**reason, "key": key} if key else reason


@frozen(kw_only=True)
class Attached:
    """A marker that is fixed in a frame of the body."""

    marker: str = option(help="name in the file of markers")
    frame: str = option(help="name of the frame, see `corekit info`")
    local: Triple = option((0.0, 0.0, 0.0), "position in the frame", unit="m")


@frozen(kw_only=True)
class Markers:
    """Observed positions of markers over time, from a CSV or NetCDF file, see `observations`."""

    file: Path = field(
        metadata=_metadata(
            "CSV with columns time, marker and some of x, y, z; or NetCDF (.nc) with time and position"
        )
    )
    deviation: float = option(1e-3, "standard deviation of a coordinate's noise", unit="m", above=0)
    along: tuple[str, ...] = option(
        (), "frames along which the markers are evenly spaced in the order of the file; all if absent"
    )
    attached: tuple[Attached, ...] = field(
        default=(), metadata=_metadata("frame of each marker, instead of even spacing along the frames")
    )


@frozen(kw_only=True)
class Parameter:
    """A parameter of the model to fit.

    Raises:
        ConfigError: contradictory bounds, start, scale or prior.
    """

    name: str = option(help="path of the option of the model, or of another number of the scenario")
    start: float | None = option(None, "initial guess; if absent, the value of the scenario")
    low: float | None = option(None, "lowest value")
    high: float | None = option(None, "highest value")
    scale: str = option(
        "", "log for positive parameters, or linear; if absent, log if `low` ≥ 0 or the start is positive",
        choices=("", "log", "linear"),
    )  # fmt: skip
    prior: float | None = option(None, "mean of the prior, with `prior_deviation`")
    prior_deviation: float | None = option(
        None, "standard deviation of the prior; of the logarithm on a log scale", above=0
    )

    def __attrs_post_init__(self) -> None:
        mistakes: list[Mistake] = []
        low, high = self.low, self.high
        if low is not None and high is not None and not low < high:
            mistakes.append(Mistake("high", high, f"must be > low = {low:g}"))
        for name in ("start", "prior"):
            value = getattr(self, name)
            if value is None:
                continue
            if (low is not None and value < low) or (high is not None and value > high):
                mistakes.append(Mistake(name, value, "must lie between low and high"))
            if self.scale == "log" and value <= 0.0:
                mistakes.append(Mistake(name, value, "must be > 0 on a log scale"))
        if (self.prior is None) != (self.prior_deviation is None):
            mistakes.append(
                Mistake("prior", self.prior, "needs prior_deviation, and prior_deviation needs prior")
            )
        if mistakes:
            raise ConfigError(mistakes, f"parameter {self.name!r}")


@frozen(kw_only=True)
class KnownContact:
    """A known contact, for example from a video: a point of the body touches an obstacle for some time."""

    obstacle: str = option(help="name of the obstacle in the scenario")
    frame: str = option("", "frame of the point; if absent, the last frame")
    local: Triple = option((0.0, 0.0, 0.0), "position in the frame", unit="m")
    radius: float | None = option(
        None,
        "radius of the body around the point; if absent, that of a sphere of the frame, or 0",
        unit="m",
        low=0,
    )
    experiment: int = option(0, "number of the experiment, from 1; 0 for all", low=0)
    begin: float = option(0.0, "begin of the contact", unit="s", low=0)
    end: float = option(math.inf, "end of the contact", unit="s", low=0, infinite=True)


@frozen(kw_only=True)
class Unmodelled:
    """Allowed error of the equations of one step, by the unit of a velocity.

    Raises:
        ConfigError: neither a force nor a shift.
    """

    unit: str = option(help="unit of the velocities: m/s, rad/s, …")
    force: float = option(
        0.0,
        "standard deviation of the unmodelled generalized force, in N for m/s, N·m for rad/s; 0 for none",
        low=0,
    )
    shift: float = option(
        0.0,
        "standard deviation of a coordinate's change in one step beyond that of its velocity, in m for m/s; 0 for none",
        low=0,
    )

    def __attrs_post_init__(self) -> None:
        if not (self.force or self.shift):
            raise ConfigError([Mistake("force", self.force, "must be > 0, or `shift`")], "unmodelled")


@frozen(kw_only=True)
class Experiment:
    """A run of the scenario that was observed."""

    markers: Markers = field(metadata=_metadata("observed markers"))
    changes: tuple[str, ...] = field(
        default=(),
        metadata=_metadata("changes to the scenario in this run, as `--set` takes them", key="set"),
    )


def _runs(markers: Markers | None, experiments: tuple[Experiment, ...]) -> tuple[Experiment, ...]:
    """Return the observed runs, of which `markers` alone is one.

    Raises:
        ConfigError: none, or both.
    """
    if (markers is None) == (not experiments):
        said = "give either `markers` of one run, or `experiments`"
        raise ConfigError([Mistake("experiments", len(experiments), said)], "the fit")
    return experiments if markers is None else (Experiment(markers=markers),)


def _experiments_field() -> Any:
    return field(default=(), metadata=_metadata("runs that were observed, in place of `markers`"))


def _numbers_field() -> Any:
    said = "what to fit: options of the model by their paths, `links[0].divisions[0].young`, or other numbers"
    return field(metadata=_metadata(f"{said} of the scenario: `world.friction[0].value`"))


def _starts_option() -> Any:
    return option(1, "searches from so many starts; all but the first lie between low and high", low=1)


@frozen(kw_only=True)
class IpoptFitConfig:
    """Options of `ipopt-fit`."""

    markers: Markers | None = field(default=None, metadata=_metadata("observed markers of one run"))
    experiments: tuple[Experiment, ...] = _experiments_field()
    parameters: tuple[Parameter, ...] = field(metadata=_metadata("parameters to fit"))
    contacts: tuple[KnownContact, ...] = field(default=(), metadata=_metadata("known contacts"))
    unmodelled: tuple[Unmodelled, ...] = field(
        default=(), metadata=_metadata("allowed error of the equations of motion; none if absent")
    )
    scheme: str | None = option(
        None, "integrator of the fitted motion; if absent, that of the scenario",
        choices=(None, "semi-implicit-euler", "explicit-euler", "implicit-euler", "implicit-midpoint"),
    )  # fmt: skip
    beta: float | None = option(
        None, "implicit fraction β of stiffness in `semi-implicit-euler`; if absent, that of the scenario",
        low=0, high=1,
    )  # fmt: skip
    start: str = option(
        "free", "initial state: free (fitted too), or known from the scenario", choices=("free", "known")
    )  # fmt: skip
    profile: str = option(
        "weak", "parameters with a profile: the weakly determined ones, all, or none",
        choices=("weak", "all", "none"),
    )  # fmt: skip
    profile_points: int = option(11, "count of values of a profile", low=3, high=201)
    starts: int = _starts_option()
    only_start: int = option(0, "search from this one of them alone, counted from 1; 0: from all", low=0)
    seed: int = option(0, "where these are drawn from", low=0)
    hessian: str = option(
        "auto", "exact, gauss-newton, or auto: exact where a step's Jacobian has less than 300,000 operations",
        choices=("auto", "exact", "gauss-newton"),
    )  # fmt: skip
    max_iterations: int = option(300, "largest count of IPOPT iterations", low=1)
    tolerance: float = option(1e-8, "tolerance of IPOPT", above=0)

    @property
    def runs(self) -> tuple[Experiment, ...]:
        """The observed runs."""
        return _runs(self.markers, self.experiments)

    def __attrs_post_init__(self) -> None:
        _check_names(self.parameters)
        _check_start(self.only_start, self.starts)
        count = len(self.runs)
        mistakes = [
            Mistake(
                f"contacts[{i}].experiment", each.experiment, f"must be at most {count}, as many there are"
            )
            for i, each in enumerate(self.contacts)
            if each.experiment > count
        ]
        if mistakes:
            raise ConfigError(mistakes, "the fit")


def _check_start(only: int, starts: int) -> None:
    """Refuse the number of a start that there is not."""
    if only > starts:
        raise ConfigError(
            [Mistake("only_start", only, f"must be at most {starts}, as `starts` says")], "the fit"
        )


def _check_names(parameters: tuple[Parameter, ...]) -> None:
    """Refuse names that appear twice, and none at all."""
    names = [each.name for each in parameters]
    mistakes = [
        Mistake(f"parameters[{i}].name", name, "appears twice")
        for i, name in enumerate(names)
        if name in names[:i]
    ]
    if not names:
        mistakes.append(Mistake("parameters", names, "name at least one"))
    if mistakes:
        raise ConfigError(mistakes, "the fit")


@frozen(kw_only=True)
class SimulationFitConfig:
    """Options of `simulation-fit`."""

    markers: Markers | None = field(default=None, metadata=_metadata("observed markers of one run"))
    experiments: tuple[Experiment, ...] = _experiments_field()
    parameters: tuple[Parameter, ...] = _numbers_field()
    starts: int = _starts_option()
    only_start: int = option(0, "search from this one of them alone, counted from 1; 0: from all", low=0)
    seed: int = option(0, "where these are drawn from", low=0)
    max_iterations: int = option(50, "largest count of trial points from a start", low=1)
    tolerance: float = option(1e-8, "relative change of cost or parameters at which a search ends", above=0)

    @property
    def runs(self) -> tuple[Experiment, ...]:
        """The observed runs."""
        return _runs(self.markers, self.experiments)

    def __attrs_post_init__(self) -> None:
        _check_names(self.parameters)
        _check_start(self.only_start, self.starts)
        _ = self.runs


@frozen(kw_only=True)
class AdjointConfig(SimulationFitConfig):
    """Options of `adjoint`: those of `simulation-fit`, with other ends of a search."""

    max_iterations: int = option(100, "largest count of iterations from a start", low=1)
    tolerance: float = option(
        1e-10,
        "of the gradient and of what an iteration gains, relative to the misfit at the start",
        above=0,
    )


def _curvature_channels() -> Any:
    return option((), "input channels to fit; if absent, all with a name that begins with `curvature`")


@frozen(kw_only=True)
class CurvatureDescentConfig:
    """Options of `curvature-descent`."""

    markers: Markers = field(metadata=_metadata("observed markers"))
    channels: tuple[str, ...] = _curvature_channels()
    components: tuple[int, ...] = option((0, 1), "entries of each channel to fit: κ₁, κ₂, twist", low=0)
    rate: float = option(0.5, "first α, in units of the step for a single value", above=0, high=2)
    probe: float = option(1e-3, "step of the finite differences", unit="1/m", above=0)
    tolerance: float = option(1e-3, "largest step of a converged shape", unit="1/m", above=0)
    max_iterations: int = option(300, "largest count of steps per shape", low=1)


@frozen(kw_only=True)
class GaussNewtonConfig:
    """Options of `gauss-newton`."""

    markers: Markers = field(metadata=_metadata("observed markers"))
    channels: tuple[str, ...] = _curvature_channels()
    components: tuple[int, ...] = option((0, 1), "entries of each channel to fit: κ₁, κ₂, twist", low=0)
    prior_deviation: float = option(
        100.0, "standard deviation between the values of successive shapes, for directions that markers do not show",
        unit="1/m", above=0,
    )  # fmt: skip
    tolerance: float = option(
        1e-6, "largest change of a converged shape, relative to the largest value", above=0
    )
    max_iterations: int = option(30, "largest count of Gauss-Newton steps per shape", low=1)
