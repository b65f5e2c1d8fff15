"""Impulses of a step's contacts and constraints, and those of the last accepted step, from which the next one starts.

Contacts are matched by id. A guess for new contacts is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import ContactSet
from corekit.engine.contact.contact_kernels import find_new_impulses, id_order, match_by_id
from corekit.roles.component import InternalState

if TYPE_CHECKING:
    from corekit.engine.bodies.body_terms import BodyTerms
    from corekit.engine.joints import JointRows

__all__ = ["ContactImpulses"]

_NO_ID: IntArray = np.zeros(0, dtype=np.int64)
_NO_IMPULSE = np.zeros(0)


class _Accepted(NamedTuple):
    """Impulses of the last accepted step: ids of its contacts, their λ, and λ_b of all bodies."""

    id: IntArray
    of_contacts: Array
    of_constraints: Array


@final
class ContactImpulses:
    """λ of the current contacts and bounded constraints, as guess and as solution.

    Args:
        bodies: their `row_impulse` are restored with a step. joints: so is their `impulse`; None without any.
        width: rows per contact.
        has_contact: whether the world has contact.

    Attributes:
        bounded: number p of bounded constraints.
        id: of the contacts that `impulse` belongs to, shape (m,).
        impulse: λ, shape (m·width + p,) [N·s]: contacts, then bounded constraints.
        start: λ of the last accepted step, as long, zero for new contacts.
    """

    def __init__(
        self, bodies: Sequence[BodyTerms], width: int, joints: JointRows | None = None, *, has_contact: bool
    ) -> None:
        self._bodies = tuple(terms for terms in bodies if terms.rows is not None)
        self._parts = [terms.row_impulse for terms in self._bodies] + (
            [] if joints is None else [joints.impulse]
        )
        self._width, self._has_contact = width, has_contact
        self.bounded = sum(len(terms.bounded) for terms in bodies)
        self.restore({})

    @property
    def of_contacts(self) -> Array:
        """λ of the current contacts, shape (m·width,), a view."""
        return self.impulse[: len(self.impulse) - self.bounded]

    def begin_step(self) -> None:
        """Go back to the impulses of the last accepted step, so that a repeated or a resumed step is the same."""
        self.id, self.impulse, of_constraints = self._accepted
        if self._parts:
            self.of_constraints = of_constraints
        if self.bounded:
            self.impulse = np.concatenate([self.impulse, *self._of_bounded()])
        self.start = self.impulse

    def match(self, contacts: ContactSet | None) -> None:
        """Use the impulses known so far as a guess for another set of contacts; None: no contacts."""
        known, impulse, _ = self._accepted
        guess = self._known_of(contacts, self.id, self.impulse)
        # in the first solve of a step both are the same
        start = guess.copy() if self.id is known else self._known_of(contacts, known, impulse)
        if self.bounded:
            first = len(guess) - self.bounded
            start[first:] = self.start[len(self.start) - self.bounded :]
            guess[first:] = np.concatenate(self._of_bounded())
        self.id = contacts.id[: contacts.count].copy() if contacts is not None else _NO_ID
        self.impulse, self.start = guess, start

    def _known_of(self, contacts: ContactSet | None, known: IntArray, impulse: Array) -> Array:
        """λ of a set of contacts that known ones have, with zeros for bounded constraints, a new array."""
        count = 0 if contacts is None else contacts.count
        found = np.zeros(count * self._width + self.bounded)
        if contacts is not None and count and len(known):
            of_contacts = found[: count * self._width] if self.bounded else found
            match_by_id(self._width, contacts.id, known, id_order(known), impulse, of_contacts)
        return found

    def find_new(self, contacts: ContactSet) -> BoolArray | None:
        """Which of the current contacts push and did not in the last accepted step, shape (m,); None without any."""
        known, impulse, _ = self._accepted
        new = np.empty(contacts.count, dtype=np.bool_)
        found = find_new_impulses(
            self._width, contacts.id, self.impulse, known, id_order(known), impulse, new
        )
        return new if found else None

    def _of_bounded(self) -> list[Array]:
        """λ of every body's bounded constraints."""
        return [terms.row_impulse[terms.bounded] for terms in self._bodies]

    def update_bounded(self) -> None:
        """Copy the impulses of the bounded constraints to their bodies."""
        first = len(self.impulse) - self.bounded
        for terms in self._bodies:
            last = first + len(terms.bounded)
            terms.row_impulse[terms.bounded] = self.impulse[first:last]
            first = last

    @property
    def of_constraints(self) -> Array:
        """λ_b of all bodies, then those of joints, a copy."""
        if len(self._parts) < 2:
            return self._parts[0].copy() if self._parts else _NO_IMPULSE
        return np.concatenate(self._parts)

    @of_constraints.setter
    def of_constraints(self, impulse: Array) -> None:
        first = 0
        for part in self._parts:
            part[:] = impulse[first : first + len(part)]
            first += len(part)

    # — after acceptance, and for resuming —

    def accept(self) -> None:
        """Keep the impulses of an accepted step."""
        # `match` makes new arrays, so these stay as they are
        self._accepted = _Accepted(self.id, self.of_contacts, self.of_constraints)

    def internal_state(self) -> InternalState:
        """The accepted step's impulses, as named arrays."""
        id_, of_contacts, of_constraints = self._accepted
        return {
            "impulse": of_contacts.copy(), "impulse_id": id_.copy(), "constraint_impulse": of_constraints.copy()
        }  # fmt: skip

    def restore(self, internal_state: InternalState) -> None:
        """Restore what `internal_state` gave, contacts only where there is contact; empty means a fresh start."""
        known: InternalState = internal_state if self._has_contact else {}
        self._accepted = _Accepted(
            known.get("impulse_id", _NO_ID).copy(),
            known.get("impulse", np.zeros(0)).copy(),
            internal_state.get("constraint_impulse", np.zeros(sum(map(len, self._parts)))).copy(),
        )
        self.begin_step()
