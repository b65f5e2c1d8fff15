"""The contact solver `qp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.linalg.matrices import Diagonal
from corekit.roles.component import BuildContext, Memory
from corekit.roles.contact import ContactProblem, ImpulseSolver
from corekit.roles.problem import QPProblem, QPSolver
from corekit_qp.config import QPContactConfig
from corekit_qp.directions import pyramid_directions
from corekit_qp.rows import certify, cone_rows, count_rows, gather_impulses, spread_impulses, square_root
from corekit_qp.slip import SlipSearch

__all__ = ["QPContact"]


@final
class QPContact(ImpulseSolver):
    """Contact impulses from one convex quadratic program a step, or from a few where contacts slide with friction.

    Without friction the program's conditions are the complementarity problem itself: see `rows`. Exact friction
    repeats it with shifts that `slip` finds; sliding speeds are remembered by contact, so that steady sliding
    takes one or two programs. An answer whose certificate misses the tolerance is INACCURATE; contradictory contacts
    are INFEASIBLE. With `friction = "relaxed"` CONVERGED speaks of the relaxed problem, the residuals of Coulomb's.

    Args:
        config: program solver, friction, tolerance.
        context: builds the program solver.
    """

    def __init__(self, config: QPContactConfig, context: BuildContext | None = None) -> None:
        context = BuildContext() if context is None else context
        self._config = config
        self._solver: QPSolver = context.build("qp_solvers", config.qp_solver)
        self._directions: dict[tuple[int, bool], Array] = {}
        self._id: IntArray = np.zeros(0, dtype=np.int64)
        self._slip: Array = np.zeros(0)

    def solve(self, problem: ContactProblem, impulse: Array) -> SolveInfo:
        """Write λ; see `ImpulseSolver.solve`."""
        if impulse.size == 0:
            return SolveInfo(answered_by=self._config.qp_solver.use)
        delassus = np.ascontiguousarray(problem.delassus())
        free, friction = problem.free, problem.friction
        low, high = problem.lower, problem.upper
        if not (np.isfinite(delassus).all() and np.isfinite(free).all()):
            impulse[:] = 0.0
            return SolveInfo(Status.NON_FINITE, 0, Residuals(normal=np.inf), self._config.qp_solver.use)
        rough = bool(friction.any())
        directions = self._pyramid(problem.width, rough=rough)
        rows = len(free)
        root = np.zeros((rows, rows))
        rank = square_root(delassus, root, np.zeros(rows), np.zeros(rows, dtype=np.int64))
        count = count_rows(friction, directions.shape[1], problem.bounded)
        program = _program(rank, count, 0.1 * self._config.tolerance)
        share, velocity, slip = np.zeros(directions.shape[1]), np.zeros(rows), np.zeros(problem.contacts)
        x, multiplier = np.zeros(rank), np.zeros(count)
        spread_impulses(friction, directions, impulse, share, multiplier)
        shift = self._remembered(problem.id) if rough else slip.copy()
        exact = rough and self._config.friction == "exact"
        if not exact:
            shift[:] = 0.0
        search, best, kept = SlipSearch(), np.inf, impulse
        iterations = 0
        info = SolveInfo()
        for _ in range(self._config.corrections if exact else 1):
            cone_rows(
                root, rank, free, friction, directions, shift, low, high,
                program.values, program.lower, program.upper, program.least, program.most,
            )  # fmt: skip
            answer = self._solver.solve(program, x, multiplier)
            iterations += answer.iterations
            trial = np.zeros(rows)
            gather_impulses(friction, directions, multiplier, problem.bounded, trial)
            found = certify(delassus, free, friction, directions, low, high, trial, share, velocity, slip)
            residuals = Residuals(*found)
            if residuals.worst < best or best == np.inf:
                best, kept = residuals.worst, trial
                info = SolveInfo(answer.status, iterations, residuals, self._config.qp_solver.use)
            if best <= self._config.tolerance:
                break
            if exact:
                if answer.status is Status.INFEASIBLE and not shift.any():
                    # sliding may be what makes room; what cannot slide stays contradictory
                    shift = np.maximum(slip, np.abs(free).max())
                else:
                    shift = search.next(shift, slip)
        impulse[:] = kept
        if exact:
            self._id, self._slip = problem.id.copy(), slip.copy()
        if best <= self._config.tolerance:
            return SolveInfo(Status.CONVERGED, iterations, info.residuals, info.answered_by)
        status = info.status
        if status.solved and (exact or not rough):
            status = Status.INACCURATE
        return SolveInfo(status, iterations, info.residuals, info.answered_by)

    def _pyramid(self, width: int, *, rough: bool) -> Array:
        found = self._directions.get((width, rough))
        if found is None:
            count = self._config.friction_directions
            found = pyramid_directions(width, count) if rough else np.zeros((width - 1, 0))
            self._directions[width, rough] = found
        return found

    def _remembered(self, ids: IntArray) -> Array:
        """Slip speeds of the last solve, matched by id; zero for new contacts."""
        known = dict(zip(self._id.tolist(), self._slip.tolist(), strict=True))
        return np.array([known.get(each, 0.0) for each in ids.tolist()])

    def memory(self) -> Memory:
        """Slip speeds by contact, and what the program solver remembers."""
        own: Memory = {"id": self._id.copy(), "slip": self._slip.copy()}
        return own | {f"solver.{name}": array for name, array in self._solver.memory().items()}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over what `memory` gave."""
        self._id = memory.get("id", np.zeros(0, dtype=np.int64)).copy()
        self._slip = memory.get("slip", np.zeros(0)).copy()
        self._solver.remember({name[7:]: memory[name] for name in memory if name.startswith("solver.")})


def _program(rank: int, count: int, tolerance: float) -> QPProblem:
    """A program in the coordinates of the square root: the identity as Hessian, dense rows."""
    hessian = Diagonal(rank)
    hessian.data[:] = 1.0
    return QPProblem(
        hessian=hessian,
        gradient=np.zeros(rank),
        dofs=np.ascontiguousarray(np.broadcast_to(np.arange(rank), (count, rank))),
        values=np.zeros((count, rank)),
        lower=np.zeros(count),
        upper=np.zeros(count),
        compliance=np.zeros(count),
        least=np.zeros(count),
        most=np.zeros(count),
        tolerance=tolerance,
    )
