"""The attempts of `lcp` to solve a contact problem with LCP solvers, conditioned or raw.

An attempt selects contacts, assembles their LCP, scales and regularises it, passes it to an LCP solver, and measures
the residuals of all contacts. It corrects what the stages change: it adds contacts that were left out and touch at the
solution, and removes the compliance of the regularisation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, final

from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext
from corekit.roles.problem import LCPSolver
from corekit_lcp.assemble import variable_count
from corekit_lcp.compliance import DECREASE, LEAST_WEIGHT
from corekit_lcp.config import LCPContactConfig
from corekit_lcp.mode_warm_start import CORNER, ON_BOUND, solve_modes
from corekit_lcp.prepare import prepare
from corekit_lcp.records import ContactProblemArrays, Scaling, Softening
from corekit_lcp.recover_impulses import recover_impulses
from corekit_lcp.select import add_back, add_touching, keep_all, keep_closing, select_contacts
from corekit_lcp.workspace import LCPPart, Selection, Workspace

__all__ = ["Attempt", "Attempts", "ContactProblemArrays", "Outcome"]

SURE = 1e-6
"""Compliance above which rounding in an LCP solver does not decide how contacts share loads."""


@frozen(eq=False)
class Attempt:
    """A solver, with the conditioned problem or with the raw one."""

    name: str
    solver: LCPSolver
    conditioned: bool


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
class Attempts:
    """LCP solvers in order, each with the conditioned problem, if a stage is enabled, and with the raw one.

    Args:
        config: solvers and stages. context: builds the LCP solvers. workspace: of the problem.

    Attributes:
        solvers: all LCP solvers.
        weight: of the compliance, 0 without. kept_count: contacts in the last LCP.
        was_soft: whether the compliance of the last LCP was large enough to share loads in spite of rounding.
    """

    def __init__(self, config: LCPContactConfig, context: BuildContext, workspace: Workspace) -> None:
        self._config, self._workspace = config, workspace
        self._sweeps = config.equilibration.sweeps if config.equilibration.enabled else 0
        self.weight = config.regularisation.weight if config.regularisation.enabled else 0.0
        self._scaled_normals = config.regularisation.rows != "all"
        self._is_proximal = config.regularisation.rows == "proximal-normals"
        self.kept_count, self.was_soft = 0, False
        conditioned = config.rank_selection.enabled or self._sweeps > 0 or self.weight > 0.0
        uses = [config.lcp_solver]
        for use in config.fallback:
            if use not in uses:
                uses.append(use)
        self._attempts: list[Attempt] = []
        self.solvers: list[LCPSolver] = []
        for use in uses:
            solver: LCPSolver = context.build("lcp_solvers", use)
            self.solvers.append(solver)
            if conditioned:
                self._attempts.append(Attempt(use.use, solver, conditioned=True))
            raw = f"{use.use} (raw)" if conditioned else use.use
            self._attempts.append(Attempt(raw, solver, conditioned=False))

    @property
    def finds_least_norm(self) -> bool:
        """Whether conditioned attempts find the loads of soft contacts: all of them, and all their rows, are soft."""
        return self.weight > 0.0 and not self._scaled_normals and not self._config.rank_selection.enabled

    def __iter__(self) -> Iterator[Attempt]:
        return iter(self._attempts)

    def run(
        self, attempt: Attempt, arrays: ContactProblemArrays, gap: Array, work: Selection
    ) -> tuple[Outcome, int]:
        """Solve the problem with one solver; λ is in `work.trial`. Returns also the iterations of all its solves."""
        config, conditioned = self._config, attempt.conditioned
        choice, tolerance, width = config.rank_selection, config.tolerance, arrays.directions.shape[1] + 1
        passes, iterations, selects = choice.passes, 0, conditioned and choice.enabled
        if selects and gap.size:
            kept = select_contacts(
                arrays.delassus, arrays.free, work.guess, gap, width, choice.tolerance, choice.reference_gap,
                *work.choice,
            )  # fmt: skip
        elif conditioned and config.keep == "closing":
            kept = keep_closing(arrays.free, width, work.dropped, work.kept)
        else:
            kept = keep_all(work.dropped, work.kept)
        while True:
            outcome, worst_kept = self._solve_kept(attempt, kept, arrays, work)
            iterations += outcome.iterations
            before = kept
            if worst_kept <= tolerance and not selects:
                kept = add_touching(work.velocity, width, tolerance, work.dropped, work.kept)
            elif passes > 0 and worst_kept <= tolerance < outcome.worst:
                kept = add_back(
                    arrays.delassus, work.velocity, width, tolerance, choice.tolerance, *work.choice
                )
                # from the same initial guess: the solution may carry loads on near duplicates of the contacts that
                # are added back, and iterative solvers move them back slowly
                passes -= 1
            if kept == before:
                self.kept_count = kept
                return outcome, iterations

    def _prepare_part(
        self, kept: int, arrays: ContactProblemArrays, work: Selection, guess: Array, weight: float, *,
        conditioned: bool,
    ) -> LCPPart:  # fmt: skip
        """The LCP of the kept contacts, scaled and regularised, with the initial guess in its variables."""
        _, along, count = arrays.directions.shape
        bounded = arrays.lower.size
        variables = variable_count(kept, count, arrays.lower, arrays.upper)
        part = self._workspace.part(kept, along, count, bounded, variables, 0.5 * self._config.tolerance)
        if bounded:
            part.physical.lower[:], part.physical.upper[:] = arrays.lower, arrays.upper
        units = (1.0, 1.0) if self._config.own_units else (arrays.velocity_unit, arrays.impulse_unit)
        scaling = Scaling(
            self._sweeps if conditioned else 0, self._config.equilibration.symmetric, *map(float, units)
        )
        softening = Softening(float(weight), self._scaled_normals, work.soft, work.centre)
        prepare(arrays, work.kept[:kept], guess, scaling, softening, work.beta, part.arrays)
        return part

    def _solve_kept(
        self, attempt: Attempt, kept: int, arrays: ContactProblemArrays, work: Selection
    ) -> tuple[Outcome, float]:
        """Solve the LCP and measure the residuals; the second value is the largest one of the kept contacts alone."""
        weight = self.weight if attempt.conditioned else 0.0
        corrections = self._config.regularisation.corrections if weight else 0
        tolerance, iterations, guess = self._config.tolerance, 0, work.guess
        work.centre[:] = guess if weight and self._is_proximal else 0.0
        while True:
            part = self._prepare_part(kept, arrays, work, guess, weight, conditioned=attempt.conditioned)
            info = attempt.solver.solve(part.problem, part.z)
            iterations += info.iterations
            (normal, friction, cone, worst, worst_kept), compliance = recover_impulses(
                *part.variables, weight, self._scaled_normals, work.soft, work.centre, *arrays, work.dropped, work.beta,
                work.trial, work.velocity,
            )  # fmt: skip
            if not weight or worst_kept <= tolerance or not info.status.solved:
                break
            # the modes of the solution determine it without the compliance
            polished, _ = solve_modes(
                arrays, CORNER, work.modes, *work.polish, work.velocity, tolerance, ON_BOUND, False, False, work.trial
            )  # fmt: skip
            if polished[4] <= tolerance:
                normal, friction, cone, worst, worst_kept = polished
                compliance = 0.0
                break
            if corrections == 0:
                break
            corrections -= 1
            if self._scaled_normals or weight <= LEAST_WEIGHT:
                work.centre[:] = work.trial
            else:
                # without a centre: pivoting takes far longer from impulses that are nearly the solution
                weight = max(DECREASE * weight, LEAST_WEIGHT)
            work.last[:] = work.trial
            guess = work.last
        self.was_soft = weight >= SURE
        name = f"{attempt.name}: {info.answered_by}" if info.answered_by else attempt.name
        return Outcome(info.status, iterations, normal, friction, cone, worst, compliance, name), worst_kept
