"""The contact solver `qp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.compiled_form import CompiledForm
from corekit.roles.component import BuildContext, InternalState, Stateful, collect_states, restore_states
from corekit.roles.contact import (
    FrictionDirections,
    StepProblem,
    UnreducedStepProblem,
    UnreducedStepSolver,
)
from corekit.roles.contact_scale import ScaledContactProblem
from corekit.roles.friction import friction_law
from corekit.roles.problem import LCPSolver, QPSolver
from corekit.roles.pyramid import DirectionCovector, pull_turned_directions
from corekit_qp.compiled_form import form_of
from corekit_qp.config import QPContactConfig
from corekit_qp.programs import Program, ReducedProgram, UnreducedProgram
from corekit_qp.pyramids import Pyramids
from corekit_qp.slip import SlipSearch, SlipWarmStart

__all__ = ["QPContact"]

_CONVERGED = Status.CONVERGED
_PATIENCE = 25
"""Number of programs after which friction is left to pivots, if they may answer."""


def _no_directions(width: int) -> Array:
    return np.zeros((1, width - 1, 0))


@final
class QPContact(UnreducedStepSolver, FrictionDirections, Stateful):
    """Contact impulses from one convex quadratic program per step, or from a few if contacts slide with friction.

    Without friction, the optimality conditions of the program are the contact laws; see `unreduced_rows`, or
    `contact_rows` where only W is known. Exact friction repeats the program with shifts that `slip` finds. The slip
    speeds of the last step are the first shifts, so that steady sliding needs one or two programs. Where many programs
    do not lead there, an LCP solver answers, see `pivoting`: FALLBACK, by its name.

    A solution whose residuals exceed the tolerance is INACCURATE; contradictory contacts are INFEASIBLE. With
    `friction = "relaxed"`, CONVERGED refers to the relaxed problem and the residuals to Coulomb's law.

    Args:
        config: solvers, friction, tolerance.
        context: builds the solvers and names the friction law.
    """

    def __init__(self, config: QPContactConfig, context: BuildContext | None = None) -> None:
        context = BuildContext() if context is None else context
        self._config = config
        self._name, self._tolerance = config.qp_solver.use, config.tolerance
        self._solver: QPSolver = context.build("qp_solvers", config.qp_solver)
        self._has_form = "compiled-form" in context.provides("qp_solvers", config.qp_solver)
        self._pivoting: LCPSolver = context.build("lcp_solvers", config.lcp_solver)
        law = friction_law(context.friction_law)
        self._pyramids = Pyramids(config.friction_directions, config.aligned, law)
        self._empty: Array = np.zeros((0, 0, 0))
        self._slip = SlipWarmStart()
        self._zeros: Array = np.zeros(0)
        self._unreduced, self._scaled = UnreducedProgram(0.1 * config.tolerance), ScaledContactProblem()

    def compiled_form(self) -> CompiledForm | str:
        """The entry of `compiled_form` for unreduced steps; in words what has none."""
        config = self._config
        if config.friction == "relaxed":
            return "relaxed friction"
        if self._pyramids.follows_law:
            return "a law of friction with a record"
        if not self._has_form:
            return f"a program solver, {config.qp_solver.use!r}, that has no compiled form"
        form: CompiledForm | str = self._solver.compiled_form()  # pyrefly: ignore[missing-attribute]
        if isinstance(form, str):
            return f"a program solver, {config.qp_solver.use!r}, with {form}"
        return form_of(config.tolerance, config.friction_directions, form, aligned=config.aligned)

    @property
    def turns_directions(self) -> bool:
        """Whether pyramids are turned to slip."""
        return self._config.aligned

    def compute_friction_directions(self, problem: StepProblem) -> Array:
        """Return d_k of every contact; see `FrictionDirections`."""
        found = self._pyramids.of_problem(problem, np.zeros(len(problem.free_velocity)))
        return np.broadcast_to(found, (problem.contact_count, *found.shape[1:])).copy()

    def pull_friction_directions(
        self, problem: StepProblem, directions: Array, covector: Array
    ) -> DirectionCovector | None:
        """Covectors of the problem, of Coulomb's law; see `FrictionDirections`."""
        return None if self._pyramids.follows_law else pull_turned_directions(problem, directions, covector)

    def solve(self, problem: StepProblem, impulse: Array) -> SolveInfo:
        """Write λ, and Δ and λ_b of a step that is solved unreduced; see `UnreducedStepSolver`."""
        step = problem.unreduced()
        return self._solve_reduced(problem, impulse) if step is None else self._solve_unreduced(step, impulse)

    def _solve_reduced(self, problem: StepProblem, impulse: Array) -> SolveInfo:
        """Solve with W."""
        if impulse.size == 0:
            return SolveInfo(answered_by=self._name)
        if not (np.isfinite(problem.delassus()).all() and np.isfinite(problem.free_velocity).all()):
            impulse[:] = 0.0
            return SolveInfo(Status.NON_FINITE, 0, Residuals(normal=np.inf), self._name)
        frictional = bool(problem.friction.any())
        directions = (
            self._pyramids.of_problem(problem, impulse)
            if frictional
            else _no_directions(problem.rows_per_contact)
        )
        program = ReducedProgram(self._scaled, problem, impulse, directions, 0.1 * self._tolerance)
        if not frictional:
            return self._solve_frictionless(program, problem.contact_count)
        if self._config.friction == "relaxed":
            return self._solve_relaxed(program, problem.contact_count)
        return self._solve_exactly(program, problem.id)

    def _solve_unreduced(self, step: UnreducedStepProblem, impulse: Array) -> SolveInfo:
        """Solve with A and the rows by entries."""
        contacts, unreduced = step.contact_count, self._unreduced
        if contacts and step.frictional and step.friction.any():
            directions = self._pyramids.of_step(step, unreduced.diagonal_of(step), impulse)
            unreduced.set_step(step, directions, impulse)
            if self._config.friction == "relaxed":
                return self._solve_relaxed(unreduced, contacts)
            return self._solve_exactly(unreduced, step.id[:contacts])
        if self._empty.shape[1] != step.rows_per_contact - 1:
            self._empty = _no_directions(step.rows_per_contact)
        unreduced.set_step(step, self._empty, impulse)
        shift = self._zeros if len(self._zeros) >= contacts else self._no_shift(contacts)
        info, residuals, error = unreduced.solve(self._solver, shift)
        if not error <= self._tolerance:
            # from the answer: a guess that is far larger leaves its rounding
            info, residuals, error = unreduced.solve(self._solver, shift)
        status = _CONVERGED if error <= self._tolerance else _unless_converged(info.status)
        return SolveInfo(status, info.iterations, residuals, self._name)

    def _solve_frictionless(self, program: Program, contacts: int) -> SolveInfo:
        """Solve a program whose rows are the contact laws."""
        result = program.solve_shifted(self._solver, self._no_shift(contacts))
        residuals, info = program.write_solution(), result.info
        status = _CONVERGED if result.error <= self._tolerance else _unless_converged(info.status)
        return SolveInfo(status, info.iterations, residuals, self._name)

    def _solve_relaxed(self, program: Program, contacts: int) -> SolveInfo:
        """Solve the convex relaxation of friction; its residuals are those of Coulomb's law."""
        result = program.solve_shifted(self._solver, self._no_shift(contacts))
        residuals = program.write_solution()
        status = _CONVERGED if result.info.status.solved else _unless_converged(result.info.status)
        return SolveInfo(status, result.info.iterations, residuals, self._name)

    def _solve_exactly(self, program: Program, ids: IntArray) -> SolveInfo:
        """Solve the program for shifts until Coulomb's law holds, and write the best solution.

        Args:
            ids: of the contacts, shape (m,).
        """
        tolerance = self._tolerance
        shift = self._slip.match(ids) / program.speed_unit
        result = program.solve_shifted(self._solver, shift)
        residuals = program.write_solution()
        search, best, iterations = SlipSearch(), result, result.info.iterations
        slip = result.slip.copy()
        limit = self._config.corrections
        for _ in range(limit if program.pivots is None else min(limit, _PATIENCE)):
            if best.error <= tolerance or result.info.status is Status.SINGULAR:
                break
            if result.info.status is Status.INFEASIBLE and not shift.any():
                # contacts that contradict each other at rest may agree when they slide
                shift = np.maximum(result.slip, program.speed)
            else:
                shift = search.propose(shift, result.slip, program.newton)
            result = program.solve_shifted(self._solver, shift)
            iterations += result.info.iterations
            if result.error < best.error:
                best = result
                residuals, slip = program.write_solution(), result.slip.copy()
        name = self._name
        status = _CONVERGED if best.error <= tolerance else _unless_converged(best.info.status)
        if not status.solved and status is not Status.SINGULAR and program.pivots is not None:
            result = program.pivots(self._pivoting)
            iterations += result.info.iterations
            if result.error <= tolerance:
                residuals, slip = program.write_solution(), result.slip
                status, name = Status.FALLBACK, self._config.lcp_solver.use
        self._slip.store(ids, slip * program.speed_unit)
        return SolveInfo(status, iterations, residuals, name)

    def _no_shift(self, contacts: int) -> Array:
        """σ = 0 for so many contacts or more."""
        if len(self._zeros) < contacts:
            self._zeros = np.zeros(2 * contacts)
        return self._zeros

    def internal_state(self) -> InternalState:
        """Slip speeds by contact, and the internal state of the program solver."""
        own: InternalState = {"id": self._slip.id.copy(), "slip": self._slip.speed.copy()}
        return own | collect_states({"solver": self._solver, "pivoting": self._pivoting})

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore what `internal_state` returned."""
        self._slip = SlipWarmStart()
        if internal_state:
            self._slip.store(internal_state["id"], internal_state["slip"])
        restore_states({"solver": self._solver, "pivoting": self._pivoting}, internal_state)


def _unless_converged(status: Status) -> Status:
    """The status of a program whose solution misses the tolerance."""
    return Status.INACCURATE if status is _CONVERGED else status
