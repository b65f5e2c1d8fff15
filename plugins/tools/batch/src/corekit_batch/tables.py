"""What the driver knows of a world's bodies: a row of integers each, and how big the buffers of a thread are.

All arrays of reals of one thread stand one behind the other in one buffer; a row says where those of a body begin.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corekit.data.arrays import Array, BoolArray, IntArray

__all__ = ["BODY_FIELDS", "ENTRY_NAMES", "Bodies", "Work", "Worlds"]

Int32Array = NDArray[np.int32]
ByteArray = NDArray[np.uint8]

BODY_FIELDS: Final = (
    "first_q", "nq", "first_v", "nv", "first_aux", "na", "first_u", "nu", "first_frame", "frames",
    "first_number", "numbers", "first_index", "first_scratch", "block", "first_matrix", "has_derivatives",
    "has_dissipation", "is_symmetric", "method", "width", "stride", "damping_columns", "stiffness_columns",
    "step_columns", "first_held", "held", "first_row", "rows", "row_width", "first_row_entry",
)  # fmt: skip
(
    FIRST_Q, NQ, FIRST_V, NV, FIRST_AUX, NA, FIRST_U, NU, FIRST_FRAME, FRAMES,
    FIRST_NUMBER, NUMBERS, FIRST_INDEX, FIRST_SCRATCH, BLOCK, FIRST_MATRIX, HAS_DERIVATIVES,
    HAS_DISSIPATION, IS_SYMMETRIC, METHOD, WIDTH, STRIDE, DAMPING_COLUMNS, STIFFNESS_COLUMNS,
    STEP_COLUMNS, FIRST_HELD, HELD, FIRST_ROW, ROW_COUNT, ROW_WIDTH, FIRST_ROW_ENTRY,
) = range(len(BODY_FIELDS))  # fmt: skip
"""Columns of `Bodies.row`."""

ENTRY_NAMES: Final = (
    "dynamics", "tangent", "dissipation", "integrate", "poses", "rows", "reparametrise", "constraints"
)  # fmt: skip
DYNAMICS, TANGENT, DISSIPATION, INTEGRATE, POSES, ROWS, REPARAMETRISE, CONSTRAINTS = range(len(ENTRY_NAMES))
"""Columns of `Bodies.entry`; 0 where a model has none."""

BY_BLOCKS, BY_CHOLESKY, BY_LU, BY_BAND = 0, 1, 2, 3
"""How A is factorised: by compiled Cholesky of its blocks, by LAPACK's of a large dense one, by its LU, or by compiled
Cholesky of a narrow band, whose M is diagonal."""

MATRICES: Final = 6
"""Matrices of a body: M, K, D, A, the factor of A, and D₀ or the whole D. Each begins `stride` numbers behind the one
before; bands have a row per column of the matrix."""
MASS, STIFFNESS, DAMPING, STEP, FACTOR, WHOLE = range(MATRICES)

DONE, STOPPED, BY_KERNEL, NO_ROOM = 0, 1, 2, 3
"""Why a world was left: its steps are made, the caller stops all, the kernel's ordinary step must make the next one, or
it has more contacts than there is room for."""


class Bodies(NamedTuple):
    """The bodies of a world, alike in all worlds.

    Attributes:
        row: of each body, shape (bodies, len(BODY_FIELDS)). entry: addresses, shape (bodies, len(ENTRY_NAMES)).
        index: integers of their forms, one behind the other.
        is_rate, is_bounded: of all rows of constraints, body after body: whether they constrain velocities alone, and
            whether their forces have bounds. kept: of those without, their numbers.
        held, held_q, place: velocities that stay 0, their coordinates, and where these stay, body after body.
        all_blocks: whether every A is factorised by its blocks.
        lapack: addresses of dgetrf, dgetrs, dpotrf and dpotrs, shape (4,).
        beta, is_damped: of semi-implicit Euler: β, and whether it is linearly implicit.
    """

    row: IntArray
    entry: IntArray
    index: IntArray
    lapack: IntArray
    is_rate: BoolArray
    is_bounded: BoolArray
    kept: IntArray
    held: IntArray
    held_q: IntArray
    place: Array
    all_blocks: bool
    beta: float
    is_damped: bool


class Worlds(NamedTuple):
    """States of W worlds, a row each.

    Attributes:
        q, v, aux: shapes (W, nq), (W, nv), (W, na).
        step, until: number of the next grid step, and where to stop, shape (W,).
        status: one of DONE, STOPPED, BY_KERNEL, shape (W,).
        numbers: of the bodies' forms, shape (W, total), or (1, total) where all worlds have the same.
        written: values of inputs that were written, shape (W, nu); is_written: which of them count, shape (nu,).
        first_step: number of the grid step with which the last three begin, shape (1,).
        length: h [s], of every grid step that no breakpoint cuts.
        time: where every grid step begins [s], shape (rows,).
        is_cut: whether a breakpoint falls into it, or moves an end of it, shape (rows,).
        inputs: u by signals where it begins, shape (rows, nu), or (1, nu) where they are constant.
    """

    q: Array
    v: Array
    aux: Array
    step: IntArray
    until: IntArray
    status: IntArray
    numbers: Array
    written: Array
    is_written: BoolArray
    first_step: IntArray
    length: float
    time: Array
    is_cut: BoolArray
    inputs: Array


class Work(NamedTuple):
    """Buffers of one thread.

    Attributes:
        scratch: work space of the forms. matrix: the matrices of the bodies, one behind the other.
        force, rhs, velocity, zero: f, r, Δ and then v⁺, and zeros, of all bodies, each (nv,).
        inputs: u of all bodies. q, aux: the end of the step.
        pivot, size, letters: what LAPACK takes beside matrices; the letters are L and N.
        rest, turned: of the largest block, k² and k·(k + 1) numbers.
        band: of `substitute_band`, for the longest band, zeros at first.
        row_dofs, row_values: entries of the rows of constraints, flat, body after body.
        row_error … row_upper: of all rows, see `ConstraintRows`. row_target, row_compliance: r and E.
        least, most, row_impulse: bounds of λ_b, and λ_b [N·s].
    """

    scratch: Array
    matrix: Array
    force: Array
    rhs: Array
    velocity: Array
    zero: Array
    inputs: Array
    q: Array
    aux: Array
    pivot: Int32Array
    size: Int32Array
    letters: ByteArray
    rest: Array
    turned: Array
    band: Array
    row_dofs: IntArray
    row_values: Array
    row_error: Array
    row_rate: Array
    row_alpha: Array
    row_lower: Array
    row_upper: Array
    row_target: Array
    row_compliance: Array
    least: Array
    most: Array
    row_impulse: Array
