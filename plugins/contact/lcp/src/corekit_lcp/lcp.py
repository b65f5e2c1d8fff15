"""Frictional contact by linear complementarity: select, assemble, scale, regularise, solve, measure residuals.

    w = W·λ + w₀,   0 ≤ λ_n ⊥ w_n ≥ 0,   λ_t in the friction pyramid against w_t           (1)

Where contacts are redundant (a rod or a box between two pads) loads, bounds of friction and with them motions are not
unique. The answer is that of pads that are a little soft, as they become rigid (`compliance`).

All of it happens in units of the problem's own (`corekit.roles.contact_scale`); LCPs may be posed in m/s and N·s. If
the contact modes of the warm start still hold, they determine the solution (`mode_warm_start`); else Newton's method
mostly finds those that do (`soft_newton`). Otherwise the solver assembles (1) as an LCP (`assemble`), conditions it
in up to three stages (`select`, `compliance`, `scale`), passes it to an LCP solver (`attempts`), and measures the
residuals of all contacts in (1) itself (`residuals`), relative to the scale of the problem. What it reports are the
residuals in m/s and N·s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.linalg.vectors import max_abs
from corekit.roles.compiled_form import CompiledForm
from corekit.roles.component import BuildContext, InternalState, Stateful, collect_states, restore_states
from corekit.roles.contact import FrictionDirections, ImpulseSolver, StepProblem
from corekit.roles.contact_laws import relative_velocity
from corekit.roles.contact_scale import ScaledContactProblem
from corekit.roles.friction import friction_law
from corekit.roles.friction_edge import FrictionEdges
from corekit.roles.pyramid import (
    DirectionCovector,
    pull_turned_directions,
    pyramid_directions,
    turn_directions,
)
from corekit_lcp.attempts import Attempts, Outcome
from corekit_lcp.by_modes import AMBIGUOUS, FOUND, UNKNOWN, solve_by_modes
from corekit_lcp.compiled_form import form_of
from corekit_lcp.compliance import unit_compliance
from corekit_lcp.config import LCPContactConfig
from corekit_lcp.mode_warm_start import CORNER, ON_BOUND, solve_modes
from corekit_lcp.records import ContactProblemArrays
from corekit_lcp.residuals import measure_residuals
from corekit_lcp.select import add_back
from corekit_lcp.soft_newton import search_modes
from corekit_lcp.workspace import Selection, Workspace

__all__ = ["LCPContact"]


@final
class LCPContact(ImpulseSolver, FrictionDirections, Stateful):
    """Contact impulses from one LCP per step, with recorded fallbacks.

    Attempts, in order: the modes of the warm start, the modes to which Newton's method leads from there, the LCP solver
    with the conditioned problem, the same with the raw problem, then each fallback in the same way. The first solution
    whose residuals meet the tolerance is used: CONVERGED for the first three attempts, FALLBACK for a later one, and
    AMBIGUOUS if that is not the solution of soft contacts. `answered_by` names the attempt (“warm”, “modes”,
    “lemke (raw)”). If no solution meets the tolerance, the one with the smallest residual is used; it is INACCURATE,
    or RAY if every solver finds that the raw problem has no solution.

    Args:
        config: pyramid, solvers, stages.
        context: builds the LCP solvers and names the friction law.
    """

    def __init__(self, config: LCPContactConfig, context: BuildContext | None = None) -> None:
        context = BuildContext() if context is None else context
        self._config, self._workspace = config, Workspace()
        self._attempts = Attempts(config, context, self._workspace)
        self._scaled = ScaledContactProblem()
        self._distribution = _load_distribution() if config.spread else None
        self._directions: dict[tuple[int, int, bool], tuple[Array, Array]] = {}
        self._edges = FrictionEdges(friction_law(context.friction_law))
        if config.rank_selection.enabled and config.rank_selection.passes:
            # no rehearsed step needs it: load it now, not in the middle of a run
            none = self._workspace.selection(0, 0, 1, 1)
            add_back(np.zeros((0, 0)), np.zeros(0), 1, 1.0, 1.0, *none.choice)

    def compiled_form(self) -> CompiledForm | str:
        """The entry of `compiled_form`; in words what has none."""
        config = self._config
        if self._distribution is not None:
            return "`spread`, which distributes loads by an optimiser"
        if not config.warm_start:
            return "`warm_start = false`, so that every step asks an LCP solver"
        if self._edges.exist:
            return "a law of friction other than Coulomb's"
        return form_of(
            config.friction_directions, config.tolerance, self._attempts.weight, config.regularisation.corrections,
            aligned=config.aligned, finds_least_norm=self._attempts.finds_least_norm,
        )  # fmt: skip

    @property
    def kept_contacts(self) -> int:
        """Number of contacts in the last LCP; 0 if modes were the solution."""
        return self._attempts.kept_count

    def solve(self, problem: StepProblem, impulse: Array) -> SolveInfo:
        """Write λ; see `ImpulseSolver.solve`. Every attempt starts from the same initial guess."""
        if impulse.size == 0:
            return SolveInfo()
        # pivots and residuals compare, and what is not a number is neither larger nor smaller
        if not math.isfinite(max_abs(problem.delassus().ravel()) + max_abs(problem.free_velocity)):
            impulse[:] = 0.0
            return SolveInfo(Status.NON_FINITE, 0, Residuals(normal=np.inf), next(iter(self._attempts)).name)
        scaled, distribution = self._scaled, self._distribution
        if distribution is not None:
            distribution[1].recall(problem.id, problem.rows_per_contact, impulse)
        scaled.set_problem(problem, impulse)
        arrays = self._read(scaled, impulse)
        contacts, along, count = arrays.directions.shape
        work = self._workspace.selection(contacts, impulse.size, along + 1, count)
        unit_compliance(arrays.mobility, contacts, along + 1, work.soft)
        self._attempts.kept_count = 0
        info = self._solve_scaled(arrays, problem.gap, work, impulse)
        if distribution is not None and info.status.solved:
            distribute, loads = distribution
            own = impulse.copy()
            info = self._spread(distribute, arrays, work, info, impulse)
            scaled.write_answer(own)
            scaled.write_answer(impulse)
            loads.store(problem.id, along + 1, own, impulse)
        else:
            scaled.write_answer(impulse)
        return info

    @property
    def turns_directions(self) -> bool:
        """Whether pyramids are turned to slip."""
        return self._config.aligned

    def compute_friction_directions(self, problem: StepProblem) -> Array:
        """Return d_k of every contact; see `FrictionDirections`."""
        guess = np.zeros(len(problem.free_velocity))
        self._scaled.set_problem(problem, guess)
        return self._read(self._scaled, guess).directions.copy()

    def pull_friction_directions(
        self, problem: StepProblem, directions: Array, covector: Array
    ) -> DirectionCovector | None:
        """Covectors of the problem; units of the problem's own change none of them. See `FrictionDirections`."""
        return None if self._edges.exist else pull_turned_directions(problem, directions, covector)

    def _solve_scaled(
        self, arrays: ContactProblemArrays, gap: Array, work: Selection, impulse: Array
    ) -> SolveInfo:
        """Write λ of the problem in its own units."""
        if not self._config.warm_start:
            work.guess[:] = impulse
            return self._try_solvers(arrays, gap, work, impulse)
        attempts, config = self._attempts, self._config
        answer, iterations, (normal, friction, cone, worst, _) = solve_by_modes(
            *arrays, *work.modes, attempts.finds_least_norm, attempts.weight, config.regularisation.corrections,
            work.centre, work.good, work.shifted, *work.polish, work.guess, work.trial, work.candidate, work.velocity,
            config.tolerance, impulse,
        )  # fmt: skip
        if answer == UNKNOWN:
            return self._try_solvers(arrays, gap, work, impulse)
        name = "modes" if answer == FOUND else "warm"
        outcome = Outcome(Status.CONVERGED, iterations, normal, friction, cone, worst, 0.0, name)
        status = Status.AMBIGUOUS if answer == AMBIGUOUS else Status.CONVERGED
        return outcome.to_solve_info(status, iterations)

    def _search_modes(self, arrays: ContactProblemArrays, work: Selection, name: str) -> Outcome:
        """Search the modes from the impulses in `work.trial`, which become the solution if there is one."""
        attempts, work.candidate[:] = self._attempts, work.trial
        iterations, (normal, friction, cone, worst, _) = search_modes(
            arrays, work.modes, attempts.weight, self._config.regularisation.corrections, work.centre, work.good,
            work.shifted, *work.polish, work.velocity, self._config.tolerance, work.candidate,
        )  # fmt: skip
        if worst <= self._config.tolerance:
            work.trial[:] = work.candidate
        return Outcome(Status.CONVERGED, iterations, normal, friction, cone, worst, 0.0, name)

    def internal_state(self) -> InternalState:
        """Internal states of the LCP solvers, each under its position, and loads before their distribution.

        The problem brings the initial guess.
        """
        return collect_states(self._stateful())

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore what `internal_state` returned."""
        restore_states(self._stateful(), internal_state)

    def _stateful(self) -> dict[str, object]:
        own: dict[str, object] = {} if self._distribution is None else {"loads": self._distribution[1]}
        return own | {str(position): solver for position, solver in enumerate(self._attempts.solvers)}

    def _read(self, scaled: ScaledContactProblem, impulse: Array) -> ContactProblemArrays:
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
        if self._edges.exist or (self._config.aligned and width == 3):
            turn_directions(
                base, friction, *self._edges.of_records(problem.friction_record), scaled.delassus(), 0.0, free,
                problem.start_impulse / scaled.impulse_unit, self._config.aligned, directions, impulse,
            )  # fmt: skip
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
        iterations, tolerance = 0, self._config.tolerance
        failures: set[Status] = set()
        best: Outcome | None = None
        for position, attempt in enumerate(self._attempts):
            outcome, count = self._attempts.run(attempt, arrays, gap, work)
            iterations += count
            status = Status.FALLBACK if position or outcome.status is Status.FALLBACK else Status.CONVERGED
            if self._attempts.finds_least_norm:
                outcome, is_certain = self._find_least_norm(outcome, arrays, work)
                status = status if is_certain else Status.AMBIGUOUS
            if outcome.worst <= tolerance:
                impulse[:] = work.trial
                return outcome.to_solve_info(status, iterations)
            if not attempt.conditioned:
                failures.add(outcome.status)
            if np.isfinite(outcome.worst) and (best is None or outcome.worst < best.worst):
                best = outcome
                work.best[:] = work.trial
        if best is None:
            impulse[:] = 0.0
            unknown = Residuals(normal=np.inf)
            return SolveInfo(Status.NON_FINITE, iterations, unknown, next(iter(self._attempts)).name)
        impulse[:] = work.best
        status = Status.RAY if failures <= {Status.RAY, Status.INFEASIBLE} else Status.INACCURATE
        return best.to_solve_info(status, iterations)

    def _find_least_norm(
        self, outcome: Outcome, arrays: ContactProblemArrays, work: Selection
    ) -> tuple[Outcome, bool]:
        """The solution of soft contacts near an outcome that need not be it, and whether it was found."""
        tolerance = self._config.tolerance
        if self._attempts.was_soft and outcome.worst <= tolerance:
            return outcome, True
        work.candidate[:] = work.trial
        (normal, friction, cone, worst, _), is_least = solve_modes(
            arrays, CORNER, work.modes, *work.polish, work.velocity, tolerance,
            ON_BOUND, True, True,
            work.candidate,
        )  # fmt: skip
        if worst <= tolerance and is_least:
            work.trial[:] = work.candidate
            return outcome._replace(normal=normal, friction=friction, cone=cone, worst=worst), True
        if self._config.warm_start:
            found = self._search_modes(arrays, work, f"{outcome.answered_by}, modes")
            if found.worst <= tolerance:
                return found, True
        return outcome, False

    def _spread(
        self, distribute: Callable[..., bool], arrays: ContactProblemArrays, work: Selection, info: SolveInfo,
        impulse: Array,
    ) -> SolveInfo:  # fmt: skip
        """Distribute a solution over all touching contacts, in place, where it is not that of soft contacts anyway."""
        if self._attempts.finds_least_norm and info.status is not Status.AMBIGUOUS:
            return info
        relative_velocity(arrays.delassus, arrays.free, impulse, work.velocity)
        tolerance, spread = self._config.tolerance, work.best
        distribute(
            arrays.delassus, arrays.friction, arrays.directions, impulse, work.velocity, tolerance, spread
        )
        work.dropped[:] = False
        normal, friction, cone, worst, _ = measure_residuals(
            *arrays, work.dropped, spread, work.beta, work.velocity
        )
        if not worst <= tolerance:
            return info
        impulse[:] = spread
        residuals = Residuals(normal, friction, cone, compliance=info.residuals.compliance)
        return SolveInfo(info.status, info.iterations, residuals, info.answered_by)


def _load_distribution() -> tuple[Callable[..., bool], Any]:
    """Import `distribute_impulses` only if the option says so: it needs SciPy's optimisers."""
    from corekit_lcp.distribute_impulses import UndistributedLoads, distribute_impulses

    return distribute_impulses, UndistributedLoads()
