"""What a run's file holds of energies and of solves, as values."""

from __future__ import annotations

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.status import Status

__all__ = ["Energy", "JointForces", "SolveHistory"]


@frozen(eq=False)
class Energy:
    """Kinetic and potential energy of each body [J], shape (T, bodies); nan of bodies without the ability."""

    kinetic: Array
    potential: Array

    @property
    def total(self) -> Array:
        """Their sum over bodies [J], shape (T,)."""
        return np.sum(self.kinetic + self.potential, axis=1)


@frozen(eq=False)
class JointForces:
    """Force [N] and torque [N·m] of a joint on its first frame, world axes, shape (T, 3) each."""

    force: Array
    torque: Array


@frozen(eq=False)
class SolveHistory:
    """How every accepted step of a run was solved, N steps.

    Attributes:
        time: end of the step [s], (N,).
        status: outcome, N of them.
        answered_by: solver, N names, blanks as underscores.
        iterations: of the solver, (N,).
        residual: largest physical residual [m/s, N·s or N·m·s], (N,).
        contacts: how many there were, (N,).
    """

    time: Array
    status: tuple[Status, ...]
    answered_by: tuple[str, ...]
    iterations: IntArray
    residual: Array
    contacts: IntArray
