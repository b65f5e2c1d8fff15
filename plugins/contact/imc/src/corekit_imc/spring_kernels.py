"""The spring and the dashpot of one contact from step to step; see `contact_springs`, whose equations are meant."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit_imc.barrier import depth_and_fraction
from corekit_imc.restitution import deepest

__all__ = ["COLUMNS", "MASS", "STIFFNESS", "age_springs", "choose_spring", "find_springs"]

STIFFNESS, SHIFT, DASHPOT, MASS, LOAD, AGE, REST = range(7)
"""Columns of a record: k [N/m], s [m], b [N·s/m], m_c [kg], λ̄ [N], t [s], and T [s] or 0 until it is computed."""
COLUMNS: Final = 7

_FREE: Final = 0.5
"""Gap relative to δ above which a contact stores nothing."""
_TARGET: Final = 0.2
"""Penetration at rest, relative to δ."""
_ALLOWED: Final = 0.85
"""Penetration relative to δ beyond which a contact is stiffened."""
_SHARE: Final = 0.5
"""Of the way that is left to that depth, within which the stiffened contact stops."""
_LEAST_WAY: Final = 0.05
"""Least such way relative to δ."""
_DEEP: Final = 0.4
"""Penetration relative to δ beyond which a contact may stop more than its own mass."""
_LARGEST: Final = 1e4
"""Most of such mass, relative to its own."""
_PERIODS: Final = 10.0
_ROUNDING: Final = 1e-9
"""Of a sum of steps."""


@compiled
def find_springs(
    count: int, id: IntArray, shape: IntArray, known_id: IntArray, known_shape: IntArray, record: Array,
    least: float, out: Array,
) -> None:  # fmt: skip
    """Write k, s and b of contacts, (m, 3); of an unknown one those of the stiffest contact of a same shape.

    Args:
        known_id: ascending. record: shape (n, 7).
        least: k₀ of what has no such contact [N/m].
    """
    for c in range(count):
        where = np.searchsorted(known_id, id[c])
        if not (where < len(known_id) and known_id[where] == id[c]):
            where = -1
            for k in range(len(known_id)):
                first, second = known_shape[k, 0], known_shape[k, 1]
                same = first in (shape[c, 0], shape[c, 1]) or second in (shape[c, 0], shape[c, 1])
                if same and (where < 0 or record[k, STIFFNESS] > record[where, STIFFNESS]):
                    where = k
        if where < 0:
            out[c, 0] = least
            out[c, 1:] = 0.0
        else:
            for k in range(MASS):
                out[c, k] = record[where, k]


@compiled
def _force(row: Array, gap: float, speed: float, layer: float) -> tuple[float, float]:
    """Return the force of the spring and λ of `evaluate` (0) [N]."""
    depth, fraction, _ = depth_and_fraction(gap + row[SHIFT], layer)
    spring = 2.0 * row[STIFFNESS] * depth
    return fraction * spring, fraction * max(0.0, spring + row[DASHPOT] * speed)


@compiled
def _inertia_and_load(
    row: Array, gap: float, speed: float, acceleration: float, layer: float
) -> tuple[float, float]:
    """Return the mass that the contact stops [kg] and Q [N], by (2)."""
    mass, force = row[MASS], _force(row, gap, speed, layer)[1]
    if gap < -_DEEP * layer and acceleration > 0.0:
        mass = max(mass, min(force / acceleration, _LARGEST * mass))
    return mass, max(0.0, force - mass * acceleration)


@compiled
def _stops_in_time(row: Array, gap: float, speed: float, mass: float, load: float, layer: float) -> bool:
    """Whether (3) is well within the layer."""
    stiffness, spring = row[STIFFNESS], _force(row, gap, 0.0, layer)[0]
    bent, at_rest = 0.5 * spring / stiffness, 0.5 * load / stiffness
    omega = math.sqrt(2.0 * stiffness / mass)
    ratio = 0.5 * row[DASHPOT] / (mass * omega)
    return row[SHIFT] + at_rest + deepest(bent - at_rest, speed, omega, ratio) <= _ALLOWED * layer


@compiled
def _set_dashpot(row: Array, ratio: float) -> None:
    row[DASHPOT] = 2.0 * ratio * math.sqrt(2.0 * row[STIFFNESS] * row[MASS])


@compiled
def _stiffen(row: Array, gap: float, wanted: float, layer: float) -> None:
    """Raise k to `wanted` and move the spring's end, s, so that its force stays."""
    force = _force(row, gap, 0.0, layer)[0]
    row[STIFFNESS] = max(row[STIFFNESS], wanted)
    low, high = row[SHIFT], row[SHIFT] + 2.0 * layer + abs(gap)
    for _ in range(60):
        row[SHIFT] = 0.5 * (low + high)
        if _force(row, gap, 0.0, layer)[0] > force:
            low = row[SHIFT]
        else:
            high = row[SHIFT]
    row[SHIFT] = high


@compiled
def age_springs(
    near: IntArray, gap: Array, rate: Array, acceleration: Array, step: float, layer: float, least: float, adapts: bool,
    ratio: float, soonest: float, record: Array, wants_mass: BoolArray,
) -> None:  # fmt: skip
    """Carry the records of the contacts `near` over a step, and mark those whose mass is needed to choose a spring.

    Args:
        gap, rate, acceleration: of every contact [m], [m/s], [m/s²].
        layer, least, ratio: δ [m], k₀ [N/m] and ζ. adapts: whether k is chosen at all.
        soonest: least time after which a contact rests [s].
        record: shape (len(near), 7). wants_mass: result, shape (len(near),).
    """
    for i in range(len(near)):
        c, row = near[i], record[i]
        speed = -rate[c]
        if gap[c] > _FREE * layer:  # nothing is stored: an earlier touch is forgotten
            row[:] = 0.0
            row[STIFFNESS] = least
        if gap[c] + row[SHIFT] > _FREE * layer:
            row[SHIFT] = max(0.0, _FREE * layer - gap[c])
        if row[MASS] == 0.0:
            wants_mass[i] = speed > 0.0 or gap[c] <= _FREE * layer
        elif adapts and speed > 0.0:
            mass, other = _inertia_and_load(row, gap[c], speed, acceleration[c], layer)
            wants_mass[i] = not _stops_in_time(row, gap[c], speed, mass, other, layer)
        if row[REST] == 0.0 and row[MASS] > 0.0 and row[AGE] >= soonest * (1.0 - _ROUNDING):
            period = 2.0 * math.pi * math.sqrt(row[MASS] / (2.0 * row[STIFFNESS]))
            row[REST] = max(soonest, _PERIODS * period)
        if adapts and not wants_mass[i] and row[REST] > 0.0 and row[AGE] >= row[REST] * (1.0 - _ROUNDING):
            share = min(1.0, step / row[REST])
            target = max(least, row[LOAD] / (2.0 * _TARGET * layer))
            row[STIFFNESS] += share * (target - row[STIFFNESS])
            row[SHIFT] -= share * row[SHIFT]
            _set_dashpot(row, ratio)
        time = row[REST] if row[REST] > 0.0 else soonest
        force = _force(row, gap[c], 0.0, layer)[0]
        row[LOAD] += min(1.0, step / min(row[AGE] + step, time)) * (force - row[LOAD])
        if gap[c] < layer:
            row[AGE] += step


@compiled
def choose_spring(
    row: Array, mass: float, gap: float, rate: float, acceleration: float, layer: float, least: float, adapts: bool,
    restitution: float, ratio: float,
) -> None:  # fmt: skip
    """Choose k and b of a contact with the effective mass m_c [kg] by (1) or (4)."""
    row[MASS], speed = mass, -rate
    if adapts and speed > 0.0:
        mass, other = _inertia_and_load(row, gap, speed, acceleration, layer)
        if gap > _FREE * layer:
            impact = restitution * mass * (speed / layer) ** 2
            row[STIFFNESS] = max(least, impact + other / (2.0 * _TARGET * layer))
        elif not _stops_in_time(row, gap, speed, mass, other, layer):
            way = max(_SHARE * (_ALLOWED * layer + gap), _LEAST_WAY * layer)
            more = max(0.0, other - _force(row, gap, 0.0, layer)[0])
            _stiffen(row, gap, 0.5 * restitution * mass * (speed / way) ** 2 + more / way, layer)
            row[MASS] = mass
            row[AGE] = row[REST] = 0.0
    _set_dashpot(row, ratio)
