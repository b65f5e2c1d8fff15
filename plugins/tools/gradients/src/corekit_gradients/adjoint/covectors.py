"""What is pulled back through a step: derivatives of a loss at one end of it."""

from __future__ import annotations

from typing import NamedTuple

from corekit.data.arrays import Array

__all__ = ["Covectors"]


class Covectors(NamedTuple):
    """Derivatives of a loss at one end of a step.

    Args:
        place, velocity: by displacements and v, shape (nv,).
        tangents: by those of the contacts of the record, shape (m, 3); at its start by those known from before.
        impulses: by those of the contacts of the record, at its start by the ones with which it began, (m, width).
    """

    place: Array
    velocity: Array
    tangents: Array
    impulses: Array
