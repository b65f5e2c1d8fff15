"""Options, outcome and solution of a search."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Literal

from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.status import Status
from corekit.roles.options import option
from corekit_mpcc.complementarity.certificate import Certificate

__all__ = ["Attempt", "MpccSolution", "SearchOutcome", "SolveOptions"]


@frozen(kw_only=True)
class SolveOptions:
    """Options of one search."""

    backend: str = option("ipopt", "solver of the nonlinear programs")
    schedule: Literal["direct", "homotopy", "direct-then-homotopy"] = option(
        "direct-then-homotopy",
        "relaxations: the final one only, or a sequence from large to small that backs off after a failure",
        choices=("direct", "homotopy", "direct-then-homotopy"),
    )
    first_relaxation: float = option(1e-2, "first relaxation ε of a homotopy", unit="SI", above=0)
    final_relaxation: float = option(1e-7, "last relaxation ε", unit="SI", above=0)
    tolerance: float = option(1e-6, "tolerance of every nonlinear program, scaled", above=0)
    iterations: int = option(300, "largest count of iterations of one nonlinear program", low=1)
    attempts: int = option(16, "largest count of nonlinear programs of one search", low=1)
    time_limit: float = option(float("inf"), "wall time of the search", unit="s", above=0, infinite=True)
    objective_scale: float = option(1.0, "factor on the cost; the optimum should be 1 to 30", above=0)
    barrier: float | None = option(None, "first barrier parameter of the first program")
    later_barrier: float = option(1e-3, "first barrier parameter of the later programs", above=0)
    warm: bool = option(False, "use the multipliers (of a shifted earlier solution)")
    polish: Literal["never", "needed", "always"] = option(
        "needed",
        "last program with the smaller side of every pair fixed at zero: if the point is not certified",
        choices=("never", "needed", "always"),
    )
    check_modes: bool = option(
        False,
        "after a last program with decided pairs, solve the one that contains every branch at its point, and continue "
        "in the branch of a cheaper answer",
    )
    returned_point: Literal["certified", "last"] = option(
        "certified",
        "the best certified point, or the last point, as an initial guess",
        choices=("certified", "last"),
    )
    excluded: frozenset[str] = option(
        frozenset(), "rows and families that this search excludes", converter=frozenset
    )


class SearchOutcome(enum.Enum):
    """Outcome of a search; the value is the sentence for the user."""

    SOLVED = "Solved: the nonlinear program converged, and the point is certified."
    RECOVERED = "Solved after a failed attempt: the nonlinear program converged, and the point is certified."
    CERTIFIED = "No program converged to a certified point; the best point found is certified, but may not be optimal."
    UNCERTIFIED = (
        "The nonlinear program converged, but the point is not certified. "
        "Try a smaller final relaxation, or polishing."
    )
    START = "Converged to the tolerance of an initial guess; the point is not certified."
    TIME_LIMIT = "The search reached the time limit and returns its best point."
    INFEASIBLE = (
        "No feasible point was found: the solver converged to a point where the constraints are violated least of all "
        "points nearby. Another start may find one. Check the constraint that the certificate names."
    )
    OVERDETERMINED = (
        "The program has more equations than unknowns, with which the solver cannot begin. Leave out equations that "
        "follow from others, or take another relaxation: 'fischer-burmeister' adds an equation for every pair."
    )
    ITERATION_LIMIT = (
        "The solver reached the iteration limit without a certified point. "
        "Try another start or more iterations."
    )
    NON_FINITE = "The program has a non-finite value at the returned point."
    FAILED = "The solver failed without a certified point. Try another start, relaxation or solver."

    @property
    def status(self) -> Status:
        """Nearest status of the kernel."""
        return _STATUS[self]

    @property
    def solved(self) -> bool:
        """Whether the point is certified and converged."""
        return self in (SearchOutcome.SOLVED, SearchOutcome.RECOVERED)


_STATUS = {
    SearchOutcome.SOLVED: Status.CONVERGED,
    SearchOutcome.RECOVERED: Status.FALLBACK,
    SearchOutcome.CERTIFIED: Status.INACCURATE,
    SearchOutcome.UNCERTIFIED: Status.INACCURATE,
    SearchOutcome.START: Status.INACCURATE,
    SearchOutcome.TIME_LIMIT: Status.INACCURATE,
    SearchOutcome.INFEASIBLE: Status.INFEASIBLE,
    SearchOutcome.OVERDETERMINED: Status.INACCURATE,
    SearchOutcome.ITERATION_LIMIT: Status.ITERATION_LIMIT,
    SearchOutcome.NON_FINITE: Status.NON_FINITE,
    SearchOutcome.FAILED: Status.INACCURATE,
}


@frozen
class Attempt:
    """One nonlinear program of a search.

    Attributes:
        kind: "relaxed", "branch", or "open", with the pairs of vanishing sides undecided.
        relaxation: ε of the program.
        outcome: common name of the outcome.
        solver_message: outcome in the words of the solver.
        iterations, seconds: effort of the solver.
        cost, complementarity, infeasibility: values of its last point in the original program.
    """

    kind: str
    relaxation: float
    outcome: str
    solver_message: str
    iterations: int
    seconds: float
    cost: float
    complementarity: float
    infeasibility: float


@frozen(eq=False)
class MpccSolution:
    """Solution of a search.

    Attributes:
        x: physical variables, shape (N, n).
        best: the cheapest certified iterate, or None.
        gap: by how much the program that contains every branch at x is cheaper; None if it was not solved, or
            ended dearer, at another local optimum.
        cost: Σ c at x.
        outcome: outcome of the search.
        certificate: certificate of x, independent of the solver.
        multipliers: physical multipliers by block of rows, (N, rows), and of `bounds`, (N, n), for a warm start.
        attempts: every nonlinear program of the search.
        derivatives: evaluation of the derivatives, as a phrase.
        seconds: wall time.
    """

    x: Array
    best: Array | None
    gap: float | None
    cost: float
    outcome: SearchOutcome
    certificate: Certificate
    multipliers: Mapping[str, Array]
    attempts: tuple[Attempt, ...]
    derivatives: str
    seconds: float

    @property
    def iterations(self) -> int:
        """Iterations of all attempts."""
        return sum(attempt.iterations for attempt in self.attempts)
