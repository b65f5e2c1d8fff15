"""The two programs that `qp` solves: of a contact problem that was reduced to W, and of a whole step.

Both are asked with shifts σ and answer with what is left of Coulomb's law and the slip speeds; their impulses are
read when the answer is good.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, Protocol, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.status import Residuals, SolveInfo
from corekit.linalg.array_table import ArrayTable
from corekit.linalg.matrices import Diagonal, Matrix
from corekit.roles.contact import ContactProblem, StepProgram
from corekit.roles.problem import QPProblem, QPSolver
from corekit_qp.rows import certify, cone_rows, count_rows, gather_impulses, spread_impulses, square_root
from corekit_qp.step_rows import certify_step, step_impulses, step_rows

__all__ = ["Asked", "Program", "ReducedProgram", "WholeProgram"]

_NONE = -1
_KEPT = 16
"""Numbers of rows whose arrays are kept."""


class Asked(NamedTuple):
    """What a program answered: the solver's report, the residuals of the contact laws, slip speeds (m,) [m/s]."""

    info: SolveInfo
    residuals: Residuals
    slip: Array


class Program(Protocol):
    """A program that can be asked for several shifts."""

    def ask(self, solver: QPSolver, shift: Array) -> Asked:
        """Solve it with the shifts σ, shape (m,), from the last answer."""
        ...

    def write(self) -> None:
        """Write the last answer where it belongs."""
        ...


class _Memory:
    """Memory that programs use in turns: where contacts come and go, fresh memory costs more than a program."""

    def __init__(self) -> None:
        self._integers: IntArray = np.zeros(0, dtype=np.int64)
        self._numbers: Array = np.zeros(0)

    def reserve(self, variables: int, rows: int, width: int) -> bool:
        """Have room for so many rows; False if that takes other memory than what was handed out."""
        if _numbers_of(variables, rows, width) <= len(self._numbers) and rows * width <= len(self._integers):
            return True
        roomy = rows + rows // 8 + 16
        self._integers = np.zeros(roomy * width, dtype=np.int64)
        self._numbers = np.zeros(_numbers_of(variables, roomy, width))
        return False

    def dofs(self, rows: int, width: int) -> IntArray:
        """Room for indices of rows."""
        return self._integers[: rows * width].reshape(rows, width)

    def numbers(self, *shapes: tuple[int, ...]) -> Iterator[Array]:
        """Room for arrays, one behind the other."""
        begin = 0
        for shape in shapes:
            end = begin + math.prod(shape)
            yield self._numbers[begin:end].reshape(shape)
            begin = end


def _numbers_of(variables: int, rows: int, width: int) -> int:
    return 2 * variables + rows * (width + 6)


class _Buffers:
    """A program's arrays for a number of variables and rows.

    Args:
        memory: has room for them.

    Attributes:
        problem: the program. x, multiplier: its answer. share: room for a number a direction.
        directions: D as in `rows`, C-contiguous.
        arrays: `table`, where it has been made.
    """

    def __init__(
        self, hessian: Matrix, rows: int, width: int, tolerance: float, directions: Array, memory: _Memory
    ) -> None:
        self.x, gradient, self.multiplier, self.bounds, values = memory.numbers(
            (hessian.n,), (hessian.n,), (rows,), (5, rows), (rows, width)
        )
        lower, upper, compliance, least, most = self.bounds
        self.problem = QPProblem(
            hessian=hessian,
            gradient=gradient,
            dofs=memory.dofs(rows, width),
            values=values,
            lower=lower,
            upper=upper,
            compliance=compliance,
            least=least,
            most=most,
            tolerance=tolerance,
        )
        self.share: Array = np.zeros(directions.shape[2])
        self.directions = directions
        self.arrays = ArrayTable()

    def table(self) -> ArrayTable:
        """What `step_rows.step_rows` writes, worth making for arrays that are kept."""
        made = self.problem
        return ArrayTable(
            made.gradient, made.dofs, made.values, self.bounds, self.multiplier, self.x,
            self.directions, self.share,
        )  # fmt: skip


@final
class ReducedProgram:
    """The program of `rows`: coordinates in which the Hessian is the identity, dense rows.

    Args:
        problem, impulse: as in `ImpulseSolver.solve`.
        directions: D as in `rows`.
        tolerance: of the program.
    """

    def __init__(self, problem: ContactProblem, impulse: Array, directions: Array, tolerance: float) -> None:
        self._delassus = delassus = np.ascontiguousarray(problem.delassus())
        self._problem, self._impulse, self._directions = problem, impulse, directions
        rows = len(problem.free)
        self._root = np.zeros((rows, rows))
        self._rank = square_root(delassus, self._root, np.zeros(rows), np.zeros(rows, dtype=np.int64))
        identity = Diagonal(self._rank)
        identity.data[:] = 1.0
        count = count_rows(problem.friction, directions.shape[2], problem.bounded)
        memory = _Memory()
        memory.reserve(self._rank, count, self._rank)
        self._buffers = _Buffers(identity, count, self._rank, tolerance, directions, memory)
        self._buffers.problem.dofs[:] = np.arange(self._rank)
        self._share, self._velocity = np.zeros(directions.shape[2]), np.zeros(rows)
        self._slip, self._trial = np.zeros(problem.contacts), np.zeros(rows)
        spread_impulses(problem.friction, directions, impulse, self._share, self._buffers.multiplier)

    def ask(self, solver: QPSolver, shift: Array) -> Asked:
        """Solve it."""
        problem, directions = self._problem, self._directions
        buffers, trial = self._buffers, self._trial
        program = buffers.problem
        cone_rows(
            self._root, self._rank, problem.free, problem.friction, directions, shift, problem.lower, problem.upper,
            program.values, program.lower, program.upper, program.least, program.most,
        )  # fmt: skip
        info = solver.solve(program, buffers.x, buffers.multiplier)
        gather_impulses(problem.friction, directions, buffers.multiplier, problem.bounded, trial)
        found = certify(
            self._delassus, problem.free, problem.friction, directions, problem.lower, problem.upper, trial,
            self._share, self._velocity, self._slip,
        )  # fmt: skip
        return Asked(info, Residuals(*found), self._slip)

    def write(self) -> None:
        """Write λ."""
        self._impulse[:] = self._trial


@final
class WholeProgram:
    """The program of `step_rows`; kept from step to step, its arrays by their number of rows.

    Args:
        tolerance: of the program.
    """

    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self._memory, self._made = _Memory(), dict[tuple[int, int, int], _Buffers]()
        self._room: Array = np.zeros((4, 0))
        self._known: StepProgram | None = None
        # contacts that the buffers at hand are for, where those and the directions say how many rows there are
        self._alike = _NONE
        self._given = ArrayTable()
        self._none: tuple[IntArray, Array, Array] = (
            np.zeros((0, 1), dtype=np.int64),
            np.zeros((0, 1)),
            np.zeros(0),
        )

    def take(
        self, step: StepProgram, directions: Array, velocity: Array, row_impulse: Array, impulse: Array
    ) -> None:
        """Begin with a step; arguments as in `StepSolver.solve_step`."""
        if step is not self._known:
            self._known, self._alike = step, _NONE
            self._made.clear()
            self._given = ArrayTable(
                step.right, step.dofs, step.values, step.compliance, step.target, step.lower, step.upper
            )
        self._velocity, self._row_impulse, self._impulse = velocity, row_impulse, impulse
        self._begins, contacts = True, step.contacts
        same = contacts == self._alike and directions is self._directions
        if same and self._dofs is step.contact_dofs and self._friction is step.friction:
            # of smooth contacts the number of rows is that of the contacts
            return
        choices = directions.shape[2]
        self._dofs, self._values, self._friction = self._none
        if contacts:
            self._dofs, self._values, self._friction = step.contact_dofs, step.contact_values, step.friction
        count = count_rows(self._friction, choices, 0) if choices else contacts
        key = count, self._values.shape[1], choices
        found = self._made.get(key)
        if found is None:
            rows, width, memory = len(step.target) + count, max(step.dofs.shape[1], key[1]), self._memory
            if not memory.reserve(step.matrix.n, rows, width) or len(self._made) > _KEPT:
                self._made.clear()
            found = self._made[key] = _Buffers(step.matrix, rows, width, self._tolerance, directions, memory)
            found.arrays = found.table()
        elif found.directions is not directions:
            found.directions = directions
            found.arrays = found.table()
        self._step, self._directions, self._buffers = step, directions, found
        self._alike = contacts if contacts and not choices else _NONE

    def _pose(self, shift: Array) -> None:
        """Write the program."""
        step_rows(
            self._given.table, self._dofs, self._values, self._step.bias, self._friction, shift, self._row_impulse,
            self._impulse, self._begins, self._buffers.arrays.table,
        )  # fmt: skip
        self._begins = False

    def solve(self, solver: QPSolver, shift: Array) -> SolveInfo:
        """Solve it once, and write v⁺ and the impulses: without friction its rows are the contact laws themselves."""
        buffers, velocity = self._buffers, self._velocity
        table, friction, rows, impulse = (
            buffers.arrays.table,
            self._friction,
            self._row_impulse,
            self._impulse,
        )
        step_rows(
            self._given.table, self._dofs, self._values, self._step.bias, friction, shift, rows, impulse, True, table
        )  # fmt: skip
        # no guess of v⁺ beside the impulses: what an earlier step left there is no part of the solver's memory
        velocity.fill(0.0)
        info = solver.solve(buffers.problem, velocity, buffers.multiplier)
        step_impulses(table, friction, rows, impulse)
        return info

    def ask(self, solver: QPSolver, shift: Array) -> Asked:
        """Solve it with friction."""
        step, directions, buffers, friction = self._step, self._directions, self._buffers, self._friction
        if self._begins:
            buffers.x.fill(0.0)
        self._pose(shift)
        info = solver.solve(buffers.problem, buffers.x, buffers.multiplier)
        size, rows = len(self._impulse), len(self._row_impulse)
        if self._room.shape[1] < max(size, rows):
            self._room = np.zeros((4, 2 * max(size, rows)))
        velocity, trial, slip, held = self._room
        step_impulses(buffers.arrays.table, friction, held[:rows], trial[:size])
        normal, tangential, cone = certify_step(
            self._dofs, self._values, step.bias, friction, directions, buffers.x, trial, buffers.share,
            velocity, slip,
        )  # fmt: skip
        # of the program's own rows those of contacts say nothing of Coulomb's law, but the joints' do
        residuals = Residuals(normal, tangential, cone, info.residuals.equation)
        return Asked(info, residuals, slip[: step.contacts])

    def write(self) -> None:
        """Write v⁺ and the impulses of the last answer."""
        self._velocity[:] = self._buffers.x
        step_impulses(self._buffers.arrays.table, self._friction, self._row_impulse, self._impulse)
