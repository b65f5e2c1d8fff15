"""Impulses of a step's contacts and constraints, and those of the last accepted step, from which the next one starts.

Contacts are matched by id. A guess for new contacts is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactSet
from corekit.dynamics.body_terms import BodyTerms
from corekit.dynamics.contact_kernels import id_order, match_impulses_by_id
from corekit.roles.component import InternalState

__all__ = ["ContactImpulses"]


class _Accepted(NamedTuple):
    """Impulses of the last accepted step: ids of its contacts, λ of contacts and bounded rows, λ_b of every body."""

    id: IntArray
    impulse: Array
    of_constraints: tuple[Array, ...]


@final
class ContactImpulses:
    """λ of the current contacts and bounded constraints, as guess and as solution.

    Args:
        bodies: their `row_impulse` are restored with a step.
        width: rows per contact.
        has_contact: whether the world has contact.

    Attributes:
        id: of the contacts that `impulse` belongs to, shape (m,).
        impulse: λ, shape (m·width + p,) [N·s]: contacts, then bounded constraints.
    """

    def __init__(self, bodies: Sequence[BodyTerms], width: int, *, has_contact: bool) -> None:
        self._bodies = tuple(terms for terms in bodies if terms.rows is not None)
        self._width, self._has_contact = width, has_contact
        self.bounded = sum(len(terms.bounded) for terms in bodies)
        self.id: IntArray = np.zeros(0, dtype=np.int64)
        self.impulse = np.zeros(self.bounded)
        self._accepted = _Accepted(self.id, self.impulse, self._copy_of_constraints())

    def _copy_of_constraints(self) -> tuple[Array, ...]:
        return tuple(terms.row_impulse.copy() for terms in self._bodies)

    @property
    def of_contacts(self) -> Array:
        """λ of the current contacts, shape (m·width,), a view."""
        return self.impulse[: len(self.impulse) - self.bounded]

    def begin_step(self) -> None:
        """Go back to the impulses of the last accepted step, so that a repeated or a resumed step is the same."""
        self.id, self.impulse, of_constraints = self._accepted
        for terms, impulse in zip(self._bodies, of_constraints, strict=True):
            terms.row_impulse[:] = impulse

    def match(self, contacts: ContactSet | None) -> None:
        """Take the impulses known so far as a guess for another set of contacts; None: no contacts."""
        count = 0 if contacts is None else contacts.count
        guess = np.empty(count * self._width + self.bounded)
        if contacts is not None and count:
            order = id_order(self.id)
            match_impulses_by_id(count, self._width, contacts.id, self.id, order, self.impulse, guess)
        if self.bounded:
            guess[count * self._width :] = self.impulse[len(self.id) * self._width :]
        self.id = contacts.id[:count].copy() if contacts is not None else np.zeros(0, dtype=np.int64)
        self.impulse = guess

    def accepted_of(self, contacts: ContactSet) -> Array:
        """λ of the same contacts in the last accepted step, zero for new ones, shape (m·width,)."""
        known, impulse, _ = self._accepted
        out = np.empty(contacts.count * self._width)
        match_impulses_by_id(contacts.count, self._width, contacts.id, known, id_order(known), impulse, out)
        return out

    def update_bounded(self) -> None:
        """Copy the impulses of the bounded constraints to their bodies."""
        first = len(self.impulse) - self.bounded
        for terms in self._bodies:
            if len(terms.bounded):
                last = first + len(terms.bounded)
                terms.row_impulse[terms.bounded] = self.impulse[first:last]
                first = last

    def load_bounded(self) -> None:
        """Copy the impulses of the bounded constraints from their bodies."""
        if self.bounded:
            own = [terms.row_impulse[terms.bounded] for terms in self._bodies]
            self.impulse[len(self.impulse) - self.bounded :] = np.concatenate(own)

    @property
    def of_constraints(self) -> Array:
        """λ_b of all bodies, a copy."""
        return np.concatenate([np.zeros(0), *(terms.row_impulse for terms in self._bodies)])

    @of_constraints.setter
    def of_constraints(self, impulse: Array) -> None:
        first = 0
        for terms in self._bodies:
            last = first + len(terms.row_impulse)
            terms.row_impulse[:] = impulse[first:last]
            first = last

    # — after acceptance, and for resuming —

    def accept(self) -> None:
        """Keep the impulses of an accepted step."""
        # `match` makes new arrays, so these stay as they are
        self._accepted = _Accepted(self.id, self.impulse, self._copy_of_constraints())

    def internal_state(self) -> InternalState:
        """The accepted step's impulses, as named arrays."""
        id_, impulse, of_constraints = self._accepted
        end = len(id_) * self._width
        kept: InternalState = {
            "impulse": impulse[:end].copy(), "impulse_id": id_.copy(), "bounded_impulse": impulse[end:].copy()
        }  # fmt: skip
        for terms, each in zip(self._bodies, of_constraints, strict=True):
            kept[f"row_impulse.{terms.body.index}"] = each.copy()
        return kept

    def restore(self, internal_state: InternalState) -> None:
        """Restore what `internal_state` gave, contacts only where there is contact; empty means a fresh start."""
        known: InternalState = internal_state if self._has_contact else {}
        of_contacts = known.get("impulse", np.zeros(0))
        bounded = internal_state.get("bounded_impulse", np.zeros(self.bounded))
        rows = [np.zeros_like(terms.row_impulse) for terms in self._bodies]
        for terms, impulse in zip(self._bodies, rows, strict=True):
            impulse[:] = internal_state.get(f"row_impulse.{terms.body.index}", 0.0)
        id_ = known.get("impulse_id", np.zeros(0, dtype=np.int64)).copy()
        self._accepted = _Accepted(id_, np.concatenate([of_contacts, bounded]), tuple(rows))
        self.begin_step()
