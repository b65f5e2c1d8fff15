"""What every contact of a step did, as users read it."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactMode, ContactRecord, ContactSet
from corekit.data.state import State
from corekit.engine.contact.contact_pipeline import ContactPipeline
from corekit.engine.step.step_equation import StepEquation
from corekit.engine.world.world_terms import WorldTerms

__all__ = ["contact_record", "joined_record", "step_record"]

_SLIDING = 1e-6
"""Slip speed above which a contact is said to slide [m/s]."""
_ACTIVE = 1e-6
"""Share of the step's largest normal impulse below which a contact is said to be separate."""


def step_record(
    world: WorldTerms, equation: StepEquation, accepted: Array, step: float, end: State
) -> ContactRecord:
    """What every contact, or point of an area, did in a step h, given v⁺ and the end.

    The force of a stage shorter than h stands for all.
    Where rows were found at a state that impulses left, the gaps are found anew at the end.
    """
    pipeline, forces = world.pipeline, world.forces
    n = equation.contact_count if forces is None else forces.count
    if pipeline is None or not n:
        return ContactRecord(step_size=step)
    contacts = pipeline.contacts
    if forces is not None:
        world.jacobian.assemble(contacts)
    absolute = world.jacobian.multiply(accepted)
    rate = equation.obstacle_velocity if forces is None else forces.obstacle_velocity
    slip, residual = (absolute if rate is None else absolute - rate)[:, 1:], np.zeros(n)
    if forces is None:
        impulse = equation.impulses.of_contacts.reshape(n, -1)
        residual = np.abs(np.minimum(impulse[:, 0], absolute[:, 0] + equation.bias[:, 0]))
        if equation.movable is not None:
            residual = np.where(equation.movable, residual, 0.0)
    else:
        terms = forces.terms
        impulse = equation.step * np.column_stack([terms.normal_force, terms.tangential_force])
    impulse = impulse * (step / equation.step)
    record = contact_record(contacts, step, impulse[:, 0], impulse[:, 1 : 1 + slip.shape[1]], slip, residual)
    if forces is None and equation.point is not None and equation.point.share != 1.0:
        record.gap = pipeline.gap_at(contacts, end, record.gap)
    return record


def joined_record(record: ContactRecord, pipeline: ContactPipeline | None) -> ContactRecord:
    """A record with one contact for the points of every area."""
    areas = None if pipeline is None else pipeline.areas
    return record if areas is None or not record.count else areas.join(record)


def contact_record(
    contacts: ContactSet, step: float, normal: Array, tangential: Array, slip: Array, residual: Array
) -> ContactRecord:
    """Copy n contacts with their answer into a record, and name what each did.

    Args:
        contacts: the set; its first n entries are meant.
        step: h [s], over which the impulses act.
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
        step_size=step,
    )
