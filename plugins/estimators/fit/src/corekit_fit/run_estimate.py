"""What whole simulations say of parameters: deviations, verdicts, and what was seen beside what was found.

With S the Jacobian of the terms of (1) of `run_misfit` and s deviations of priors, the covariance of z is

    Σ = (Sᵀ·S + diag(1/s²))⁻¹                                                                          (1)

by singular values, so that parameters which the markers do not distinguish have none. Of a direction r in which the
motion does not change, as that of modulus, density and viscosity together, differences leave an S·r of their own error.
Over 2·δ that is another one, so that a singular value is known only where

    |S_δ·r| > 3·|(S_2δ − S_δ)·r|                                                                       (2)

A parameter is not identifiable either where its interval reaches both of its bounds, or without bounds a factor of a
thousand to both sides: the markers exclude nothing then.

Source: Seber, Wild (1989), Nonlinear Regression, section 2.1.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from attrs import evolve, frozen

from corekit.data.arrays import Array, BoolArray
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.estimator import Estimate, FittedParameter
from corekit_fit.misfit import combine_experiments, compute_spread, misfit_notes, with_misfit
from corekit_fit.pictures import draw_fit
from corekit_fit.profiles import MAX_RELATIVE_DEVIATION
from corekit_fit.run_misfit import RunMisfit
from corekit_fit.unknowns import Unknown

__all__ = ["Found", "answer"]

_NO_INFORMATION = 1e-8
"""Singular value of S, relative to the largest, that differences cannot distinguish from zero."""
_CERTAIN = 3.0
"""Of (2)."""
_UNBOUNDED: Final = math.log(1e3)
_STUCK = 0.02
"""Share of the range between bounds that a search has at least to leave a bound at which it began."""


@frozen(eq=False)
class Found:
    """Where the best search ended.

    Args:
        z: coordinates of the parameters. terms: of (1) of `run_misfit` there. slope: the largest of its gradient.
        iterations: of the search. converged: whether it ended by its tolerance. answered_by: its name.
    """

    z: Array
    terms: Array
    slope: float
    iterations: int
    converged: bool
    answered_by: str


def answer(search: RunMisfit, found: Found) -> tuple[Estimate, SolveInfo]:
    """The estimate, with its pictures, and how the solve went."""
    estimate = _estimate(search, found)
    pictures, notes = draw_fit(search.task, estimate, ())
    estimate = evolve(estimate, pictures=pictures, notes=(*estimate.notes, *notes))
    status = Status.CONVERGED if found.converged else Status.ITERATION_LIMIT
    return estimate, SolveInfo(status, found.iterations, Residuals(equation=found.slope), found.answered_by)


def _deviations(jacobian: Array, wider: Array, at_bound: BoolArray) -> Array:
    """Standard deviations of z by (1), inf without information; nan at a bound, where the others count as free.

    Args:
        jacobian, wider: S by differences over δ and over 2·δ.
    """
    free = np.flatnonzero(~at_bound)
    out = np.full(len(at_bound), np.nan)
    if not len(free):
        return out
    _, values, rows = np.linalg.svd(jacobian[:, free], full_matrices=False)
    error = np.linalg.norm((wider - jacobian)[:, free] @ rows.T, axis=0)
    known = (values > _NO_INFORMATION * max(float(values[0]), 1e-300)) & (values > _CERTAIN * error)
    variance = np.sum((rows[known] / values[known, None]) ** 2, axis=0)
    blind = np.sum(rows[~known] ** 2, axis=0) > 1e-6
    out[free] = np.where(blind, np.inf, np.sqrt(variance))
    return out


def _estimate(search: RunMisfit, found: Found) -> Estimate:
    """What was found, with verdicts."""
    z, unknowns = found.z, search.unknowns
    near = 1e-6 * (1.0 + np.abs(z))
    at_bound = (z - search.low <= near) | (search.high - z <= near)
    count = sum(int(np.isfinite(each.observed.position).sum()) for each in search.experiments)
    spread = compute_spread(found.terms[:count], len(z))
    deviation = _deviations(*search.last_jacobians(z), at_bound)
    fitted = tuple(
        _fitted(unknown, float(own), float(sigma), at_bound=bool(bound))
        for unknown, own, sigma, bound in zip(unknowns, z, deviation, at_bound, strict=True)
    )
    notes = [*misfit_notes(spread)]
    if notes and (stuck := _stuck(search, z)):
        fitted = tuple(evolve(each, verdict="not identifiable", note=stuck) for each in fitted)
        notes = [f"residuals are {spread:.3g} times their stated deviation, and {stuck}"]
    if search.failed:
        notes.append(
            f"{search.failed} of {search.simulations + search.failed} simulations could not be finished"
            f"{' or differentiated' if search.gradients else ''}"
        )
    best = min(search.costs)
    agreeing = sum(cost <= best + 1e-3 * (1.0 + best) for cost in search.costs)
    metrics = {
        "objective": best,
        "residual_rms_in_deviations": spread,
        "simulations": float(search.simulations),
    }
    if search.gradients:
        metrics["gradients"] = float(search.gradients)
    if len(search.costs) > 1:
        metrics["starts_that_end_at_the_best"] = float(agreeing)
    time, names, observed, predicted = combine_experiments(
        [each.observed for each in search.experiments], search.predicted(z)
    )
    return Estimate(
        fitted=with_misfit(fitted, spread), time=time, markers=names, observed=observed, predicted=predicted,
        metrics=metrics, notes=tuple(notes),
    )  # fmt: skip


def _stuck(search: RunMisfit, z: Array) -> str:
    """Name the parameters that are where they began, at a bound: of the model their misfit says nothing."""
    names = [
        each.name
        for each, own, low, high in zip(search.unknowns, z, search.low, search.high, strict=True)
        for end in (low, high)
        if math.isfinite(high - low) and max(abs(own - end), abs(end)) <= _STUCK * (high - low)
    ]
    said = "the search did not leave the bound at which it began: give another start, or `starts = 5`"
    return f"{said} ({', '.join(names)})" if names else ""


def _fitted(unknown: Unknown, z: float, deviation: float, *, at_bound: bool) -> FittedParameter:
    """One parameter with interval and verdict."""
    value = float(unknown.value(z))
    low, high = (float(unknown.value(z + side * 1.96 * deviation)) for side in (-1.0, 1.0))
    relative = deviation if unknown.log else deviation * unknown.scale / abs(value or unknown.scale)
    ends = [unknown.coordinate(end) for end in (unknown.low, unknown.high)]
    room = [abs(end - z) if math.isfinite(end) else _UNBOUNDED for end in ends]
    if at_bound:
        verdict, note = "not identifiable", "it ends at its bound, and might go on beyond"
    elif math.isinf(deviation):
        low, high = unknown.low, unknown.high
        verdict, note = (
            "not identifiable",
            "the markers do not tell it from other parameters, or do not move with it",
        )
    elif 1.96 * deviation >= max(room):
        low, high = unknown.low, unknown.high
        verdict, note = "not identifiable", "its interval by (1) is all that its bounds allow"
    elif relative < MAX_RELATIVE_DEVIATION:
        verdict, note = "identified", f"standard deviation {100 * relative:.2g} %"
    else:
        verdict, note = "weakly identified", f"standard deviation {100 * relative:.2g} %, from (1) alone"
    return FittedParameter(
        name=unknown.name, unit=unknown.unit, value=value, start=unknown.start, low=low, high=high, verdict=verdict,
        note=note,
    )  # fmt: skip
