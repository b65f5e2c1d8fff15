"""What a contact solver answered last, and whether that answers the step at another point as well.

A law of contact names w = J·v⁺ + bias and λ alone. At another point with the same contacts and the same λ an answer is
therefore as right as it was, up to

    |w′ − w|   where λ acts,        −w′_n   where it does not                                                 (1)

Where contacts are redundant a solver may share loads in many ways, and where they slide each moves the bodies a little
otherwise. A stage that asks for a new answer after every step of Newton's method would follow these for ever, as far
as rounding of the gaps leads them; (1) needs no new answer.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.status import SolveInfo

if TYPE_CHECKING:
    from corekit.engine.step.step_equation import StepEquation
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["LastAnswer", "answer_that_holds"]


@final
@frozen(eq=False)
class LastAnswer:
    """The contacts of an answer and how they move by it.

    Args:
        info: how the solve went.
        id: of m contacts, shape (m,). friction: μ of each, shape (m,).
        velocity: w, shape (m, width) [m/s].
        movable: which contacts an impulse can move, shape (m,); None: all.
    """

    info: SolveInfo
    id: IntArray
    friction: Array
    velocity: Array
    movable: BoolArray | None

    @classmethod
    def of(
        cls, contacts: ContactSet, info: SolveInfo, velocity: Array, movable: BoolArray | None
    ) -> LastAnswer:
        """Keep what was answered of the contacts that there are."""
        count = contacts.count
        return cls(info, contacts.id[:count].copy(), contacts.friction[:count].copy(), velocity, movable)

    def misses(self, contacts: ContactSet, impulse: Array, velocity: Array) -> float:
        """(1) of contacts elsewhere [m/s]; infinite where they are others, or rub otherwise.

        Args:
            impulse: λ of them, shape (m·width,) [N·s].
            velocity: w′, shape (m, width) [m/s].
        """
        order = self._order(contacts)
        if order is None or not np.array_equal(self.friction[order], contacts.friction[: contacts.count]):
            return math.inf
        loads = impulse.reshape(velocity.shape).any(axis=1)
        changed = np.abs(velocity - self.velocity[order]).max(axis=1)
        missed = np.where(loads, changed, -velocity[:, 0])
        if self.movable is not None:
            missed = missed[self.movable[order]]
        return float(missed.max(initial=0.0))

    def movable_of(self, contacts: ContactSet) -> BoolArray | None:
        """`movable` of the same contacts in their present order."""
        order = None if self.movable is None else self._order(contacts)
        return None if self.movable is None or order is None else self.movable[order]

    def _order(self, contacts: ContactSet) -> IntArray | None:
        """Where every contact was among those of the answer; None where they are others."""
        now, sorted_ = contacts.id[: contacts.count], np.argsort(self.id, kind="stable")
        if len(now) != len(self.id) or not np.array_equal(np.sort(now), self.id[sorted_]):
            return None
        return sorted_[np.searchsorted(self.id[sorted_], now)]


def answer_that_holds(world: WorldTerms, equation: StepEquation, bound: float) -> SolveInfo | None:
    """The outcome of the last solve if its impulses, as they are, solve the step where it was evaluated last too.

    Args:
        bound: of (1), and of the change of velocity that is left, as a speed of the surface [m/s].
    """
    answer, pipeline = equation.answer, world.pipeline
    if answer is None or pipeline is None or not equation.contact_count:
        return None
    # what rows of bodies ask is known where they were linearised alone
    if any(terms.rows is not None for terms in world.bodies):
        return None
    now = world.jacobian.multiply(equation.about) + equation.bias
    if not answer.misses(pipeline.contacts, equation.impulses.of_contacts, now) <= bound:
        return None
    if not equation.bound.speed(equation.change_left()) <= bound:
        return None
    equation.movable = answer.movable_of(pipeline.contacts)
    return answer.info
