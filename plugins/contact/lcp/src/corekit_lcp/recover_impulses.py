"""From LCP variables to impulses, their residuals and the compliance, in one compiled call."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit_lcp.compliance import induced_speed
from corekit_lcp.impulses import read_impulses
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
    row_scale: Array,
    weight: float,
    scaled: bool,
    soft: Array,
    centre: Array,
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
    width = directions.shape[1] + 1
    kept = (rows.size - lower.size) // width
    speed = induced_speed(
        impulse,
        centre,
        soft,
        rows,
        row_scale,
        column_scale,
        kept,
        directions.shape[2] + 2,
        width,
        weight,
        scaled,
    )
    return found, velocity_unit * speed
