"""Rates of gaps from the material points of contacts, what a difference of gaps over time is compared with."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactSet

__all__ = ["gap_rates"]


def gap_rates(contacts: ContactSet, rotation: Array, velocity: Array, spin: Array) -> dict[int, float]:
    """Return Σᵢ weightᵢ·n·ẋᵢ of every contact by its id [m/s], obstacles at rest.

    Args:
        contacts: as a detector wrote them, with one or two material points each.
        rotation: of every frame, its axes as columns, shape (frames, 3, 3).
        velocity, spin: of every frame, of its origin [m/s] and in world axes [rad/s], shape (frames, 3).
    """
    rates: dict[int, float] = {}
    for c in range(contacts.count):
        rate = 0.0
        for slot in range(2):
            f = contacts.frame[c, slot]
            arm = rotation[f] @ contacts.local_point[c, slot]
            rate += contacts.weight[c, slot] * contacts.normal[c] @ (velocity[f] + np.cross(spin[f], arm))
        rates[int(contacts.id[c])] = float(rate)
    return rates
