"""What happens where a prescribed rate jumps: the drives give an impulse, and momentum decides the rest.

    M·(v⁺ − v₀) = J_bᵀ·Λ + (impulses of the drives),   v⁺ = ṗ(t⁺) at prescribed entries                     (1)
    rigid position rows:  J_b·v⁺ = 0,     rigid velocity rows:  J_b·v⁺ = u                                  (2)

Compliant and bounded rows are finite forces and give no impulse. Steps land on such breakpoints. Coupled schemes meet
(1) in the step that begins there, since they solve for the end velocity with M·(v⁺ − v₀); a scheme that integrates
accelerations applies the jump first. A state already behind the jump (v₀ = ṗ(t⁺)) is left as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.dynamics.body_constraints import FREE_ROW
from corekit.dynamics.body_terms import BodyTerms
from corekit.dynamics.world_terms import WorldTerms

__all__ = ["DriveImpulse", "apply_rate_jump"]

_JUMP = 1e-9
"""A smaller change of a rate, relative to 1 + |ṗ|, is none."""


class DriveImpulse(NamedTuple):
    """Work of the drives where rates jumped [J], of models that give their energy, and v⁺, shape (nv,)."""

    work: float
    velocity: Array


def apply_rate_jump(world: WorldTerms, state: State, out: State) -> DriveImpulse | None:
    """Write the state behind a jump by (1)–(2); None, with nothing written, where no prescribed rate jumps."""
    found, work = False, 0.0
    for terms, own, after in zip(world.bodies, state.body_states, out.body_states, strict=True):
        if not terms.body.description.prescribed_signals:
            continue
        rate = terms.motion.rate_after(state.time)
        if rate is None:
            continue
        before = own.v[terms.prescribed]
        if (np.abs(rate - before) <= _JUMP * (1.0 + np.abs(before))).all():
            continue
        if not found:
            out.copy_from(state)
            world.factorisation.number += 1  # the matrix factorised here is no step's
            found = True
        _solve(terms, own, rate, after.v)
        if "energy" in terms.body.abilities:
            work += terms.body.model.compute_energies(after)[0] - terms.body.model.compute_energies(own)[0]
    return DriveImpulse(work, out.v.copy()) if found else None


def _solve(terms: BodyTerms, state: State, rate: Array, out: Array) -> None:
    """Write v⁺ of (1)–(2) of one body; where M is singular on the rows' kernel only what is prescribed jumps."""
    model, u, own = terms.body.model, terms.inputs_at(state.time), terms.constraints
    model.compute_mass_and_force(state, u, terms.mass, terms.force)
    terms.matrix.zero()
    terms.matrix.add(terms.mass)
    terms.mass.multiply(state.v, terms.rhs)
    if own is not None:
        rows = own.rows
        model.compute_constraints(state, u, rows)
        soft = rows.compliance > 0
        own.set_rows(
            np.where(soft, FREE_ROW, 0.0), np.where(soft | ~rows.is_velocity_level, 0.0, rows.target_rate)
        )
    terms.fixed[:] = rate
    if terms.refactor():
        terms.solve(None, out)
    out[terms.prescribed] = rate
