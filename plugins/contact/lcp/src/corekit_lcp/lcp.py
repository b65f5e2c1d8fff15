"""Frictional contact by linear complementarity: select, assemble, scale, regularise, solve, measure residuals.

    w = W·λ + w₀,   0 ≤ λ_n ⊥ w_n ≥ 0,   λ_t in the friction pyramid against w_t           (1)

All of it happens in units of the problem's own (`corekit.roles.contact_scale`). If the contact modes of the warm start
still hold, they determine the solution (`mode_warm_start`). Otherwise the solver assembles (1) as an LCP (`assemble`),
conditions it in up to three stages (`select`, `scale`, `regularise`), passes it to an LCP solver, and measures the
residuals of all contacts in (1) itself (`residuals`), relative to the scale of the problem. It corrects what the stages
change: it adds back contacts that it left out and that would penetrate, and removes the compliance of the
regularisation by further solves. What it reports are the residuals in m/s and N·s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext, InternalState, Stateful, collect_states, restore_states
from corekit.roles.contact import ContactProblem, ImpulseSolver
from corekit.roles.contact_scale import ScaledContactProblem
from corekit.roles.friction import ANISOTROPIC_COULOMB
from corekit.roles.problem import LCPSolver
from corekit.roles.pyramid import pyramid_directions
from corekit_lcp.assemble import variable_count
from corekit_lcp.config import LCPContactConfig
from corekit_lcp.mode_warm_start import solve_modes
from corekit_lcp.prepare import prepare
from corekit_lcp.pyramid import align, stretch_directions
from corekit_lcp.recover_impulses import recover_impulses
from corekit_lcp.regularise import move_centre
from corekit_lcp.residuals import measure_residuals
from corekit_lcp.select import add_back, keep_all, select_contacts
from corekit_lcp.workspace import LCPPart, Selection, Workspace

__all__ = ["LCPContact"]


@frozen(eq=False)
class Attempt:
    """A solver, with the conditioned problem or with the raw one."""

    name: str
    solver: LCPSolver
    conditioned: bool


class ContactProblemArrays(NamedTuple):
    """The arrays of the contact problem in its own units, in the order of the arguments of compiled functions."""

    delassus: Array
    free: Array
    friction: Array
    directions: Array
    lower: Array
    upper: Array
    mobility: Array
    reference: Array
    velocity_unit: float
    impulse_unit: float


class Outcome(NamedTuple):
    """Result of an attempt: residuals of all contacts [m/s or N·s], the largest relative to the problem's scale, and
    the normal velocity due to regularisation [m/s].
    """

    status: Status
    iterations: int
    normal: float
    friction: float
    cone: float
    worst: float
    compliance: float
    answered_by: str

    def to_solve_info(self, status: Status, iterations: int) -> SolveInfo:
        """The report of the role, with another status and number of iterations."""
        residuals = Residuals(self.normal, self.friction, self.cone, compliance=self.compliance)
        return SolveInfo(status, iterations, residuals, self.answered_by)


@final
class LCPContact(ImpulseSolver, Stateful):
    """Contact impulses from one LCP per step, with recorded fallbacks.

    Attempts, in order: the modes of the warm start, the LCP solver with the conditioned problem, the same with the raw
    problem, then each fallback in the same way. The first solution whose residuals meet the tolerance is used:
    CONVERGED for the first two attempts, FALLBACK for a later one. `answered_by` names the attempt (“warm”,
    “lemke (raw)”). If no solution meets the tolerance, the one with the smallest residual is used; it is INACCURATE,
    or RAY if every solver finds that the raw problem has no solution.

    Args:
        config: pyramid, solvers, stages.
        context: builds the LCP solvers and names the friction law.
    """

    def __init__(self, config: LCPContactConfig, context: BuildContext | None = None) -> None:
        context = BuildContext() if context is None else context
        self._config = config
        self._sweeps = config.equilibration.sweeps if config.equilibration.enabled else 0
        self._weight = config.regularisation.weight if config.regularisation.enabled else 0.0
        conditioned = config.rank_selection.enabled or self._sweeps > 0 or self._weight > 0.0
        uses = [config.lcp_solver]
        for use in config.fallback:
            if use not in uses:
                uses.append(use)
        self._attempts: list[Attempt] = []
        self._solvers: list[LCPSolver] = []
        for use in uses:
            solver: LCPSolver = context.build("lcp_solvers", use)
            self._solvers.append(solver)
            if conditioned:
                self._attempts.append(Attempt(use.use, solver, conditioned=True))
            raw = f"{use.use} (raw)" if conditioned else use.use
            self._attempts.append(Attempt(raw, solver, conditioned=False))
        self._workspace = Workspace()
        self._scaled = ScaledContactProblem()
        self._distribute = _load_distribute_impulses() if config.spread else None
        self._directions: dict[tuple[int, int, bool], tuple[Array, Array]] = {}
        # a pyramid that turned between two steps splits the impulse of a corner into two unequal parts
        self._corner = 0.05 if config.aligned else 1e-6
        self._kept_count = 0
        self._is_anisotropic = context.friction_law == ANISOTROPIC_COULOMB.name
        if config.rank_selection.enabled and config.rank_selection.passes:
            # no rehearsed step needs it: load it now, not in the middle of a run
            none = self._workspace.selection(0, 0, 1, 1)
            add_back(np.zeros((0, 0)), np.zeros(0), 1, 1.0, 1.0, *none.choice)

    @property
    def kept_contacts(self) -> int:
        """Number of contacts in the last LCP; 0 if the modes of the warm start were the solution."""
        return self._kept_count

    def solve(self, problem: ContactProblem, impulse: Array) -> SolveInfo:
        """Write λ; see `ImpulseSolver.solve`. Every attempt starts from the same initial guess."""
        if impulse.size == 0:
            return SolveInfo()
        scaled = self._scaled
        scaled.set_problem(problem, impulse)
        arrays = self._read(scaled)
        contacts, along, count = arrays.directions.shape
        work = self._workspace.selection(contacts, impulse.size, along + 1, count)
        self._kept_count = 0
        info = self._solve_scaled(arrays, problem.gap, work, impulse)
        scaled.write_answer(impulse)
        return info

    def _solve_scaled(
        self, arrays: ContactProblemArrays, gap: Array, work: Selection, impulse: Array
    ) -> SolveInfo:
        """Write λ of the problem in its own units."""
        if not self._config.warm_start:
            work.guess[:] = impulse
            return self._try_solvers(arrays, gap, work, impulse)
        tolerance = self._config.tolerance
        normal, friction, cone, worst, _ = solve_modes(
            *arrays,
            self._corner,
            *work.modes,
            work.guess,
            work.trial,
            work.velocity,
            tolerance,
            True,
            impulse,
        )
        if not worst <= tolerance:
            return self._try_solvers(arrays, gap, work, impulse)
        if self._distribute is None:
            return SolveInfo(Status.CONVERGED, 0, Residuals(normal, friction, cone), "warm")
        outcome = Outcome(Status.CONVERGED, 0, normal, friction, cone, worst, 0.0, "warm")
        return self._write_solution(arrays, work, outcome, impulse).to_solve_info(Status.CONVERGED, 0)

    def internal_state(self) -> InternalState:
        """Internal states of the LCP solvers, each under its position; the problem brings the initial guess."""
        return collect_states(self._numbered())

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore the internal state of each LCP solver."""
        restore_states(self._numbered(), internal_state)

    def _numbered(self) -> dict[str, LCPSolver]:
        return {str(position): solver for position, solver in enumerate(self._solvers)}

    def _read(self, scaled: ScaledContactProblem) -> ContactProblemArrays:
        problem, friction, free = scaled.problem, scaled.friction, scaled.free_velocity
        width = problem.rows_per_contact
        key = friction.size, width, bool(np.count_nonzero(friction))
        known = self._directions.get(key)
        if known is None:
            # an LCP without friction needs no directions
            count = self._config.friction_directions
            base = pyramid_directions(width, count) if key[2] else np.zeros((width - 1, 0))
            known = self._directions[key] = base, np.repeat(base[None], friction.size, axis=0)
        base, directions = known
        if self._is_anisotropic:
            aligned = self._config.aligned
            stretch_directions(base, free, problem.friction_record, aligned, np.empty_like(base), directions)
        elif self._config.aligned:
            align(base, free, directions)
        return ContactProblemArrays(
            scaled.delassus(),
            free,
            friction,
            directions,
            scaled.lower,
            scaled.upper,
            scaled.mobility,
            scaled.reference,
            scaled.velocity_unit,
            scaled.impulse_unit,
        )

    def _try_solvers(
        self, arrays: ContactProblemArrays, gap: Array, work: Selection, impulse: Array
    ) -> SolveInfo:
        """Solve the problem with the LCP solvers, one attempt after the other."""
        iterations = 0
        failures: set[Status] = set()
        best: Outcome | None = None
        for attempt in self._attempts:
            outcome, count = self._attempt(attempt, arrays, gap, work)
            iterations += count
            if outcome.worst <= self._config.tolerance:
                outcome = self._write_solution(arrays, work, outcome, impulse)
                first = attempt is self._attempts[0] and outcome.status is not Status.FALLBACK
                return outcome.to_solve_info(Status.CONVERGED if first else Status.FALLBACK, iterations)
            if not attempt.conditioned:
                failures.add(outcome.status)
            if np.isfinite(outcome.worst) and (best is None or outcome.worst < best.worst):
                best = outcome
                work.best[:] = work.trial
        if best is None:
            impulse[:] = 0.0
            unknown = Residuals(normal=np.inf)
            return SolveInfo(Status.NON_FINITE, iterations, unknown, self._attempts[0].name)
        impulse[:] = work.best
        status = Status.RAY if failures <= {Status.RAY, Status.INFEASIBLE} else Status.INACCURATE
        return best.to_solve_info(status, iterations)

    def _write_solution(
        self, arrays: ContactProblemArrays, work: Selection, outcome: Outcome, impulse: Array
    ) -> Outcome:
        """Write the solution in `work.trial`, distributed over all touching contacts if the option says so."""
        impulse[:] = work.trial
        if self._distribute is None:
            return outcome
        distributed, tolerance = work.best, self._config.tolerance
        self._distribute(
            arrays.delassus,
            arrays.friction,
            arrays.directions,
            impulse,
            work.velocity,
            tolerance,
            distributed,
        )
        work.dropped[:] = False
        normal, friction, cone, worst, _ = measure_residuals(
            *arrays, work.dropped, distributed, work.beta, work.velocity
        )
        if not worst <= tolerance:
            return outcome
        impulse[:] = distributed
        return outcome._replace(normal=normal, friction=friction, cone=cone, worst=worst)

    def _attempt(
        self, attempt: Attempt, arrays: ContactProblemArrays, gap: Array, work: Selection
    ) -> tuple[Outcome, int]:
        """Solve the problem with one solver; λ is in `work.trial`. Returns also the iterations of all its solves."""
        config, conditioned = self._config, attempt.conditioned
        choice, tolerance, width = config.rank_selection, config.tolerance, arrays.directions.shape[1] + 1
        passes, iterations = choice.passes, 0
        if conditioned and choice.enabled and gap.size:
            kept = select_contacts(
                arrays.delassus, arrays.free, work.guess, gap, width, choice.tolerance, choice.reference_gap,
                *work.choice,
            )  # fmt: skip
        else:
            kept = keep_all(work.dropped, work.kept)
        while True:
            part = self._prepare_part(kept, arrays, work, work.guess, conditioned=conditioned)
            outcome, worst_kept = self._solve_part(attempt, part, arrays, work)
            iterations += outcome.iterations
            before = kept
            if passes > 0 and worst_kept <= tolerance < outcome.worst:
                kept = add_back(
                    arrays.delassus, work.velocity, width, tolerance, choice.tolerance, *work.choice
                )
                # from the same initial guess: the solution may carry loads on near duplicates of the contacts that
                # are added back, and iterative solvers move them back slowly
                passes -= 1
            if kept == before:
                self._kept_count = kept
                return outcome, iterations

    def _prepare_part(
        self, kept: int, arrays: ContactProblemArrays, work: Selection, guess: Array, *, conditioned: bool
    ) -> LCPPart:
        """The LCP of the kept contacts, scaled and regularised, with the initial guess in its variables."""
        _, along, count = arrays.directions.shape
        bounded = arrays.lower.size
        variables = variable_count(kept, count, arrays.lower, arrays.upper)
        part = self._workspace.part(kept, along, count, bounded, variables, 0.5 * self._config.tolerance)
        if bounded:
            part.physical.lower[:], part.physical.upper[:] = arrays.lower, arrays.upper
        prepare(
            *arrays[:6], work.kept[:kept], guess, self._sweeps if conditioned else 0,
            self._config.equilibration.symmetric, self._weight if conditioned else 0.0, work.beta, *part.arrays,
        )  # fmt: skip
        return part

    def _solve_part(
        self, attempt: Attempt, part: LCPPart, arrays: ContactProblemArrays, work: Selection
    ) -> tuple[Outcome, float]:
        """Solve the LCP and measure the residuals; the second value is the largest one of the kept contacts alone."""
        weight = self._weight if attempt.conditioned else 0.0
        corrections = self._config.regularisation.corrections if weight else 0
        problem, tolerance, iterations = part.problem, self._config.tolerance, 0
        while True:
            info = attempt.solver.solve(problem, part.z)
            iterations += info.iterations
            (normal, friction, cone, worst, worst_kept), compliance = recover_impulses(
                *part.variables, weight, *arrays, work.dropped, work.beta, work.trial, work.velocity
            )
            if not weight or worst_kept <= tolerance or not info.status.solved:
                break
            # the modes of the solution determine it without the compliance
            polished = solve_modes(
                *arrays, self._corner, *work.modes, *work.polish, work.velocity, tolerance, False, work.trial
            )
            if polished[4] <= tolerance:
                normal, friction, cone, worst, worst_kept = polished
                compliance = 0.0
                break
            if corrections == 0:
                break
            move_centre(problem.vector, part.centre, part.z, arrays.directions.shape[2] + 2, weight)
            corrections -= 1
        name = f"{attempt.name}: {info.answered_by}" if info.answered_by else attempt.name
        return Outcome(info.status, iterations, normal, friction, cone, worst, compliance, name), worst_kept


def _load_distribute_impulses() -> Callable[..., bool]:
    """Import `distribute_impulses` only if the option says so: it needs SciPy's optimisers."""
    from corekit_lcp.distribute_impulses import distribute_impulses

    return distribute_impulses
