"""CasADi expressions as a tape: the list of scalar operations that gives all results, shared parts once.

What writes a tape takes some milliseconds, what carries it out some microseconds: a `Program` is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

import casadi as ca
import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.errors import PluginError
from corekit_lagrangian.tape_kernel import CONSTANT, LOAD, OPERATIONS, STORE, run_tape

__all__ = ["Program", "Tape", "flat", "write_program"]

_CODES = {getattr(ca, f"OP_{name}"): code for code, name in enumerate(OPERATIONS, CONSTANT + 1)}
_COMMUTING = {_CODES[ca.OP_ADD], _CODES[ca.OP_MUL]}
_NONE = np.zeros(0)


def flat(expression: Any) -> Any:
    """An expression as a full column in the order of a C array, rows one after the other."""
    return ca.densify(ca.vec(expression.T))


class Program(NamedTuple):
    """What `tape_kernel.run_tape` carries out: runs (r, 3), rows (n, 3), and work space with the constants."""

    runs: IntArray
    rows: IntArray
    work: Array


def write_program(name: str, arguments: Sequence[Any], results: Sequence[Any]) -> Program:
    """The program of up to two results.

    Args:
        name: of what is computed, for messages.
        arguments: the symbols q, v, u, w and p, columns.
        results: columns without structural zeros, as `flat` gives them.
    Raises:
        PluginError: an operation that no tape knows.
    """
    operations, constants = _values_once(name, ca.Function("tape", list(arguments), list(results)))
    work = np.zeros(max(len(operations), 1))
    for row, number in constants.items():
        work[row] = number
    order = [k for k in _in_runs(operations) if operations[k][0] != CONSTANT]
    rows = np.array([operations[k] for k in order], dtype=np.int64).reshape(-1, 4)
    starts = np.flatnonzero(np.diff(rows[:, 0], prepend=-1))
    ends = np.append(starts, len(rows))[1:]
    runs = np.column_stack([rows[starts, 0], starts, ends])
    return Program(runs, np.ascontiguousarray(rows[:, 1:]), work)


@final
class Tape:
    """The results of a program as functions of (q, v, u, w, p); not re-entrant, since work space is kept."""

    def __init__(self, program: Program) -> None:
        self._runs, self._rows, self._work = program.runs, program.rows, program.work.copy()
        # the caller's arrays and views of them: mostly they are those of the last call
        self._first = self._second = self._flat_first = self._flat_second = _NONE

    def __call__(
        self, q: Array, v: Array, u: Array, w: Array, p: Array, first: Array, second: Array = _NONE
    ) -> None:
        """Write the results into the caller's arrays, C-contiguous and of any shape."""
        if first is not self._first:
            self._first, self._flat_first = first, first.reshape(-1)
        if second is not self._second:
            self._second, self._flat_second = second, second.reshape(-1)
        run_tape(self._runs, self._rows, self._work, q, v, u, w, p, self._flat_first, self._flat_second)


def _values_once(name: str, function: Any) -> tuple[list[tuple[int, int, int, int]], dict[int, float]]:
    """The operations of a function, each value computed once, and the constants by their rows.

    Differentiation writes the same sines and products many times, and CasADi keeps them all. Here an operation on the
    same values is the value that it was; a value stands at the place of its row in the work array.

    Raises:
        PluginError: an operation that no tape knows.
    """
    rows: list[tuple[int, int, int, int]] = []
    constants: dict[int, float] = {}
    numbers: dict[str, int] = {}  # by all their bits: −0 is not 0
    known: dict[tuple[int, int, int], int] = {}
    value_in: dict[int, int] = {}  # CasADi's place → the row of the value that stands there now

    def value(code: int, a: int, b: int) -> int:
        key = (code, min(a, b), max(a, b)) if code in _COMMUTING else (code, a, b)
        if key not in known:
            known[key] = len(rows)
            rows.append((code, len(rows), a, b))
        return known[key]

    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        inputs, outputs = function.instruction_input(k), function.instruction_output(k)
        if operation == ca.OP_INPUT:
            value_in[outputs[0]] = value(LOAD[inputs[0]], inputs[1], 0)
        elif operation == ca.OP_OUTPUT:
            rows.append((STORE[outputs[0]], outputs[1], value_in[inputs[0]], 0))
        elif operation == ca.OP_CONST:
            number = float(function.instruction_constant(k))
            row = value(CONSTANT, numbers.setdefault(number.hex(), len(numbers)), 0)
            value_in[outputs[0]], constants[row] = row, number
        elif operation in _CODES:
            places = [value_in[place] for place in inputs]
            value_in[outputs[0]] = value(_CODES[operation], places[0], places[-1])
        else:
            raise PluginError(f"{name}: operation {operation} of CasADi cannot be computed here")
    return rows, constants


def _in_runs(rows: Sequence[tuple[int, int, int, int]]) -> list[int]:
    """An order of rows in which as many as possible of one kind stand together, each after what it needs."""
    needs = [
        set() if code in LOAD or code == CONSTANT else {a} if code in STORE else {a, b}
        for code, _, a, b in rows
    ]
    users: list[list[int]] = [[] for _ in rows]
    for k, own in enumerate(needs):
        for each in own:
            users[each].append(k)
    ready: dict[int, list[int]] = {}
    for k, own in enumerate(needs):
        if not own:
            ready.setdefault(rows[k][0], []).append(k)
    order: list[int] = []
    while ready:
        code = max(ready, key=lambda each: len(ready[each]))
        waiting = ready.pop(code)
        while waiting:
            done = waiting.pop(0)
            order.append(done)
            for user in users[done]:
                needs[user].discard(done)
                if not needs[user]:
                    kind = rows[user][0]
                    (waiting if kind == code else ready.setdefault(kind, [])).append(user)
    return order
