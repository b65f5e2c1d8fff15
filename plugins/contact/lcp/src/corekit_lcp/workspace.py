"""Workspace of a solve, reused: nothing is allocated while the number of contacts stays the same."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.roles.problem import LCPProblem, PhysicalContactProblem
from corekit_lcp.records import Modes, PreparedArrays

__all__ = ["LCPPart", "Selection", "Workspace"]


class Choice(NamedTuple):
    """The last arguments of `select_contacts` and of `add_back`."""

    factor: Array
    remaining: Array
    weight: Array
    dropped: BoolArray
    kept: IntArray


class LcpVariables(NamedTuple):
    """The first arguments of `recover_impulses`: the variables and their map to impulses."""

    z: Array
    column_scale: Array
    row: IntArray
    coefficient: Array
    offset: Array
    rows: IntArray
    row_scale: Array


@frozen(eq=False)
class Selection:
    """Workspace of the whole problem: m contacts, R rows.

    Args:
        dropped, kept: the selection of contacts, shape (m,).
        choice: workspace of the selection, shapes (m, m), (m,), (m,), and `dropped` and `kept`.
        guess, trial, velocity, best: impulses and velocities of all rows, shape (R,).
        polish: two more, for `solve_modes` while `guess` and `trial` are in use.
        modes: workspace of the warm start, see `solve_modes`.
        soft, centre: of the compliance, see `compliance`, shape (R,).
        last: the guess of a correction, shape (R,).
        candidate, good, shifted: workspace of `search_modes`, shape (R,).
        beta: workspace, shape (r,).
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
    soft: Array
    centre: Array
    last: Array
    candidate: Array
    good: Array
    shifted: Array
    beta: Array


@frozen(eq=False)
class LCPPart:
    """The problem of the kept contacts: k contacts, R′ rows, n variables.

    Args:
        physical, problem: the contact problem and the LCP that the LCP solver receives.
        z: variables of the LCP, shape (n,).
        arrays, variables: the same and workspace, in the order of the arguments of compiled functions.
    """

    physical: PhysicalContactProblem
    problem: LCPProblem
    z: Array
    arrays: PreparedArrays
    variables: LcpVariables


class Workspace:
    """Owner of arrays that only grow, and of views into them by size."""

    def __init__(self) -> None:
        self._pool: dict[str, np.ndarray] = {}
        self._selections: dict[tuple[int, int, int, int], Selection] = {}
        self._parts: dict[tuple[int, int, int, int, int], LCPPart] = {}

    def _view(self, name: str, *shape: int, dtype: type = np.float64) -> np.ndarray:
        size = math.prod(shape)
        pool = self._pool.get(name)
        if pool is None or pool.size < size:
            pool = self._pool[name] = np.zeros(size + size // 2, dtype=dtype)
            self._selections.clear()  # they are views into the smaller array
            self._parts.clear()
        return pool[:size].reshape(shape)

    def selection(self, contacts: int, rows: int, width: int, directions: int) -> Selection:
        """Arrays of a problem with m contacts and R rows, `width` a contact, and r friction directions."""
        key = (contacts, rows, width, directions)
        selection = self._selections.get(key)
        if selection is None:
            view = self._view
            dropped, kept = view("dropped", contacts, dtype=np.bool_), view("kept", contacts, dtype=np.int64)
            beta, soft = view("beta", directions), view("soft", rows)
            selection = Selection(
                dropped=dropped,
                kept=kept,
                choice=Choice(
                    view("factor", contacts, contacts),
                    view("remaining", contacts),
                    view("weight", contacts),
                    dropped,
                    kept,
                ),
                guess=view("guess", rows),
                trial=view("trial", rows),
                polish=(view("rough", rows), view("polished", rows)),
                velocity=view("velocity", rows),
                best=view("best", rows),
                modes=Modes(
                    beta,
                    view("first", rows, dtype=np.int64),
                    view("columns", rows, width),
                    view("equations", rows, width),
                    view("numbers", rows * (2 * rows + 5)),
                    view("order", rows, dtype=np.int64),
                    soft,
                    dropped,
                ),
                soft=soft,
                centre=view("centre", rows),
                last=view("last", rows),
                candidate=view("candidate", rows),
                good=view("good", rows),
                shifted=view("shifted", rows),
                beta=beta,
            )
            self._selections[key] = selection
        return selection

    def part(
        self, contacts: int, along: int, count: int, bounded: int, variables: int, tolerance: float
    ) -> LCPPart:
        """Arrays of the LCP of k contacts with r friction directions and p bounded rows: n variables."""
        key = (contacts, along, count, bounded, variables)
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = self._new_part(contacts, along, count, bounded, variables, tolerance)
        return part

    def _new_part(
        self, contacts: int, along: int, count: int, bounded: int, n: int, tolerance: float
    ) -> LCPPart:
        view = self._view
        rows = contacts * (along + 1) + bounded
        physical = PhysicalContactProblem(
            view("delassus", rows, rows),
            view("free", rows),
            view("friction", contacts),
            view("directions", contacts, along, count),
            view("lower", bounded),
            view("upper", bounded),
        )
        problem = LCPProblem(
            view("matrix", n, n),
            view("vector", n),
            view("row_scale", n),
            view("column_scale", n),
            tolerance,
            physical,
        )
        z, at = view("z", n), view("rows", rows, dtype=np.int64)
        row, coefficient = view("row", n, dtype=np.int64), view("coefficient", n, 2)
        offset = view("offset", rows)
        arrays = PreparedArrays(
            at, physical.delassus, physical.free, physical.friction, physical.directions,
            row, coefficient, view("paired_row", n, dtype=np.int64), view("leader", n, dtype=np.int64),
            view("copies", n), offset, view("response", rows, n), view("squares", n, n), view("row_norm", n),
            view("column_norm", n), problem.matrix, problem.vector, problem.row_scale, problem.column_scale, z,
        )  # fmt: skip
        variables = LcpVariables(
            z, problem.column_scale, row, coefficient, offset, at, problem.row_scale
        )  # fmt: skip
        return LCPPart(physical, problem, z, arrays, variables)
