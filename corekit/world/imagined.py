"""One imagined contact, for a step that is taken to be forgotten."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corekit.data.contacts import ContactSet
from corekit.world.bodies import Body

__all__ = ["imagined_contact"]

_DEPTH = 1e-4
"""How deep it is [m]: it has to push."""


def imagined_contact(bodies: Sequence[Body], shapes: int) -> ContactSet | None:
    """The last frame of the first body that has shapes pushed upwards, in its plane if it has one; None without shapes.

    Args:
        shapes: how many there are in the world.
    """
    for body in bodies:
        if not body.layout.shapes:
            continue
        found = ContactSet(1)
        found.count = 1
        found.shape[0] = body.first_shape, shapes - 1
        found.gap[0] = -_DEPTH
        plane = body.layout.plane
        found.normal[0] = np.array([0.0, 0.0, 1.0]) if plane is None else plane[2]
        found.frame[0, 0] = body.first_frame + len(body.layout.frames) - 1
        found.weight[0, 0] = 1.0
        return found
    return None
