"""Whether an equilibrium is stable: the lowest eigenvalue of its stiffness, where rows and contacts let it move.

    (K − ∂(J_bᵀλ_b)/∂q)·x = ω²·M·x   on   J·x = 0,  prescribed x = 0                    (1)

with the symmetric part of the left matrix; a compliant row adds J_bᵀ·J_b/α, a contact potential Pᵀ·K_c·P.
Rigid rows and contacts that touch are J, as if they held both ways; a contact that does not press, slides or
could not stick holds its normal alone.
ω² > 0: it swings back, √ω² the slowest mode's frequency. ω² < 0: it leaves with the rate √−ω². The turning of
contact normals is not in (1): a ball in a hollow is neutral here, as on a plane.

A single body without rows and contact keeps its structure: ω² is then bracketed by whether K − sM is positive
definite (Sylvester's law of inertia); otherwise (1) is solved on a basis of the kernel of J.
"""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen
from scipy.linalg import LinAlgError, eigh, null_space

from corekit.data.arrays import Array
from corekit.data.contacts import ContactMode
from corekit.linalg.factorisation_choice import make_factorisation
from corekit.linalg.matrices import symmetrise
from corekit_statics.equilibrium_constraints import diagonal
from corekit_statics.equilibrium_system import EquilibriumSystem

__all__ = ["Stability", "stability_of"]

_DENSE = 2000
"""Most velocities for which (1) is solved as a dense problem."""
_NEUTRAL = 1e-9
"""|ω²| below this share of the stiffest ω² counts as zero."""


@frozen(eq=False)
class Stability:
    """What (1) says.

    Args:
        word: `stable`, `neutral`, `unstable` or `not judged`.
        smallest: lowest ω² [1/s²]; nan if it is not known.
        modes: how many are unstable; −1 if only that there are any is known.
        reason: why it was not judged, or what was left out.
        mode: the lowest one as a displacement, of largest entry 1, shape (nv,); None if it is not known.
    """

    word: str
    smallest: float = math.nan
    modes: int = 0
    reason: str = ""
    mode: Array | None = None

    @property
    def stable(self) -> bool:
        """Whether it returns from every small push."""
        return self.word == "stable"

    def __str__(self) -> str:
        if math.isnan(self.smallest):
            said = self.word
        elif self.word == "stable":
            said = f"stable, slowest mode {math.sqrt(self.smallest) / (2 * math.pi):.4g} Hz"
        elif self.word == "unstable":
            count = "" if self.modes < 0 else f"{self.modes} mode{'s' if self.modes != 1 else ''}, "
            said = f"unstable, {count}grows by e in {1 / math.sqrt(-self.smallest):.3g} s"
        else:
            said = f"neutral, a mode without stiffness (ω² = {self.smallest:.1e} 1/s²)"
        return f"{said} ({self.reason})" if self.reason else said


def stability_of(system: EquilibriumSystem) -> Stability:
    """The stability of the state that a system looked at last, with its λ."""
    plain = system.forces is None and all(part.rows is None for part in system.parts)
    if plain and not system.record().count:
        each = [_of_body(system, b) for b in range(len(system.parts))]
        return min(each, key=_rank)
    if system.velocities > _DENSE:
        return Stability("not judged", reason=f"more than {_DENSE} velocities with rows or contacts")
    return _of_world(system)


def _rank(found: Stability) -> tuple[int, float]:
    order = ("unstable", "not judged", "neutral", "stable")
    return order.index(found.word), found.smallest


# — one body of any structure —


def _of_body(system: EquilibriumSystem, b: int) -> Stability:
    """Bracket the lowest ω² of a body without rows."""
    part = system.parts[b]
    if part.body.nv <= 60:
        return _of_block(system, [b], np.zeros((0, system.velocities)))
    test = make_factorisation(part.matrix, None, part.prescribed)

    def definite(s: float) -> bool:
        system.assemble(b, -s)
        symmetrise(part.matrix)
        return test.refactor(part.matrix, None)

    stiffest = _stiffest(system, b)
    if not stiffest > 0:
        return Stability("neutral", 0.0)
    tiny = _NEUTRAL * stiffest
    if definite(tiny):
        low, high = tiny, stiffest
    elif definite(-tiny):
        return Stability("neutral", 0.0)
    else:
        # unstable: find a shift that is definite, then bracket between
        low, high = -4.0 * tiny, -tiny
        while not definite(low):
            low, high = 4.0 * low, low
            if low < -1e30:
                return Stability("unstable", modes=-1, reason="along massless coordinates")
    while abs(high - low) > 1e-6 * min(abs(low), abs(high)):
        # the bracket spans decades at first
        middle = math.copysign(math.sqrt(low * high), low)
        low, high = (middle, high) if definite(middle) else (low, middle)
    return Stability("stable", low) if low > 0 else Stability("unstable", low, -1)


def _stiffest(system: EquilibriumSystem, b: int) -> float:
    """Largest K_ii/M_ii of a body [1/s²], a scale for its ω²."""
    system.assemble(b, 0.0)
    part, where = system.parts[b], system.slices[b]
    stiffness, mass = (diagonal(m) for m in (part.matrix, part.mass))
    kept = system.free[where] & (mass > 0)
    return float(np.max(np.abs(stiffness[kept]) / mass[kept], initial=0.0))


# — bodies joined by rows and contacts —


def _of_world(system: EquilibriumSystem) -> Stability:
    held, reason = _held_contacts(system)
    rigid: list[Array] = [held]
    for part, where in zip(system.parts, system.slices, strict=True):
        rows = part.rows
        if rows is None:
            continue
        at_bound = rows.bounded & (
            (part.row_impulse <= rows.lower * (1 - 1e-9)) | (part.row_impulse >= rows.upper * (1 - 1e-9))
        )
        for r in np.flatnonzero((rows.compliance == 0) & ~at_bound):
            row = np.zeros(system.velocities)
            np.add.at(row[where], rows.dofs[r], rows.values[r])
            rigid.append(row[None])
    return _of_block(system, list(range(len(system.parts))), np.concatenate(rigid), reason)


def _held_contacts(system: EquilibriumSystem) -> tuple[Array, str]:
    """Rows that touching contacts hold, in the axes of the contact; those of a potential hold nothing."""
    none = np.zeros((0, system.velocities))
    if system.pipeline is None or system.forces is not None:
        return none, ""
    record = system.record()
    if not record.count:
        return none, ""
    width = system.pipeline.width
    contacts = system.pipeline.contacts
    pulled = np.hypot(record.tangential_impulse[:, 0], record.tangential_impulse[:, 1])
    bound = contacts.friction[: record.count] * record.normal_impulse
    presses = record.mode != ContactMode.SEPARATE
    if not presses.any():
        return none, ""
    sticks = presses & (pulled < (1.0 - 1e-6) * bound)
    # of four corners a solver may load two: the others touch, and bar the way as well
    touches = presses | (record.gap <= max(1e-9, 2.0 * float(np.max(np.abs(record.gap[presses])))))
    rows = np.repeat(touches, width)
    rows.reshape(-1, width)[:, 1:] &= sticks[:, None]
    return system.world.jacobian.to_dense()[rows], "touching contacts held"


def _of_block(system: EquilibriumSystem, which: list[int], held: Array, reason: str = "") -> Stability:
    """Solve (1) densely for some bodies together."""
    n = system.velocities
    stiffness, mass, chosen = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n, dtype=bool)
    for b in which:
        part, where = system.parts[b], system.slices[b]
        system.assemble(b, 0.0)
        stiffness[where, where], mass[where, where] = part.matrix.dense(), part.mass.dense()
        rows = part.rows
        if rows is not None:
            for r in np.flatnonzero((rows.compliance > 0) & ~rows.is_velocity_level & ~rows.bounded):
                row = np.zeros(part.body.nv)
                np.add.at(row, rows.dofs[r], rows.values[r])
                stiffness[where, where] += np.outer(row, row) / rows.compliance[r]
        chosen[where] = True
    if system.forces is not None and len(system.forces.terms.energy):
        stiffness += np.stack([system.forces.tangent_product(unit, 0.0, 1.0) for unit in np.eye(n)], axis=1)
    kept = np.flatnonzero(chosen & system.free)
    stiffness, mass = stiffness[np.ix_(kept, kept)], mass[np.ix_(kept, kept)]
    basis = null_space(held[:, kept]) if len(held) else None
    if not (len(kept) if basis is None else basis.shape[1]):
        return Stability("stable", reason="nothing can move")
    if basis is not None:
        stiffness, mass = basis.T @ stiffness @ basis, basis.T @ mass @ basis
    stiffness = 0.5 * (stiffness + stiffness.T)
    try:
        values, modes = eigh(stiffness, mass, check_finite=False)
    except LinAlgError:
        return _without_mass(stiffness, reason)
    largest = float(np.max(np.abs(values)))
    lowest = float(values[0])
    mode = np.zeros(n)
    mode[kept] = modes[:, 0] if basis is None else basis @ modes[:, 0]
    mode /= np.max(np.abs(mode))
    unstable = int(np.count_nonzero(values < -_NEUTRAL * largest))
    word = "unstable" if unstable else "stable" if lowest > _NEUTRAL * largest else "neutral"
    return Stability(word, lowest, unstable, reason, mode)


def _without_mass(stiffness: Array, reason: str) -> Stability:
    """Its sign alone, where massless coordinates leave ω² without meaning."""
    scale = np.sqrt(np.maximum(np.abs(stiffness.diagonal()), 1e-300))
    values = np.linalg.eigvalsh(stiffness / np.outer(scale, scale))
    unstable = int(np.count_nonzero(values < -_NEUTRAL))
    word = "unstable" if unstable else "stable" if values[0] > _NEUTRAL else "neutral"
    said = f"{reason}, massless coordinates" if reason else "massless coordinates"
    return Stability(word, math.nan, unstable, said)
