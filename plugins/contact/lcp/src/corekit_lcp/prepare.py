"""Select, assemble, scale and regularise the LCP of the kept contacts, in one compiled call."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_lcp.assemble import assemble, select_rows
from corekit_lcp.impulses import write_variables
from corekit_lcp.regularise import add_compliance
from corekit_lcp.scale import equilibrate

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
    weight: float,
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
    centre: Array,
    matrix: Array,
    vector: Array,
    row_scale: Array,
    column_scale: Array,
    z: Array,
) -> None:
    """Call `select_rows`, `assemble`, `equilibrate`, `add_compliance` and `write_variables`, in this order.

    Args:
        delassus, free, friction, directions, lower, upper, guess: of the whole problem.
        kept: the kept contacts, shape (k,).
        sweeps: 0: no scaling. weight: 0: no compliance.
        symmetric: one scaling for rows and columns.
        beta: workspace, shape (r,).
        the others: workspace and results, `LCPPart.arrays`.
    """
    select_rows(
        delassus, free, friction, directions, kept, rows, part, part_free, part_friction, part_directions
    )
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
    equilibrate(
        matrix, vector, sweeps, symmetric, paired_row, leader, copies, squares, row_norm, column_norm,
        row_scale, column_scale,
    )  # fmt: skip
    centre[:] = 0.0
    if weight > 0.0:
        add_compliance(matrix, kept.size, directions.shape[2] + 2, weight)
    write_variables(guess, rows, part, part_free, part_directions, lower, upper, column_scale, beta, z)
