"""Records of arrays that compiled functions of this package pass to each other."""

from __future__ import annotations

from typing import NamedTuple

from corekit.data.arrays import Array, BoolArray, IntArray

__all__ = ["ContactProblemArrays", "Modes", "PreparedArrays", "Scaling", "Softening"]


class ContactProblemArrays(NamedTuple):
    """The arrays of the contact problem in its own units."""

    delassus: Array
    free: Array
    friction: Array
    directions: Array
    lower: Array
    upper: Array
    mobility: Array
    reference: Array
    velocity_unit: float
    impulse_unit: float


class Modes(NamedTuple):
    """Workspace of `solve_modes`.

    Attributes:
        beta, first, columns, equations: see `read_modes`.
        numbers: length ≥ R·(2·R + 5). order: shape (R,).
        soft: compliance of every row, shape (R,). dropped: contacts that are left out, shape (m,).
    """

    beta: Array
    first: IntArray
    columns: Array
    equations: Array
    numbers: Array
    order: IntArray
    soft: Array
    dropped: BoolArray


class Scaling(NamedTuple):
    """How an LCP is scaled.

    Attributes:
        sweeps: 0: not at all. symmetric: by the same numbers for rows and columns.
        velocity_unit, impulse_unit: those of the LCP over those of the whole problem.
    """

    sweeps: int
    symmetric: bool
    velocity_unit: float
    impulse_unit: float


class Softening(NamedTuple):
    """The compliance of an LCP, (2) of `compliance` if `scaled`; of weight 0: none.

    Attributes:
        weight, scaled: see there. soft, centre: of every row of the whole problem, shape (R,).
    """

    weight: float
    scaled: bool
    soft: Array
    centre: Array


class PreparedArrays(NamedTuple):
    """The LCP of the kept contacts and workspace, which `prepare` writes."""

    rows: IntArray
    delassus: Array
    free: Array
    friction: Array
    directions: Array
    row: IntArray
    coefficient: Array
    paired_row: IntArray
    leader: IntArray
    copies: Array
    offset: Array
    response: Array
    squares: Array
    row_norm: Array
    column_norm: Array
    matrix: Array
    vector: Array
    row_scale: Array
    column_scale: Array
    z: Array
