"""Contacts at rest: how well they are closed, and what they carry."""

from __future__ import annotations

import numpy as np

from corekit.data.contacts import ContactRecord
from corekit.dynamics.contact_impulses import ContactImpulses
from corekit.dynamics.contact_pipeline import ContactPipeline
from corekit.dynamics.contact_record import contact_record
from corekit.dynamics.potential_forces import PotentialForces

__all__ = ["carried", "gap_error"]

_PRESSES = 1e-6
"""Share of the largest normal force from which a contact counts as pressing."""


def gap_error(pipeline: ContactPipeline, impulses: ContactImpulses) -> float:
    """Largest |φ| of contacts that press, and depth of those that do not [m]."""
    gap = pipeline.contacts.gap[: pipeline.contacts.count]
    normal = impulses.of_contacts[:: pipeline.width]
    presses = normal > _PRESSES * max(float(np.max(normal)), 1e-12)
    return float(np.max(np.where(presses, np.abs(gap), np.maximum(-gap, 0.0))))


def carried(
    pipeline: ContactPipeline, impulses: ContactImpulses, forces: PotentialForces | None
) -> ContactRecord:
    """The record of the current contacts, with forces as impulses over 1 s."""
    contacts, n, width = pipeline.contacts, pipeline.contacts.count, pipeline.width
    still = np.zeros((n, width - 1))
    if forces is not None:
        pulled = forces.terms.tangential_force[:, : width - 1]
        return contact_record(contacts, forces.terms.normal_force, pulled, still, np.zeros(n))
    force = impulses.of_contacts.reshape(n, -1)
    residual = np.abs(np.minimum(force[:, 0], contacts.gap[:n]))
    return contact_record(contacts, force[:, 0], force[:, 1:], still, residual)
