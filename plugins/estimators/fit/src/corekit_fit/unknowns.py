"""Fitted parameters as unknowns: their scales, bounds and priors, and where searches start.

θ = θ₀·exp(z) on a log scale, θ₀ + s₀·z on a linear one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_fit.config import Parameter

__all__ = ["Unknown", "bounds", "resolve_unknowns", "spread_starts"]


@frozen(kw_only=True)
class Unknown:
    """A parameter of the program: θ = start·exp(z) if `log`, else start + scale·z.

    Args:
        low, high: bounds of θ.
        prior, deviation: prior of θ, on a log scale of log θ; nan without a prior.
    """

    name: str
    unit: str
    start: float
    log: bool
    scale: float
    low: float
    high: float
    prior: float
    deviation: float

    def value(self, z: Any) -> Any:
        """Return θ for a number or an expression z."""
        if not self.log:
            return self.start + self.scale * z
        return self.start * (math.exp(min(z, 700.0)) if isinstance(z, float) else ca.exp(z))

    def slope(self, z: float) -> float:
        """dθ/dz."""
        return float(self.value(z)) if self.log else self.scale

    def prior_term(self, z: float) -> tuple[float, float]:
        """(z̄ − mean)/deviation of the prior and its derivative in z, with z̄ = log θ or θ; nan without a prior."""
        value = float(self.value(z))
        if self.log:
            return (math.log(value) - math.log(self.prior)) / self.deviation, 1.0 / self.deviation
        return (value - self.prior) / self.deviation, self.scale / self.deviation

    def coordinate(self, value: float) -> float:
        """Return z for θ; infinite at the ends of the scale."""
        if not self.log:
            return (value - self.start) / self.scale
        if value <= 0.0:
            return -math.inf
        return math.log(value / self.start) if math.isfinite(value) else math.inf


def resolve_unknowns(parameters: Sequence[Parameter], model_parameters: Any) -> tuple[Unknown, ...]:
    """Return the parameters with starts and scales from the model.

    Raises:
        ConfigError: all unknown names and invalid starts at once.
    """
    mistakes: list[Mistake] = []
    unknowns: list[Unknown] = []
    for i, each in enumerate(parameters):
        path = f"options.parameters[{i}]"
        if each.name not in model_parameters:
            known = ", ".join(f"{name} [{of.unit}]" for name, of in model_parameters.items()) or "none"
            expected = (
                f"must be an option of the body's model, by its path among the options ({known}), or for an "
                "estimator that runs the scenario the path of another number of it, `world.friction[0].value`"
            )
            mistakes.append(Mistake(f"{path}.name", each.name, expected))
            continue
        model_parameter = model_parameters[each.name]
        start = model_parameter.value if each.start is None else each.start
        low = -math.inf if each.low is None else each.low
        high = math.inf if each.high is None else each.high
        log = each.scale == "log" or (not each.scale and (start > 0.0 if each.low is None else low >= 0.0))
        if log and start <= 0.0:
            mistakes.append(Mistake(f"{path}.start", start, "must be > 0 on a log scale: give a start"))
            continue
        start = min(max(start, low), high)
        prior = math.nan if each.prior is None else each.prior
        deviation = math.nan if each.prior_deviation is None else each.prior_deviation
        unknowns.append(
            Unknown(
                name=each.name, unit=model_parameter.unit, start=start, log=log, scale=abs(start) or 1.0,
                low=low, high=high, prior=prior, deviation=deviation,
            )
        )  # fmt: skip
    if mistakes:
        raise ConfigError(mistakes, "the fit")
    return tuple(unknowns)


def bounds(unknowns: Sequence[Unknown]) -> tuple[Array, Array]:
    """Return the lowest and highest z."""
    low, high = (
        np.array([each.coordinate(getattr(each, end)) for each in unknowns]) for end in ("low", "high")
    )
    return low, high


def spread_starts(unknowns: Sequence[Unknown], count: int, seed: int, only: int = 0) -> list[Array]:
    """Return z of so many starts: the first as given, the others spread evenly between the bounds, from the seed.

    Args:
        only: this one of them alone, counted from 1; 0: all.
    Raises:
        ConfigError: no bounds to spread them between.
    """
    low, high = bounds(unknowns)
    # at a bound a search makes its first steps as short as the distance to it
    inside = np.where(np.isfinite(high - low), 0.01 * (high - low), 0.01)
    first = np.clip(np.zeros(len(unknowns)), low + inside, high - inside)
    if count == 1:
        return [first]
    unbounded = [
        each.name for each, width in zip(unknowns, high - low, strict=True) if not math.isfinite(width)
    ]
    if unbounded:
        said = "needs low and high (low > 0 on a log scale) of every parameter to spread the starts between"
        raise ConfigError([Mistake("options.starts", count, f"{said}: {', '.join(unbounded)}")], "the fit")
    from scipy.stats import qmc

    sampler = qmc.LatinHypercube(len(unknowns), seed=seed)
    starts = [first, *(low + sampler.random(count - 1) * (high - low))]
    return starts[only - 1 : only] if only else starts
