"""An estimate is judged before it is believed: its form, its units, and whether its verdicts are possible.

An estimator says `identified`; that it cannot be beside a number that is not finite, and what has no interval is not
determined, is known here. What no estimate may be is an error of the estimator, by its name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.errors import PluginError
from corekit.roles.estimator import VERDICTS, Estimate, EstimationTask, FittedParameter, LikelihoodProfile

__all__ = ["checked_estimate"]

_RELAXED = 1e-6
"""Share of itself by which an input may leave its bounds: optimisers relax them by 1e-8."""


def checked_estimate(estimate: Any, task: EstimationTask, estimator: str) -> Estimate:
    """Return an estimate with the verdicts that it can have.

    Raises:
        PluginError: naming the estimator and what is wrong with what it returned.
    """
    if not isinstance(estimate, Estimate):
        raise PluginError(
            f"the estimator {estimator!r} answered with a {type(estimate).__name__}, not an `Estimate`"
        )
    if wrong := [
        *_of_instants(estimate.time, "time"),
        *_of_markers(estimate),
        *_of_parameters(estimate.fitted, task),
        *_of_schedules(estimate, task),
    ]:
        raise PluginError(f"the estimator {estimator!r} answered with an estimate that cannot be: {wrong[0]}")
    return evolve(estimate, fitted=tuple(map(_possible, estimate.fitted)))


def _numbers(values: Any) -> Array | None:
    """Return values as an array of numbers, or None where they are none."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return None


def _of_instants(values: Any, name: str) -> Sequence[str]:
    times = _numbers(values)
    if times is None or times.ndim != 1:
        return [f"{name} is no list of instants"]
    if not np.isfinite(times).all() or (np.diff(times) < 0.0).any():
        return [f"{name} is not finite and increasing"]
    return []


def _of_markers(estimate: Estimate) -> Sequence[str]:
    shape = (np.size(estimate.time), len(estimate.markers), 3)
    found = []
    for name in ("observed", "predicted"):
        numbers = _numbers(getattr(estimate, name))
        if numbers is None:
            found.append(f"{name} holds something else than numbers")
        elif numbers.shape != shape:
            found.append(f"{name} has the shape {numbers.shape} instead of {shape}, (instants, markers, 3)")
    if not found:
        lost = np.isfinite(estimate.observed) & ~np.isfinite(estimate.predicted)
        if lost.any():
            k, i, _ = np.argwhere(lost)[0]
            found.append(
                f"predicted is not finite where marker {estimate.markers[i]!r} was seen, at {estimate.time[k]:g} s"
            )
    return found


def _of_parameters(fitted: Sequence[FittedParameter], task: EstimationTask) -> Sequence[str]:
    found = []
    for each in fitted:
        numbers = (each.value, each.start, each.low, each.high)
        if not all(isinstance(number, Real) for number in numbers):
            found.append(f"value, start, low and high of {each.name!r} are {numbers}, not four numbers")
            continue
        if each.profile is not None and _is_no_profile(each.profile):
            found.append(f"the profile of {each.name!r} is no row of increasing values with a cost each")
        if each.verdict not in VERDICTS:
            found.append(f"the verdict {each.verdict!r} of {each.name!r} is none of {', '.join(VERDICTS)}")
        try:
            unit = task.unit_of(each.name)
        except (LookupError, StopIteration, TypeError, ValueError):
            found.append(f"{each.name!r} is no option of body {task.body!r}")
            continue
        if unit and each.unit != unit:
            found.append(f"{each.name!r} is given in {each.unit or 'no unit'!r}, the option is in {unit!r}")
    return found


def _is_no_profile(profile: LikelihoodProfile) -> bool:
    values, cost = _numbers(profile.values), _numbers(profile.cost)
    if values is None or cost is None or values.ndim != 1 or values.shape != cost.shape:
        return True
    return not np.isfinite(values).all() or bool((np.diff(values) <= 0.0).any())


def _of_schedules(estimate: Estimate, task: EstimationTask) -> Sequence[str]:
    channels = {channel.name: channel for channel in task.model.description.inputs}
    found: list[str] = []
    for each in estimate.schedules:
        if each.channel not in channels:
            found.append(f"body {task.body!r} has no channel {each.channel!r}")
            continue
        channel, values = channels[each.channel], _numbers(each.values)
        found += _of_instants(each.times, f"the times of the input {each.channel!r}")
        wanted = (np.size(each.times), channel.size)
        if values is None or values.shape != wanted:
            found.append(
                f"the input {each.channel!r} has values of shape {np.shape(each.values)} instead of {wanted}"
            )
        elif not np.isfinite(values).all():
            found.append(f"the input {each.channel!r} is not finite")
        elif (values < channel.lower - _RELAXED * np.abs(values)).any() or (
            values > channel.upper + _RELAXED * np.abs(values)
        ).any():
            found.append(
                f"the input {each.channel!r} goes from {values.min():g} to {values.max():g} {channel.unit}, and its "
                f"bounds are {channel.lower:g} and {channel.upper:g}"
            )
    return found


def _possible(each: FittedParameter) -> FittedParameter:
    """Return a parameter without the claim that it is known, where its numbers are none."""
    if each.verdict not in VERDICTS[:2]:
        return each
    if not math.isfinite(each.value):
        note = f"its value is {each.value:g}, so that {each.verdict!r}, as the estimator says, it cannot be"
    elif not each.low <= each.value <= each.high:
        note = f"its interval from {each.low:g} to {each.high:g} does not hold its value"
    elif not (math.isfinite(each.low) and math.isfinite(each.high)):
        note = f"its interval goes from {each.low:g} to {each.high:g}"
    else:
        return each
    return evolve(each, verdict=VERDICTS[2], note=note)
