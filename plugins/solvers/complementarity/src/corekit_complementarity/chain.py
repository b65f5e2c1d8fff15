"""Chain of LCP solvers that records which one solved the problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo, Status
from corekit.errors import ConfigError, Mistake
from corekit.roles.component import BuildContext, InternalState, Stateful, collect_states, restore_states
from corekit.roles.problem import LCPProblem, LCPSolver
from corekit_complementarity.config import ChainConfig

__all__ = ["Chain"]


@final
class Chain(LCPSolver, Stateful):
    """Tries its solvers in order, each from the same guess, until one converges.

    The status is CONVERGED if the first solver converged, FALLBACK if a later one did; `answered_by` names
    it. If none did, z is the iterate with the smallest residual, and the status is INACCURATE. Iterations are
    summed.

    Args:
        config: the solvers, first choice first.
        context: builds them.
    """

    def __init__(self, config: ChainConfig, context: BuildContext | None = None) -> None:
        context = BuildContext() if context is None else context
        if not config.solvers:
            where = f"{context.path}.solvers" if context.path else "solvers"
            raise ConfigError([Mistake(where, [], "at least one LCP solver")])
        self._names = tuple(use.use for use in config.solvers)
        self._solvers: tuple[LCPSolver, ...] = tuple(
            context.build("lcp_solvers", use) for use in config.solvers
        )
        self._guess = np.empty(0)
        self._best = np.empty(0)

    def solve(self, problem: LCPProblem, z: Array) -> SolveInfo:
        """Write the first solution, or the z of smallest residual; see `LCPSolver.solve`."""
        if self._guess.size < z.size:
            self._guess, self._best = np.empty(z.size), np.empty(z.size)
        guess, best = self._guess[: z.size], self._best[: z.size]
        guess[:] = z
        iterations = 0
        best_info: SolveInfo | None = None
        for position, (name, solver) in enumerate(zip(self._names, self._solvers, strict=True)):
            z[:] = guess
            info = solver.solve(problem, z)
            iterations += info.iterations
            answered_by = f"{name}: {info.answered_by}" if info.answered_by else name
            if info.status.solved:
                status = info.status if position == 0 else Status.FALLBACK
                return evolve(info, status=status, iterations=iterations, answered_by=answered_by)
            if best_info is None or info.residuals.normal < best_info.residuals.normal:
                best_info = evolve(info, status=Status.INACCURATE, answered_by=answered_by)
                best[:] = z
        assert best_info is not None
        z[:] = best
        return evolve(best_info, iterations=iterations)

    def internal_state(self) -> InternalState:
        """Return the internal states of the solvers, each under its position."""
        return collect_states(self._numbered())

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore the internal state of each solver."""
        restore_states(self._numbered(), internal_state)

    def _numbered(self) -> dict[str, LCPSolver]:
        return {str(position): solver for position, solver in enumerate(self._solvers)}
