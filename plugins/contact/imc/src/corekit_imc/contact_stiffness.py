"""The stiffness of every contact: chosen before the contact is loaded, so that choosing it makes no energy.

A change of k under load changes the stored energy k·φ by φ·Δk, which the bounce gives back as motion. So k is chosen
while a closing contact is still in the outer part of its layer, where φ is nothing, and holds until it opens. With its
effective mass m, its rate of approach v and its acceleration a towards the surface,

    k = max(k₀, m·v²/δ² + 2.5·m·a/δ)                                                       (1)

Of a spring of energy k·g² the first term stops m within δ/√2, the second carries m·a at a penetration of δ/5. At a gap
g where φ is no longer nothing, as at the start of a run, k rises by (1) only as long as all that this has added to a
contact since it closed is less than a hundredth of an impact's energy and what lifts the load by δ, together:

    Σ Δk·φ(g) ≤ ½·m·v²/100 + m·a·δ                                                        (2)

Loads that come later, as in a pile, are followed slowly by contacts that have touched for a time T, up and down: in a
step of length h

    k ← k + (max(k₀, 2.5·λ̄/δ) − k)·h/T,       λ̄ ← λ̄ + (λ − λ̄)·h/min(t, T),
    T = max(100·H, 10·2π·√(m/(2·k)))                                                       (3)

with H the scenario's step and t the time since it touched. An impact lasts half a period of the spring, so it is over
long before T, however short the steps are. A change within ten periods is adiabatic: the energy of the bouncing that is
left grows as √k and no more. This lifts the load by at most about δ, and the energy for it counts as energy of the
contact.

A contact that is loaded when it is first seen, as the next edge of a sliding rod, has the stiffness of a contact of one
of its two shapes.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactSet
from corekit.roles.component import InternalState
from corekit.roles.contact import ContactMotion
from corekit_imc.barrier import barrier

__all__ = ["ContactStiffness"]

_TARGET_PENETRATION = 0.2
"""Penetration at equilibrium of a spring of 2·k, relative to δ."""
_ENTRY = 1.5
"""Gap relative to δ below which a closing contact chooses its stiffness."""
_ADDED = 0.01
"""(2): share of an impact's energy that choosing k may add."""
_STEPS, _PERIODS = 100.0, 10.0
"""The two times of (3), in steps and periods."""
_ROUNDING = 1e-9
"""Of a sum of steps."""
_NUMBERS = 5
_NONE = np.zeros(0, dtype=np.int64)


@final
class ContactStiffness:
    """k of every contact by its id.

    Args:
        least: k₀ [N/m].
        layer: δ [m].
        step: of the scenario [s].
    """

    def __init__(self, least: float, layer: float, step: float) -> None:
        self._least, self._layer, self._soonest = least, layer, _STEPS * step
        self._id, self._shape = _NONE, np.zeros((0, 2), dtype=np.int64)
        # of every contact: k [N/m], λ̄ [N], time inside the layer [s], sum of (2) [J], T [s] or 0 until it is computed
        self._record = np.zeros((0, _NUMBERS))

    def of_contacts(self, contacts: ContactSet) -> Array:
        """k of every contact, shape (m,) [N/m]."""
        out = np.empty(contacts.count)
        stiffness_by_id(
            contacts.count, contacts.id, contacts.shape, self._id, self._shape, self._record, self._least, out
        )
        return out

    def update(self, contacts: ContactSet, motion: ContactMotion, step: float) -> None:
        """Choose k of contacts that close, by (1)–(2), and follow the load of those that rest, by (3).

        Args:
            step: h of the step that ended [s].
        """
        count, layer = contacts.count, self._layer
        near = np.flatnonzero(contacts.gap[:count] < _ENTRY * layer)
        stiffness = self.of_contacts(contacts)
        record = np.zeros((len(near), _NUMBERS))
        for row, c in zip(record, near.tolist(), strict=True):
            gap, k = float(contacts.gap[c]), float(stiffness[c])
            known = np.flatnonzero(self._id == contacts.id[c])
            _, load, age, added, rest = self._record[known[0]] if len(known) else (0.0,) * _NUMBERS
            phi, slope, _ = barrier(gap, layer)
            if gap > 0.5 * layer:  # nothing is stored: an earlier touch is forgotten
                k, age, added, rest = self._least, 0.0, 0.0, 0.0
            if not rest and age >= self._soonest * (1.0 - _ROUNDING):
                period = 2.0 * np.pi * np.sqrt(motion.effective_mass(c) / (2.0 * k))
                rest = max(self._soonest, _PERIODS * period)
            rests = rest > 0.0 and age >= rest * (1.0 - _ROUNDING)
            if rests:
                target = max(self._least, load / (2.0 * _TARGET_PENETRATION * layer))
                k += min(1.0, step / rest) * (target - k)
            elif motion.normal_velocity[c] < 0.0:
                before, k = k, max(k, self._entry_stiffness(c, k, phi, added, motion))
                added += (k - before) * phi
            force = -k * slope
            load += min(1.0, step / min(age + step, rest or self._soonest)) * (force - load)
            row[:] = k, load, age + step * (gap < layer), added, rest
        order = np.argsort(contacts.id[near], kind="stable")
        self._id, self._shape = contacts.id[near][order], contacts.shape[near][order]
        self._record = record[order]

    def _entry_stiffness(self, c: int, now: float, phi: float, added: float, motion: ContactMotion) -> float:
        """k by (1), or `now` where (2) forbids it."""
        layer, speed = self._layer, -float(motion.normal_velocity[c])
        mass, pull = motion.effective_mass(c), max(0.0, -float(motion.normal_acceleration[c]))
        if not np.isfinite(mass):
            return now
        wanted = mass * (speed**2 / layer + pull / (2.0 * _TARGET_PENETRATION)) / layer
        allowed = mass * (_ADDED * 0.5 * speed**2 + pull * layer)
        return wanted if added + (wanted - now) * phi <= allowed else now

    def internal_state(self) -> InternalState:
        """Return ids, shapes and numbers of every contact."""
        return {"id": self._id.copy(), "shape": self._shape.copy(), "stiffness": self._record.copy()}

    def restore(self, internal_state: InternalState) -> None:
        """Restore the output of `internal_state`; an empty one means k₀ everywhere."""
        self._id = internal_state["id"].copy() if internal_state else _NONE
        self._shape = internal_state["shape"].copy() if internal_state else np.zeros((0, 2), dtype=np.int64)
        self._record = internal_state["stiffness"].copy() if internal_state else np.zeros((0, _NUMBERS))


@compiled
def stiffness_by_id(
    count: int, id: IntArray, shape: IntArray, known_id: IntArray, known_shape: IntArray, record: Array,
    least: float, out: Array,
) -> None:  # fmt: skip
    """Write k of contacts from `record`, whose ids ascend; of unknown ones that of a contact of the same shapes."""
    for c in range(count):
        where = np.searchsorted(known_id, id[c])
        if where < len(known_id) and known_id[where] == id[c]:
            out[c] = record[where, 0]
            continue
        out[c] = least
        for k in range(len(known_id)):
            first, second = known_shape[k, 0], known_shape[k, 1]
            if first == shape[c, 0] or second == shape[c, 1] or first == shape[c, 1] or second == shape[c, 0]:
                out[c] = max(out[c], record[k, 0])
