"""CasADi expressions as a tape: the list of scalar operations that gives all results, shared parts once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import casadi as ca
import numpy as np

from corekit.data.arrays import Array
from corekit.errors import PluginError
from corekit_lagrangian.tape_kernel import CONSTANT, LOAD, OPERATIONS, STORE, run_tape

__all__ = ["Tape", "flat"]

_CODES = {getattr(ca, f"OP_{name}"): code for code, name in enumerate(OPERATIONS, CONSTANT + 1)}
_COMMUTING = {_CODES[ca.OP_ADD], _CODES[ca.OP_MUL]}
_NONE = np.zeros(0)


def flat(expression: Any) -> Any:
    """An expression as a full column in the order of a C array, rows one after the other."""
    return ca.densify(ca.vec(expression.T))


@final
class Tape:
    """Up to two results as functions of (q, v, u, w, p); not re-entrant, since work space is kept.

    Args:
        name: of what is computed, for messages.
        arguments: the symbols q, v, u, w and p, columns.
        results: columns without structural zeros, as `flat` gives them.
    Raises:
        PluginError: a result holds other symbols, or an operation that no tape knows.
    """

    def __init__(self, name: str, arguments: Sequence[Any], results: Sequence[Any]) -> None:
        self.size = sum(result.numel() for result in results)
        foreign = [
            str(each)
            for each in ca.symvar(ca.vertcat(*results))
            if not any(ca.depends_on(given, each) for given in arguments)
        ]
        if foreign:
            raise PluginError(f"{name} holds symbols that the system did not give: {', '.join(foreign)}")
        function = ca.Function("tape", list(arguments), list(results))
        rows, constants = _values_once(name, function)
        self._work = np.zeros(max(len(rows), 1))
        for row, number in constants.items():
            self._work[row] = number
        order = [k for k in _in_runs(rows) if rows[k][0] != CONSTANT]
        program = np.array([rows[k] for k in order], dtype=np.int64).reshape(-1, 4)
        starts = np.flatnonzero(np.diff(program[:, 0], prepend=-1))
        ends = np.append(starts, len(program))[1:]
        self._runs = np.column_stack([program[starts, 0], starts, ends])
        self._program = np.ascontiguousarray(program[:, 1:])

    def __call__(
        self, q: Array, v: Array, u: Array, w: Array, p: Array, first: Array, second: Array = _NONE
    ) -> None:
        """Write the results, columns of the caller's, C-contiguous."""
        run_tape(self._runs, self._program, self._work, q, v, u, w, p, first, second)


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
