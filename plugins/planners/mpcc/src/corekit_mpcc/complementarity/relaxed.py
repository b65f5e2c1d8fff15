"""One relaxed step of a program: cost and rows of the nonlinear program.

Variables are scaled, x = scale·z; every row is scaled. Blocks record the origin of their rows. One prepared step
therefore allows any choice of groups (`excluded`), and a branch of the program can fix sides at zero.
"""

from __future__ import annotations

from typing import Literal

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_mpcc.complementarity.problem import Expression, Family, Mpcc
from corekit_mpcc.complementarity.relaxations import RELAXATIONS

__all__ = ["RelaxedStep", "RowBlock", "Side", "relax"]


@frozen(eq=False)
class RowBlock:
    """Consecutive rows of a step.

    Attributes:
        name: name of the rows or the family.
        kind: rows of the program, a side of a family, or rows of the relaxation.
        start, size: first row in the step, and count.
        low, high: bounds, scaled, shape (size,).
        scale: scaled row / physical row, shape (size,).
        steps: the steps with these rows.
    """

    name: str
    kind: Literal["rows", "first", "second", "relaxed"]
    start: int
    size: int
    low: Array
    high: Array
    scale: Array
    steps: Literal["every", "first", "last"] = "every"


@frozen(eq=False)
class Side:
    """Indices of one side of a family: entry i is variable[i] or row[i]; the other index is −1."""

    variable: tuple[int, ...]
    row: tuple[int, ...]


@frozen(eq=False)
class RelaxedStep:
    """Function (before, z, shared, own, ε) → (cost, rows) of one step, scaled.

    Attributes:
        function: the SX function.
        blocks: blocks of its rows.
        sides: indices of both sides by family.
    """

    function: ca.Function
    blocks: tuple[RowBlock, ...]
    sides: dict[str, tuple[Side, Side]]


def _side(expression: Expression, program: Mpcc, start: int) -> tuple[Side, list[Expression]]:
    indices = {symbol.element_hash(): i for i, symbol in enumerate(ca.vertsplit(program.x))}
    variable, row, rows = [], [], []
    for entry in ca.vertsplit(ca.densify(expression)):
        index = indices.get(entry.element_hash(), -1) if entry.is_symbolic() else -1
        variable.append(index)
        row.append(-1 if index >= 0 else start + len(rows))
        if index < 0:
            rows.append(entry)
    return Side(tuple(variable), tuple(row)), rows


def relax(program: Mpcc, relaxation: str) -> RelaxedStep:
    """Return the relaxed step of a program.

    Raises:
        ConfigError: an unknown relaxation.
    """
    if relaxation not in RELAXATIONS:
        raise ConfigError([Mistake("relaxation", relaxation, "one of " + ", ".join(RELAXATIONS))], "planner")
    epsilon = ca.SX.sym("epsilon")
    cost = ca.SX(program.cost)
    rows: list[Expression] = []
    blocks: list[RowBlock] = []
    sides: dict[str, tuple[Side, Side]] = {}

    def add_block(
        name: str,
        kind: Literal["rows", "first", "second", "relaxed"],
        scaled: Expression,
        bounds: tuple[Array, Array],
        scale: Array,
        steps: Literal["every", "first", "last"] = "every",
    ) -> None:
        size = int(scaled.numel())
        if size:
            start = sum(int(block.numel()) for block in rows)
            blocks.append(RowBlock(name, kind, start, size, bounds[0], bounds[1], scale, steps))
            rows.append(ca.densify(scaled))

    for group in program.rows:
        scale = np.broadcast_to(np.asarray(group.scale, dtype=float), (group.size,)).copy()
        low = scale * np.asarray(group.low, dtype=float)
        high = scale * np.asarray(group.high, dtype=float)
        add_block(group.name, "rows", scale * group.expression, (low, high), scale, group.steps)
    for family in program.families:
        side_pair = []
        for kind, side, scale in _sides(family):
            side_indices, own_rows = _side(side, program, sum(int(block.numel()) for block in rows))
            side_pair.append(side_indices)
            column = ca.vertcat(ca.SX(0, 1), *own_rows)
            ones = np.ones(len(own_rows))
            add_block(family.name, kind, scale * column, (0.0 * ones, np.inf * ones), scale * ones)
        sides[family.name] = (side_pair[0], side_pair[1])
        relaxed = RELAXATIONS[relaxation](family, epsilon)
        cost = cost + relaxed.cost
        ones = np.ones(int(relaxed.rows.numel()))
        add_block(
            family.name,
            "relaxed",
            relaxed.rows,
            (relaxed.low * ones, 0.0 * ones),
            family.product_scale * ones,
        )
    physical = ca.Function(
        "physical", [*program.arguments(), epsilon], [cost, ca.vertcat(ca.SX(0, 1), *rows)], {"cse": True}
    )
    previous = 0 if program.before is None else program.size
    before, z = ca.SX.sym("before", previous), ca.SX.sym("z", program.size)
    scales = program.scales
    arguments = [before, z, program.shared, program.own, epsilon]
    outputs = physical(scales[:previous] * before, scales * z, program.shared, program.own, epsilon)
    function = ca.Function("step", arguments, [outputs[0], ca.densify(outputs[1])])
    return RelaxedStep(function, tuple(blocks), sides)


def _sides(
    family: Family,
) -> tuple[tuple[Literal["first"], Expression, float], tuple[Literal["second"], Expression, float]]:
    return ("first", family.first, family.first_scale), ("second", family.second, family.second_scale)
