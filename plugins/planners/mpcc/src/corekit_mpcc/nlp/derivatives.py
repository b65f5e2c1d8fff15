"""The four functions of one step that a nonlinear program needs, interpreted or compiled.

With y = (before, z), the scaled variables of two neighbouring steps, a step (before, z, s, o, ε) ↦ (c, r) gives

    value       c, r                                                                        (1)
    gradient    c, ∂c/∂y
    jacobian    r, ∂r/∂y
    hessian     upper triangle of ∂²(λ_c·c + λᵀr)/∂y²

The upper triangle of y stays an upper triangle over the horizon, as before precedes z.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import casadi as ca
from attrs import frozen

from corekit_mpcc.nlp.compiled import NoCompiler, compile_functions, load_functions

__all__ = ["StepFunctions", "step_functions"]

_NAMES = ("value", "gradient", "jacobian", "hessian")
_WORTH_COMPILING = 100_000
"""Instructions of a step times steps from which compiling pays: second derivatives take tens of milliseconds there."""


@frozen(eq=False)
class StepFunctions:
    """The functions (1), and how they are evaluated.

    Attributes:
        value, gradient, jacobian, hessian: CasADi functions of (before, z, shared, own, ε[, λ_c, λ]).
        note: "compiled …" or "interpreted …" with the reason, one phrase.
    """

    value: ca.Function
    gradient: ca.Function
    jacobian: ca.Function
    hessian: ca.Function
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
    step: ca.Function,
    compiled: Literal["auto", "never", "always"],
    announce: Callable[[str], None],
    name: str,
    stages: int = 1,
) -> StepFunctions:
    """Derive (1), or take it from the cache of compiled functions, or compile it into it.

    Args:
        step: SX function (before, z, shared, own, ε) → (cost, rows).
        compiled: always, never, or where the step is long enough to be worth it.
        announce: is told that a compilation begins, how long it took, or why there is none.
        name: what the step is called in announcements.
        stages: number of steps of the horizon.
    """
    if compiled == "never" or (compiled == "auto" and stages * step.n_instructions() < _WORTH_COMPILING):
        return StepFunctions(*_derive(step), note="interpreted")
    key = step.serialize()
    found = load_functions(key, _NAMES)
    if found is not None:
        return StepFunctions(*found, note="compiled before")
    functions = _derive(step)
    try:
        made, seconds = compile_functions(key, functions, announce, name)
    except NoCompiler as reason:
        announce(f"{name}: derivatives are interpreted, several times slower: {reason}")
        return StepFunctions(*functions, note=f"interpreted: {reason}")
    return StepFunctions(*made, note=f"compiled in {seconds:.1f} s")
