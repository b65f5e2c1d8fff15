"""Identifiability of one parameter: interval, verdict, and profile if the interval is not reliable.

    profile(θ) = minimum of (1) of `program` at fixed θ, minus that of the estimate                     (1)
    95 % interval: profile ≤ 1.92, half of the χ² quantile of one degree of freedom                     (2)

A parameter is *identified* if its standard deviation from the reduced Hessian is below a fifth of its value. Otherwise
the profile decides. If it exceeds (2) on both sides, the parameter is *weakly identified*. If it stays below on one
side, up to its bound or a factor of a thousand, it is *not identifiable*. Without a profile the parabola of the reduced
Hessian stands for it.

Source: Raue et al. (2009), "Structural and practical identifiability analysis of partially observed dynamical models
by exploiting the profile likelihood", Bioinformatics 25(15).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.estimator import FittedParameter, LikelihoodProfile
from corekit_fit.program import Program, Solution
from corekit_fit.unknowns import Unknown

__all__ = ["LIMIT", "MAX_RELATIVE_DEVIATION", "assess_identifiability", "compute_profile"]

LIMIT: Final = 1.92
MAX_RELATIVE_DEVIATION: Final = 0.2
_LOG_RANGE: Final = math.log(1e3)
_REFINEMENTS, _NEAR = 8, 0.02
"""Most values that are added to a profile on a side, and how near (2) one of them has to be, relative."""


def _profile_range(
    program: Program, index: int, z: float, deviation: float, *, well: bool
) -> tuple[float, float]:
    """Return the range of the profile in z: four deviations if `well` known, else the bounds or a large range."""
    unknown = program.unknowns[index]
    finite_deviation = deviation if math.isfinite(deviation) and deviation > 0.0 else 1.0
    range_ = 4.0 * deviation if well else (_LOG_RANGE if unknown.log else 10.0 * finite_deviation)
    low, high = unknown.coordinate(unknown.low), unknown.coordinate(unknown.high)
    if well:
        return max(low, z - range_), min(high, z + range_)
    return (low if math.isfinite(low) else z - range_), (high if math.isfinite(high) else z + range_)


def compute_profile(
    program: Program, best: Solution, index: int, deviation: float, points: int, *, well: bool
) -> LikelihoodProfile:
    """Return (1) at values evenly spaced on the parameter's scale, each from the solution of its neighbour.

    The order is outward from the estimate, then back. Each value is a local minimum, so the profile is an upper bound
    of the true one. A value without a solution has the cost nan. If the deviation is `well` known, the range is four
    deviations on both sides. Else more values are added where it passes (2), until it is known there.
    """
    column = int(program.parameters[index])
    middle = float(best.x[column])
    low, high = _profile_range(program, index, middle, deviation, well=well)
    grid = [float(z) for z in np.linspace(low, high, points)]
    found: dict[float, tuple[float, Array]] = {}
    bounds = program.low[column], program.high[column]

    def update(z: float, beside: Array) -> None:
        program.low[column] = program.high[column] = z
        new = program.solve(beside)
        rise = new.objective - best.objective
        if new.solved and not (z in found and rise >= found[z][0]):
            found[z] = rise, new.x

    try:
        for order in ([z for z in grid if z >= middle], [z for z in reversed(grid) if z < middle]):
            beside = best.x
            for z in order:
                update(z, beside)
                beside = found[z][1] if z in found else beside
            # on the way back, a high value may have a better solution from the other neighbour
            for z, farther in zip(order[-2::-1], order[:0:-1], strict=True):
                if not (z in found and found[z][0] <= LIMIT) and farther in found:
                    update(z, found[farther][1])
            if not well:
                _refine(middle, best.x, order, found, update)
    finally:
        program.low[column], program.high[column] = bounds
    places = sorted({*grid, *found})
    values = np.array([program.unknowns[index].value(z) for z in places])
    return LikelihoodProfile(values, np.array([found[z][0] if z in found else math.nan for z in places]))


def _refine(
    middle: float,
    best: Array,
    order: list[float],
    found: dict[float, tuple[float, Array]],
    update: Callable[[float, Array], None],
) -> None:
    """Add values of a profile where it passes (2), by false position in its root, which is straight for a parabola.

    Args:
        middle, best: z and unknowns of the estimate.
        order: places of the profile on one side of it, outward. found: its values and unknowns there.
        update: finds a value of the profile from unknowns near it.
    """
    inside, rise, x = middle, 0.0, best
    outside = next((z for z in order if z in found and found[z][0] > LIMIT), None)
    for z in order:
        if outside is None or z == outside:
            break
        if z in found:
            inside, (rise, x) = z, found[z]
    for _ in range(_REFINEMENTS):
        if outside is None:
            return
        root, beyond = math.sqrt(max(rise, 0.0)), math.sqrt(found[outside][0])
        share = min(max((math.sqrt(LIMIT) - root) / (beyond - root), 0.05), 0.95)
        z = inside + share * (outside - inside)
        update(z, x)
        if z not in found or abs(found[z][0] - LIMIT) <= _NEAR * LIMIT:
            return
        if found[z][0] > LIMIT:
            outside = z
        else:
            inside, (rise, x) = z, found[z]


def assess_identifiability(
    program: Program, best: Solution, index: int, deviation: float, which: str, points: int
) -> FittedParameter:
    """Return a parameter with its interval and verdict.

    Args:
        program: the program.
        best: its solution.
        index: index of the parameter.
        deviation: standard deviation of z, from the reduced Hessian.
        which: parameters with a profile: weak, all or none.
        points: count of values of a profile.
    """
    unknown = program.unknowns[index]
    z = float(best.x[program.parameters[index]])
    value = float(unknown.value(z))
    relative = deviation if unknown.log else deviation * unknown.scale / abs(value or unknown.scale)
    well = math.isfinite(relative) and relative < MAX_RELATIVE_DEVIATION
    low, high = (float(unknown.value(z + side * 1.96 * deviation)) for side in (-1.0, 1.0))
    verdict, note = ("identified", f"standard deviation {100 * relative:.2g} %") if well else ("", "")
    profile = None
    if which == "all" or (which == "weak" and not well):
        profile = compute_profile(program, best, index, deviation, points, well=well)
    if not well and profile is not None:
        low, high, verdict, note = _from_profile(unknown, value, profile)
    elif not well:
        ends = _profile_range(program, index, z, deviation, well=False)
        low, high, verdict, note = _from_hessian(unknown, z, deviation, ends)
    return FittedParameter(
        name=unknown.name, unit=unknown.unit, value=value, start=unknown.start, low=low, high=high,
        verdict=verdict, note=note, profile=profile,
    )  # fmt: skip


def _from_hessian(
    unknown: Unknown, z: float, deviation: float, ends: tuple[float, float]
) -> tuple[float, float, str, str]:
    """Return the same without a profile: (2) for ½·((θ − θ̂)/deviation)², as far as a profile would go."""
    low, high = (
        float(unknown.value(z + side * 1.96 * deviation))
        if abs(end - z) > 1.96 * deviation
        else side * math.inf
        for side, end in zip((-1.0, 1.0), ends, strict=True)
    )
    if math.isfinite(low) and math.isfinite(high):
        return low, high, "weakly identified", "from the reduced Hessian only, without a profile"
    low = 0.0 if unknown.log and not math.isfinite(low) else low
    return (
        low,
        high,
        "not identifiable",
        "the reduced Hessian does not bound it; without a profile no more is known",
    )


def _from_profile(
    unknown: Unknown, value: float, profile: LikelihoodProfile
) -> tuple[float, float, str, str]:
    """Return interval, verdict and note of a parameter that the reduced Hessian does not identify."""
    known = np.isfinite(profile.cost)
    low, high = (
        _crossing(unknown, value, profile.values[known], profile.cost[known], side) for side in (-1, 1)
    )
    open_sides = [word for word, end in (("below", low), ("above", high)) if not math.isfinite(end)]
    gaps = "" if known.all() else f"; {int((~known).sum())} values of the profile have no solution"
    if not open_sides:
        return low, high, "weakly identified", f"the profile bounds it on both sides{gaps}"
    limits = {"below": profile.values[0], "above": profile.values[-1]}
    ends_at = " and ".join(
        f"{word} {'down' if word == 'below' else 'up'} to {limits[word]:.3g}" for word in open_sides
    )
    note = f"the data do not bound it {ends_at} {unknown.unit}: the profile stays under {LIMIT:g}{gaps}"
    low = -math.inf if "below" in open_sides and not unknown.log else (0.0 if "below" in open_sides else low)
    return low, high, "not identifiable", note


def _crossing(unknown: Unknown, value: float, values: Array, cost: Array, side: int) -> float:
    """Return the first crossing of (2) on one side of the estimate; ±inf if there is none.

    Between two values the root of the profile is straight, as that of a parabola about the estimate.
    """
    order = np.flatnonzero(values > value) if side > 0 else np.flatnonzero(values < value)[::-1]
    z_before, before = unknown.coordinate(value), 0.0
    for k in order:
        z, root = unknown.coordinate(float(values[k])), math.sqrt(max(float(cost[k]), 0.0))
        if root * root > LIMIT:
            fraction = (math.sqrt(LIMIT) - before) / (root - before)
            return float(unknown.value(z_before + fraction * (z - z_before)))
        z_before, before = z, root
    return side * math.inf
