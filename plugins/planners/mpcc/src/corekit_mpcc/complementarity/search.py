"""Search: a sequence of relaxed programs with independent certificates and a record of all attempts.

A point of a branch, the smaller side of every pair fixed at zero, is optimal among the motions of its modes. Whether
another mode is cheaper nearby, the program with G ≥ 0, H ≥ 0 for the pairs whose sides both vanish tells. It contains
every branch at the point: if its optimum is no cheaper, the point is strongly stationary, optimal to first order
whatever the modes.

Source: H. Scheel, S. Scholtes, "Mathematical programs with complementarity constraints: stationarity, optimality, and
sensitivity", Math. Oper. Res. 25 (2000), theorem 2.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit_mpcc.complementarity.certificate import Certificate, CertificateSummary
from corekit_mpcc.complementarity.certifier import Certifier
from corekit_mpcc.complementarity.nlp_layout import NlpLayout
from corekit_mpcc.complementarity.problem import Mpcc
from corekit_mpcc.complementarity.relaxation_schedule import RelaxationSchedule
from corekit_mpcc.complementarity.search_input import SearchInput
from corekit_mpcc.complementarity.solution import Attempt, MpccSolution, SearchOutcome, SolveOptions
from corekit_mpcc.nlp.backends import NlpOptions
from corekit_mpcc.nlp.program import NlpSolution, NonlinearProgram

__all__ = ["MpccSearch", "Progress"]

Progress = Callable[[Mapping[str, float]], None]
Bounds = tuple[Array, Array, Array, Array]
_VANISHING = 1e-3
"""Scaled size below which a side of a pair may vanish: a larger one only adds motions to those compared with."""
_CHEAPER = 1e-6
"""Share of the cost, or of 1 / `objective_scale` if that is more, to which costs of two programs are told apart."""
_FINER = 1e-2
"""Tolerance of programs whose costs are compared, in that of the others."""
_ROUNDS = 4
"""Largest count of branches that are followed."""
_SPARSE = 10
"""Iterates of which one is certified and reported, where none is an answer."""
_OVERDETERMINED = "Not_Enough_Degrees_Of_Freedom"
"""What Ipopt says where equations outnumber unknowns."""


@final
class MpccSearch:
    """Search of one program from one initial guess."""

    def __init__(
        self,
        program: Mpcc,
        certifier: Certifier,
        layout: NlpLayout,
        nlp: NonlinearProgram,
        inputs: SearchInput,
        settings: SolveOptions,
        progress: Progress,
        relaxed_shared: Array,
    ) -> None:
        self._program, self._certifier, self._layout, self._nlp = program, certifier, layout, nlp
        self._inputs, self._settings, self._progress = inputs, settings, progress
        self._relaxed_shared = relaxed_shared
        self._start_time = time.perf_counter()
        self._attempts: list[Attempt] = []
        self._best: tuple[Array, CertificateSummary] | None = None
        self._last: NlpSolution | None = None
        self._count = 0
        self._gap: float | None = None
        self._out_of_time = False

    def run(self, relaxation: str, multipliers: Mapping[str, Array] | None, derivatives: str) -> MpccSolution:
        """Search, polish and certify."""
        settings, inputs = self._settings, self._inputs
        low_x, high_x = self._layout.variable_bounds(inputs.low, inputs.high)
        bounds = (low_x, high_x, *self._layout.row_bounds())
        lambda_x, lambda_g = self._layout.scaled_multipliers(multipliers or {})
        initial = ((inputs.x / self._program.scales).reshape(-1), lambda_x, lambda_g)
        self._consider((inputs.x, self._summarise(inputs.x)))
        accepted, recovered = None, False
        if settings.schedule != "homotopy":
            first = self._attempt(
                settings.final_relaxation, initial, bounds, settings.barrier, warm=settings.warm
            )
            if first.outcome == "solved":
                accepted = first
        if accepted is None and settings.schedule != "direct" and not self._out_of_time:
            recovered = bool(self._attempts)
            accepted, any_failure = self._run_schedule(relaxation, initial, bounds)
            recovered = recovered or any_failure
        if accepted is not None and not self._out_of_time:
            polish = settings.polish == "always" or (
                settings.polish == "needed" and not self._certified(accepted)
            )
            if settings.check_modes:
                accepted = self._follow_modes(accepted, bounds)
            elif polish:
                accepted = self._polish(accepted, bounds)
        return self._make_solution(accepted, recovered=recovered, derivatives=derivatives)

    def _run_schedule(
        self, relaxation: str, initial: tuple[Array, Array, Array], bounds: Bounds
    ) -> tuple[NlpSolution | None, bool]:
        settings = self._settings
        schedule = (
            RelaxationSchedule(settings.first_relaxation, settings.final_relaxation, shrink=0.1, retreat=0.1)
            if relaxation == "exact-penalty"
            else RelaxationSchedule(settings.first_relaxation, settings.final_relaxation)
        )
        last_success: NlpSolution | None = None
        guess, any_failure = initial, False
        barrier = settings.barrier
        while (
            schedule.epsilon is not None and len(self._attempts) < settings.attempts and not self._out_of_time
        ):
            solution = self._attempt(schedule.epsilon, guess, bounds, barrier, warm=False)
            success = solution.outcome == "solved"
            any_failure = any_failure or not success
            schedule.record_attempt(success=success, infeasible=solution.outcome == "infeasible")
            if success:
                last_success, barrier = solution, settings.later_barrier
                if relaxation == "exact-penalty" and self._certified(solution):
                    return solution, any_failure
            if success or (schedule.restart and bool(np.all(np.isfinite(solution.x)))):
                guess = (solution.x, solution.lambda_x, solution.lambda_g)
            elif last_success is not None:
                guess = (last_success.x, last_success.lambda_x, last_success.lambda_g)
            if success and schedule.epsilon is None:
                return solution, any_failure
        return None, any_failure

    def _follow_modes(self, accepted: NlpSolution, bounds: Bounds) -> NlpSolution:
        """Polish, and follow cheaper modes until there are none nearby."""
        relaxed, accepted = accepted, self._polish(accepted, bounds, _FINER)
        if accepted is relaxed:
            return accepted  # no branch is decided with which others could be compared
        for _ in range(_ROUNDS):
            if self._out_of_time or not self._certified(accepted):
                return accepted
            opened = self._decided(accepted, bounds, "open", _FINER)
            if opened.outcome != "solved":
                return accepted
            costs = [self._summarise(self._physical(each.x)).cost for each in (accepted, opened)]
            gap, told_apart = (
                costs[0] - costs[1],
                _CHEAPER * max(1.0 / self._settings.objective_scale, abs(costs[0])),
            )
            # the program contains the accepted point: where it ends dearer, at another local optimum, it tells nothing
            self._gap = gap if gap >= -told_apart else None
            if gap <= told_apart:
                return accepted
            followed = self._polish(opened, bounds, _FINER)
            after = self._summarise(self._physical(followed.x))
            if followed is opened or not after.certified or after.cost >= costs[0]:
                return accepted
            accepted, self._gap = followed, None
        return accepted

    def _decided(self, point: NlpSolution, bounds: Bounds, kind: str, share: float) -> NlpSolution:
        """Solve with pairs decided as at a point: all ("branch"), or all but those whose sides both vanish ("open")."""
        sides = self._certifier.sides(self._inputs.with_x(self._physical(point.x)))
        decided = self._layout.branch(sides, bounds, _VANISHING if kind == "open" else 0.0)
        initial = (np.clip(point.x, decided[0], decided[1]), point.lambda_x, point.lambda_g)
        return self._attempt(
            self._settings.final_relaxation, initial, decided, self._settings.later_barrier * share,
            warm=False, kind=kind, share=share,
        )  # fmt: skip

    def _polish(self, accepted: NlpSolution, bounds: Bounds, share: float = 1.0) -> NlpSolution:
        solution = self._decided(accepted, bounds, "branch", share)
        if solution.outcome != "solved":
            return accepted
        before, after = (self._summarise(self._physical(point.x)) for point in (accepted, solution))
        return (
            solution
            if after.certified and (not before.certified or after.worst <= before.worst)
            else accepted
        )

    def _attempt(
        self,
        epsilon: float,
        initial: tuple[Array, Array, Array],
        bounds: Bounds,
        barrier: float | None,
        *,
        warm: bool,
        kind: str = "relaxed",
        share: float = 1.0,
    ) -> NlpSolution:
        """Solve one program from (x, λ_x, λ_g), to a share of the tolerance, and record it."""
        settings, inputs = self._settings, self._inputs
        options = NlpOptions(
            tolerance=settings.tolerance * share,
            iterations=settings.iterations,
            objective_scale=settings.objective_scale,
            barrier=barrier,
            warm=warm,
        )
        scaled_start = inputs.start / self._program.scales[: len(inputs.start)]
        shared = self._relaxed_shared if kind == "relaxed" else inputs.shared
        parameters = np.concatenate([shared, inputs.own.reshape(-1), scaled_start, [epsilon]])

        # what is decided or goes on later is no answer yet: certifying each iterate takes a sixth of a search's time
        sparse = settings.returned_point == "last" or settings.check_modes

        def on_iterate(z: Array) -> bool:
            self._count += 1
            if not sparse or self._count % _SPARSE == 0:
                x = self._physical(z)
                summary = self._summarise(x)
                self._consider((x, summary))
                self._report(summary, epsilon)
            self._out_of_time = (
                self._out_of_time or time.perf_counter() - self._start_time > settings.time_limit
            )
            return self._out_of_time

        start_time = time.perf_counter()
        solution = self._last = self._nlp.solve(
            settings.backend, options, initial, parameters, bounds, on_iterate
        )
        summary = self._summarise(self._physical(solution.x))
        self._consider((self._physical(solution.x), summary))
        self._out_of_time = self._out_of_time or time.perf_counter() - self._start_time > settings.time_limit
        self._attempts.append(
            Attempt(
                kind=kind,
                relaxation=epsilon,
                outcome=solution.outcome,
                solver_message=solution.return_status,
                iterations=solution.iterations,
                seconds=time.perf_counter() - start_time,
                cost=summary.cost,
                complementarity=summary.complementarity,
                infeasibility=summary.infeasibility,
            )
        )
        return solution

    def _make_solution(
        self, accepted: NlpSolution | None, *, recovered: bool, derivatives: str
    ) -> MpccSolution:
        multipliers: dict[str, Array] = {}
        assert self._best is not None
        has_best = self._best[1].certified
        last_wanted = self._settings.returned_point == "last" and not self._out_of_time
        if accepted is not None and (last_wanted or self._certified(accepted) or not has_best):
            x = self._physical(accepted.x)
            certificate = self._measure(x)
            multipliers = self._layout.multipliers(accepted.lambda_x, accepted.lambda_g)
            outcome = SearchOutcome.START if last_wanted else SearchOutcome.UNCERTIFIED
            if certificate.certified:
                outcome = SearchOutcome.RECOVERED if recovered else SearchOutcome.SOLVED
        elif last_wanted and self._last is not None and np.all(np.isfinite(self._last.x)):
            x = self._physical(self._last.x)
            certificate = self._measure(x)
            outcome = self._failure(certificate)
        else:
            x = self._best[0]
            certificate = self._measure(x)
            outcome = self._failure(certificate)
        return MpccSolution(
            x=x,
            best=self._best[0] if has_best else None,
            gap=self._gap,
            cost=certificate.cost,
            outcome=outcome,
            certificate=certificate,
            multipliers=multipliers,
            attempts=tuple(self._attempts),
            derivatives=derivatives,
            seconds=time.perf_counter() - self._start_time,
        )

    def _certified(self, solution: NlpSolution) -> bool:
        return self._summarise(self._physical(solution.x)).certified

    def _failure(self, certificate: Certificate) -> SearchOutcome:
        if self._out_of_time:
            return SearchOutcome.TIME_LIMIT
        if certificate.certified:
            return SearchOutcome.CERTIFIED
        outcomes = [attempt.outcome for attempt in self._attempts]
        for name, outcome in (
            ("infeasible", SearchOutcome.INFEASIBLE),
            ("iterations", SearchOutcome.ITERATION_LIMIT),
            ("non-finite", SearchOutcome.NON_FINITE),
        ):
            if name in outcomes:
                return outcome
        if any(attempt.solver_message == _OVERDETERMINED for attempt in self._attempts):
            return SearchOutcome.OVERDETERMINED
        return SearchOutcome.FAILED

    def _consider(self, point: tuple[Array, CertificateSummary]) -> None:
        """Store the best point: certified points first, by cost, then other points, by violation."""

        def rank(summary: CertificateSummary) -> tuple[bool, float]:
            return (not summary.certified, summary.cost if summary.certified else summary.worst)

        if self._best is None or rank(point[1]) < rank(self._best[1]):
            self._best = point

    def _report(self, summary: CertificateSummary, epsilon: float) -> None:
        self._progress(
            {
                "iteration": float(self._count),
                "objective": summary.cost,
                "infeasibility": summary.infeasibility,
                "complementarity": summary.complementarity,
                "relaxation": epsilon,
                "seconds": time.perf_counter() - self._start_time,
            }
        )

    def _physical(self, z: Array) -> Array:
        return z.reshape(self._program.stages, -1) * self._program.scales

    def _measure(self, x: Array) -> Certificate:
        return self._certifier(self._inputs.with_x(x), self._settings.excluded)

    def _summarise(self, x: Array) -> CertificateSummary:
        return self._certifier.summarise(self._inputs.with_x(x), self._settings.excluded)
