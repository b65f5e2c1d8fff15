"""Frictional contact by linear complementarity: select, assemble, scale, regularise, solve, certify.

    w = W·λ + w₀,   0 ≤ λ_n ⊥ w_n ≥ 0,   λ_t in the friction pyramid against w_t           (1)

is assembled as an LCP (`assemble`), conditioned in up to three stages (`select`, `scale`, `regularise`),
given to an LCP solver, and certified in (1) itself (`certify`), all contacts counted. What the stages
changed is put right before an answer is called solved: contacts left out that would penetrate are added
back, and the compliance of the regularisation is taken out by further solves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext, Memory
from corekit.roles.contact import ContactProblem, ImpulseSolver
from corekit.roles.problem import LCPSolver
from corekit_lcp.assemble import assemble, gather, pyramid_directions, variable_count
from corekit_lcp.certify import certify
from corekit_lcp.config import LCPContactConfig
from corekit_lcp.impulses import impulses_of, variables_of
from corekit_lcp.regularise import add_compliance, induced_speed, move_centre
from corekit_lcp.scale import equilibrate
from corekit_lcp.select import add_back, keep_all, select_contacts
from corekit_lcp.workspace import LCPPart, Selection, Workspace

__all__ = ["LCPContact"]


@frozen(eq=False)
class Attempt:
    """One way to answer: a solver, on the conditioned problem or on the raw one."""

    name: str
    solver: LCPSolver
    conditioned: bool


@frozen(eq=False)
class Whole:
    """The arrays of the contact problem as given, read once a solve."""

    delassus: Array
    free: Array
    friction: Array
    gap: Array
    lower: Array
    upper: Array
    width: int
    directions: Array


@final
class LCPContact(ImpulseSolver):
    """Contact impulses from one LCP a step, with recorded fallbacks.

    Attempts, in order: the LCP solver on the conditioned problem, the same on the raw one, then each
    fallback likewise. The first whose certificate meets the tolerance answers: CONVERGED for the very
    first, FALLBACK for a later one, `answered_by` names it (“lemke (raw)”). If none does, the answer with
    the smallest certificate is kept and said to be INACCURATE, or RAY where every solver said that the raw
    problem has no solution.

    Args:
        config: pyramid, solvers, stages.
        context: builds the LCP solvers.
    """

    def __init__(self, config: LCPContactConfig, context: BuildContext | None = None) -> None:
        context = BuildContext() if context is None else context
        self._config = config
        stages = (config.rank_selection, config.equilibration, config.regularisation)
        conditioned = any(stage.enabled for stage in stages)
        self._attempts: list[Attempt] = []
        self._solvers: list[LCPSolver] = []
        for use in (config.lcp_solver, *config.fallback):
            solver: LCPSolver = context.build("lcp_solvers", use)
            self._solvers.append(solver)
            if conditioned:
                self._attempts.append(Attempt(use.use, solver, conditioned=True))
            raw = f"{use.use} (raw)" if conditioned else use.use
            self._attempts.append(Attempt(raw, solver, conditioned=False))
        self._workspace = Workspace()
        self._directions: dict[tuple[int, bool], Array] = {}
        self._induced = 0.0
        self._kept = 0

    @property
    def induced_speed(self) -> float:
        """Normal speed that the regularisation let through in the last LCP [m/s]."""
        return self._induced

    @property
    def kept_contacts(self) -> int:
        """Contacts in the last LCP solved."""
        return self._kept

    def solve(self, problem: ContactProblem, impulse: Array) -> SolveInfo:
        """Write λ; see `ImpulseSolver.solve`. Every attempt starts from the same guess."""
        if impulse.size == 0:
            return SolveInfo()
        whole = self._read(problem)
        work = self._workspace.selection(problem.contacts, impulse.size)
        work.guess[:] = impulse

        tolerance = self._config.tolerance
        iterations = 0
        failures: set[Status] = set()
        best: SolveInfo | None = None
        for attempt in self._attempts:
            info = self._attempt(attempt, whole, work)
            iterations += info.iterations
            if info.residuals.worst <= tolerance:
                impulse[:] = work.trial
                first = attempt is self._attempts[0] and info.status is not Status.FALLBACK
                status = Status.CONVERGED if first else Status.FALLBACK
                return SolveInfo(status, iterations, info.residuals, info.answered_by)
            if not attempt.conditioned:
                failures.add(info.status)
            if np.isfinite(info.residuals.worst) and (
                best is None or info.residuals.worst < best.residuals.worst
            ):
                best = info
                work.best[:] = work.trial
        if best is None:
            impulse[:] = 0.0
            unknown = Residuals(normal=np.inf)
            return SolveInfo(Status.NON_FINITE, iterations, unknown, self._attempts[0].name)
        impulse[:] = work.best
        status = Status.RAY if failures <= {Status.RAY, Status.INFEASIBLE} else Status.INACCURATE
        return SolveInfo(status, iterations, best.residuals, best.answered_by)

    def memory(self) -> Memory:
        """What the LCP solvers remember, each under its position; the guess comes with the problem."""
        return {
            f"{position}.{key}": value
            for position, solver in enumerate(self._solvers)
            for key, value in solver.memory().items()
        }

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Hand each solver its own part back."""
        for position, solver in enumerate(self._solvers):
            start = f"{position}."
            solver.remember({key[len(start) :]: memory[key] for key in memory if key.startswith(start)})

    def _read(self, problem: ContactProblem) -> Whole:
        width, friction = problem.width, problem.friction
        rough = bool(friction.any())
        directions = self._directions.get((width, rough))
        if directions is None:
            # without any friction the LCP needs no directions at all
            count = self._config.friction_directions
            directions = pyramid_directions(width, count) if rough else np.zeros((width - 1, 0))
            self._directions[width, rough] = directions
        return Whole(
            np.ascontiguousarray(problem.delassus()),
            problem.free,
            friction,
            problem.gap,
            problem.lower,
            problem.upper,
            width,
            directions,
        )

    def _attempt(self, attempt: Attempt, whole: Whole, work: Selection) -> SolveInfo:
        """Answer with one solver; λ is in `work.trial`, the residuals are the certificate."""
        config, conditioned = self._config, attempt.conditioned
        passes = config.rank_selection.passes
        iterations = 0
        if conditioned and config.rank_selection.enabled and whole.gap.size:
            kept = select_contacts(
                whole.delassus,
                whole.gap,
                whole.width,
                config.rank_selection.tolerance,
                config.rank_selection.reference_gap,
                work.factor,
                work.remaining,
                work.weight,
                work.dropped,
                work.kept,
            )
        else:
            kept = keep_all(work.dropped, work.kept)
        while True:
            part = self._assembled(kept, whole, work, conditioned=conditioned)
            info, worst_kept = self._solved(attempt, part, whole, work, conditioned=conditioned)
            iterations += info.iterations
            before = kept
            if passes > 0 and worst_kept <= config.tolerance < info.residuals.normal:
                kept = add_back(work.velocity, whole.width, config.tolerance, work.dropped, work.kept)
                passes -= 1
            if kept == before:
                self._kept = kept
                return SolveInfo(info.status, iterations, info.residuals, info.answered_by)

    def _assembled(self, kept: int, whole: Whole, work: Selection, *, conditioned: bool) -> LCPPart:
        """The LCP of the kept contacts, scaled and regularised, with the guess in its variables."""
        config = self._config
        directions, lower, upper = whole.directions, whole.lower, whole.upper
        variables = variable_count(kept, directions.shape[1], lower, upper)
        part = self._workspace.part(kept, directions, lower.size, variables, 0.5 * config.tolerance)
        blocks, problem = part.blocks, part.problem
        blocks.lower[:], blocks.upper[:] = lower, upper
        gather(
            whole.delassus,
            whole.free,
            whole.friction,
            work.kept[:kept],
            whole.width,
            part.rows,
            blocks.delassus,
            blocks.free,
            blocks.friction,
        )
        assemble(
            blocks.delassus,
            blocks.free,
            blocks.friction,
            directions,
            lower,
            upper,
            part.row,
            part.coefficient,
            part.offset,
            part.response,
            problem.matrix,
            problem.vector,
        )
        if conditioned and config.equilibration.enabled:
            equilibrate(
                problem.matrix,
                problem.vector,
                config.equilibration.sweeps,
                config.equilibration.symmetric,
                part.squares,
                part.row_norm,
                part.column_norm,
                problem.row_scale,
                problem.column_scale,
            )
        else:
            problem.row_scale[:] = 1.0
            problem.column_scale[:] = 1.0
        if conditioned and config.regularisation.enabled:
            add_compliance(problem.matrix, kept, directions.shape[1] + 2, config.regularisation.weight)
            part.centre[:] = 0.0
        variables_of(
            work.guess,
            part.rows,
            blocks.delassus,
            blocks.free,
            directions,
            lower,
            upper,
            problem.column_scale,
            part.share,
            part.z,
        )
        return part

    def _solved(
        self, attempt: Attempt, part: LCPPart, whole: Whole, work: Selection, *, conditioned: bool
    ) -> tuple[SolveInfo, float]:
        """Solve the LCP and certify λ; the second value is the certificate of the kept contacts alone."""
        stage = self._config.regularisation
        regularised = conditioned and stage.enabled
        problem, contacts, variables = part.problem, part.centre.size, whole.directions.shape[1] + 2
        corrections = stage.corrections if regularised else 0
        iterations = 0
        while True:
            info = attempt.solver.solve(problem, part.z)
            iterations += info.iterations
            impulses_of(
                part.z,
                problem.column_scale,
                part.row,
                part.coefficient,
                part.offset,
                part.rows,
                work.trial,
            )
            normal, friction, cone, worst_kept = certify(
                whole.delassus,
                whole.free,
                whole.friction,
                whole.directions,
                whole.lower,
                whole.upper,
                work.dropped,
                work.trial,
                part.share,
                work.velocity,
            )
            if worst_kept <= self._config.tolerance or not info.status.solved or corrections == 0:
                break
            move_centre(problem.vector, part.centre, part.z, contacts, variables, stage.weight)
            corrections -= 1
        self._induced = (
            induced_speed(part.z, problem.row_scale, contacts, variables, stage.weight)
            if regularised
            else 0.0
        )
        who = f"{attempt.name}: {info.answered_by}" if info.answered_by else attempt.name
        return SolveInfo(info.status, iterations, Residuals(normal, friction, cone), who), worst_kept
