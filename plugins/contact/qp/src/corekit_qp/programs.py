"""The two programs that `qp` solves: of a contact problem that was reduced to W, and of a whole step.

Both are asked with shifts σ and answer with what is left of Coulomb's law and the slip speeds; their impulses are
read when the answer is good.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.status import Residuals, SolveInfo
from corekit.linalg.matrices import Diagonal, Matrix
from corekit.roles.contact import ContactProblem, StepProgram
from corekit.roles.problem import QPProblem, QPSolver
from corekit_qp.rows import certify, cone_rows, count_rows, gather_impulses, spread_impulses, square_root
from corekit_qp.step_rows import certify_step, step_impulses, step_rows

__all__ = ["Asked", "Program", "ReducedProgram", "WholeProgram"]

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


class _Buffers:
    """A program's arrays for a number of variables and rows.

    Attributes:
        problem: the program. x, multiplier: its answer. bounds: (5, rows), see `step_rows.step_rows`.
    """

    def __init__(self, hessian: Matrix, rows: int, width: int, tolerance: float) -> None:
        self.x: Array = np.zeros(hessian.n)
        self.multiplier: Array = np.zeros(rows)
        self.bounds: Array = np.zeros((5, rows))
        lower, upper, compliance, least, most = self.bounds
        self.problem = QPProblem(
            hessian=hessian,
            gradient=np.zeros(hessian.n),
            dofs=np.zeros((rows, width), dtype=np.int64),
            values=np.zeros((rows, width)),
            lower=lower,
            upper=upper,
            compliance=compliance,
            least=least,
            most=most,
            tolerance=tolerance,
        )


@final
class ReducedProgram:
    """The program of `rows`: coordinates in which the Hessian is the identity, dense rows.

    Args:
        problem, impulse: as in `ImpulseSolver.solve`.
        directions: D, shape (width − 1, r).
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
        count = count_rows(problem.friction, directions.shape[1], problem.bounded)
        self._buffers = _Buffers(identity, count, self._rank, tolerance)
        self._buffers.problem.dofs[:] = np.arange(self._rank)
        self._share, self._velocity = np.zeros(directions.shape[1]), np.zeros(rows)
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
        self._made: dict[tuple[int, int, int], _Buffers] = {}
        self._share: Array = np.zeros(0)
        self._room: Array = np.zeros((3, 0))
        self._none: tuple[IntArray, Array] = np.zeros((0, 1), dtype=np.int64), np.zeros((0, 1))

    def take(
        self, step: StepProgram, directions: Array, velocity: Array, row_impulse: Array, impulse: Array
    ) -> None:
        """Begin with a step; arguments as in `StepSolver.solve_step`."""
        self._step, self._directions, self._velocity = step, directions, velocity
        self._row_impulse, self._impulse = row_impulse, impulse
        contacts, choices = step.contacts, directions.shape[1]
        self._friction = friction = step.friction[:contacts]
        self._dofs, self._values = (step.contact_dofs, step.contact_values) if contacts else self._none
        count = len(step.target) + (count_rows(friction, choices, 0) if choices else contacts)
        width = max(step.dofs.shape[1], self._values.shape[1])
        key = (count, width, len(velocity))
        found = self._made.get(key)
        if found is None or found.problem.hessian is not step.matrix:
            if len(self._made) > _KEPT:
                self._made.clear()
            found = self._made[key] = _Buffers(step.matrix, count, width, self._tolerance)
        # no guess of v⁺ beside the impulses: what an earlier step left here is no part of the solver's memory
        found.x.fill(0.0)
        self._buffers, self._begins = found, True
        if len(self._share) != choices:
            self._share = np.zeros(choices)
        if choices and self._room.shape[1] < len(impulse):
            self._room = np.zeros((3, 2 * len(impulse)))

    def ask(self, solver: QPSolver, shift: Array) -> Asked:
        """Solve it."""
        step, directions, buffers = self._step, self._directions, self._buffers
        program, friction = buffers.problem, self._friction
        step_rows(
            step.right, step.dofs, step.values, step.compliance, step.target, step.lower, step.upper,
            self._dofs, self._values, step.bias, friction, directions, shift,
            self._row_impulse, self._impulse, self._share, self._begins,
            program.gradient, program.dofs, program.values, buffers.bounds, buffers.multiplier,
        )  # fmt: skip
        self._begins = False
        info = solver.solve(program, buffers.x, buffers.multiplier)
        if not directions.shape[1]:
            # the program's rows are the contact laws themselves
            return Asked(info, info.residuals, shift)
        velocity, trial, slip = self._room
        step_impulses(
            friction, directions, buffers.multiplier, self._row_impulse, trial[: len(self._impulse)]
        )
        normal, tangential, cone = certify_step(
            self._dofs, self._values, step.bias, friction, directions, buffers.x, trial, self._share, velocity, slip
        )  # fmt: skip
        # of the program's own rows those of contacts say nothing of Coulomb's law, but the joints' do
        residuals = Residuals(normal, tangential, cone, info.residuals.equation)
        return Asked(info, residuals, slip[: step.contacts])

    def write(self) -> None:
        """Write v⁺ and the impulses."""
        self._velocity[:] = self._buffers.x
        step_impulses(
            self._friction, self._directions, self._buffers.multiplier, self._row_impulse, self._impulse
        )
