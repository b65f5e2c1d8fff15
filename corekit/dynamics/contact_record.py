"""The record of what contacts did in a step, the same out of every contact solver."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactMode, ContactRecord, ContactSet

__all__ = ["contact_record"]

_SLIDING = 1e-6
"""Slip speed above which a contact is said to slide [m/s]."""

_ACTIVE = 1e-6
"""Share of the step's largest normal impulse below which a contact is said to be separate."""


def contact_record(
    contacts: ContactSet, normal: Array, tangential: Array, slip: Array, residual: Array
) -> ContactRecord:
    """Copy n contacts with their answer into a record, and name what each did.

    Args:
        contacts: the set; its first n entries are meant.
        normal: normal impulse over the step [N·s], shape (n,).
        tangential: tangential impulse [N·s], shape (n, 1) in a planar world, else (n, 2).
        slip: relative tangential velocity [m/s], same shape.
        residual: largest residual of each contact's own conditions, shape (n,).
    """
    n, directions = tangential.shape
    pushed, slid = np.zeros((n, 2)), np.zeros((n, 2))
    pushed[:, :directions] = tangential
    slid[:, :directions] = slip
    largest = float(np.max(np.abs(normal), initial=0.0))
    sliding = np.hypot(slid[:, 0], slid[:, 1]) > _SLIDING
    active = normal > max(_ACTIVE * largest, 1e-15)
    mode = np.where(active, np.where(sliding, ContactMode.SLIDE, ContactMode.STICK), ContactMode.SEPARATE)
    return ContactRecord(
        id=contacts.id[:n].copy(),
        shape=contacts.shape[:n].copy(),
        gap=contacts.gap[:n].copy(),
        point=contacts.point[:n].copy(),
        normal=contacts.normal[:n].copy(),
        tangent=contacts.tangent[:n].copy(),
        normal_impulse=normal.copy(),
        tangential_impulse=pushed,
        slip=slid,
        mode=mode.astype(np.int64),
        residual=residual,
    )
