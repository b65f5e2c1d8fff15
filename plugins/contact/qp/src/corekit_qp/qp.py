"""The contact solver `qp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext, Memory
from corekit.roles.contact import ContactProblem, StepProgram, StepSolver
from corekit.roles.friction import ANISOTROPIC_COULOMB
from corekit.roles.problem import QPSolver
from corekit.roles.pyramid import pyramid_directions
from corekit_qp.config import QPContactConfig
from corekit_qp.programs import Program, ReducedProgram, WholeProgram
from corekit_qp.rows import stretch_directions
from corekit_qp.slip import SlipMemory, SlipSearch

__all__ = ["QPContact"]

_CONVERGED = Status.CONVERGED
_KEPT = 16
"""Numbers of contacts whose directions are kept."""


def _no_directions(width: int) -> Array:
    return np.zeros((1, width - 1, 0))


@final
class QPContact(StepSolver):
    """Contact impulses from one convex quadratic program a step, or from a few where contacts slide with friction.

    Without friction the program's conditions are the step's own: see `step_rows`, or `rows` where only W is known.
    Exact friction repeats it with shifts that `slip` finds; sliding speeds are remembered by contact, so that steady
    sliding takes one or two programs. An answer whose certificate misses the tolerance is INACCURATE; contradictory
    contacts are INFEASIBLE. With `friction = "relaxed"` CONVERGED speaks of the relaxed problem, the residuals of
    Coulomb's.

    Args:
        config: program solver, friction, tolerance.
        context: builds the program solver.
    """

    def __init__(self, config: QPContactConfig, context: BuildContext | None = None) -> None:
        context = BuildContext() if context is None else context
        self._config = config
        self._name, self._tolerance = config.qp_solver.use, config.tolerance
        self._solver: QPSolver = context.build("qp_solvers", config.qp_solver)
        self._anisotropic = context.friction_law == ANISOTROPIC_COULOMB.name
        self._units: dict[int, Array] = {}
        self._directions: dict[tuple[int, int], Array] = {}
        self._smooth: Array = np.zeros((0, 0, 0))
        self._slips = SlipMemory()
        self._zeros: Array = np.zeros(0)
        self._whole = WholeProgram(0.1 * config.tolerance)

    def solve(self, problem: ContactProblem, impulse: Array) -> SolveInfo:
        """Write λ; see `ImpulseSolver.solve`."""
        if impulse.size == 0:
            return SolveInfo(answered_by=self._name)
        if not (np.isfinite(problem.delassus()).all() and np.isfinite(problem.free).all()):
            impulse[:] = 0.0
            return SolveInfo(Status.NON_FINITE, 0, Residuals(normal=np.inf), self._name)
        directions = self._pyramid(problem) if problem.friction.any() else _no_directions(problem.width)
        program = ReducedProgram(problem, impulse, directions, 0.1 * self._config.tolerance)
        speed = float(np.abs(problem.free).max())
        return self._answer(program, problem.id, speed, rough=bool(directions.shape[2]))

    def solve_step(
        self, program: StepProgram, increment: Array, row_impulse: Array, impulse: Array
    ) -> SolveInfo:
        """Write Δ, λ_b and λ_c; see `StepSolver.solve_step`."""
        contacts, whole = program.contacts, self._whole
        if contacts and program.frictional and program.friction.any():
            whole.take(program, self._pyramid(program), increment, row_impulse, impulse)
            speed = float(np.abs(program.bias).max(initial=1e-3))
            return self._answer(whole, program.id[:contacts], speed, rough=True)
        if self._smooth.shape[1] != program.width - 1:
            self._smooth = _no_directions(program.width)
        whole.take(program, self._smooth, increment, row_impulse, impulse)
        zeros = self._zeros
        info = whole.solve(self._solver, zeros if len(zeros) >= contacts else self._no_shift(contacts))
        found, most = info.residuals, self._tolerance
        good = (
            found.normal <= most and found.equation <= most and found.friction <= most and found.cone <= most
        )
        if good == (info.status is _CONVERGED):
            return info
        status = _CONVERGED if good else Status.INACCURATE
        return SolveInfo(status, info.iterations, info.residuals, self._name)

    def _answer(self, program: Program, ids: IntArray, speed: float, *, rough: bool) -> SolveInfo:
        """Ask a program until Coulomb's law holds, and write its best answer."""
        tolerance = self._config.tolerance
        exact = rough and self._config.friction == "exact"
        shift = self._slips.of(ids) if exact else self._no_shift(len(ids))
        asked = program.ask(self._solver, shift)
        program.write()
        if not exact:
            good = asked.residuals.worst <= tolerance if not rough else asked.info.status.solved
            if good and not rough and asked.info.status is Status.CONVERGED:
                return asked.info
            status = asked.info.status if asked.info.status is not Status.CONVERGED else Status.INACCURATE
            status = Status.CONVERGED if good else status
            return SolveInfo(status, asked.info.iterations, asked.residuals, self._name)
        search, best, iterations = SlipSearch(), asked, asked.info.iterations
        for _ in range(self._config.corrections):
            if best.residuals.worst <= tolerance or asked.info.status is Status.SINGULAR:
                break
            if asked.info.status is Status.INFEASIBLE and not shift.any():
                # sliding may be what makes room; what cannot slide stays contradictory
                shift = np.maximum(asked.slip, speed)
            else:
                shift = search.next(shift, asked.slip)
            asked = program.ask(self._solver, shift)
            iterations += asked.info.iterations
            if asked.residuals.worst < best.residuals.worst:
                best = asked
                program.write()
        self._slips.keep(ids, asked.slip)
        status = best.info.status if best.info.status is not Status.CONVERGED else Status.INACCURATE
        if best.residuals.worst <= tolerance:
            status = Status.CONVERGED
        return SolveInfo(status, iterations, best.residuals, self._name)

    def _no_shift(self, contacts: int) -> Array:
        """σ = 0 for as many contacts or more."""
        if len(self._zeros) < contacts:
            self._zeros = np.zeros(2 * contacts)
        return self._zeros

    def _pyramid(self, problem: ContactProblem | StepProgram) -> Array:
        """D as in `rows`: of all contacts in Coulomb's law, of every contact in the anisotropic one."""
        key = problem.width, problem.contacts if self._anisotropic else 1
        found = self._directions.get(key)
        if found is None:
            if len(self._directions) > _KEPT:
                self._directions.clear()
            found = self._directions[key] = np.zeros((key[1], *self._unit(problem.width).shape))
            found[:] = self._unit(problem.width)
        if self._anisotropic:
            stretch_directions(self._unit(problem.width), problem.friction_record, found)
        return found

    def _unit(self, width: int) -> Array:
        found = self._units.get(width)
        if found is None:
            found = self._units[width] = pyramid_directions(width, self._config.friction_directions)
        return found

    def memory(self) -> Memory:
        """Slip speeds by contact, and what the program solver remembers."""
        own: Memory = {"id": self._slips.id.copy(), "slip": self._slips.slip.copy()}
        return own | {f"solver.{name}": array for name, array in self._solver.memory().items()}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over what `memory` gave."""
        self._slips = SlipMemory()
        if memory:
            self._slips.keep(memory["id"], memory["slip"])
        self._solver.remember({name[7:]: memory[name] for name in memory if name.startswith("solver.")})
