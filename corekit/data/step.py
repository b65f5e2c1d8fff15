"""What comes out of one time step."""

from __future__ import annotations

from attrs import field, frozen

from corekit.data.status import SolveInfo

__all__ = ["StepReport"]


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
    """

    accepted: bool
    step_size: float
    iterations: int = 1
    solve_info: SolveInfo = field(factory=SolveInfo)
    note: str = ""
