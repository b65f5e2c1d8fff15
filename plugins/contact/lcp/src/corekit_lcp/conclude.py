"""From the LCP's variables to impulses and their certificate in one compiled call."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit_lcp.certify import certify
from corekit_lcp.impulses import impulses_of

__all__ = ["conclude"]


@compiled
def conclude(
    z: Array,
    column_scale: Array,
    row: IntArray,
    coefficient: Array,
    offset: Array,
    rows: IntArray,
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
) -> tuple[float, float, float, float]:
    """See `impulses_of` and `certify`, in this order; returns what `certify` does."""
    impulses_of(z, column_scale, row, coefficient, offset, rows, impulse)
    return certify(delassus, free, friction, directions, lower, upper, dropped, impulse, share, velocity)
