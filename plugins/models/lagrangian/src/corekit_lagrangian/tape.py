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
        rows: list[tuple[int, int, int, int]] = []
        constants: list[float] = []
        for k in range(function.n_instructions()):
            operation = function.instruction_id(k)
            inputs, outputs = function.instruction_input(k), function.instruction_output(k)
            if operation == ca.OP_INPUT:
                rows.append((LOAD[inputs[0]], outputs[0], inputs[1], 0))
            elif operation == ca.OP_OUTPUT:
                rows.append((STORE[outputs[0]], outputs[1], inputs[0], 0))
            elif operation == ca.OP_CONST:
                rows.append((CONSTANT, outputs[0], len(constants), 0))
                constants.append(function.instruction_constant(k))
            elif operation in _CODES:
                rows.append((_CODES[operation], outputs[0], inputs[0], inputs[-1]))
            else:
                raise PluginError(f"{name}: operation {operation} of CasADi cannot be computed here")
        self._program = np.array(rows, dtype=np.int64).reshape(-1, 4)
        self._constants, self._work = np.array(constants), np.zeros(max(function.sz_w(), 1))

    def __call__(
        self, q: Array, v: Array, u: Array, w: Array, p: Array, first: Array, second: Array = _NONE
    ) -> None:
        """Write the results, columns of the caller's, C-contiguous."""
        run_tape(self._program, self._constants, self._work, q, v, u, w, p, first, second)
