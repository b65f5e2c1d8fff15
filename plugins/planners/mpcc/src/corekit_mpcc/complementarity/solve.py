"""Programs made ready once, and searched for any parameters, bounds, starts and relaxations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, final

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_mpcc.complementarity.answer import MpccAnswer, SolveOptions
from corekit_mpcc.complementarity.certificate import Certificate, Certifier
from corekit_mpcc.complementarity.given import Given
from corekit_mpcc.complementarity.layout import Layout
from corekit_mpcc.complementarity.problem import Mpcc
from corekit_mpcc.complementarity.relaxed import relax
from corekit_mpcc.complementarity.search import Progress, Search
from corekit_mpcc.nlp.derivatives import step_functions
from corekit_mpcc.nlp.horizon import Horizon, horizon
from corekit_mpcc.nlp.program import Program

__all__ = ["PreparedMpcc", "solve"]


def _nothing(_told: object) -> None:
    pass


@final
class PreparedMpcc:
    """A program with its derivatives ready: one compilation serves all parameters, starts, bounds and relaxations ε.

    Args:
        program: as stated.
        relaxation: by name.
        compiled: derivatives compiled always, never, or where it pays.
        announce: told of compilations.
        name: what the program is called there.
    """

    def __init__(
        self,
        program: Mpcc,
        relaxation: str = "scholtes",
        compiled: Literal["auto", "never", "always"] = "auto",
        announce: Callable[[str], None] = _nothing,
        name: str = "program",
    ) -> None:
        self.program = program
        self.relaxation = relaxation
        self._step = relax(program, relaxation)
        self._functions = step_functions(self._step.function, compiled, announce, name)
        self._certify = Certifier(program)
        self._programs: dict[frozenset[str], tuple[Layout, Program]] = {}

    @property
    def evaluated(self) -> str:
        """How derivatives are evaluated, one phrase."""
        return self._functions.note

    def solve(
        self,
        x0: Array,
        *,
        shared: Array | None = None,
        own: Array | None = None,
        start: Array | None = None,
        low: Array | None = None,
        high: Array | None = None,
        options: SolveOptions | None = None,
        progress: Progress = _nothing,
        multipliers: Mapping[str, Array] | None = None,
    ) -> MpccAnswer:
        """Search from x0.

        Args:
            x0: start, physical, shape (N, n) or (n,) for all steps.
            shared: s, shape (m,). own: o_k, shape (N, k). start: x_{−1}, shape (n,).
            low, high: bounds of x instead of the program's, broadcast to (N, n).
            options: how.
            progress: told iteration, objective, infeasibility, complementarity, relaxation and seconds, measured on
                the program as stated.
            multipliers: of an earlier answer.
        Raises:
            ConfigError: shapes that do not fit, numbers that are not finite, low > high, unknown names.
        """
        asked = options or SolveOptions()
        given = Given(self.program, x0, shared, own, start, low, high)
        if asked.without not in self._programs:
            self._programs[asked.without] = self._put_together(asked.without)
        layout, nlp = self._programs[asked.without]
        search = Search(self.program, self._certify, layout, nlp, given, asked, progress)
        return search.run(self.relaxation, multipliers, self._functions.note)

    def certificate(
        self,
        x: Array,
        *,
        shared: Array | None = None,
        own: Array | None = None,
        start: Array | None = None,
        low: Array | None = None,
        high: Array | None = None,
        without: frozenset[str] = frozenset(),
    ) -> Certificate:
        """What any point is worth."""
        given = Given(self.program, x, shared, own, start, low, high)
        return self._certify(given.x, given.shared, given.own, given.start, given.low, given.high, without)

    def _put_together(self, without: frozenset[str]) -> tuple[Layout, Program]:
        program = self.program
        known = {group.name for group in (*program.rows, *program.families)}
        mistakes = [
            Mistake("without", name, "names of rows and families") for name in sorted(without - known)
        ]
        if self.relaxation == "exact-penalty" and without & {family.name for family in program.families}:
            mistakes.append(
                Mistake("without", sorted(without), "rows alone, as the penalty holds all families")
            )
        if mistakes:
            raise ConfigError(mistakes, "search")
        layout = Layout(program, self._step, without)

        def differentiable() -> Horizon:
            plain = step_functions(self._step.function, "never", _nothing, "")
            return horizon(plain, program.stages, layout.taken)

        whole = horizon(self._functions, program.stages, layout.taken)
        return layout, Program(whole, differentiable)


def solve(
        self,
        x0: Array,
        *,
        shared: Array | None = None,
        own: Array | None = None,
        start: Array | None = None,
        low: Array | None = None,
        high: Array | None = None,
        options: SolveOptions | None = None,
        progress: Progress = _nothing,
        multipliers: Mapping[str, Array] | None = None,
    ) -> MpccAnswer:
        """Search from x0.

        Args:
            x0: start, physical, shape (N, n) or (n,) for all steps.
            shared: s, shape (m,). own: o_k, shape (N, k). start: x_{−1}, shape (n,).
            low, high: bounds of x instead of the program's, broadcast to (N, n).
            options: how.
            progress: told iteration, objective, infeasibility, complementarity, relaxation and seconds, measured on
                the program as stated.
            multipliers: of an earlier answer.
        Raises:
            ConfigError: shapes that do not fit, numbers that are not finite, low > high, unknown names.
        """
        asked = options or SolveOptions()
        given = _Given(self.program, x0, shared, own, start, low, high)
        if asked.without not in self._programs:
            self._programs[asked.without] = self._put_together(asked.without)
        layout, nlp = self._programs[asked.without]
        search = _Search(self.program, self._certify, layout, nlp, given, asked, progress)
        return search.run(self.relaxation, multipliers, self._functions.note)

    def certificate(
        self,
        x: Array,
        *,
        shared: Array | None = None,
        own: Array | None = None,
        start: Array | None = None,
        low: Array | None = None,
        high: Array | None = None,
        without: frozenset[str] = frozenset(),
    ) -> Certificate:
        """What any point is worth."""
        given = _Given(self.program, x, shared, own, start, low, high)
        return self._certify(given.x, given.shared, given.own, given.start, given.low, given.high, without)

    def _put_together(self, without: frozenset[str]) -> tuple[Layout, Program]:
        program = self.program
        known = {group.name for group in (*program.rows, *program.families)}
        mistakes = [
            Mistake("without", name, "names of rows and families") for name in sorted(without - known)
        ]
        if self.relaxation == "exact-penalty" and without & {family.name for family in program.families}:
            mistakes.append(
                Mistake("without", sorted(without), "rows alone, as the penalty holds all families")
            )
        if mistakes:
            raise ConfigError(mistakes, "search")
        layout = Layout(program, self._step, without)

        def differentiable() -> Horizon:
            plain = step_functions(self._step.function, "never", _nothing, "")
            return horizon(plain, program.stages, layout.taken)

        whole = horizon(self._functions, program.stages, layout.taken)
        return layout, Program(whole, differentiable)


@final
class _Given:
    """What one search is given, with its shapes checked."""

    def __init__(
        self,
        program: Mpcc,
        x: Array,
        shared: Array | None,
        own: Array | None,
        start: Array | None,
        low: Array | None,
        high: Array | None,
    ) -> None:
        stages, n = program.stages, program.size
        previous = 0 if program.before is None else n
        mistakes: list[Mistake] = []

        def take(name: str, value: Array | None, shape: tuple[int, ...]) -> Array:
            given = np.asarray(np.zeros(shape) if value is None else value, dtype=float)
            if value is None and 0 not in shape:
                mistakes.append(Mistake(name, None, f"an array of shape {shape}"))
            try:
                given = np.broadcast_to(given, shape).copy()
            except ValueError:
                mistakes.append(Mistake(name, given.shape, f"an array of shape {shape}"))
                return np.zeros(shape)
            bad = np.argwhere(~np.isfinite(given))
            if len(bad):
                at = tuple(int(i) for i in bad[0])
                mistakes.append(Mistake(f"{name}{list(at)}", float(given[at]), "finite"))
            return given

        self.x = take("x0", x, (stages, n))
        self.shared = take("shared", shared, (program.shared.numel(),))
        self.own = take("own", own, (stages, program.own.numel()))
        self.start = take("start", start, (previous,))
        default = program.bounds
        self.low = np.broadcast_to(
            default[0] if low is None else np.asarray(low, dtype=float), (stages, n)
        ).copy()
        self.high = np.broadcast_to(
            default[1] if high is None else np.asarray(high, dtype=float), (stages, n)
        ).copy()
        wrong = np.argwhere(~(self.low <= self.high))
        if len(wrong):
            step, i = (int(entry) for entry in wrong[0])
            where = f"bounds of {program.variable(i)} at step {step}"
            mistakes.append(Mistake(where, (self.low[step, i], self.high[step, i]), "low ≤ high"))
        if mistakes:
            raise ConfigError(mistakes, "search")


@final
class _Search:
    """One search."""

    def __init__(
        self,
        program: Mpcc,
        certify: Certifier,
        layout: Layout,
        nlp: Program,
        given: _Given,
        asked: SolveOptions,
        progress: Progress,
    ) -> None:
        self._program, self._certify, self._layout, self._nlp = program, certify, layout, nlp
        self._given, self._asked, self._progress = given, asked, progress
        self._began = time.perf_counter()
        self._trail: list[Attempt] = []
        self._best: tuple[Array, Certificate] | None = None
        self._count = 0
        self._late = False

    def run(self, relaxation: str, multipliers: Mapping[str, Array] | None, evaluated: str) -> MpccAnswer:
        """Search, polish and certify."""
        asked, given = self._asked, self._given
        low_x, high_x = self._layout.variable_bounds(given.low, given.high)
        bounds = (low_x, high_x, *self._layout.row_bounds())
        lambda_x, lambda_g = self._layout.scaled_multipliers(multipliers or {})
        begin = ((given.x / self._program.scales).reshape(-1), lambda_x, lambda_g)
        self._consider((given.x, self._measure(given.x)))
        found, recovered = None, False
        if asked.schedule != "homotopy":
            first = self._attempt(asked.final, begin, bounds, asked.barrier, warm=asked.warm)
            if first.outcome == "solved":
                found = first
        if found is None and asked.schedule != "direct" and not self._late:
            recovered = bool(self._trail)
            found, stumbled = self._climb(relaxation, begin, bounds)
            recovered = recovered or stumbled
        if found is not None and asked.polish and not self._late:
            found = self._polished(found, bounds)
        return self._answer(found, recovered=recovered, evaluated=evaluated)

    def _climb(
        self, relaxation: str, begin: tuple[Array, Array, Array], bounds: Bounds
    ) -> tuple[NlpAnswer | None, bool]:
        asked = self._asked
        ladder = Ladder(asked.first, asked.final, 0.1 if relaxation == "exact-penalty" else 1e-2)
        good: NlpAnswer | None = None
        begun, stumbled = begin, False
        barrier = asked.barrier
        while ladder.epsilon is not None and len(self._trail) < asked.attempts and not self._late:
            answer = self._attempt(ladder.epsilon, begun, bounds, barrier, warm=False)
            success = answer.outcome == "solved"
            stumbled = stumbled or not success
            ladder.tell(success=success)
            if success:
                good, barrier = answer, asked.barrier_again
                if relaxation == "exact-penalty" and self._measure(self._physical(answer.x)).certified:
                    return answer, stumbled
            if success or (ladder.restart and bool(np.all(np.isfinite(answer.x)))):
                begun = (answer.x, answer.lambda_x, answer.lambda_g)
            elif good is not None:
                begun = (good.x, good.lambda_x, good.lambda_g)
            if success and ladder.epsilon is None:
                return answer, stumbled
        return None, stumbled

    def _polished(self, found: NlpAnswer, bounds: Bounds) -> NlpAnswer:
        sides = self._certify.sides(
            self._physical(found.x), self._given.shared, self._given.own, self._given.start
        )
        branch = self._layout.branch(sides, bounds)
        begin = (np.clip(found.x, branch[0], branch[1]), found.lambda_x, found.lambda_g)
        answer = self._attempt(
            self._asked.final, begin, branch, self._asked.barrier_again, warm=False, what="branch"
        )
        if answer.outcome != "solved":
            return found
        before, after = (self._measure(self._physical(point.x)) for point in (found, answer))
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
            told = self._measure(x)
            self._consider((x, told))
            self._tell(told, epsilon)
            self._late = self._late or time.perf_counter() - self._began > asked.time_limit
            return self._late

        began = time.perf_counter()
        answer = self._nlp.solve(asked.backend, options, begin, parameters, bounds, look)
        told = self._measure(self._physical(answer.x))
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
        if found is not None:
            x = self._physical(found.x)
            certificate = self._measure(x)
            multipliers = self._layout.multipliers(found.lambda_x, found.lambda_g)
            ending = Ending.UNCERTIFIED
            if certificate.certified:
                ending = Ending.RECOVERED if recovered else Ending.SOLVED
        else:
            assert self._best is not None
            x, certificate = self._best
            ending = self._failure(certificate)
        return MpccAnswer(
            x=x,
            cost=certificate.cost,
            ending=ending,
            certificate=certificate,
            multipliers=multipliers,
            trail=tuple(self._trail),
            evaluated=evaluated,
            seconds=time.perf_counter() - self._began,
        )

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

    def _consider(self, point: tuple[Array, Certificate]) -> None:
        """Keep the best point: certified before not certified, then the cheaper, then the less wrong one."""

        def rank(told: Certificate) -> tuple[bool, float]:
            return (not told.certified, told.cost if told.certified else told.worst)

        if self._best is None or rank(point[1]) < rank(self._best[1]):
            self._best = point

    def _tell(self, told: Certificate, epsilon: float) -> None:
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
        given = self._given
        return self._certify(
            x, given.shared, given.own, given.start, given.low, given.high, self._asked.without
        )


def solve(
    program: Mpcc,
    x0: Array,
    *,
    shared: Array | None = None,
    own: Array | None = None,
    start: Array | None = None,
    relaxation: str = "scholtes",
    options: SolveOptions | None = None,
    progress: Progress = _nothing,
) -> MpccAnswer:
    """Prepare and solve a program once, interpreted; see `PreparedMpcc`."""
    prepared = PreparedMpcc(program, relaxation, "never")
    return prepared.solve(x0, shared=shared, own=own, start=start, options=options, progress=progress)
