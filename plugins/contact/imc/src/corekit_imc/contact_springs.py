"""The spring and the dashpot of every contact: strong enough before they are needed, and no source of energy.

A contact of gap g has a spring of energy k·S², which ends at g = −s, and beside it a dashpot b (see `evaluate`). With
its effective mass m_c, its speed of approach v and all other load Q on it, a contact that closes chooses, while it is
still in the outer part of its layer, where S is nothing,

    k = max(k₀, e·m_c·v²/δ² + 2.5·Q/δ),     s = 0,     b = 2·ζ(e)·√(2·k·m_c)                       (1)

e is the coefficient of restitution and ζ(e) the damping ratio of `restitution`, by which the first term stops m_c
within δ/√2; the second carries Q at a penetration of δ/5. b follows k from then on, so that what rests is damped by ζ,
too.

A contact that is loaded may be hit again, as the end of a rod on which it falls over, or have to stop more than m_c, as
a ball that something heavy falls on. In each step it is foreseen how deep it will get, by the force λ of the contact
and the acceleration of its gap in the step that ended:

    m = m_c,  or λ/g̈ where g < −0.4·δ and that is more,     Q = max(0, λ − m·g̈)                     (2)
    d = s + Q/(2·k) + x_max(F/(2·k) − Q/(2·k), v),     F the force of the spring alone              (3)

with x_max of `restitution` for k, b and m. Where d > 0.85·δ, and r is half of the way that is left to that depth, k
rises and the spring moves so that its force stays:

    k ← max(k, ½·e·m·(v/r)² + max(0, Q − F)/r),     s: F(k, g + s) = F                             (4)

A stiffer spring of the same force holds less energy, F²/(4·k): (4) takes some and never gives any. With e = 1, too, a
loaded contact that is hit gives back less than it took. Nothing else changes k under load but that slow loads, as in
a pile, are followed by contacts that have touched for a time T, up and down: in a step of length h

    k ← k + (max(k₀, 2.5·λ̄/δ) − k)·h/T,     s ← s·(1 − h/T),     λ̄ ← λ̄ + (F − λ̄)·h/min(t, T),
    T = max(100·H, 10·2π·√(m_c/(2·k)))                                                             (5)

with H the scenario's step and t the time since it touched or was hit. An impact lasts half a period of the spring, so
it is over long before T, however short the steps are. A change within ten periods is adiabatic: the energy of the
bouncing that is left grows as √k and no more. This lifts the load by at most about δ, and the energy for it counts as
energy of the contact.

A contact that is loaded when it is first seen, as the next edge of a sliding rod, has the spring of a contact of one of
its two shapes. Where k is fixed, b alone is chosen.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactSet
from corekit.roles.component import InternalState
from corekit.roles.contact import ContactMotion
from corekit_imc.restitution import LEAST_RESTITUTION, damping_ratio
from corekit_imc.spring_kernels import COLUMNS, MASS, age_springs, choose_spring, find_springs

__all__ = ["ContactSprings"]

_NEAR: Final = 1.5
"""Gap relative to δ below which a closing contact chooses its spring."""
_STEPS: Final = 100.0
"""Of the scenario, after which a contact may rest."""
_NONE = np.zeros(0, dtype=np.int64)


@final
class ContactSprings:
    """k, s and b of every contact by its id.

    Args:
        least: k₀ [N/m].
        adapts: whether k is chosen; else it is k₀.
        restitution: e [-], `LEAST_RESTITUTION` at least.
        layer: δ [m].
        step: of the scenario [s].
    """

    def __init__(self, least: float, adapts: bool, restitution: float, layer: float, step: float) -> None:
        self._least, self._adapts, self._layer, self._soonest = least, adapts, layer, _STEPS * step
        self._restitution = max(restitution, LEAST_RESTITUTION)
        self._ratio = damping_ratio(self._restitution)
        self._id, self._shape = _NONE, np.zeros((0, 2), dtype=np.int64)
        self._record = np.zeros((0, COLUMNS))

    def of_contacts(self, contacts: ContactSet) -> Array:
        """k [N/m], s [m] and b [N·s/m] of every contact, shape (m, 3)."""
        out = np.empty((contacts.count, MASS))
        find_springs(
            contacts.count, contacts.id, contacts.shape, self._id, self._shape, self._record, self._least, out
        )
        return out

    def update(self, contacts: ContactSet, motion: ContactMotion, step: float) -> None:
        """Choose the springs of contacts that close or are hit, by (1)–(4), and follow slow loads, by (5).

        Args:
            step: h of the step that ended [s].
        """
        near = np.flatnonzero(contacts.gap[: contacts.count] < _NEAR * self._layer)
        order = np.argsort(contacts.id[near], kind="stable")
        near = near[order]
        record, wants_mass = np.zeros((len(near), COLUMNS)), np.zeros(len(near), dtype=np.bool_)
        if len(near):
            self._copy_records(contacts, near, record)
            gap, rate, acceleration = contacts.gap, motion.normal_velocity, motion.normal_acceleration
            age_springs(
                near, gap, rate, acceleration, step, self._layer, self._least, self._adapts, self._ratio, self._soonest,
                record, wants_mass,
            )  # fmt: skip
            for i in np.flatnonzero(wants_mass).tolist():
                c = int(near[i])
                mass = motion.effective_mass(c)
                if np.isfinite(mass):
                    choose_spring(
                        record[i], mass, float(gap[c]), float(rate[c]), float(acceleration[c]), self._layer,
                        self._least, self._adapts, self._restitution, self._ratio,
                    )  # fmt: skip
        self._id, self._shape, self._record = contacts.id[near], contacts.shape[near], record

    def _copy_records(self, contacts: ContactSet, near: IntArray, record: Array) -> None:
        """Write what is known of these contacts; of a new one k, s and b as they are used, its mass not yet."""
        record[:, :MASS] = self.of_contacts(contacts)[near]
        if len(self._id):
            known = np.minimum(np.searchsorted(self._id, contacts.id[near]), len(self._id) - 1)
            is_old = self._id[known] == contacts.id[near]
            record[is_old] = self._record[known[is_old]]

    def rehearse(self) -> None:
        """Call what few steps call, on a contact of its own."""
        record, now = np.zeros((1, COLUMNS)), np.zeros(1)
        near = np.zeros(1, dtype=np.int64)
        age_springs(
            near, now, now, now, 1.0, 1.0, 1.0, True, self._ratio, 1.0, record, np.zeros(1, dtype=np.bool_)
        )
        choose_spring(record[0], 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, True, self._restitution, self._ratio)

    def internal_state(self) -> InternalState:
        """Return ids, shapes and numbers of every contact."""
        return {"id": self._id.copy(), "shape": self._shape.copy(), "spring": self._record.copy()}

    def restore(self, internal_state: InternalState) -> None:
        """Restore the output of `internal_state`; an empty one means k₀ and no dashpot everywhere."""
        self._id = internal_state["id"].copy() if internal_state else _NONE
        self._shape = internal_state["shape"].copy() if internal_state else np.zeros((0, 2), dtype=np.int64)
        self._record = internal_state["spring"].copy() if internal_state else np.zeros((0, COLUMNS))
