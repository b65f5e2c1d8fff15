"""What the data say of one parameter: its interval, its profile where the interval cannot be trusted, a verdict.

    profile(θ) = min over everything else of (1) of `program`, less that of the estimate                (1)
    95 % interval: profile ≤ 1.92, half of the χ² quantile of one degree of freedom                     (2)

A parameter is *identified* if its standard deviation from the reduced Hessian is below a fifth of it. Otherwise the
profile is computed: if it rises above (2) on both sides the parameter is *weakly identified*, and if it stays below
on one side, up to its bound or a factor of a thousand, it is *not identifiable* there.

Source: Raue et al. (2009), "Structural and practical identifiability analysis of partially observed dynamical models
by exploiting the profile likelihood", Bioinformatics 25(15).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.estimator import FittedParameter, LikelihoodProfile
from corekit_fit.program import Program, Solution, Unknown

__all__ = ["LIMIT", "judge", "profile_of"]

LIMIT: Final = 1.92
_WELL: Final = 0.2
_FAR: Final = math.log(1e3)


def _reach(program: Program, index: int, z: float, deviation: float, *, well: bool) -> tuple[float, float]:
    """Ends of the profile in z: four deviations where they mean something, else the bounds, else far away."""
    unknown = program.unknowns[index]
    spread = deviation if math.isfinite(deviation) and deviation > 0.0 else 1.0
    far = 4.0 * deviation if well else (_FAR if unknown.log else 10.0 * spread)
    low, high = unknown.coordinate(unknown.low), unknown.coordinate(unknown.high)
    if well:
        return max(low, z - far), min(high, z + far)
    return (low if math.isfinite(low) else z - far), (high if math.isfinite(high) else z + far)


def profile_of(
    program: Program, best: Solution, index: int, deviation: float, points: int, *, well: bool
) -> LikelihoodProfile:
    """Equation (1) at values evenly spaced on the parameter's scale, each solve begun at its neighbour's answer.

    Outward from the estimate, then back: each is a local minimum, so the profile lies nowhere below the true one.

    A value at which IPOPT found no answer has the cost nan. Where the deviation is `well` known the values reach four
    of it to both sides.
    """
    place = int(program.parameters[index])
    middle = float(best.x[place])
    low, high = _reach(program, index, middle, deviation, well=well)
    grid = np.linspace(low, high, points)
    cost = np.full(points, np.nan)
    answers: dict[int, Array] = {}
    bounds = program.low[place], program.high[place]

    def look(k: int, beside: Array) -> None:
        program.low[place] = program.high[place] = grid[k]
        found = program.solve(beside)
        rise = found.objective - best.objective
        if found.solved and not rise >= cost[k]:
            cost[k], answers[k] = rise, found.x

    try:
        above = grid >= middle
        for order in (np.flatnonzero(above).tolist(), np.flatnonzero(~above)[::-1].tolist()):
            beside = best.x
            for k in order:
                look(k, beside)
                beside = answers.get(k, beside)
            # on the way back what lies high may turn out to have a better answer
            for k, farther in zip(order[-2::-1], order[:0:-1], strict=True):
                if not cost[k] <= LIMIT and farther in answers:
                    look(k, answers[farther])
    finally:
        program.low[place], program.high[place] = bounds
    values = np.array([program.unknowns[index].value(float(z)) for z in grid])
    return LikelihoodProfile(values, cost)


def judge(
    program: Program, best: Solution, index: int, deviation: float, which: str, points: int
) -> FittedParameter:
    """A parameter with its interval and verdict.

    Args:
        deviation: of z, from the reduced Hessian. which: who gets a profile: weak, all or none.
    """
    unknown = program.unknowns[index]
    z = float(best.x[program.parameters[index]])
    value = float(unknown.value(z))
    relative = deviation if unknown.log else deviation * unknown.scale / abs(value or unknown.scale)
    well = math.isfinite(relative) and relative < _WELL
    low, high = (float(unknown.value(z + side * 1.96 * deviation)) for side in (-1.0, 1.0))
    verdict, note = ("identified", f"standard deviation {100 * relative:.2g} %") if well else ("", "")
    profile = None
    if which == "all" or (which == "weak" and not well):
        profile = profile_of(program, best, index, deviation, points, well=well)
    if not well:
        low, high, verdict, note = _from_profile(unknown, value, profile, low, high)
    return FittedParameter(
        name=unknown.name, unit=unknown.unit, value=value, start=unknown.start, low=low, high=high,
        verdict=verdict, note=note, profile=profile,
    )  # fmt: skip


def _from_profile(
    unknown: Unknown, value: float, profile: LikelihoodProfile | None, low: float, high: float
) -> tuple[float, float, str, str]:
    """Interval, verdict and note of a parameter that the reduced Hessian does not settle."""
    if profile is None:
        return low, high, "weakly identified", "from the reduced Hessian alone; no profile was asked for"
    known = np.isfinite(profile.cost)
    low, high = (
        _crossing(unknown, value, profile.values[known], profile.cost[known], side) for side in (-1, 1)
    )
    open_sides = [word for word, end in (("below", low), ("above", high)) if not math.isfinite(end)]
    lost = "" if known.all() else f"; {int((~known).sum())} values of the profile have no answer"
    if not open_sides:
        return low, high, "weakly identified", f"the profile bounds it on both sides{lost}"
    reached = {"below": profile.values[0], "above": profile.values[-1]}
    ends_at = " and ".join(
        f"{word} {'down' if word == 'below' else 'up'} to {reached[word]:.3g}" for word in open_sides
    )
    note = f"the data do not bound it {ends_at} {unknown.unit}: the profile stays under {LIMIT:g}{lost}"
    low = -math.inf if "below" in open_sides and not unknown.log else (0.0 if "below" in open_sides else low)
    return low, high, "not identifiable", note


def _crossing(unknown: Unknown, value: float, values: Array, cost: Array, side: int) -> float:
    """Where the profile first exceeds (2) on a side of the estimate, between values by straight lines; else ±inf."""
    order = np.flatnonzero(values > value) if side > 0 else np.flatnonzero(values < value)[::-1]
    z_before, cost_before = unknown.coordinate(value), 0.0
    for k in order:
        z, rise = unknown.coordinate(float(values[k])), float(cost[k])
        if rise > LIMIT:
            share = (LIMIT - cost_before) / (rise - cost_before)
            return float(unknown.value(z_before + share * (z - z_before)))
        z_before, cost_before = z, rise
    return side * math.inf
