"""Programs made ready once, and searched for any parameters, bounds, starts and relaxations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, final

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_mpcc.complementarity.answer import MpccAnswer, SolveOptions
from corekit_mpcc.complementarity.certificate import Certificate
from corekit_mpcc.complementarity.certifier import Certifier
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
    """A program with its derivatives ready, once for all parameters, starts, bounds and relaxations ε.

    Args:
        program: as stated.
        relaxation: by name.
        batched: derivatives of all steps evaluated at once always, never, or where it pays.
    """

    def __init__(
        self,
        program: Mpcc,
        relaxation: str = "scholtes",
        batched: Literal["auto", "never", "always"] = "auto",
    ) -> None:
        self.program = program
        self.relaxation = relaxation
        self._step = relax(program, relaxation)
        self._functions = step_functions(self._step.function, batched, program.stages)
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
        return self._certify(given, without)

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
            plain = step_functions(self._step.function, "never")
            return horizon(plain, program.stages, layout.taken)

        whole = horizon(self._functions, program.stages, layout.taken)
        return layout, Program(whole, differentiable)


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
