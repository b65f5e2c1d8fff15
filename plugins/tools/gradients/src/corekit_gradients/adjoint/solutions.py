"""The solutions that a step consists of, as its record has them: one, or several where an impact ended it.

    place      v_p and its impulses, of the position level: q⁺ follows from v_p
    velocity   v⁺ and its impulses where an impact replaced v_p; its bias is another one, its rows are those of `place`
    apart      δ/h and ν/h of what moved bodies apart at the end, with normal rows alone

Each solves momentum R = 0 (nv), rows of constraints and joints G = 0, and contacts H = 0 of `contact_modes`.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, final

import numpy as np
from attrs import define, field

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit_gradients.adjoint.contact_modes import ContactModes

if TYPE_CHECKING:
    from corekit.engine.tape import StepRecord

__all__ = ["Kind", "Solution", "solutions_of"]

_AT_BOUND = 1e-9
"""Distance of an impulse from its bound, relative to it."""
_NO_INDEX: IntArray = np.zeros(0, dtype=np.int64)
_NO_MODES = ContactModes(_NO_INDEX, _NO_INDEX, _NO_INDEX, 0)


class Kind(Enum):
    """What a solution decides."""

    PLACE = "place"
    VELOCITY = "velocity"
    APART = "apart"


@final
@define(eq=False)
class Solution:
    """One solution of a step.

    Args:
        kind: what it decides.
        velocity: v, or δ/h, shape (nv,).
        of_constraints: λ of all rows of bodies, shape (nb,). of_joints: shape (nj,).
        of_contacts: λ of all contacts of the record, shape (m, width).
        bias: of the contacts, shape (m, width).
        side: of rows at a bound, −1 the lower and 1 the upper one, else 0, shape (nb,).
        modes: of the contacts, found at the first evaluation.
        struck: which closed contacts have the bias of an impact, shape (k,).
    """

    kind: Kind
    velocity: Array
    of_constraints: Array
    of_joints: Array
    of_contacts: Array
    bias: Array
    side: IntArray
    modes: ContactModes = _NO_MODES
    struck: BoolArray = field(factory=lambda: np.zeros(0, dtype=bool))


def solutions_of(record: StepRecord, width: int) -> list[Solution]:
    """The solutions of a record, the first that of the position level.

    Args:
        record: of a step.
        width: rows per contact.
    """
    nothing = np.zeros((0, width))
    contacts, rows, of_joints = record.contacts, record.constraints, record.of_joints
    impulse, bias = (nothing, nothing) if contacts is None else (contacts.impulse, contacts.bias)
    of_rows = np.zeros(0) if rows is None else rows.impulse
    last = Solution(Kind.PLACE, record.velocity, of_rows, of_joints, impulse, bias, _side(record, of_rows))
    found = [last]
    if record.placing is not None:
        last.kind, placing, count = Kind.VELOCITY, record.placing, len(of_rows)
        own = placing.of_constraints[:count]
        found.insert(
            0,
            Solution(
                Kind.PLACE, placing.velocity, own, placing.of_constraints[count:],
                placing.impulse[: impulse.size].reshape(-1, width), placing.bias, _side(record, own),
            ),
        )  # fmt: skip
    if record.separation is not None:
        normal = record.separation.impulse[: impulse.size].reshape(-1, width).copy()
        normal[:, 1:] = 0.0
        found.append(
            Solution(
                Kind.APART, record.separation.rate, np.zeros(len(of_rows)), np.zeros(len(of_joints)), normal,
                np.zeros_like(bias), np.zeros(len(of_rows), dtype=np.int64),
            )
        )  # fmt: skip
    return found


def _side(record: StepRecord, impulse: Array) -> IntArray:
    """At which bounds impulses of rows are."""
    rows = record.constraints
    if rows is None:
        return np.zeros(0, dtype=np.int64)
    low = np.isfinite(rows.lower) & (np.abs(impulse - rows.lower) <= _AT_BOUND * np.abs(rows.lower))
    high = np.isfinite(rows.upper) & (np.abs(impulse - rows.upper) <= _AT_BOUND * np.abs(rows.upper))
    return high.astype(np.int64) - low.astype(np.int64)
