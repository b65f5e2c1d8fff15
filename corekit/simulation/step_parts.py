"""What a grid step did that a breakpoint or a potential's layer cuts into parts."""

from __future__ import annotations

from typing import final

from attrs import evolve

from corekit.data.contacts import ContactRecord
from corekit.data.status import SolveInfo, StepReport
from corekit.roles.joint import JointForce

__all__ = ["MOST_PARTS", "StepParts"]

MOST_PARTS = 10_000
"""So many parts of a grid step at a time are asked how far they led: an implicit step is cut into 1,024 at most."""


@final
class StepParts:
    """The parts of a grid step before the last accepted one; none of most grid steps.

    Args:
        joints: names of the joints of the world.

    Attributes:
        count: of the parts.
        progress: how far the last `MOST_PARTS` of them led [s].
    """

    def __init__(self, joints: tuple[str, ...]) -> None:
        self.joints, self.count, self.progress, self._done = joints, 0, 0.0, 0.0
        self._contacts: ContactRecord | None = None
        self._joint_forces: dict[str, JointForce] = {}
        self._unsolved: SolveInfo | None = None

    def begin(self) -> None:
        """Begin a grid step."""
        self._contacts, self.count, self._done, self._unsolved = None, 0, 0.0, None

    def add(self, contacts: ContactRecord, joint_forces: dict[str, JointForce], info: SolveInfo) -> None:
        """Keep what the parts so far did, as the two methods below returned it, before another part begins.

        `info` is the outcome of the last of them.
        """
        self._contacts, self._joint_forces = contacts, joint_forces
        self.count += 1
        if self._unsolved is None and not info.status.solved:
            self._unsolved = info

    def report(self, last: StepReport) -> StepReport:
        """The report of the grid step; `last` is of its last part.

        Where that was solved but an earlier part was not, the outcome is of that one: what follows began at its end.
        """
        if self._unsolved is None or not last.solve_info.status.solved:
            return last
        return evolve(last, solve_info=self._unsolved)

    def are_endless(self, done: float, step: float) -> bool:
        """Whether so many parts made so little of a step [s] that it, and what is left of it, takes many times more."""
        if self.count % MOST_PARTS:
            return False
        self.progress, self._done = done - self._done, done
        return self.progress < 0.1 * step and step - done > self.progress

    def contacts(self, last: ContactRecord) -> ContactRecord:
        """Return what every contact did so far; `last` is of the last accepted step."""
        return last if self._contacts is None else last.after(self._contacts)

    def joint_force(self, name: str, last: JointForce, step: float) -> JointForce:
        """Return the mean of what a joint gave so far; `last` of the last accepted step, of length `step` [s]."""
        if self._contacts is None:
            return last
        share = step / (self._contacts.step_size + step)
        pairs = zip(self._joint_forces[name], last, strict=True)
        return JointForce(*((1.0 - share) * before + share * now for before, now in pairs))
