"""From the LCP's variables to impulses, their certificate and the compliance in one compiled call."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit_lcp.certify import certify
from corekit_lcp.impulses import impulses_of
from corekit_lcp.regularise import induced_speed

__all__ = ["conclude"]


@compiled
def conclude(
    z: Array,
    column_scale: Array,
    row: IntArray,
    coefficient: Array,
    offset: Array,
    rows: IntArray,
    centre: Array,
    row_scale: Array,
    weight: float,
    delassus: Array,
    free: Array,
    friction: Array,
    directions: Array,
    lower: Array,
    upper: Array,
    dropped: BoolArray,
    share: Array,
    impulse: Array,
    velocity: Array,
) -> tuple[tuple[float, float, float, float], float]:
    """See `impulses_of`, `certify` and `induced_speed`; returns what the last two do."""
    impulses_of(z, column_scale, row, coefficient, offset, rows, impulse)
    found = certify(delassus, free, friction, directions, lower, upper, dropped, impulse, share, velocity)
    return found, induced_speed(z, centre, row_scale, directions.shape[2] + 2, weight)
