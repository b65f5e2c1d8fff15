"""The contact problem of a step as an impulse solver sees it: W, w₀, friction, bounds."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array, IntArray

__all__ = ["StepContactProblem"]


class StepContactProblem:
    """Implements `corekit.roles.contact.ContactProblem`; rewritten at every linearisation."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.step = 0.0
        self.contacts = 0
        self.bounded = 0
        self.id: IntArray = np.zeros(0, dtype=np.int64)
        self.bounded_id: IntArray = np.zeros(0, dtype=np.int64)
        self.friction = self.gap = self.free = self.lower = self.upper = np.zeros(0)
        self._delassus: Array = np.zeros((0, 0))

    @property
    def rows(self) -> int:
        """R = m·width + p."""
        return self.contacts * self.width + self.bounded

    def delassus(self) -> Array:
        """W, shape (R, R)."""
        return self._delassus

    def set_delassus(self, matrix: Array) -> None:
        """Take W."""
        self._delassus = matrix
