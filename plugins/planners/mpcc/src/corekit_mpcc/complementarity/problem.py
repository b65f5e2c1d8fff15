"""Mathematical program with complementarity constraints (MPCC) over a horizon.

    minimise    Σ_k c(x_{k−1}, x_k; s, o_k)                                                (1)
    subject to  low_r ≤ r(x_{k−1}, x_k; s, o_k) ≤ high_r      for every group of rows r
                0 ≤ G(x_{k−1}, x_k; s, o_k) ⊥ H(…) ≥ 0        for every family (G, H)
                low ≤ x_k ≤ high

x_k are the variables of one step and x_{−1} is an argument of the solve. s are parameters of the whole program (target,
friction, weights), o_k parameters of one step. All values have physical units; scales convert them to the nonlinear
program. A program without a horizon has one step and no `before`.
"""

from __future__ import annotations

from typing import Any, Literal

import casadi as ca
import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake

__all__ = ["Expression", "Family", "Mpcc", "Rows"]

Expression = Any
"""A CasADi SX column."""


def _empty() -> Expression:
    return ca.SX(0, 1)


def _vector(value: Any, size: int) -> Array:
    return np.broadcast_to(np.asarray(value, dtype=float), (size,)).copy()


@frozen(kw_only=True, eq=False)
class Rows:
    """Rows of one name: low ≤ expression ≤ high at every step, or only at the first or last step.

    Args:
        name: name in certificates and in `excluded`.
        expression: physical, shape (n, 1).
        low, high: physical bounds, one number or n; infinite if there is none.
        scale: row of the nonlinear program = scale · expression; one number or n.
        unit: unit of the expression.
        steps: the steps with these rows.
        tolerance: largest violation of a feasible point [unit].
    """

    name: str
    expression: Expression
    low: Any = 0.0
    high: Any = 0.0
    scale: Any = 1.0
    unit: str = ""
    steps: Literal["every", "first", "last"] = "every"
    tolerance: float = 1e-6

    @property
    def size(self) -> int:
        """Size n."""
        return int(self.expression.numel())


@frozen(kw_only=True, eq=False)
class Family:
    """Pairs of one name: 0 ≤ first ⊥ second ≥ 0, entry by entry.

    A side that is a variable of the program becomes a bound; any other side becomes a row.

    Args:
        name: name, for example of gap and force, friction, cone.
        first, second: G and H, physical, shape (n, 1) each.
        first_scale, second_scale: scale of the rows G ≥ 0 and H ≥ 0 in the nonlinear program.
        product_scale: scale of the relaxed rows of the products.
        lumped: one relaxed row Σ G·H per step instead of n; every term is ≥ 0, so the sum bounds each.
        units: units of the two sides.
        tolerance: largest |min(G, H)| of a certified pair [unit of the smaller side].
    """

    name: str
    first: Expression
    second: Expression
    first_scale: float = 1.0
    second_scale: float = 1.0
    product_scale: float = 1.0
    lumped: bool = False
    units: tuple[str, str] = ("", "")
    tolerance: float = 1e-6

    @property
    def size(self) -> int:
        """Size n."""
        return int(self.first.numel())


@frozen(kw_only=True, eq=False)
class Mpcc:
    """The program (1).

    Args:
        x: symbols of one step's variables, shape (n, 1).
        before: symbols of the step before, shape (n, 1), or None.
        shared, own: symbols of s and o_k.
        cost: c, a scalar.
        rows, families: the constraints.
        low, high: bounds of x, one number or n.
        scale: x = scale · variable of the nonlinear program, positive; one number or n.
        stages: number of steps.
        names: name of each variable, for messages; the default is x[i].
    Raises:
        ConfigError: wrong sizes, repeated names, symbols that are not among the arguments, low > high.
    """

    x: Expression
    cost: Expression
    before: Expression | None = None
    shared: Expression = field(factory=_empty)
    own: Expression = field(factory=_empty)
    rows: tuple[Rows, ...] = ()
    families: tuple[Family, ...] = ()
    low: Any = -np.inf
    high: Any = np.inf
    scale: Any = 1.0
    stages: int = 1
    names: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        mistakes = list(_mistakes(self))
        if mistakes:
            raise ConfigError(mistakes, "mathematical program")

    @property
    def size(self) -> int:
        """Count n of the variables of one step."""
        return int(self.x.numel())

    @property
    def scales(self) -> Array:
        """Scale of each variable, shape (n,)."""
        return _vector(self.scale, self.size)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Bounds low and high, shape (n,) each."""
        return _vector(self.low, self.size), _vector(self.high, self.size)

    def arguments(self) -> list[Expression]:
        """Return [before, x, shared, own], the arguments of every function of one step."""
        return [_empty() if self.before is None else self.before, self.x, self.shared, self.own]

    def variable(self, i: int) -> str:
        """Return the name of x[i]."""
        return self.names[i] if i < len(self.names) else f"x[{i}]"


def _mistakes(program: Mpcc) -> list[Mistake]:
    mistakes = []
    n = program.size
    if program.before is not None and program.before.numel() != n:
        mistakes.append(Mistake("before", program.before.numel(), f"as many symbols as x: {n}"))
    if program.stages < 1 or (program.before is None and program.stages > 1):
        mistakes.append(Mistake("stages", program.stages, "≥ 1, and 1 without `before`"))
    names_seen: set[str] = set()
    for group in (*program.rows, *program.families):
        if group.name in names_seen:
            mistakes.append(Mistake("rows, families", group.name, "use each name once"))
        names_seen.add(group.name)
    mistakes += [
        Mistake(family.name, (family.first.numel(), family.second.numel()), "two sides of the same size")
        for family in program.families
        if family.first.numel() != family.second.numel()
    ]
    expressions = [("cost", program.cost), *((rows.name, rows.expression) for rows in program.rows)]
    expressions += [(f.name, ca.veccat(f.first, f.second)) for f in program.families]
    known = {symbol.element_hash() for column in program.arguments() for symbol in ca.vertsplit(column)}
    for name, expression in expressions:
        unknown = [s for v in ca.symvar(ca.SX(expression)) if (s := v).element_hash() not in known]
        if unknown:
            mistakes.append(
                Mistake(name, ", ".join(map(str, unknown[:5])), "only symbols of x, before, shared and own")
            )
    low, high = program.bounds
    mistakes += [
        Mistake(f"bounds of {program.variable(int(i))}", (low[i], high[i]), "low ≤ high")
        for i in np.flatnonzero(~(low <= high))
    ]
    if not np.all(program.scales > 0) or not np.all(np.isfinite(program.scales)):
        mistakes.append(Mistake("scale", program.scale, "positive and finite"))
    return mistakes
