"""Programs that are prepared once and searched for any parameters, bounds, initial guesses and relaxations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, final

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_mpcc.complementarity.certificate import Certificate
from corekit_mpcc.complementarity.certifier import Certifier
from corekit_mpcc.complementarity.nlp_layout import NlpLayout
from corekit_mpcc.complementarity.problem import Mpcc
from corekit_mpcc.complementarity.relaxed import relax
from corekit_mpcc.complementarity.search import MpccSearch, Progress
from corekit_mpcc.complementarity.search_input import SearchInput
from corekit_mpcc.complementarity.solution import MpccSolution, SolveOptions
from corekit_mpcc.nlp.derivatives import derive_step_functions
from corekit_mpcc.nlp.horizon_program import HorizonProgram, build_horizon_program
from corekit_mpcc.nlp.program import NonlinearProgram

__all__ = ["PreparedMpcc", "solve"]


def _ignore(_report: object) -> None:
    pass


@final
class PreparedMpcc:
    """A program with its derivatives, for all parameters, initial guesses, bounds and relaxations ε.

    Args:
        program: the original program.
        relaxation: name of the relaxation.
        batched: batched evaluation of the derivatives of all steps: always, never, or if it is faster.
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
        self._functions = derive_step_functions(self._step.function, batched, program.stages)
        self._certify = Certifier(program)
        self._programs: dict[frozenset[str], tuple[NlpLayout, NonlinearProgram]] = {}

    @property
    def derivatives(self) -> str:
        """Evaluation of the derivatives, as a phrase."""
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
        progress: Progress = _ignore,
        multipliers: Mapping[str, Array] | None = None,
        relaxed_shared: Array | None = None,
    ) -> MpccSolution:
        """Search from x0.

        Args:
            x0: initial guess, physical, shape (N, n) or (n,) for all steps.
            shared: s, shape (m,).
            own: o_k, shape (N, k).
            start: x_{−1}, shape (n,).
            low, high: bounds of x that replace those of the program, broadcast to (N, n).
            options: options of the search.
            progress: callback with iteration, objective, infeasibility, complementarity, relaxation and seconds,
                evaluated in the original program; of an initial guess, and with `check_modes`, at every tenth iterate.
            multipliers: multipliers of an earlier solution.
            relaxed_shared: s of the relaxed programs, where only those with decided pairs and the certificate have
                `shared`.
        Raises:
            ConfigError: wrong shapes, non-finite numbers, low > high, unknown names.
        """
        settings = options or SolveOptions()
        inputs = SearchInput(self.program, x0, shared, own, start, low, high)
        if settings.excluded not in self._programs:
            self._programs[settings.excluded] = self._assemble(settings.excluded)
        layout, nlp = self._programs[settings.excluded]
        relaxed = inputs.shared if relaxed_shared is None else relaxed_shared
        search = MpccSearch(self.program, self._certify, layout, nlp, inputs, settings, progress, relaxed)
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
        excluded: frozenset[str] = frozenset(),
    ) -> Certificate:
        """Return the certificate of any point."""
        inputs = SearchInput(self.program, x, shared, own, start, low, high)
        return self._certify(inputs, excluded)

    def _assemble(self, excluded: frozenset[str]) -> tuple[NlpLayout, NonlinearProgram]:
        program = self.program
        known = {group.name for group in (*program.rows, *program.families)}
        mistakes = [
            Mistake("excluded", name, "names of rows and families") for name in sorted(excluded - known)
        ]
        if self.relaxation == "exact-penalty" and excluded & {family.name for family in program.families}:
            mistakes.append(
                Mistake("excluded", sorted(excluded), "only rows, because the penalty contains all families")
            )
        if mistakes:
            raise ConfigError(mistakes, "search")
        layout = NlpLayout(program, self._step, excluded)

        def differentiable() -> HorizonProgram:
            plain = derive_step_functions(self._step.function, "never")
            return build_horizon_program(plain, program.stages, layout.row_mask)

        horizon_program = build_horizon_program(self._functions, program.stages, layout.row_mask)
        return layout, NonlinearProgram(horizon_program, differentiable)


def solve(
    program: Mpcc,
    x0: Array,
    *,
    shared: Array | None = None,
    own: Array | None = None,
    start: Array | None = None,
    relaxation: str = "scholtes",
    options: SolveOptions | None = None,
    progress: Progress = _ignore,
) -> MpccSolution:
    """Prepare and solve a program once, with interpreted derivatives; see `PreparedMpcc`."""
    prepared = PreparedMpcc(program, relaxation, "never")
    return prepared.solve(x0, shared=shared, own=own, start=start, options=options, progress=progress)
