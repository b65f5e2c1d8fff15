"""What is asked of a search, and what it answers."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Literal

from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.status import Status
from corekit.roles.options import option
from corekit_mpcc.complementarity.certificate import Certificate

__all__ = ["Attempt", "Ending", "MpccAnswer", "SolveOptions"]


@frozen(kw_only=True)
class SolveOptions:
    """How one search goes."""

    backend: str = option("ipopt", "solver of the nonlinear programs")
    schedule: Literal["direct", "homotopy", "direct-then-homotopy"] = option(
        "direct-then-homotopy",
        "the final relaxation at once, or from a loose one down, backing off after a failure",
        choices=("direct", "homotopy", "direct-then-homotopy"),
    )
    first: float = option(1e-2, "relaxation ε a homotopy begins with", unit="SI", above=0)
    final: float = option(1e-7, "relaxation ε at the end", unit="SI", above=0)
    tolerance: float = option(1e-6, "tolerance of every nonlinear program, scaled", above=0)
    iterations: int = option(300, "most iterations of one nonlinear program", low=1)
    attempts: int = option(16, "most nonlinear programs of one search", low=1)
    time_limit: float = option(float("inf"), "wall time of the search", unit="s", above=0, infinite=True)
    objective_scale: float = option(1.0, "factor on the cost; 1 to 30 at the optimum is right", above=0)
    barrier: float | None = option(None, "first barrier parameter of the first program")
    barrier_again: float = option(1e-3, "first barrier parameter of the programs that follow", above=0)
    warm: bool = option(False, "trust the multipliers given (a shifted earlier answer)")
    polish: Literal["never", "needed", "always"] = option(
        "needed",
        "at the end fix the smaller side of every pair at zero and solve that branch: where the certificate is missed",
        choices=("never", "needed", "always"),
    )
    answer: Literal["certified", "last"] = option(
        "certified",
        "the best point that is certified, or where the last program ended: a start for another search",
        choices=("certified", "last"),
    )
    without: frozenset[str] = option(
        frozenset(), "rows and families that this search leaves out", converter=frozenset
    )


class Ending(enum.Enum):
    """How a search ended; the value is the sentence the user reads."""

    SOLVED = "Solved: the nonlinear program converged, and the point is certified."
    RECOVERED = "Solved after a failed attempt: the nonlinear program converged, and the point is certified."
    CERTIFIED = "No program converged to a certified point; the best point found is certified, but may not be optimal."
    UNCERTIFIED = (
        "The nonlinear program converged, but the point misses the certificate. "
        "Try a smaller final relaxation, or polishing."
    )
    START = "Converged as closely as was asked of a start for the next program; it is not certified."
    TIME_LIMIT = "The time limit was reached; the best point found until then is returned."
    INFEASIBLE = (
        "No feasible point was found: the solver converged to a point of least violation of the constraints. "
        "Look at the constraint that the certificate names."
    )
    ITERATION_LIMIT = (
        "The iteration limit was reached without a certified point. Try another start or more iterations."
    )
    NON_FINITE = "A non-finite number arose in the program at the point that is returned."
    FAILED = "The solver gave up without a certified point. Try another start, relaxation or solver."

    @property
    def status(self) -> Status:
        """The nearest status of the kernel."""
        return _STATUS[self]

    @property
    def solved(self) -> bool:
        """Whether the point is certified and converged."""
        return self in (Ending.SOLVED, Ending.RECOVERED)


_STATUS = {
    Ending.SOLVED: Status.CONVERGED,
    Ending.RECOVERED: Status.FALLBACK,
    Ending.CERTIFIED: Status.INACCURATE,
    Ending.UNCERTIFIED: Status.INACCURATE,
    Ending.START: Status.INACCURATE,
    Ending.TIME_LIMIT: Status.INACCURATE,
    Ending.INFEASIBLE: Status.INFEASIBLE,
    Ending.ITERATION_LIMIT: Status.ITERATION_LIMIT,
    Ending.NON_FINITE: Status.NON_FINITE,
    Ending.FAILED: Status.INACCURATE,
}


@frozen
class Attempt:
    """One nonlinear program of a search.

    Attributes:
        what: "relaxed" or "branch".
        relaxation: its ε.
        outcome, said: how it ended, in our word and the solver's.
        iterations, seconds: what it took.
        cost, complementarity, infeasibility: of its last point, measured on the program as stated.
    """

    what: str
    relaxation: float
    outcome: str
    said: str
    iterations: int
    seconds: float
    cost: float
    complementarity: float
    infeasibility: float


@frozen(eq=False)
class MpccAnswer:
    """What a search answers.

    Attributes:
        x: physical variables, shape (N, n).
        best: the cheapest certified point of all that were seen, or None.
        cost: Σ c at x.
        ending: how the search ended.
        certificate: what x is worth, measured from outside.
        multipliers: by block of rows, physical, shape (N, rows), and of `bounds`, shape (N, n): a warm start.
        trail: every nonlinear program that was tried.
        evaluated: how derivatives were evaluated.
        seconds: wall time.
    """

    x: Array
    best: Array | None
    cost: float
    ending: Ending
    certificate: Certificate
    multipliers: Mapping[str, Array]
    trail: tuple[Attempt, ...]
    evaluated: str
    seconds: float

    @property
    def iterations(self) -> int:
        """Of all attempts together."""
        return sum(attempt.iterations for attempt in self.trail)
