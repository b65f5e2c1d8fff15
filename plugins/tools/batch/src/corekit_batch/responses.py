"""G·Jᵀ in a step of the driver, by rows of J, where the bodies' matrices are factorised."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.linalg.cholesky import NARROW, respond_by_band, respond_by_blocks
from corekit_batch.bodies_step import band_of, held_of, matrix_of
from corekit_batch.tables import BY_BAND, FACTOR, FIRST_V, METHOD, Bodies, Work

__all__ = ["respond"]


@compiled
def respond(bodies: Bodies, rows: Array, response: Array, work: Work) -> None:
    """Write (G·Jᵀ)ᵀ (R, nv); J has at least R rows."""
    for b in range(len(bodies.row)):
        row, held = bodies.row[b], held_of(bodies, b)
        if row[METHOD] == BY_BAND:
            band = band_of(bodies, b, work)
            for i in range(len(band) - 2 * NARROW, len(band)):
                work.band[i] = 0.0  # of a longer body before
            respond_by_band(band, work.band[: len(band)], held, rows, row[FIRST_V], response)
        else:
            respond_by_blocks(matrix_of(bodies, b, FACTOR, work), held, rows, row[FIRST_V], response)
