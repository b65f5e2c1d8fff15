"""A contact and a contact problem that stand for real ones while kernels are compiled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corekit.data.contacts import ContactSet
from corekit.dynamics.bodies import Body
from corekit.dynamics.contact_problem import ReducedContactProblem

__all__ = ["placeholder_contact", "placeholder_problem"]

_DEPTH = 1e-4
"""How deep it is [m]: it has to push."""


def placeholder_contact(bodies: Sequence[Body], shapes: int, record_width: int = 0) -> ContactSet | None:
    """The last frame of the first body that has shapes pushed upwards, in its plane if it has one; None without shapes.

    Args:
        shapes: how many there are in the world.
        record_width: numbers of a friction record.
    """
    for body in bodies:
        if not body.description.shapes:
            continue
        found = ContactSet(1, record_width)
        found.count = 1
        found.shape[0] = body.first_shape, shapes - 1
        found.gap[0] = -_DEPTH
        plane = body.description.plane
        found.normal[0] = np.array([0.0, 0.0, 1.0]) if plane is None else plane[2]
        found.frame[0, 0] = body.first_frame + len(body.description.frames) - 1
        found.weight[0, 0] = 1.0
        return found
    return None


def placeholder_problem(width: int, step: float, record_width: int = 0) -> ReducedContactProblem:
    """The problem of one frictional contact that approaches and slides, of a body of 1 kg.

    Args:
        width: rows per contact, 3, or 2 in a planar world.
        step: h [s].
        record_width: numbers of a friction record.
    """
    free = np.full(width, 0.3)
    free[0] = -1.0
    return ReducedContactProblem(
        width, step, free, np.eye(width), contact_count=1, id=np.zeros(1, dtype=np.int64),
        gap=np.full(1, -_DEPTH), friction=np.full(1, 0.5), friction_record=np.full((1, record_width), 0.5),
    )  # fmt: skip
