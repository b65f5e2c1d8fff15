"""The contacts of one linearisation: their rows, the velocities of obstacles at them, and their gap terms.

Each way of it returns how many contacts there are, and the obstacles' velocities at them, in contact axes, (m, width)
[m/s], or None where all rest.
"""

from __future__ import annotations

from typing import final

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.world.contact_stage import ContactStage
from corekit.world.impulses import Impulses

__all__ = ["StepContacts"]


@final
class StepContacts:
    """Takes measured contacts into the problem of the impulses.

    Args:
        stage: who measured.
        impulses: who solves for them.
        solves_impulses: whether anyone does; a contact potential needs the rows alone.

    Attributes:
        at_start: the way of it at the start of the step, which the stage has begun.
    """

    def __init__(self, stage: ContactStage, impulses: Impulses, solves_impulses: bool) -> None:
        self._stage, self._impulses, self._solves_impulses = stage, impulses, solves_impulses
        self.at_start = impulses.build_start if solves_impulses else self._of_potential_at_start

    def coupled(
        self, start: State, trial: State, end: State, step: float, theta: float
    ) -> tuple[int, Array | None]:
        """At the trial state, gaps at the end state; both are one buffer at θ = 1."""
        stage = self._stage
        if not stage.measure(trial):
            return 0, None
        count = stage.contacts.count
        stage.build_rows(trial)
        t0, t1 = start.time, start.time + step
        over_step = rate = stage.obstacle_velocity(trial.time, t0, t1, instant=False)
        if not self._solves_impulses:
            return count, rate
        if over_step is not None and theta != 1.0:
            rate = stage.obstacle_velocity(trial.time, t0, t1, instant=True)
        normal_velocity = stage.rows.velocity(trial.v)[:, 0]
        if over_step is not None:
            normal_velocity = normal_velocity - over_step[:, 0]
        end_gap = stage.contacts.gap[:count]
        if end is not trial:
            end_gap = stage.gap_at(end, end_gap + (1.0 - theta) * step * normal_velocity)
            stage.scene.place(trial)
        self._impulses.take_contacts(stage.gap_term(end_gap, normal_velocity, step), rate, step)
        return count, rate

    def _of_potential_at_start(self, start: State, step: float) -> tuple[int, Array | None]:
        """At the start of the step, rows alone."""
        stage = self._stage
        count = stage.take_start().count
        if not count:
            return 0, None
        stage.build_rows(start)
        return count, stage.obstacle_velocity(start.time, start.time, start.time + step, instant=False)

    def split(self, start: State, smooth: State, step: float) -> tuple[int, Array | None]:
        """At the end of the smooth motion; none of a potential, which is part of it."""
        stage = self._stage
        if not (self._solves_impulses and stage.measure(smooth)):
            return 0, None
        stage.build_rows(smooth)
        t0, t1 = start.time, start.time + step
        rate = stage.obstacle_velocity(t1, t0, t1, instant=True)
        normal_velocity = stage.rows.velocity(0.5 * (start.v + smooth.v))[:, 0]
        over_step = stage.obstacle_velocity(t1, t0, t1, instant=False)
        if over_step is not None:
            normal_velocity = normal_velocity - over_step[:, 0]
        term = stage.gap_term(stage.contacts.gap, normal_velocity, step)
        self._impulses.take_contacts(term, rate, step)
        return stage.contacts.count, rate
