"""A contact problem with a dense W."""

from __future__ import annotations

from typing import final

import numpy as np
from attrs import define

from corekit.data.arrays import Array, IntArray

__all__ = ["ReducedContactProblem"]

_NO_ID: IntArray = np.zeros(0, dtype=np.int64)
_NOTHING = np.zeros(0)
_NO_RECORD = np.zeros((0, 0))


@final
@define(eq=False)
class ReducedContactProblem:
    """Implements `corekit.roles.contact.ContactProblem` with a dense W."""

    rows_per_contact: int
    step: float
    free_velocity: Array
    matrix: Array
    contact_count: int = 0
    id: IntArray = _NO_ID
    gap: Array = _NOTHING
    friction: Array = _NOTHING
    friction_record: Array = _NO_RECORD
    start_impulse: Array = _NOTHING
    bounded_count: int = 0
    lower: Array = _NOTHING
    upper: Array = _NOTHING

    def delassus(self) -> Array:
        """W, shape (R, R)."""
        return self.matrix
