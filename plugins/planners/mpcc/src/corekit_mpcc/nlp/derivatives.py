"""The four functions of one step that a nonlinear program needs, interpreted by CasADi or run as tapes.

With y = (before, z), the scaled variables of two neighbouring steps, a step (before, z, s, o, ε) ↦ (c, r) gives

    value       c, r                                                                        (1)
    gradient    c, ∂c/∂y
    jacobian    r, ∂r/∂y
    hessian     upper triangle of ∂²(λ_c·c + λᵀr)/∂y²

The upper triangle of y stays an upper triangle over the horizon, as before precedes z.
"""

from __future__ import annotations

from typing import Any, Literal

import casadi as ca
from attrs import frozen

from corekit_mpcc.nlp.kept_tapes import keep_tapes, kept_tapes
from corekit_mpcc.nlp.tape import NoTape, TapeFunction, tape_of

__all__ = ["StepFunctions", "step_functions"]

_NAMES = ("value", "gradient", "jacobian", "hessian")
_WORTH_A_TAPE = 100_000
"""Instructions of a step times steps from which a tape pays: second derivatives take tens of milliseconds there."""


@frozen(eq=False)
class StepFunctions:
    """The functions (1), and how they are evaluated.

    Attributes:
        value, gradient, jacobian, hessian: functions of (before, z, shared, own, ε[, λ_c, λ]), CasADi's own or tapes.
        note: how, and why so where that was not asked for; one phrase.
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


def step_functions(
    step: ca.Function, batched: Literal["auto", "never", "always"], stages: int = 1
) -> StepFunctions:
    """Derive (1), or take it from the cache folder.

    Args:
        step: SX function (before, z, shared, own, ε) → (cost, rows).
        batched: whether all steps are evaluated at once, by tapes: always, never, or where the step is long enough.
        stages: number of steps of the horizon.
    """
    if batched == "never" or (batched == "auto" and stages * step.n_instructions() < _WORTH_A_TAPE):
        return StepFunctions(*_derive(step), note="interpreted")
    key = step.serialize()
    tapes = kept_tapes(key, _NAMES)
    if tapes is None:
        functions = _derive(step)
        try:
            tapes = [tape_of(function) for function in functions]
        except NoTape as reason:
            return StepFunctions(*functions, note=f"interpreted: {reason}")
        keep_tapes(key, _NAMES, tapes)
    made = [TapeFunction(name, tape) for name, tape in zip(_NAMES, tapes, strict=True)]
    for function in made:
        function.map(stages)
    return StepFunctions(*made, note="all steps at once")
