"""The four functions of one step for a nonlinear program, interpreted by CasADi or as tapes.

Let y = (before, z) be the scaled variables of two neighbouring steps. A step (before, z, s, o, ε) ↦ (c, r) gives

    value       c, r                                                                        (1)
    gradient    c, ∂c/∂y
    jacobian    r, ∂r/∂y
    hessian     upper triangle of ∂²(λ_c·c + λᵀr)/∂y²

The upper triangle of y is an upper triangle over the horizon, because before precedes z.
"""

from __future__ import annotations

from typing import Any, Literal

import casadi as ca
from attrs import frozen

from corekit_mpcc.nlp.tape import TapeFunction, UnsupportedOperation, build_tape
from corekit_mpcc.nlp.tape_cache import load_tapes, store_tapes

__all__ = ["StepFunctions", "derive_step_functions"]

_NAMES = ("value", "gradient", "jacobian", "hessian")
_MIN_TAPE_SIZE = 100_000
"""Least product of instructions and steps for a tape: there second derivatives need tens of milliseconds."""


@frozen(eq=False)
class StepFunctions:
    """The functions (1).

    Attributes:
        value, gradient, jacobian, hessian: functions of (before, z, shared, own, ε[, λ_c, λ]), CasADi's or tapes.
        note: kind of evaluation, with the reason if it is not the requested one; one phrase.
    """

    value: Any
    gradient: Any
    jacobian: Any
    hessian: Any
    note: str


def _derive(step: ca.Function) -> list[ca.Function]:
    inputs = [ca.SX.sym(step.name_in(i), *step.size_in(i)) for i in range(step.n_in())]
    cost, rows = step(*inputs)
    lambda_cost, lambda_rows = ca.SX.sym("lambda_cost"), ca.SX.sym("lambda_rows", rows.numel())
    y = ca.veccat(inputs[0], inputs[1])
    lagrangian = lambda_cost * cost + ca.dot(lambda_rows, rows)
    options = {"cse": True}
    return [
        ca.Function("value", inputs, [cost, rows], options),
        ca.Function("gradient", inputs, [cost, ca.densify(ca.gradient(cost, y))], options),
        ca.Function("jacobian", inputs, [rows, ca.jacobian(rows, y)], options),
        ca.Function(
            "hessian", [*inputs, lambda_cost, lambda_rows], [ca.triu(ca.hessian(lagrangian, y)[0])], options
        ),
    ]


def derive_step_functions(
    step: ca.Function, batched: Literal["auto", "never", "always"], stages: int = 1
) -> StepFunctions:
    """Derive (1), or load it from the cache folder.

    Args:
        step: SX function (before, z, shared, own, ε) → (cost, rows).
        batched: evaluation of all steps at once by tapes: always, never, or if the step is long enough.
        stages: count of steps of the horizon.
    """
    if batched == "never" or (batched == "auto" and stages * step.n_instructions() < _MIN_TAPE_SIZE):
        return StepFunctions(*_derive(step), note="interpreted")
    key = step.serialize()
    tapes = load_tapes(key, _NAMES)
    if tapes is None:
        functions = _derive(step)
        try:
            tapes = [build_tape(function) for function in functions]
        except UnsupportedOperation as reason:
            return StepFunctions(*functions, note=f"interpreted: {reason}")
        store_tapes(key, _NAMES, tapes)
    tape_functions = [TapeFunction(name, tape) for name, tape in zip(_NAMES, tapes, strict=True)]
    for function in tape_functions:
        function.map(stages)
    return StepFunctions(*tape_functions, note="all steps at once")
