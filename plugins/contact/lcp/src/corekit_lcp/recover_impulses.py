"""From LCP variables to impulses, their residuals and the compliance, in one compiled call."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit_lcp.impulses import read_impulses
from corekit_lcp.regularise import induced_speed
from corekit_lcp.residuals import measure_residuals

__all__ = ["recover_impulses"]


@compiled
def recover_impulses(
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
    mobility: Array,
    reference: Array,
    velocity_unit: float,
    impulse_unit: float,
    dropped: BoolArray,
    beta: Array,
    impulse: Array,
    velocity: Array,
) -> tuple[tuple[float, float, float, float, float], float]:
    """Call `read_impulses`, `measure_residuals` and `induced_speed`; return the results of the last two."""
    read_impulses(z, column_scale, row, coefficient, offset, rows, impulse)
    found = measure_residuals(
        delassus, free, friction, directions, lower, upper, mobility, reference, velocity_unit, impulse_unit, dropped,
        impulse, beta, velocity,
    )  # fmt: skip
    return found, velocity_unit * induced_speed(z, centre, row_scale, directions.shape[2] + 2, weight)
