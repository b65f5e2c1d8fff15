"""The kernel that carries out a tape: one for all models, so that a new model compiles nothing.

Every row of a program is one operation (target, a, b) on the numbers of a work array w, of the kind of its run:

    LOAD_x:  w[target] = x[a]     STORE_x: out_x[target] = w[a]     else:  w[target] = operation(w[a], w[b])   (1)
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = [
    "CONSTANT",
    "LOAD",
    "OPERATIONS",
    "STORE",
    "place_points",
    "run_tape",
]

LOAD = (0, 1, 2, 3, 4)
"""Codes that load q, v, u, w and p."""
STORE = (5, 6)
"""Codes that store into the first and the second result."""
CONSTANT = 7
"""What stands for a number before the tape is made; none is in a program."""
OPERATIONS = (
    "ASSIGN", "ADD", "SUB", "MUL", "DIV", "NEG", "SQ", "TWICE", "SIN", "COS", "SQRT", "INV", "TAN", "ASIN", "ACOS",
    "ATAN", "ATAN2", "EXP", "LOG", "POW", "CONSTPOW", "FABS", "FMIN", "FMAX", "SIGN", "COPYSIGN", "SINH", "COSH",
    "TANH", "ASINH", "ACOSH", "ATANH", "HYPOT", "LOG1P", "EXPM1", "ERF", "LT", "LE", "EQ", "NE", "NOT", "AND", "OR",
    "IF_ELSE_ZERO", "FLOOR", "CEIL", "FMOD",
)  # fmt: skip
"""CasADi's names of the operations; the code of each is its place here plus 8."""


@compiled
def run_tape(  # noqa: C901 - a table of operations
    runs: IntArray,
    program: IntArray,
    work: Array,
    q: Array,
    v: Array,
    u: Array,
    w: Array,
    p: Array,
    first: Array,
    second: Array,
) -> None:
    """Carry out a program of shape (n, 3) on coordinates, velocities, inputs, accelerations and parameters: (1).

    Args:
        runs: code, first row and end of operations of one kind, (r, 3): one decision a run, not one an operation.
        work: w, (n,), in which the constants stand.
    """
    for run in range(runs.shape[0]):
        code, start, end = runs[run, 0], runs[run, 1], runs[run, 2]
        if code == 11:
            for row in range(start, end):
                work[program[row, 0]] = work[program[row, 1]] * work[program[row, 2]]
        elif code == 9:
            for row in range(start, end):
                work[program[row, 0]] = work[program[row, 1]] + work[program[row, 2]]
        elif code == 10:
            for row in range(start, end):
                work[program[row, 0]] = work[program[row, 1]] - work[program[row, 2]]
        elif code == 0:
            for row in range(start, end):
                work[program[row, 0]] = q[program[row, 1]]
        elif code == 1:
            for row in range(start, end):
                work[program[row, 0]] = v[program[row, 1]]
        elif code == 2:
            for row in range(start, end):
                work[program[row, 0]] = u[program[row, 1]]
        elif code == 3:
            for row in range(start, end):
                work[program[row, 0]] = w[program[row, 1]]
        elif code == 4:
            for row in range(start, end):
                work[program[row, 0]] = p[program[row, 1]]
        elif code == 5:
            for row in range(start, end):
                first[program[row, 0]] = work[program[row, 1]]
        elif code == 6:
            for row in range(start, end):
                second[program[row, 0]] = work[program[row, 1]]
        else:
            for row in range(start, end):
                work[program[row, 0]] = _seldom(code, work[program[row, 1]], work[program[row, 2]])


@compiled
def _seldom(code: int, x: float, y: float) -> float:  # noqa: C901 - a table of operations
    """What is used less often; outside of its domain a function is nan or infinite, which stops the run."""
    if code == 8:
        return x
    if code == 12:
        return x / y
    if code == 13:
        return -x
    if code == 14:
        return x * x
    if code == 15:
        return 2.0 * x
    if code == 16:
        return math.sin(x)
    if code == 17:
        return math.cos(x)
    if code == 18:
        return math.sqrt(x)
    if code == 19:
        return 1.0 / x
    if code == 20:
        return math.tan(x)
    if code == 21:
        return math.asin(x)
    if code == 22:
        return math.acos(x)
    if code == 23:
        return math.atan(x)
    if code == 24:
        return math.atan2(x, y)
    if code == 25:
        return math.exp(x)
    if code == 26:
        return math.log(x)
    if code in (27, 28):
        return x**y
    if code == 29:
        return abs(x)
    if code == 30:
        return min(x, y)
    if code == 31:
        return max(x, y)
    if code == 32:
        return 0.0 if x == 0.0 else math.copysign(1.0, x)
    if code == 33:
        return math.copysign(x, y)
    if code == 34:
        return math.sinh(x)
    if code == 35:
        return math.cosh(x)
    if code == 36:
        return math.tanh(x)
    if code == 37:
        return math.asinh(x)
    if code == 38:
        return math.acosh(x)
    if code == 39:
        return math.atanh(x)
    if code == 40:
        return math.hypot(x, y)
    if code == 41:
        return math.log1p(x)
    if code == 42:
        return math.expm1(x)
    if code == 43:
        return math.erf(x)
    if code == 44:
        return 1.0 if x < y else 0.0
    if code == 45:
        return 1.0 if x <= y else 0.0
    if code == 46:
        return 1.0 if x == y else 0.0
    if code == 47:
        return 1.0 if x != y else 0.0
    if code == 48:
        return 1.0 if x == 0.0 else 0.0
    if code == 49:
        return 1.0 if x != 0.0 and y != 0.0 else 0.0
    if code == 50:
        return 1.0 if x != 0.0 or y != 0.0 else 0.0
    if code == 51:
        return y if x != 0.0 else 0.0
    if code == 52:
        return math.floor(x)
    if code == 53:
        return math.ceil(x)
    if code == 54:
        return math.copysign(abs(x) % abs(y), x)
    return math.nan


@compiled
def place_points(slope: Array, frame: IntArray, local: Array, dofs: IntArray, values: Array) -> None:
    """Write equation (4) of `equations` for points `local` (c, 3) of frames, from their slopes (frames, 4, 3, n)."""
    for c in range(frame.shape[0]):
        of = frame[c]
        for j in range(slope.shape[3]):
            dofs[c, j] = j
            for x in range(3):
                value = slope[of, 0, x, j]
                for k in range(3):
                    value += local[c, k] * slope[of, k + 1, x, j]
                values[c, x, j] = value
