"""How a solve and a step ended: a status whose value is the sentence the user reads, and measured residuals."""

from __future__ import annotations

import enum

from attrs import field, frozen

__all__ = ["SOLVED", "Residuals", "SolveInfo", "Status", "StepReport"]


class Status(enum.Enum):
    """Outcome of a numerical solve. Numerical failure is data; misuse is an exception."""

    CONVERGED = "Solved to the asked tolerance."
    FALLBACK = "The first solver failed; a later solver of the chain solved it to the asked tolerance."
    INACCURATE = (
        "No solver reached the asked tolerance; the best answer found is used. "
        "Try a smaller step, another solver, or conditioning."
    )
    MISREPORTED = (
        "The contact solver said to have solved the step, but its answer breaks the contact laws by more than it "
        "reported, or by a tenth of what it was to do. This is a mistake of the solver: use another one, or a tighter "
        "tolerance, and tell its authors."
    )
    UNPHYSICAL = (
        "The contacts gave the bodies more energy than forces, drives and obstacles have in the step, and than the "
        "push out of overlaps explains. Look for what overlaps, or is pressed along a direction in which it can "
        "hardly move."
    )
    JAMMED = (
        "Contacts press so hard against what joints or constraints hold that rounding opened these: no impulse moves "
        "the bodies apart. Look for what overlaps near a hinge or a clamp, where friction can jam it."
    )
    ITERATION_LIMIT = "The iteration limit was reached. Try a higher one, or a smaller step."
    RAY = "The complementarity problem ended on a secondary ray: it has no solution that pivoting can reach."
    INFEASIBLE = (
        "No point was found that satisfies the constraints. "
        "Of a nonlinear problem this is known only near where the search began."
    )
    SINGULAR = (
        "The step matrix is singular or not positive definite. "
        "Try a smaller step; check for massless or unconstrained coordinates."
    )
    NON_FINITE = "A non-finite number arose. Try a smaller step."
    STALLED = "Error control found no step short enough to keep the tolerance. Try a looser one, or a stiff integrator."
    AMBIGUOUS = (
        "Solved to the asked tolerance by a fallback. Contacts are redundant here, and it may have chosen another "
        "motion than that of slightly soft contacts. Try a smaller step or another solver."
    )

    __hash__ = object.__hash__  # of the one object that an outcome is: every step is counted by it

    @property
    def solved(self) -> bool:
        """Whether the answer meets the tolerance."""
        return self in SOLVED


SOLVED = (Status.CONVERGED, Status.FALLBACK, Status.AMBIGUOUS)
"""Outcomes that meet the tolerance, the best first."""


@frozen(slots=False)  # made at every step: a third sooner so
class Residuals:
    """Residuals of a contact answer, measured in the unscaled physical problem after the solve.

    Args:
        normal: max |min(λ_n, w_n)| over contacts, velocity or impulse, whichever is smaller [m/s or N·s].
        friction: the same of the friction law [m/s or N·s].
        cone: largest violation of the friction bound [N·s].
        equation: residual of the step equation, generalised impulse [N·s or N·m·s].
        compliance: normal speed that the solver's own regularisation allows [m/s]; it is part of
            `normal`, not another one.
    """

    normal: float = 0.0
    friction: float = 0.0
    cone: float = 0.0
    equation: float = 0.0
    compliance: float = 0.0

    @property
    def worst(self) -> float:
        """The largest of the first four."""
        return max(self.normal, self.friction, self.cone, self.equation)


@frozen(slots=False)  # made at every step: a third sooner so
class SolveInfo:
    """How a solve went: status, iterations, physical residuals, and the solver that answered."""

    status: Status = Status.CONVERGED
    iterations: int = 0
    residuals: Residuals = field(factory=Residuals)
    answered_by: str = ""

    @property
    def sentence(self) -> str:
        """What the user reads: the status, and the solver that answered where an answer was given."""
        given = self.answered_by and self.status is not Status.SINGULAR
        return f"{self.status.value} Answered by {self.answered_by}." if given else self.status.value


@frozen(slots=False)  # made at every step: a third sooner so
class StepReport:
    """How a step went.

    Args:
        accepted: whether the new state is to be used.
        step_size: length of the step taken [s].
        iterations: Newton iterations of the integrator (1 for one-solve schemes).
        solve_info: outcome of the contact solve, or of the linear solve without contacts.
        note: what the integrator changed in the linear model (a dropped or shifted tangent), or of a step that is not
            accepted what its solver said; else empty.
        unsettled: the two shapes of the contact that was farthest from its solution where the iteration of this step,
            or of a longer one that was tried first, ran out; else None.
    """

    accepted: bool
    step_size: float
    iterations: int = 1
    solve_info: SolveInfo = field(factory=SolveInfo)
    note: str = ""
    unsettled: tuple[int, int] | None = None
