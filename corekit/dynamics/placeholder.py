"""Contacts that stand for real ones while kernels are compiled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corekit.data.contacts import ContactSet
from corekit.dynamics.bodies import Body

__all__ = ["placeholder_contacts"]

_DEPTH = 1e-4
"""How deep they are [m]: they have to push."""


def placeholder_contacts(bodies: Sequence[Body], shapes: int, record_width: int = 0) -> ContactSet | None:
    """The last frame of a body of every model that has shapes pushed upwards, in its plane if it has one; None without.

    Args:
        shapes: how many there are in the world.
        record_width: numbers of a friction record.
    """
    # one body of each model: a pile of a thousand balls has the kernels of one ball
    touching = {type(body.model): body for body in reversed(bodies) if body.description.shapes}
    if not touching:
        return None
    found = ContactSet(len(touching), record_width)
    found.count = len(touching)
    for c, body in enumerate(touching.values()):
        found.id[c] = c
        found.shape[c] = body.first_shape, shapes - 1
        found.gap[c] = -_DEPTH
        plane = body.description.plane
        found.normal[c] = np.array([0.0, 0.0, 1.0]) if plane is None else plane[2]
        found.frame[c, 0] = body.first_frame + len(body.description.frames) - 1
        found.weight[c, 0] = 1.0
    return found
