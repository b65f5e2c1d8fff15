"""Arrays of one solve, sized once and reused: nothing is allocated while the number of contacts stays."""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.roles.problem import FrictionBlocks, LCPProblem

__all__ = ["LCPPart", "Selection", "Workspace"]


@frozen(eq=False)
class Selection:
    """Work of the whole problem: m contacts, R rows.

    Args:
        dropped, kept: the choice, shape (m,).
        factor, remaining, weight: work of the choice, shapes (m, m), (m,), (m,).
        guess, trial, polished, velocity, best: impulses and velocities of all rows, shape (R,).
        first, columns, equations, numbers, order: work of the warm start, see `from_guess`.
        share: shape (r,).
    """

    dropped: BoolArray
    kept: IntArray
    factor: Array
    remaining: Array
    weight: Array
    guess: Array
    trial: Array
    polished: Array
    velocity: Array
    best: Array
    first: IntArray
    columns: Array
    equations: Array
    numbers: Array
    order: IntArray
    share: Array


@frozen(eq=False)
class LCPPart:
    """The problem of the kept contacts: k contacts, R′ rows, n variables.

    Args:
        rows: where its rows stand in the whole problem, shape (R′,).
        row, coefficient, offset: impulses as a map of variables, see `assemble`.
        response: shape (R′, n). squares: shape (n, n).
        row_norm, column_norm: shape (n,). centre: shape (k,).
        z: the variables, shape (n,).
        blocks, problem: the same arrays as the solver sees them.
    """

    rows: IntArray
    row: IntArray
    coefficient: Array
    offset: Array
    response: Array
    squares: Array
    row_norm: Array
    column_norm: Array
    centre: Array
    z: Array
    blocks: FrictionBlocks
    problem: LCPProblem


class Workspace:
    """Hands out views into arrays that only ever grow."""

    def __init__(self) -> None:
        self._pool: dict[str, np.ndarray] = {}
        self._selections: dict[tuple[int, int, int, int], Selection] = {}
        self._parts: dict[tuple[int, int, int, int, int], LCPPart] = {}

    def _take(self, name: str, *shape: int, dtype: type = np.float64) -> np.ndarray:
        size = math.prod(shape)
        pool = self._pool.get(name)
        if pool is None or pool.size < size:
            pool = self._pool[name] = np.zeros(size + size // 2, dtype=dtype)
            self._selections.clear()  # views into the pool that was too small
            self._parts.clear()
        return pool[:size].reshape(shape)

    def selection(self, contacts: int, rows: int, width: int, directions: int) -> Selection:
        """Arrays of a problem with m contacts and R rows, `width` a contact, and r friction directions."""
        key = (contacts, rows, width, directions)
        found = self._selections.get(key)
        if found is None:
            take = self._take
            found = Selection(
                dropped=take("dropped", contacts, dtype=np.bool_),
                kept=take("kept", contacts, dtype=np.int64),
                factor=take("factor", contacts, contacts),
                remaining=take("remaining", contacts),
                weight=take("weight", contacts),
                guess=take("guess", rows),
                trial=take("trial", rows),
                polished=take("polished", rows),
                velocity=take("velocity", rows),
                best=take("best", rows),
                first=take("first", rows, dtype=np.int64),
                columns=take("columns", rows, width),
                equations=take("equations", rows, width),
                numbers=take("numbers", rows * (rows + 2)),
                order=take("order", rows, dtype=np.int64),
                share=take("share", directions),
            )
            self._selections[key] = found
        return found

    def part(
        self, contacts: int, along: int, count: int, bounded: int, variables: int, tolerance: float
    ) -> LCPPart:
        """Arrays of the LCP of k contacts with r friction directions and p bounded rows: n variables."""
        key = (contacts, along, count, bounded, variables)
        found = self._parts.get(key)
        if found is None:
            found = self._parts[key] = self._new_part(contacts, along, count, bounded, variables, tolerance)
        return found

    def _new_part(
        self, contacts: int, along: int, count: int, bounded: int, n: int, tolerance: float
    ) -> LCPPart:
        take = self._take
        rows = contacts * (along + 1) + bounded
        blocks = FrictionBlocks(
            take("delassus", rows, rows),
            take("free", rows),
            take("friction", contacts),
            take("directions", contacts, along, count),
            take("lower", bounded),
            take("upper", bounded),
        )
        problem = LCPProblem(
            take("matrix", n, n),
            take("vector", n),
            take("row_scale", n),
            take("column_scale", n),
            tolerance,
            blocks,
        )
        return LCPPart(
            rows=take("rows", rows, dtype=np.int64),
            row=take("row", n, dtype=np.int64),
            coefficient=take("coefficient", n, 2),
            offset=take("offset", rows),
            response=take("response", rows, n),
            squares=take("squares", n, n),
            row_norm=take("row_norm", n),
            column_norm=take("column_norm", n),
            centre=take("centre", contacts),
            z=take("z", n),
            blocks=blocks,
            problem=problem,
        )
