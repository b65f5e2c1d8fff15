"""Select, assemble, scale and regularise the LCP of the kept contacts, in one compiled call."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_lcp.assemble import assemble, select_rows
from corekit_lcp.compliance import add_compliance, add_scaled_compliance
from corekit_lcp.impulses import write_variables
from corekit_lcp.records import ContactProblemArrays, PreparedArrays, Scaling, Softening
from corekit_lcp.scale import add_units, change_units, equilibrate

__all__ = ["prepare"]


@compiled
def prepare(
    problem: ContactProblemArrays, kept: IntArray, guess: Array, scaling: Scaling, softening: Softening, beta: Array,
    part: PreparedArrays,
) -> None:  # fmt: skip
    """Select and soften the rows, assemble and scale the LCP, and write its initial guess.

    Args:
        problem: the whole problem. guess: impulses of it.
        kept: the kept contacts, shape (k,).
        scaling, softening: what is done to it.
        beta: workspace, shape (r,).
        part: receives the LCP.
    """
    directions, lower, upper = problem.directions, problem.lower, problem.upper
    rows, matrix, vector = part.rows, part.matrix, part.vector
    select_rows(
        problem.delassus, problem.free, problem.friction, directions, kept, rows, part.delassus, part.free,
        part.friction, part.directions,
    )  # fmt: skip
    if softening.weight > 0.0 and not softening.scaled:
        add_compliance(part.delassus, part.free, rows, softening.soft, softening.weight, softening.centre)
    assemble(
        part.delassus, part.free, part.friction, part.directions, lower, upper, part.row, part.coefficient,
        part.paired_row, part.offset, part.response, matrix, vector,
    )  # fmt: skip
    change_units(scaling.velocity_unit, scaling.impulse_unit, part.coefficient, matrix, vector)
    equilibrate(
        matrix, vector, scaling.sweeps, scaling.symmetric, part.paired_row, part.leader, part.copies, part.squares,
        part.row_norm, part.column_norm, part.row_scale, part.column_scale,
    )  # fmt: skip
    add_units(
        scaling.velocity_unit, scaling.impulse_unit, part.coefficient, part.row_scale, part.column_scale
    )
    if softening.weight > 0.0 and softening.scaled:
        variables, width = directions.shape[2] + 2, directions.shape[1] + 1
        add_scaled_compliance(
            matrix, vector, part.column_scale, rows, kept.size, variables, width, softening.weight,
            softening.centre,
        )  # fmt: skip
    write_variables(
        guess, rows, part.delassus, part.free, part.directions, lower, upper, part.column_scale, beta, part.z
    )
