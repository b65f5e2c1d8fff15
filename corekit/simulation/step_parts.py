"""What a grid step did that a breakpoint or a potential's layer cuts into parts."""

from __future__ import annotations

from typing import final

from corekit.data.contacts import ContactRecord
from corekit.dynamics.joints import JointForce

__all__ = ["StepParts"]


@final
class StepParts:
    """The parts of a grid step before the last accepted one; none of most grid steps.

    Args:
        joints: names of the joints of the world.
    """

    def __init__(self, joints: tuple[str, ...]) -> None:
        self.joints = joints
        self._contacts: ContactRecord | None = None
        self._joint_forces: dict[str, JointForce] = {}

    def begin(self) -> None:
        """Begin a grid step."""
        self._contacts = None

    def add(self, contacts: ContactRecord, joint_forces: dict[str, JointForce]) -> None:
        """Keep what the parts so far did, as the two methods below returned it, before another part begins."""
        self._contacts, self._joint_forces = contacts, joint_forces

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
