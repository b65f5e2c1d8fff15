"""The LCP of the kept contacts in one compiled call: gathered, assembled, scaled, regularised, with a guess."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_lcp.assemble import assemble, gather
from corekit_lcp.impulses import variables_of
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
    share: Array,
    rows: IntArray,
    part: Array,
    part_free: Array,
    part_friction: Array,
    part_directions: Array,
    row: IntArray,
    coefficient: Array,
    twin: IntArray,
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
    """See `gather`, `assemble`, `equilibrate`, `add_compliance` and `variables_of`, in this order.

    Args:
        delassus, free, friction, directions, lower, upper, guess: of the whole problem.
        kept: the contacts taken, shape (k,).
        sweeps: 0 leaves the problem unscaled. weight: 0 leaves it without compliance.
        symmetric: one scaling for rows and columns.
        share: work, shape (r,).
        the others: work and results, `LCPPart.arrays`.
    """
    gather(delassus, free, friction, directions, kept, rows, part, part_free, part_friction, part_directions)
    assemble(
        part,
        part_free,
        part_friction,
        part_directions,
        lower,
        upper,
        row,
        coefficient,
        twin,
        offset,
        response,
        matrix,
        vector,
    )
    equilibrate(
        matrix, vector, sweeps, symmetric, twin, leader, copies, squares, row_norm, column_norm,
        row_scale, column_scale,
    )  # fmt: skip
    centre[:] = 0.0
    if weight > 0.0:
        add_compliance(matrix, kept.size, directions.shape[2] + 2, weight)
    variables_of(guess, rows, part, part_free, part_directions, lower, upper, column_scale, share, z)
