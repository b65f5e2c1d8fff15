"""Compiled loop that evaluates any straight-line function for all steps of a horizon at once.

Instruction k reads two rows of the workspace and writes one,

    work[result_k, :] = code_k(work[first_k, :], work[second_k, :])                               (1)

with one column per step. The overhead of an instruction arises once for all steps, and the vector unit computes the
columns.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["OPERATIONS", "evaluate"]

OPERATIONS = (
    "INPUT", "OUTPUT", "CONST", "ASSIGN", "ADD", "SUB", "MUL", "DIV", "NEG", "SQ", "TWICE", "INV", "SQRT", "SIN",
    "COS", "TAN", "ASIN", "ACOS", "ATAN", "SINH", "COSH", "TANH", "ASINH", "ACOSH", "ATANH", "EXP", "LOG", "EXPM1",
    "LOG1P", "ERF", "FABS", "SIGN", "FLOOR", "CEIL", "NOT", "POW", "CONSTPOW", "ATAN2", "HYPOT", "FMOD", "FMIN",
    "FMAX", "COPYSIGN", "LT", "LE", "EQ", "NE", "AND", "OR", "IF_ELSE_ZERO",
)  # fmt: skip
"""Operations by CasADi's names; the code of an operation is its index."""

(
    _INPUT, _OUTPUT, _CONST, _ASSIGN, _ADD, _SUB, _MUL, _DIV, _NEG, _SQ, _TWICE, _INV, _SQRT, _SIN, _COS, _TAN,
    _ASIN, _ACOS, _ATAN, _SINH, _COSH, _TANH, _ASINH, _ACOSH, _ATANH, _EXP, _LOG, _EXPM1, _LOG1P, _ERF, _FABS,
    _SIGN, _FLOOR, _CEIL, _NOT, _POW, _CONSTPOW, _ATAN2, _HYPOT, _FMOD, _FMIN, _FMAX, _COPYSIGN, _LT, _LE, _EQ,
    _NE, _AND, _OR, _IF_ELSE_ZERO,
) = range(len(OPERATIONS))  # fmt: skip


@compiled
def evaluate(  # noqa: C901 - one branch per operation
    code: IntArray,
    first: IntArray,
    second: IntArray,
    result: IntArray,
    constants: Array,
    inputs: Array,
    outputs: Array,
    work: Array,
) -> None:
    """Evaluate (1) for every step, in batches of as many steps as the workspace has columns.

    Args:
        code: index of each instruction in OPERATIONS.
        first, second: rows of `work`; for INPUT a column of `inputs`, for CONST an index into `constants`.
        result: row of `work`; for OUTPUT a column of `outputs`.
        inputs: one row per step.
        outputs: one row per step, written.
        work: workspace, shape (rows, columns).
    """
    for initial in range(0, len(inputs), work.shape[1]):
        n = min(work.shape[1], len(inputs) - initial)
        for k in range(len(code)):
            # index the rows: a view costs ten times as much as an instruction for one step
            what, a, b, to = code[k], first[k], second[k], result[k]
            if what == _MUL:
                for i in range(n):
                    work[to, i] = work[a, i] * work[b, i]
            elif what == _ADD:
                for i in range(n):
                    work[to, i] = work[a, i] + work[b, i]
            elif what == _SUB:
                for i in range(n):
                    work[to, i] = work[a, i] - work[b, i]
            elif what == _DIV:
                for i in range(n):
                    work[to, i] = work[a, i] / work[b, i]
            elif what == _NEG:
                for i in range(n):
                    work[to, i] = -work[a, i]
            elif what == _INPUT:
                for i in range(n):
                    work[to, i] = inputs[initial + i, a]
            elif what == _OUTPUT:
                for i in range(n):
                    outputs[initial + i, to] = work[a, i]
            elif what == _CONST:
                for i in range(n):
                    work[to, i] = constants[a]
            elif what < _POW:
                for i in range(n):
                    work[to, i] = _unary(what, work[a, i])
            else:
                for i in range(n):
                    work[to, i] = _binary(what, work[a, i], work[b, i])


@compiled
def _unary(what: int, a: float) -> float:  # noqa: C901 - one branch per operation
    if what == _SQ:
        return a * a
    if what == _TWICE:
        return a + a
    if what == _ASSIGN:
        return a
    if what == _INV:
        return 1.0 / a
    if what == _SQRT:
        return math.sqrt(a)
    if what < _EXP:
        return _trigonometric(what, a)
    if what == _EXP:
        return math.exp(a)
    if what == _LOG:
        return math.log(a)
    if what == _EXPM1:
        return math.expm1(a)
    if what == _LOG1P:
        return math.log1p(a)
    if what == _ERF:
        return math.erf(a)
    if what == _FABS:
        return abs(a)
    if what == _SIGN:
        return -1.0 if a < 0.0 else 1.0 if a > 0.0 else a
    if what == _FLOOR:
        return np.floor(a)
    if what == _CEIL:
        return np.ceil(a)
    return 1.0 if a == 0.0 else 0.0


@compiled
def _trigonometric(what: int, a: float) -> float:
    if what == _SIN:
        return math.sin(a)
    if what == _COS:
        return math.cos(a)
    if what == _TAN:
        return math.tan(a)
    if what == _ASIN:
        return math.asin(a)
    if what == _ACOS:
        return math.acos(a)
    if what == _ATAN:
        return math.atan(a)
    if what == _SINH:
        return math.sinh(a)
    if what == _COSH:
        return math.cosh(a)
    if what == _TANH:
        return math.tanh(a)
    if what == _ASINH:
        return math.asinh(a)
    if what == _ACOSH:
        return math.acosh(a)
    return math.atanh(a)


@compiled
def _binary(what: int, a: float, b: float) -> float:
    if what in (_POW, _CONSTPOW):
        return math.pow(a, b)
    if what == _ATAN2:
        return math.atan2(a, b)
    if what == _HYPOT:
        return math.hypot(a, b)
    if what == _FMOD:
        return np.fmod(a, b)
    if what == _FMIN:
        return b if b < a or a != a else a
    if what == _FMAX:
        return b if b > a or a != a else a
    if what == _COPYSIGN:
        return math.copysign(a, b)
    if what == _LT:
        return 1.0 if a < b else 0.0
    if what == _LE:
        return 1.0 if a <= b else 0.0
    if what == _EQ:
        return 1.0 if a == b else 0.0
    if what == _NE:
        return 1.0 if a != b else 0.0
    if what == _AND:
        return 1.0 if a != 0.0 and b != 0.0 else 0.0
    if what == _OR:
        return 1.0 if a != 0.0 or b != 0.0 else 0.0
    return b if a != 0.0 else 0.0
