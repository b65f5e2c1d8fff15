"""Select, assemble, scale and regularise the LCP of the kept contacts, in one compiled call."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_lcp.assemble import assemble, select_rows
from corekit_lcp.compliance import add_compliance, add_scaled_compliance
from corekit_lcp.impulses import write_variables
from corekit_lcp.scale import add_units, change_units, equilibrate

__all__ = ["prepare"]


@compiled
def prepare(
    delassus: Array,
    free: Array,
    friction: Array,
    directions: Array,
    lower: Array,
    upper: Array,
    kept: IntArray,
    guess: Array,
    sweeps: int,
    symmetric: bool,
    velocity_unit: float,
    impulse_unit: float,
    weight: float,
    scaled: bool,
    soft: Array,
    centre: Array,
    beta: Array,
    rows: IntArray,
    part: Array,
    part_free: Array,
    part_friction: Array,
    part_directions: Array,
    row: IntArray,
    coefficient: Array,
    paired_row: IntArray,
    leader: IntArray,
    copies: Array,
    offset: Array,
    response: Array,
    squares: Array,
    row_norm: Array,
    column_norm: Array,
    matrix: Array,
    vector: Array,
    row_scale: Array,
    column_scale: Array,
    z: Array,
) -> None:
    """Select and soften the rows, assemble and scale the LCP, and write its initial guess.

    Args:
        delassus, free, friction, directions, lower, upper, guess: of the whole problem.
        kept: the kept contacts, shape (k,).
        sweeps: 0: no scaling. symmetric: one scaling for rows and columns.
        velocity_unit, impulse_unit: those of the LCP over those of the whole problem.
        weight, scaled, soft, centre: of the compliance, (2) of `compliance` if scaled; 0: none.
        beta: workspace, shape (r,).
        the others: workspace and results, `LCPPart.arrays`.
    """
    select_rows(
        delassus, free, friction, directions, kept, rows, part, part_free, part_friction, part_directions
    )
    if weight > 0.0 and not scaled:
        add_compliance(part, part_free, rows, soft, weight, centre)
    assemble(
        part,
        part_free,
        part_friction,
        part_directions,
        lower,
        upper,
        row,
        coefficient,
        paired_row,
        offset,
        response,
        matrix,
        vector,
    )
    change_units(velocity_unit, impulse_unit, coefficient, matrix, vector)
    equilibrate(
        matrix, vector, sweeps, symmetric, paired_row, leader, copies, squares, row_norm, column_norm,
        row_scale, column_scale,
    )  # fmt: skip
    add_units(velocity_unit, impulse_unit, coefficient, row_scale, column_scale)
    if weight > 0.0 and scaled:
        variables, width = directions.shape[2] + 2, directions.shape[1] + 1
        add_scaled_compliance(matrix, vector, column_scale, rows, kept.size, variables, width, weight, centre)
    write_variables(guess, rows, part, part_free, part_directions, lower, upper, column_scale, beta, z)
