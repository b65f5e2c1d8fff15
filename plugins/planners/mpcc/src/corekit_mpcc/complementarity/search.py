"""One search: relaxed programs one after another, watched, certified from outside, with a trail of what was tried."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit_mpcc.complementarity.answer import Attempt, Ending, MpccAnswer, SolveOptions
from corekit_mpcc.complementarity.certificate import Certificate, Verdict
from corekit_mpcc.complementarity.certifier import Certifier
from corekit_mpcc.complementarity.given import Given
from corekit_mpcc.complementarity.layout import Layout
from corekit_mpcc.complementarity.problem import Mpcc
from corekit_mpcc.complementarity.schedule import Ladder
from corekit_mpcc.nlp.backends import NlpOptions
from corekit_mpcc.nlp.program import NlpAnswer, Program

__all__ = ["Progress", "Search"]

Progress = Callable[[Mapping[str, float]], None]
Bounds = tuple[Array, Array, Array, Array]


@final
class Search:
    """One search."""

    def __init__(
        self,
        program: Mpcc,
        certify: Certifier,
        layout: Layout,
        nlp: Program,
        given: Given,
        asked: SolveOptions,
        progress: Progress,
    ) -> None:
        self._program, self._certify, self._layout, self._nlp = program, certify, layout, nlp
        self._given, self._asked, self._progress = given, asked, progress
        self._began = time.perf_counter()
        self._trail: list[Attempt] = []
        self._best: tuple[Array, Verdict] | None = None
        self._last: NlpAnswer | None = None
        self._count = 0
        self._late = False

    def run(self, relaxation: str, multipliers: Mapping[str, Array] | None, evaluated: str) -> MpccAnswer:
        """Search, polish and certify."""
        asked, given = self._asked, self._given
        low_x, high_x = self._layout.variable_bounds(given.low, given.high)
        bounds = (low_x, high_x, *self._layout.row_bounds())
        lambda_x, lambda_g = self._layout.scaled_multipliers(multipliers or {})
        begin = ((given.x / self._program.scales).reshape(-1), lambda_x, lambda_g)
        self._consider((given.x, self._judge(given.x)))
        found, recovered = None, False
        if asked.schedule != "homotopy":
            first = self._attempt(asked.final, begin, bounds, asked.barrier, warm=asked.warm)
            if first.outcome == "solved":
                found = first
        if found is None and asked.schedule != "direct" and not self._late:
            recovered = bool(self._trail)
            found, stumbled = self._climb(relaxation, begin, bounds)
            recovered = recovered or stumbled
        if found is not None and not self._late:
            wanted = asked.polish == "always" or (asked.polish == "needed" and not self._certified(found))
            found = self._polished(found, bounds) if wanted else found
        return self._answer(found, recovered=recovered, evaluated=evaluated)

    def _climb(
        self, relaxation: str, begin: tuple[Array, Array, Array], bounds: Bounds
    ) -> tuple[NlpAnswer | None, bool]:
        asked = self._asked
        ladder = (
            Ladder(asked.first, asked.final, shrink=0.1, retreat=0.1)
            if relaxation == "exact-penalty"
            else Ladder(asked.first, asked.final)
        )
        good: NlpAnswer | None = None
        begun, stumbled = begin, False
        barrier = asked.barrier
        while ladder.epsilon is not None and len(self._trail) < asked.attempts and not self._late:
            answer = self._attempt(ladder.epsilon, begun, bounds, barrier, warm=False)
            success = answer.outcome == "solved"
            stumbled = stumbled or not success
            ladder.tell(success=success, infeasible=answer.outcome == "infeasible")
            if success:
                good, barrier = answer, asked.barrier_again
                if relaxation == "exact-penalty" and self._certified(answer):
                    return answer, stumbled
            if success or (ladder.restart and bool(np.all(np.isfinite(answer.x)))):
                begun = (answer.x, answer.lambda_x, answer.lambda_g)
            elif good is not None:
                begun = (good.x, good.lambda_x, good.lambda_g)
            if success and ladder.epsilon is None:
                return answer, stumbled
        return None, stumbled

    def _polished(self, found: NlpAnswer, bounds: Bounds) -> NlpAnswer:
        sides = self._certify.sides(self._given.at(self._physical(found.x)))
        branch = self._layout.branch(sides, bounds)
        begin = (np.clip(found.x, branch[0], branch[1]), found.lambda_x, found.lambda_g)
        answer = self._attempt(
            self._asked.final, begin, branch, self._asked.barrier_again, warm=False, what="branch"
        )
        if answer.outcome != "solved":
            return found
        before, after = (self._judge(self._physical(point.x)) for point in (found, answer))
        return answer if after.certified and (not before.certified or after.worst <= before.worst) else found

    def _attempt(
        self,
        epsilon: float,
        begin: tuple[Array, Array, Array],
        bounds: Bounds,
        barrier: float | None,
        *,
        warm: bool,
        what: str = "relaxed",
    ) -> NlpAnswer:
        asked, given = self._asked, self._given
        options = NlpOptions(
            tolerance=asked.tolerance,
            iterations=asked.iterations,
            objective_scale=asked.objective_scale,
            barrier=barrier,
            warm=warm,
        )
        scaled_start = given.start / self._program.scales[: len(given.start)]
        parameters = np.concatenate([given.shared, given.own.reshape(-1), scaled_start, [epsilon]])

        def look(z: Array) -> bool:
            x = self._physical(z)
            told = self._judge(x)
            self._consider((x, told))
            self._tell(told, epsilon)
            self._late = self._late or time.perf_counter() - self._began > asked.time_limit
            return self._late

        began = time.perf_counter()
        answer = self._last = self._nlp.solve(asked.backend, options, begin, parameters, bounds, look)
        told = self._judge(self._physical(answer.x))
        self._consider((self._physical(answer.x), told))
        self._late = self._late or time.perf_counter() - self._began > asked.time_limit
        self._trail.append(
            Attempt(
                what=what,
                relaxation=epsilon,
                outcome=answer.outcome,
                said=answer.said,
                iterations=answer.iterations,
                seconds=time.perf_counter() - began,
                cost=told.cost,
                complementarity=told.complementarity,
                infeasibility=told.infeasibility,
            )
        )
        return answer

    def _answer(self, found: NlpAnswer | None, *, recovered: bool, evaluated: str) -> MpccAnswer:
        multipliers: dict[str, Array] = {}
        assert self._best is not None
        best = self._best[1].certified
        start = self._asked.answer == "last" and not self._late
        if found is not None and (start or self._certified(found) or not best):
            x = self._physical(found.x)
            certificate = self._measure(x)
            multipliers = self._layout.multipliers(found.lambda_x, found.lambda_g)
            ending = Ending.START if start else Ending.UNCERTIFIED
            if certificate.certified:
                ending = Ending.RECOVERED if recovered else Ending.SOLVED
        elif start and self._last is not None and np.all(np.isfinite(self._last.x)):
            x = self._physical(self._last.x)
            certificate = self._measure(x)
            ending = self._failure(certificate)
        else:
            x = self._best[0]
            certificate = self._measure(x)
            ending = self._failure(certificate)
        return MpccAnswer(
            x=x,
            best=self._best[0] if best else None,
            cost=certificate.cost,
            ending=ending,
            certificate=certificate,
            multipliers=multipliers,
            trail=tuple(self._trail),
            evaluated=evaluated,
            seconds=time.perf_counter() - self._began,
        )

    def _certified(self, answer: NlpAnswer) -> bool:
        return self._judge(self._physical(answer.x)).certified

    def _failure(self, certificate: Certificate) -> Ending:
        if self._late:
            return Ending.TIME_LIMIT
        if certificate.certified:
            return Ending.CERTIFIED
        outcomes = [attempt.outcome for attempt in self._trail]
        for outcome, ending in (
            ("infeasible", Ending.INFEASIBLE),
            ("iterations", Ending.ITERATION_LIMIT),
            ("non-finite", Ending.NON_FINITE),
        ):
            if outcome in outcomes:
                return ending
        return Ending.FAILED

    def _consider(self, point: tuple[Array, Verdict]) -> None:
        """Keep the best point: certified before not certified, then the cheaper, then the less wrong one."""

        def rank(told: Verdict) -> tuple[bool, float]:
            return (not told.certified, told.cost if told.certified else told.worst)

        if self._best is None or rank(point[1]) < rank(self._best[1]):
            self._best = point

    def _tell(self, told: Verdict, epsilon: float) -> None:
        self._count += 1
        self._progress(
            {
                "iteration": float(self._count),
                "objective": told.cost,
                "infeasibility": told.infeasibility,
                "complementarity": told.complementarity,
                "relaxation": epsilon,
                "seconds": time.perf_counter() - self._began,
            }
        )

    def _physical(self, z: Array) -> Array:
        return z.reshape(self._program.stages, -1) * self._program.scales

    def _measure(self, x: Array) -> Certificate:
        return self._certify(self._given.at(x), self._asked.without)

    def _judge(self, x: Array) -> Verdict:
        return self._certify.verdict(self._given.at(x), self._asked.without)
