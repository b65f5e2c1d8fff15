"""At what the equations of a recorded step are evaluated, and what comes of it; see (1) of `frozen_step`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit_gradients.adjoint.contact_modes import ContactTerms

__all__ = ["Arguments", "Evaluation", "LinearTerms", "Residual"]


class Arguments(NamedTuple):
    """Of (1).

    Args:
        start: q₀ and v₀. velocity: v_p, shape (nv,). final: v⁺, shape (nv,), which only an impact tells from v_p.
        start_impulse: λ with which the step began, of the contacts of the record, shape (m, width).
    """

    start: State
    velocity: Array
    final: Array
    start_impulse: Array


class LinearTerms(NamedTuple):
    """What a solution is linear in, at the record.

    Args:
        matrix: A by which R changes with v in a scheme that linearises at its start, shape (nv, nv); of the θ family M.
        rows: J of constraints and joints, shape (nb + nj, nv). compliance: E. side: of rows at a bound, else 0.
    """

    matrix: Array
    rows: Array
    compliance: Array
    side: IntArray


class Residual(NamedTuple):
    """R, G and H of one solution.

    Args:
        momentum: R, shape (nv,). rows: G of constraints and joints, shape (nb + nj,). contacts: as evaluated.
        linear: at the record alone.
    """

    momentum: Array
    rows: Array
    contacts: ContactTerms
    linear: LinearTerms | None = None

    def stacked(self) -> Array:
        """R, G and H one after the other."""
        return np.concatenate([self.momentum, self.rows, self.contacts.held.ravel()])


class Evaluation(NamedTuple):
    """F of (1), solution by solution, and the tangents of the contacts found, shape (m, 3)."""

    residuals: tuple[Residual, ...]
    tangents: Array

    def stacked_with_tangents(self) -> Array:
        """The same with the tangents behind them."""
        return np.concatenate([*(each.stacked() for each in self.residuals), self.tangents.ravel()])
