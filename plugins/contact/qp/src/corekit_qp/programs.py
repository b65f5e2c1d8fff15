"""The two programs of `qp`: of a contact problem reduced to W, and of an unreduced step.

Both are solved with shifts σ, and return the largest relative residual of the contact laws and the slip speeds. The
solver writes the impulses of the best solution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.status import Residuals, SolveInfo
from corekit.linalg.matrices import Diagonal, Matrix
from corekit.roles.contact import StepProblem, UnreducedStepProblem
from corekit.roles.contact_scale import ScaledContactProblem
from corekit.roles.problem import LCPSolver, QPProblem, QPSolver
from corekit_qp.contact_rows import (
    count_rows,
    factorise_delassus,
    measure_residuals,
    read_impulses,
    write_multipliers,
    write_rows,
)
from corekit_qp.pivoting import solve_by_pivots
from corekit_qp.slip import Newton
from corekit_qp.slip_newton import newton_shift
from corekit_qp.unreduced_rows import (
    measure_step_residuals,
    read_step_impulses,
    step_scales,
    write_step_rows,
)

__all__ = ["Program", "ProgramResult", "ReducedProgram", "UnreducedProgram"]

_UNKNOWN = -1
_MAX_SIZES = 16
"""Numbers of rows for which a program keeps its buffers."""


class ProgramResult(NamedTuple):
    """The report of the program solver, the largest relative residual, and the slip speeds (m,), in `speed_unit`."""

    info: SolveInfo
    error: float
    slip: Array


class Program(Protocol):
    """A program that can be solved for several shifts.

    Attributes:
        speed_unit: of shifts and slip speeds [m/s]. speed: the largest reference velocity, in this unit.
        newton: Newton's step from the shifts of the last solution, if there is one.
        pivots: solves exact friction at once, by an LCP solver, if the program has no bounded rows.
    """

    speed_unit: float
    speed: float
    newton: Newton | None
    pivots: Callable[[LCPSolver], ProgramResult] | None

    def solve_shifted(self, solver: QPSolver, shift: Array) -> ProgramResult:
        """Solve the program with the shifts σ, shape (m,), from the last solution."""

    def write_solution(self) -> Residuals:
        """Write the last solution to the caller's arrays; return its residuals in the problem as given."""


class _BufferPool:
    """Memory that programs of different sizes use in turns.

    While contacts come and go, allocation costs more than the program itself.
    """

    def __init__(self) -> None:
        self._integers: IntArray = np.zeros(0, dtype=np.int64)
        self._numbers: Array = np.zeros(0)

    def reserve(self, variables: int, rows: int, width: int) -> bool:
        """Provide memory for so many rows; return False if arrays handed out before are in other memory now."""
        size = _size_of(variables, rows, width)
        if size <= len(self._numbers) and rows * width <= len(self._integers):
            return True
        enlarged = rows + rows // 8 + 16
        self._integers = np.zeros(enlarged * width, dtype=np.int64)
        self._numbers = np.zeros(_size_of(variables, enlarged, width))
        return False

    def dofs(self, rows: int, width: int) -> IntArray:
        """Memory for the indices of rows."""
        return self._integers[: rows * width].reshape(rows, width)

    def numbers(self, *shapes: tuple[int, ...]) -> Iterator[Array]:
        """Memory for arrays, one behind the other."""
        begin = 0
        for shape in shapes:
            end = begin + math.prod(shape)
            yield self._numbers[begin:end].reshape(shape)
            begin = end


def _size_of(variables: int, rows: int, width: int) -> int:
    return 2 * variables + rows * (width + 6)


class _ProgramBuffers:
    """Arrays of a program with a given number of variables and rows.

    Args:
        pool: with enough memory reserved.

    Attributes:
        problem: the program. bounds: its bounds, (5, rows), as in `write_step_rows`.
        x, multiplier: its solution. beta: workspace, shape (r,).
    """

    def __init__(
        self, hessian: Matrix, rows: int, width: int, tolerance: float, choices: int, pool: _BufferPool
    ) -> None:
        self.x, gradient, self.multiplier, self.bounds, values = pool.numbers(
            (hessian.n,), (hessian.n,), (rows,), (5, rows), (rows, width)
        )
        lower, upper, compliance, least, most = self.bounds
        self.problem = QPProblem(
            hessian=hessian, gradient=gradient, dofs=pool.dofs(rows, width), values=values, lower=lower, upper=upper,
            compliance=compliance, multiplier_lower=least, multiplier_upper=most, tolerance=tolerance,
        )  # fmt: skip
        self.beta: Array = np.zeros(choices)


@final
class ReducedProgram:
    """The program of `contact_rows`, in coordinates with the identity as Hessian and dense rows.

    Args:
        scaled: for the problem in units of its own, in which the program is.
        problem, impulse: as in `ImpulseSolver.solve`.
        directions: D as in `contact_rows`.
        tolerance: of the program.
    """

    def __init__(
        self, scaled: ScaledContactProblem, problem: StepProblem, impulse: Array, directions: Array,
        tolerance: float,
    ) -> None:  # fmt: skip
        self._scaled, self._impulse, self._directions = scaled, impulse, directions
        self._trial = impulse.copy()
        scaled.set_problem(problem, self._trial)
        self.speed_unit, self.speed = scaled.velocity_unit, float(scaled.reference.max())
        self.newton: Newton | None = self._newton
        self.pivots: Callable[[LCPSolver], ProgramResult] | None = (
            None if len(scaled.lower) else self._solve_by_pivots
        )
        rows, choices, bounded = len(impulse), directions.shape[2], len(scaled.lower)
        self._root = np.zeros((rows, rows))
        self._rank = factorise_delassus(
            scaled.delassus(), self._root, np.zeros(rows), np.zeros(rows, dtype=np.int64)
        )
        identity = Diagonal(self._rank)
        identity.data[:] = 1.0
        count = count_rows(scaled.friction, choices, bounded)
        pool = _BufferPool()
        pool.reserve(self._rank, count, self._rank)
        self._buffers = _ProgramBuffers(identity, count, self._rank, tolerance, choices, pool)
        self._buffers.problem.dofs[:] = np.arange(self._rank)
        self._velocity, self._slip = np.zeros(rows), np.zeros(len(scaled.friction))
        write_multipliers(
            scaled.friction, directions, self._trial, self._buffers.beta, self._buffers.multiplier
        )

    def solve_shifted(self, solver: QPSolver, shift: Array) -> ProgramResult:
        """Solve the program; see `Program`."""
        scaled, directions, buffers, trial = self._scaled, self._directions, self._buffers, self._trial
        program = buffers.problem
        write_rows(
            self._root, self._rank, scaled.free_velocity, scaled.friction, directions, shift, scaled.lower,
            scaled.upper,
            program.values, program.lower, program.upper, program.multiplier_lower, program.multiplier_upper,
        )  # fmt: skip
        info = solver.solve(program, buffers.x, buffers.multiplier)
        read_impulses(scaled.friction, directions, buffers.multiplier, len(scaled.lower), trial)
        return self._measure(info)

    def _solve_by_pivots(self, solver: LCPSolver) -> ProgramResult:
        """Solve exact friction; see `pivoting`."""
        scaled, tolerance = self._scaled, self._buffers.problem.tolerance
        info = solve_by_pivots(
            solver, scaled.delassus(), scaled.free_velocity, scaled.friction, self._directions, tolerance, self._trial
        )  # fmt: skip
        return self._measure(info)

    def _measure(self, info: SolveInfo) -> ProgramResult:
        """Measure the residuals and slip speeds of the impulses that were just found."""
        scaled, buffers = self._scaled, self._buffers
        found = measure_residuals(
            scaled.delassus(), scaled.free_velocity, scaled.friction, self._directions, scaled.lower, scaled.upper,
            scaled.mobility, scaled.reference, self._trial, buffers.beta, self._velocity, self._slip,
        )  # fmt: skip
        return ProgramResult(info, found[3], self._slip)

    def _newton(self, shift: Array) -> Array:
        """Newton's step; see `slip_newton`."""
        program, scaled = self._buffers.problem, self._scaled
        return newton_shift(
            program.values, self._buffers.multiplier, (program.multiplier_lower, program.multiplier_upper),
            self._root[:, : self._rank], scaled.friction, self._directions, self._velocity, shift, self._slip,
        )  # fmt: skip

    def write_solution(self) -> Residuals:
        """Write λ, and return its residuals in the contact problem as given."""
        scaled, impulse, problem = self._scaled, self._impulse, self._scaled.problem
        impulse[:] = self._trial
        scaled.write_answer(impulse)
        found = measure_residuals(
            np.ascontiguousarray(problem.delassus()), problem.free_velocity, scaled.friction, self._directions,
            problem.lower, problem.upper, scaled.mobility, scaled.reference, impulse, self._buffers.beta,
            self._velocity, np.empty_like(self._slip),
        )  # fmt: skip
        return Residuals(*found[:3])


@final
class UnreducedProgram:
    """The program of `unreduced_rows`; its buffers are kept from step to step, by the number of rows.

    Args:
        tolerance: of the program.
    """

    speed_unit = 1.0

    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self.pivots: Callable[[LCPSolver], ProgramResult] | None = None
        self.newton: Newton | None = None  # the sequence needs few programs where few contacts slide
        self._diagonal: IntArray = np.zeros(0, dtype=np.int64)
        self._scales: Array = np.zeros((2, 0))
        self._pool, self._buffers_by_size = _BufferPool(), dict[tuple[int, int, int], _ProgramBuffers]()
        self._workspace: Array = np.zeros((4, 0))
        self._known_step: UnreducedStepProblem | None = None
        # number of contacts for which the current buffers fit, if contacts and directions alone decide that
        self._contact_count = _UNKNOWN
        self._no_contacts: tuple[IntArray, Array, Array] = (
            np.zeros((0, 1), dtype=np.int64),
            np.zeros((0, 1)),
            np.zeros(0),
        )

    def diagonal_of(self, step: UnreducedStepProblem) -> Array:
        """The A_jj of a step, shape (n,)."""
        if step is not self._known_step:
            self._known_step, self._contact_count = step, _UNKNOWN
            self._buffers_by_size.clear()
            row, column, where = step.matrix.entries()
            own = np.zeros(step.matrix.n, dtype=np.int64)
            own[row[row == column]] = where[row == column]
            self._diagonal = own
        return step.matrix.data.ravel(order="K")[self._diagonal]

    def set_step(self, step: UnreducedStepProblem, directions: Array, impulse: Array) -> None:
        """Set the step to solve; `directions` as in `contact_rows`, λ_c as in `UnreducedStepSolver`."""
        self.diagonal_of(step)
        self._increment, self._row_impulse, self._impulse = step.increment, step.row_impulse, impulse
        self._is_first, contacts = True, step.contact_count
        same = contacts == self._contact_count and directions is self._directions
        if same and self._dofs is step.contact_dofs and self._friction is step.friction:
            # without friction the number of rows is the number of contacts
            return
        choices = directions.shape[2]
        self._dofs, self._values, self._friction = self._no_contacts
        if contacts:
            self._dofs, self._values, self._friction = step.contact_dofs, step.contact_values, step.friction
        count = count_rows(self._friction, choices, 0) if choices else contacts
        key = count, self._values.shape[1], choices
        buffers = self._buffers_by_size.get(key)
        if buffers is None:
            rows, width, pool = (
                len(step.target_rate) + count,
                max(step.constraint_dofs.shape[1], key[1]),
                self._pool,
            )
            if not pool.reserve(step.matrix.n, rows, width) or len(self._buffers_by_size) > _MAX_SIZES:
                self._buffers_by_size.clear()
            buffers = _ProgramBuffers(step.matrix, rows, width, self._tolerance, choices, pool)
            self._buffers_by_size[key] = buffers
        self._step, self._directions, self._buffers = step, directions, buffers
        self._contact_count = contacts if contacts and not choices else _UNKNOWN

    def solve(self, solver: QPSolver, shift: Array) -> tuple[SolveInfo, Residuals, float]:
        """Solve the program once and write Δ and the impulses: without friction its rows are the contact laws.

        Returns:
            The report of the program solver, the residuals, and the largest relative one, of the equation too.
        """
        buffers, increment = self._buffers, self._increment
        self._write_rows(shift)
        # an initial guess of Δ from an earlier step would not be part of the internal state of the solver
        increment.fill(0.0)
        info = solver.solve(buffers.problem, increment, buffers.multiplier)
        self._read_impulses(self._row_impulse, self._impulse)
        residuals, error = self._measure(info, increment, self._row_impulse, self._impulse)
        return info, residuals, error

    def solve_shifted(self, solver: QPSolver, shift: Array) -> ProgramResult:
        """Solve the program with friction; see `Program`."""
        step, buffers = self._step, self._buffers
        if self._is_first:
            buffers.x.fill(0.0)
        self._write_rows(shift)
        self._is_first = False
        info = solver.solve(buffers.problem, buffers.x, buffers.multiplier)
        row_trial, trial = (
            self._workspace[2][: len(self._row_impulse)],
            self._workspace[3][: len(self._impulse)],
        )
        self._read_impulses(row_trial, trial)
        self._residuals, error = self._measure(info, buffers.x, row_trial, trial)
        return ProgramResult(info, error, self._workspace[1][: step.contact_count])

    def _set_scales(self) -> None:
        """The scales of the step, and workspaces."""
        step, rows = self._step, len(self._row_impulse)
        size = max(len(self._impulse), rows)
        if self._workspace.shape[1] < size:
            self._workspace = np.zeros((4, 2 * size))
        if self._scales.shape[1] != len(self._friction) + rows:
            self._scales = np.zeros((2, len(self._friction) + rows))
        self.speed, self._largest_impulse = step_scales(
            self.diagonal_of(step), step.rhs, step.constraint_dofs, step.constraint_values, step.compliance,
            step.target_rate, step.row_lower, step.row_upper, self._dofs, self._values, step.bias,
            step.rows_per_contact, self._scales[0], self._scales[1],
        )  # fmt: skip

    def _measure(
        self, info: SolveInfo, x: Array, row_impulse: Array, impulse: Array
    ) -> tuple[Residuals, float]:
        """Measure the residuals in the step as given, and the largest relative one.

        That of the equation is relative to the largest impulse, of the constraints too.
        """
        step, equation = self._step, info.residuals.equation
        velocity, slip = self._workspace[:2]
        normal, friction, cone, error, largest = measure_step_residuals(
            step.constraint_dofs, step.constraint_values, step.compliance, step.target_rate, step.row_lower,
            step.row_upper, self._dofs, self._values, step.bias, self._friction, self._directions, self._scales[0],
            self._scales[1], x, row_impulse, impulse, self._buffers.beta, velocity, slip,
        )  # fmt: skip
        imbalance = equation / max(self._largest_impulse, largest, 1e-300)
        return Residuals(normal, friction, cone, equation), float(np.maximum(error, imbalance))  # nan stays

    def _write_rows(self, shift: Array) -> None:
        step, buffers, program = self._step, self._buffers, self._buffers.problem
        if self._is_first:
            self._set_scales()
        write_step_rows(
            step.rhs, step.constraint_dofs, step.constraint_values, step.compliance, step.target_rate, step.row_lower,
            step.row_upper, self._dofs, self._values, step.bias, self._friction, self._directions, shift,
            self._row_impulse, self._impulse, self._is_first, program.gradient, program.dofs, program.values,
            buffers.bounds, buffers.multiplier, buffers.beta,
        )  # fmt: skip

    def _read_impulses(self, row_impulse: Array, impulse: Array) -> None:
        read_step_impulses(self._buffers.multiplier, self._directions, self._friction, row_impulse, impulse)

    def write_solution(self) -> Residuals:
        """Write Δ and the impulses of the last solution, and return its residuals."""
        self._increment[:] = self._buffers.x
        self._read_impulses(self._row_impulse, self._impulse)
        return self._residuals
