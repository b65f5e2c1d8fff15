"""What holds and pushes in a step: what is not balanced, reactions of prescribed coordinates, the contacts' record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactRecord
from corekit.world.contact_record import contact_record

if TYPE_CHECKING:
    from corekit.world.step_problem import StepSystem

__all__ = ["contact_impulse", "contacts_of", "reactions", "unbalanced"]


def contact_impulse(system: StepSystem) -> Array:
    """J_cᵀ·λ_c of impulses, or h·Pᵀ·f_c of a potential, at the current linearisation, shape (nv,)."""
    if system.forces is None:
        return system.impulses.generalised()
    if system.contact_count:
        return system.problem.step * system.forces.generalised()
    return np.zeros(system.nv)


def reactions(system: StepSystem, accepted: Array, coefficients: tuple[float, float]) -> Array:
    """Impulses that held the prescribed coordinates, stacked over bodies: A·v⁺ − b − J_bᵀλ_b − J_cᵀλ_c at their rows.

    In a split step the smooth motion's share is h times the mean of its forces where they were evaluated.

    Args:
        accepted: v⁺.
        coefficients: the factors of a potential's damping and stiffness in A.
    """
    extra = system.share()
    if system.solves_impulses:
        extra = contact_impulse(system)
    elif extra is not None and system.forces is not None:
        extra = extra - system.forces.tangent_product(accepted, *coefficients)
    held: list[Array] = [np.zeros(0)]
    for part, where in zip(system.parts, system.slices, strict=True):
        if len(part.prescribed):
            own = part.reaction(None if extra is None else extra[where], accepted[where])
            held.append(own + system.problem.step * part.smooth_reaction() if system.is_split else own)
    return np.concatenate(held)


def unbalanced(system: StepSystem, prescribes: bool, out: Array) -> None:
    """Write ρ − J_bᵀλ_b − J_cᵀλ_c at the current velocity, shape (nv,), zero at prescribed entries if there are any."""
    for part, where in zip(system.parts, system.slices, strict=True):
        out[where] = part.rho
        if part.rows is not None:
            part.rows.add_transpose_product(-part.row_impulse, out[where])
    if system.contact_count and system.forces is not None:
        system.forces.add_impulse(-system.problem.step, out)
    elif system.contact_count:
        out -= contact_impulse(system)
    if prescribes:
        for part, where in zip(system.parts, system.slices, strict=True):
            out[where][part.prescribed] = 0.0


def contacts_of(system: StepSystem, accepted: Array, obstacle_rate: Array | None) -> ContactRecord:
    """What every contact did.

    Args:
        accepted: v⁺.
        obstacle_rate: velocities of the obstacles at the contacts of an impulse solver, or None.
    """
    stage, forces = system.stage, system.forces
    n = system.contact_count if forces is None else len(forces.terms.energy)
    if stage is None or not n:
        return ContactRecord()
    absolute = stage.rows.velocity(accepted)
    rate = obstacle_rate if forces is None else forces.obstacle_velocity
    slip = (absolute if rate is None else absolute - rate)[:, 1:]
    if forces is None:
        impulse = system.impulses.contact.reshape(n, -1)
        residual = system.impulses.residual(absolute[:, 0])
        return contact_record(stage.contacts, impulse[:, 0], impulse[:, 1:], slip, residual)
    normal = system.problem.step * forces.terms.normal_force
    tangential = system.problem.step * forces.terms.tangential_force[:, : slip.shape[1]]
    return contact_record(stage.contacts, normal, tangential, slip, np.zeros(n))
