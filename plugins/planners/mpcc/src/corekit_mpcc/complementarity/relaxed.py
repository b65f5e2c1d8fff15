"""One relaxed step of a program: cost and rows as the nonlinear program sees them.

Variables are scaled, x = scale·z; every row is scaled. Rows are kept in blocks that remember what they came from, so
that one prepared step serves any choice of groups (`without`), and a branch of the program fixes sides at zero.
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

__all__ = ["Block", "RelaxedStep", "Side", "relax"]


@frozen(eq=False)
class Block:
    """Consecutive rows of a step.

    Attributes:
        name: of the rows or the family.
        kind: rows as given, a family's sides, or what the relaxation added.
        start, size: place among the step's rows.
        low, high: bounds, scaled, shape (size,).
        scale: scaled row / physical row, shape (size,).
        at: the steps that have them.
    """

    name: str
    kind: Literal["rows", "first", "second", "relaxed"]
    start: int
    size: int
    low: Array
    high: Array
    scale: Array
    at: Literal["every", "first", "last"] = "every"


@frozen(eq=False)
class Side:
    """Where each entry of one side of a family lives: variable[i] ≥ 0, or else row[i] ≥ 0; −1 for the other."""

    variable: tuple[int, ...]
    row: tuple[int, ...]


@frozen(eq=False)
class RelaxedStep:
    """Functions (before, z, shared, own, ε) → (cost, rows) of one step, scaled.

    Attributes:
        function: the SX function.
        blocks: its rows.
        sides: by family, the places of both sides.
        low, high: bounds of x, physical, with the sides that are variables at ≥ 0 kept apart in `sides`.
    """

    function: ca.Function
    blocks: tuple[Block, ...]
    sides: dict[str, tuple[Side, Side]]


def _side(expression: Expression, program: Mpcc, start: int) -> tuple[Side, list[Expression]]:
    places = {symbol.element_hash(): i for i, symbol in enumerate(ca.vertsplit(program.x))}
    variable, row, rows = [], [], []
    for entry in ca.vertsplit(ca.densify(expression)):
        at = places.get(entry.element_hash(), -1) if entry.is_symbolic() else -1
        variable.append(at)
        row.append(-1 if at >= 0 else start + len(rows))
        if at < 0:
            rows.append(entry)
    return Side(tuple(variable), tuple(row)), rows


def relax(program: Mpcc, relaxation: str) -> RelaxedStep:
    """The relaxed step of a program.

    Raises:
        ConfigError: a relaxation that does not exist.
    """
    if relaxation not in RELAXATIONS:
        raise ConfigError([Mistake("relaxation", relaxation, "one of " + ", ".join(RELAXATIONS))], "planner")
    epsilon = ca.SX.sym("epsilon")
    cost = ca.SX(program.cost)
    rows: list[Expression] = []
    blocks: list[Block] = []
    sides: dict[str, tuple[Side, Side]] = {}

    def put(
        name: str,
        kind: Literal["rows", "first", "second", "relaxed"],
        scaled: Expression,
        bounds: tuple[Array, Array],
        scale: Array,
        at: Literal["every", "first", "last"] = "every",
    ) -> None:
        size = int(scaled.numel())
        if size:
            start = sum(int(block.numel()) for block in rows)
            blocks.append(Block(name, kind, start, size, bounds[0], bounds[1], scale, at))
            rows.append(ca.densify(scaled))

    for group in program.rows:
        scale = np.broadcast_to(np.asarray(group.scale, dtype=float), (group.size,)).copy()
        low = scale * np.asarray(group.low, dtype=float)
        high = scale * np.asarray(group.high, dtype=float)
        put(group.name, "rows", scale * group.expression, (low, high), scale, group.at)
    for family in program.families:
        places = []
        for kind, side, scale in _both(family):
            place, own_rows = _side(side, program, sum(int(block.numel()) for block in rows))
            places.append(place)
            column = ca.vertcat(ca.SX(0, 1), *own_rows)
            ones = np.ones(len(own_rows))
            put(family.name, kind, scale * column, (0.0 * ones, np.inf * ones), scale * ones)
        sides[family.name] = (places[0], places[1])
        relaxed = RELAXATIONS[relaxation](family, epsilon)
        cost = cost + relaxed.cost
        ones = np.ones(int(relaxed.rows.numel()))
        put(
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


def _both(
    family: Family,
) -> tuple[tuple[Literal["first"], Expression, float], tuple[Literal["second"], Expression, float]]:
    return ("first", family.first, family.first_scale), ("second", family.second, family.second_scale)
