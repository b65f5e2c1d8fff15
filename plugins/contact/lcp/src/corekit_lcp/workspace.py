"""Arrays of one solve, sized once and reused: nothing is allocated while the number of contacts stays."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.roles.problem import LCPProblem, PhysicalContactProblem

__all__ = ["LCPPart", "Selection", "Workspace"]


class Choice(NamedTuple):
    """The last arguments of `select_contacts` and of `add_back`."""

    factor: Array
    remaining: Array
    weight: Array
    dropped: BoolArray
    kept: IntArray


class Modes(NamedTuple):
    """What `from_guess` works with."""

    share: Array
    first: IntArray
    columns: Array
    equations: Array
    numbers: Array
    order: IntArray
    dropped: BoolArray


class Prepared(NamedTuple):
    """The last arguments of `prepare`: all that it writes."""

    rows: IntArray
    delassus: Array
    free: Array
    friction: Array
    directions: Array
    row: IntArray
    coefficient: Array
    twin: IntArray
    leader: IntArray
    copies: Array
    offset: Array
    response: Array
    squares: Array
    row_norm: Array
    column_norm: Array
    centre: Array
    matrix: Array
    vector: Array
    row_scale: Array
    column_scale: Array
    z: Array


class Answer(NamedTuple):
    """The first arguments of `conclude`: the variables and what they mean."""

    z: Array
    column_scale: Array
    row: IntArray
    coefficient: Array
    offset: Array
    rows: IntArray
    centre: Array
    row_scale: Array


@frozen(eq=False)
class Selection:
    """Work of the whole problem: m contacts, R rows.

    Args:
        dropped, kept: the choice, shape (m,).
        choice: work of the choice, shapes (m, m), (m,), (m,), and the choice.
        guess, trial, velocity, best: impulses and velocities of all rows, shape (R,).
        polish: two more, for `from_guess` while `guess` and `trial` are in use.
        modes: work of the warm start, see `from_guess`.
        share: shape (r,).
    """

    dropped: BoolArray
    kept: IntArray
    choice: Choice
    guess: Array
    trial: Array
    polish: tuple[Array, Array]
    velocity: Array
    best: Array
    modes: Modes
    share: Array


@frozen(eq=False)
class LCPPart:
    """The problem of the kept contacts: k contacts, R′ rows, n variables.

    Args:
        blocks, problem: the problem as the LCP solver sees it.
        z: its variables, shape (n,).
        centre: of the regularisation, shape (k,).
        arrays, answer: the same and the work, as the kernels take them.
    """

    blocks: PhysicalContactProblem
    problem: LCPProblem
    z: Array
    centre: Array
    arrays: Prepared
    answer: Answer


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
            dropped, kept = take("dropped", contacts, dtype=np.bool_), take("kept", contacts, dtype=np.int64)
            share = take("share", directions)
            found = Selection(
                dropped=dropped,
                kept=kept,
                choice=Choice(
                    take("factor", contacts, contacts),
                    take("remaining", contacts),
                    take("weight", contacts),
                    dropped,
                    kept,
                ),
                guess=take("guess", rows),
                trial=take("trial", rows),
                polish=(take("rough", rows), take("polished", rows)),
                velocity=take("velocity", rows),
                best=take("best", rows),
                modes=Modes(
                    share,
                    take("first", rows, dtype=np.int64),
                    take("columns", rows, width),
                    take("equations", rows, width),
                    take("numbers", rows * (rows + 2)),
                    take("order", rows, dtype=np.int64),
                    dropped,
                ),
                share=share,
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
        blocks = PhysicalContactProblem(
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
        z, centre, at = take("z", n), take("centre", contacts), take("rows", rows, dtype=np.int64)
        row, coefficient = take("row", n, dtype=np.int64), take("coefficient", n, 2)
        offset = take("offset", rows)
        arrays = Prepared(
            at, blocks.delassus, blocks.free, blocks.friction, blocks.directions,
            row, coefficient, take("twin", n, dtype=np.int64), take("leader", n, dtype=np.int64), take("copies", n),
            offset, take("response", rows, n), take("squares", n, n), take("row_norm", n), take("column_norm", n),
            centre, problem.matrix, problem.vector, problem.row_scale, problem.column_scale, z,
        )  # fmt: skip
        answer = Answer(
            z, problem.column_scale, row, coefficient, offset, at, centre, problem.row_scale
        )  # fmt: skip
        return LCPPart(blocks, problem, z, centre, arrays, answer)
