"""How far the parts of a world's forces differ from its model's, from measured motion.

Over an interval of length T, with the displacement ξ̄ from a motion at its middle, the change Δξ over it, that of the
velocities Δv and the inputs' deviation δu, the balance of `corekit_study.motion_balance` leaves

    r = M·Δv/T − f − B·δu + K·ξ̄ + D·Δξ/T = Σᵢ θᵢ·(eᵢ + Eᵢ·ξ̄) + Uᵀ·w                         (1)

w, what contacts do, is not measured and may be anything: it is eliminated by least squares in the metric W of what
forces move, so that only what no contact can do tells of θ,

    W = (M + T·D + T²·K)⁻¹,   Π = 1 − Uᵀ·(U·W·Uᵀ)⁺·U·W,
    θ = argmin Σ |Π·(r − θ·e)|²_W + ε·|e|²_W·|θ|²                                           (2)

over the velocities of driven bodies, summed over all intervals so far. Then w follows, and with it what contacts
press with. ε keeps θ at 0 until something is known. In an interval in which all contacts are open, U is empty. That
matters: a straight arm that is stiffer looks like one that is pushed at its end. U holds moments too, since the
place of a contact on its frame is not known either: a force that is taken to act 5 mm beside it would be told apart
by its moment, and that be taken for an error of the model.
"""

from __future__ import annotations

from typing import final

import numpy as np
from attrs import define, field

from corekit.data.arrays import Array

__all__ = ["ForceEstimate", "IntervalBalance"]

_PRIOR = 1e-6
"""ε of (2): a thousandth of the parts' own size is believed at once."""
_RANK = 1e-9
"""Of matrices of rows, some of which are zero or alike."""


@define(eq=False)
class IntervalBalance:
    """(1) of one interval.

    Args:
        length: T [s]. mass, stiffness, damping, drive: M, K, D, B. force: f. terms, slopes: e and E of those estimated.
        unknown, normals, pressing: U, N, G. driven: 1 for velocities of driven bodies.
        mobility: W of (2). seen: W·Π. contact_part: what contacts press with, of r, by (2).
    """

    length: float
    mass: Array
    stiffness: Array
    damping: Array
    drive: Array
    force: Array
    terms: Array
    slopes: Array
    unknown: Array
    normals: Array
    pressing: Array
    driven: Array
    mobility: Array = field(init=False)
    seen: Array = field(init=False)
    contact_part: Array = field(init=False)

    def __attrs_post_init__(self) -> None:
        stiff = self.mass + self.length * self.damping + self.length**2 * self.stiffness
        self.mobility = np.asarray(np.linalg.inv(stiff), dtype=np.float64)
        own = self.own_mobility()
        along = self.unknown @ own
        taken = np.linalg.pinv(along @ self.unknown.T, rcond=_RANK) @ along
        self.seen = own - along.T @ taken
        self.contact_part = self.pressing @ taken

    def own_mobility(self) -> Array:
        """W of driven bodies alone."""
        return self.mobility * np.outer(self.driven, self.driven)

    def parts(self, middle: Array) -> Array:
        """Parts e + E·ξ̄, shape (terms, nv)."""
        found: Array = self.terms + self.slopes @ middle
        return found

    def left_over(self, middle: Array, moved: Array, faster: Array, driven: Array) -> Array:
        """r of (1).

        Args:
            middle: ξ̄. moved: Δξ. faster: Δv, the planned one included. driven: δu.
        """
        found: Array = (
            self.mass @ faster / self.length - self.force - self.drive @ driven + self.stiffness @ middle
        ) + self.damping @ moved / self.length
        return found


@final
class ForceEstimate:
    """θ of (2).

    Args:
        first: the balance from which the prior takes the size of the parts.
    """

    def __init__(self, first: IntervalBalance) -> None:
        self.known = _PRIOR * np.diag([each @ first.mobility @ each for each in first.terms])
        self.told: Array = np.zeros(len(first.terms))

    def add(self, about: IntervalBalance, middle: Array, left_over: Array, *, is_open: bool) -> Array:
        """Add an interval, in which all contacts are open or not; return what they pressed with [N]."""
        parts = about.parts(middle)
        told = parts @ (about.own_mobility() if is_open else about.seen)
        self.known = self.known + told @ parts.T
        self.told = self.told + told @ left_over
        pressed: Array = about.contact_part @ (left_over - self.shares() @ parts)
        return np.zeros_like(pressed) if is_open else pressed

    def shares(self) -> Array:
        """θ, shape (terms,)."""
        if not len(self.told):
            return np.zeros(0)
        size = np.sqrt(np.diag(self.known))
        size[size == 0.0] = 1.0
        found: Array = (
            np.linalg.lstsq(self.known / np.outer(size, size), self.told / size, rcond=None)[0] / size
        )
        return found
