"""Frictional contact by linear complementarity: select, assemble, scale, regularise, solve, certify.

    w = W·λ + w₀,   0 ≤ λ_n ⊥ w_n ≥ 0,   λ_t in the friction pyramid against w_t           (1)

If the modes of the guess still hold, they give the answer (`warm`). Else (1) is assembled as an LCP
(`assemble`), conditioned in up to three stages (`select`, `scale`, `regularise`), given to an LCP solver, and
certified in (1) itself (`certify`), all contacts counted. What the stages changed is put right before an
answer is called solved: contacts left out that would penetrate are added back, and the compliance of the
regularisation is taken out by further solves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext, InternalState
from corekit.roles.contact import ContactProblem, ImpulseSolver
from corekit.roles.friction import ANISOTROPIC_COULOMB
from corekit.roles.problem import LCPSolver
from corekit.roles.pyramid import pyramid_directions
from corekit_lcp.assemble import variable_count
from corekit_lcp.certify import certify
from corekit_lcp.conclude import conclude
from corekit_lcp.config import LCPContactConfig
from corekit_lcp.prepare import prepare
from corekit_lcp.pyramid import align, stretch_directions
from corekit_lcp.regularise import move_centre
from corekit_lcp.select import add_back, keep_all, select_contacts
from corekit_lcp.warm import from_guess
from corekit_lcp.workspace import LCPPart, Selection, Workspace

__all__ = ["LCPContact"]


@frozen(eq=False)
class Attempt:
    """One way to answer: a solver, on the conditioned problem or on the raw one."""

    name: str
    solver: LCPSolver
    conditioned: bool


class Whole(NamedTuple):
    """The arrays of the contact problem as given, in the order in which the kernels take them."""

    delassus: Array
    free: Array
    friction: Array
    directions: Array
    lower: Array
    upper: Array


class Outcome(NamedTuple):
    """How an attempt ended: the certificate of all contacts, and what the regularisation let through."""

    status: Status
    iterations: int
    normal: float
    sliding: float
    cone: float
    compliance: float
    who: str

    @property
    def worst(self) -> float:
        """The largest residual."""
        return max(self.normal, self.sliding, self.cone)

    def told(self, status: Status, iterations: int) -> SolveInfo:
        """What the role asks for."""
        residuals = Residuals(self.normal, self.sliding, self.cone, compliance=self.compliance)
        return SolveInfo(status, iterations, residuals, self.who)


@final
class LCPContact(ImpulseSolver):
    """Contact impulses from one LCP a step, with recorded fallbacks.

    Attempts, in order: the modes of the guess, then the LCP solver on the conditioned problem, the same on
    the raw one, then each fallback likewise. The first whose certificate meets the tolerance answers:
    CONVERGED for the first two, FALLBACK for a later one, `answered_by` names it (“warm”, “lemke (raw)”). If
    none does, the answer with the smallest certificate is kept and said to be INACCURATE, or RAY where every
    solver said that the raw problem has no solution.

    Args:
        config: pyramid, solvers, stages.
        context: builds the LCP solvers.
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
        self._spread = _spreader() if config.spread else None
        self._directions: dict[tuple[int, int, bool], tuple[Array, Array]] = {}
        # a pyramid that turned between two steps cuts a corner's impulse into two unequal shares
        self._corner = 0.05 if config.aligned else 1e-6
        self._kept = 0
        self._anisotropic = context.friction_law == ANISOTROPIC_COULOMB.name

    @property
    def kept_contacts(self) -> int:
        """Contacts in the last LCP solved; 0 if the guess's modes answered."""
        return self._kept

    def solve(self, problem: ContactProblem, impulse: Array) -> SolveInfo:
        """Write λ; see `ImpulseSolver.solve`. Every attempt starts from the same guess."""
        if impulse.size == 0:
            return SolveInfo()
        whole = self._read(problem)
        contacts, along, count = whole.directions.shape
        work = self._workspace.selection(contacts, impulse.size, along + 1, count)
        self._kept = 0
        if not self._config.warm_start:
            work.guess[:] = impulse
            return self._ask(whole, problem.gap, work, impulse)
        tolerance = self._config.tolerance
        normal, sliding, cone, worst = from_guess(
            *whole, self._corner, *work.modes, work.guess, work.trial, work.velocity, tolerance, True, impulse
        )
        if not worst <= tolerance:
            return self._ask(whole, problem.gap, work, impulse)
        if self._spread is None:
            return SolveInfo(Status.CONVERGED, 0, Residuals(normal, sliding, cone), "warm")
        warm = Outcome(Status.CONVERGED, 0, normal, sliding, cone, 0.0, "warm")
        return self._write(whole, work, warm, impulse).told(Status.CONVERGED, 0)

    def internal_state(self) -> InternalState:
        """What the LCP solvers remember, each under its position; the guess comes with the problem."""
        return {
            f"{position}.{key}": value
            for position, solver in enumerate(self._solvers)
            for key, value in solver.internal_state().items()
        }

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Hand each solver its own part back."""
        for position, solver in enumerate(self._solvers):
            start = f"{position}."
            solver.restore(
                {key[len(start) :]: internal_state[key] for key in internal_state if key.startswith(start)}
            )

    def _read(self, problem: ContactProblem) -> Whole:
        friction, width, free = problem.friction, problem.rows_per_contact, problem.free_velocity
        key = friction.size, width, bool(np.count_nonzero(friction))
        found = self._directions.get(key)
        if found is None:
            # without any friction the LCP needs no directions at all
            count = self._config.friction_directions
            base = pyramid_directions(width, count) if key[2] else np.zeros((width - 1, 0))
            found = self._directions[key] = base, np.repeat(base[None], friction.size, axis=0)
        base, directions = found
        if self._anisotropic:
            turned = np.empty_like(base)
            records, aligned = problem.friction_record, self._config.aligned
            stretch_directions(base, free, records, aligned, turned, directions)
        elif self._config.aligned:
            align(base, free, directions)
        delassus = np.ascontiguousarray(problem.delassus())
        return Whole(delassus, free, friction, directions, problem.lower, problem.upper)

    def _ask(self, whole: Whole, gap: Array, work: Selection, impulse: Array) -> SolveInfo:
        """Answer with the LCP solvers, one attempt after the other."""
        iterations = 0
        failures: set[Status] = set()
        best: Outcome | None = None
        for attempt in self._attempts:
            outcome, count = self._attempt(attempt, whole, gap, work)
            iterations += count
            if outcome.worst <= self._config.tolerance:
                outcome = self._write(whole, work, outcome, impulse)
                first = attempt is self._attempts[0] and outcome.status is not Status.FALLBACK
                return outcome.told(Status.CONVERGED if first else Status.FALLBACK, iterations)
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
        return best.told(
            Status.RAY if failures <= {Status.RAY, Status.INFEASIBLE} else Status.INACCURATE, iterations
        )

    def _write(self, whole: Whole, work: Selection, outcome: Outcome, impulse: Array) -> Outcome:
        """Write the answer in `work.trial`, spread over all touching contacts if that is asked for."""
        impulse[:] = work.trial
        if self._spread is None:
            return outcome
        spread, tolerance = work.best, self._config.tolerance
        self._spread(
            whole.delassus, whole.friction, whole.directions, impulse, work.velocity, tolerance, spread
        )
        work.dropped[:] = False
        normal, sliding, cone, worst = certify(*whole, work.dropped, spread, work.share, work.velocity)
        if not worst <= tolerance:
            return outcome
        impulse[:] = spread
        return outcome._replace(normal=normal, sliding=sliding, cone=cone)

    def _attempt(self, attempt: Attempt, whole: Whole, gap: Array, work: Selection) -> tuple[Outcome, int]:
        """Answer with one solver; λ is in `work.trial`. Returns the iterations of all its solves, too."""
        config, conditioned = self._config, attempt.conditioned
        choice, tolerance, width = config.rank_selection, config.tolerance, whole.directions.shape[1] + 1
        passes, iterations = choice.passes, 0
        if conditioned and choice.enabled and gap.size:
            kept = select_contacts(
                whole.delassus,
                whole.free,
                work.guess,
                gap,
                width,
                choice.tolerance,
                choice.reference_gap,
                *work.choice,
            )
        else:
            kept = keep_all(work.dropped, work.kept)
        while True:
            part = self._prepared(kept, whole, work, work.guess, conditioned=conditioned)
            outcome, worst_kept = self._solved(attempt, part, whole, work)
            iterations += outcome.iterations
            before = kept
            if passes > 0 and worst_kept <= tolerance < outcome.normal:
                kept = add_back(
                    whole.delassus, work.velocity, width, tolerance, choice.tolerance, *work.choice
                )
                # from the same guess again: loads that the answer shifted onto near duplicates of what is
                # added back would be slow to return
                passes -= 1
            if kept == before:
                self._kept = kept
                return outcome, iterations

    def _prepared(
        self, kept: int, whole: Whole, work: Selection, guess: Array, *, conditioned: bool
    ) -> LCPPart:
        """The LCP of the kept contacts, scaled and regularised, with the guess in its variables."""
        _, along, count = whole.directions.shape
        bounded = whole.lower.size
        variables = variable_count(kept, count, whole.lower, whole.upper)
        part = self._workspace.part(kept, along, count, bounded, variables, 0.5 * self._config.tolerance)
        if bounded:
            part.blocks.lower[:], part.blocks.upper[:] = whole.lower, whole.upper
        prepare(
            *whole,
            work.kept[:kept],
            guess,
            self._sweeps if conditioned else 0,
            self._config.equilibration.symmetric,
            self._weight if conditioned else 0.0,
            work.share,
            *part.arrays,
        )
        return part

    def _solved(
        self, attempt: Attempt, part: LCPPart, whole: Whole, work: Selection
    ) -> tuple[Outcome, float]:
        """Solve the LCP and certify λ; the second value is the certificate of the kept contacts alone."""
        weight = self._weight if attempt.conditioned else 0.0
        corrections = self._config.regularisation.corrections if weight else 0
        problem, tolerance, iterations = part.problem, self._config.tolerance, 0
        while True:
            info = attempt.solver.solve(problem, part.z)
            iterations += info.iterations
            (normal, sliding, cone, worst_kept), compliance = conclude(
                *part.answer, weight, *whole, work.dropped, work.share, work.trial, work.velocity
            )
            if not weight or worst_kept <= tolerance or not info.status.solved:
                break
            # the modes of the answer, without the compliance
            polished = from_guess(
                *whole, self._corner, *work.modes, *work.polish, work.velocity, tolerance, False, work.trial
            )
            if polished[3] <= tolerance:
                normal, sliding, cone, worst_kept = polished
                compliance = 0.0
                break
            if corrections == 0:
                break
            move_centre(problem.vector, part.centre, part.z, whole.directions.shape[2] + 2, weight)
            corrections -= 1
        who = f"{attempt.name}: {info.answered_by}" if info.answered_by else attempt.name
        return Outcome(info.status, iterations, normal, sliding, cone, compliance, who), worst_kept


def _spreader() -> Callable[..., bool]:
    """`spread`, imported only where it is wanted: it brings SciPy's optimisers."""
    from corekit_lcp.spread import spread

    return spread
