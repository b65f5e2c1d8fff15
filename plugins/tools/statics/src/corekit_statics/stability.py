"""Whether an equilibrium is stable: the lowest eigenvalue of its stiffness where constraints and contacts allow motion.

    (K − ∂(J_bᵀλ_b)/∂q)·x = ω²·M·x   on   J·x = 0,  prescribed x = 0                    (1)

with the symmetric part of the left matrix. A compliant constraint adds J_bᵀ·J_b/α, a contact potential Pᵀ·K_c·P.
J holds rigid constraints and touching contacts, as if they acted both ways. A contact that does not press, slides or
could not stick holds its normal alone.
ω² > 0: the world swings back, √ω² is the frequency of the slowest mode. ω² < 0: it leaves with the rate √−ω². (1) does
not contain the turning of contact normals: a ball in a hollow is neutral here, as on a plane.

A single body without constraints and contact keeps its structure: ω² is bracketed by whether K − sM is positive
definite (Sylvester's law of inertia). Otherwise (1) is solved on a basis of the kernel of J.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from attrs import frozen
from scipy.linalg import LinAlgError, eigh, null_space

from corekit.data.arrays import Array
from corekit.data.contacts import ContactMode
from corekit.linalg.constraint_rows import new_dense_rows
from corekit.linalg.factorisation_choice import make_factorisation
from corekit.linalg.matrices import symmetrise
from corekit_statics.equilibrium_system import EquilibriumSystem
from corekit_statics.inertia import diagonal

__all__ = ["Stability", "stability_of"]

_LARGEST_DENSE = 2000
"""Largest number of velocities for which (1) is solved as a dense problem of several bodies."""
_SMALL = 60
"""Largest number of velocities of one body for which (1) is solved as a dense problem."""
_NEUTRAL = 1e-9
"""|ω²| below this share of the stiffest ω² counts as zero."""


@frozen(eq=False)
class Stability:
    """The solution of (1).

    Args:
        verdict: `stable`, `neutral`, `unstable` or `not judged`.
        smallest: lowest ω² [1/s²]; nan if it is not known.
        modes: number of unstable modes; −1 if there are some but their number is not known.
        reason: why there is no verdict, or what was left out.
        mode: the lowest one as a displacement, of largest entry 1, shape (nv,); None if it is not known.
    """

    verdict: str
    smallest: float = math.nan
    modes: int = 0
    reason: str = ""
    mode: Array | None = None

    @property
    def stable(self) -> bool:
        """Whether the world returns after every small displacement."""
        return self.verdict == "stable"

    def __str__(self) -> str:
        if math.isnan(self.smallest):
            said = self.verdict
        elif self.verdict == "stable":
            said = f"stable, slowest mode {math.sqrt(self.smallest) / (2 * math.pi):.4g} Hz"
        elif self.verdict == "unstable":
            count = "" if self.modes < 0 else f"{self.modes} mode{'s' if self.modes != 1 else ''}, "
            said = f"unstable, {count}grows by e in {1 / math.sqrt(-self.smallest):.3g} s"
        else:
            said = f"neutral, a mode without stiffness (ω² = {self.smallest:.1e} 1/s²)"
        return f"{said} ({self.reason})" if self.reason else said


def stability_of(system: EquilibriumSystem) -> Stability:
    """The stability of the state that a system was evaluated at last, with its λ."""
    has_constraints = any(each.terms.rows is not None for each in system.equilibria)
    if not has_constraints and system.contacts.potential is None and not system.record().count:
        order = ("unstable", "not judged", "neutral", "stable")
        each = [_of_body(system, b) for b in range(len(system.bodies))]
        return min(each, key=lambda found: (order.index(found.verdict), found.smallest))
    if system.nv > _LARGEST_DENSE:
        return Stability("not judged", reason=f"more than {_LARGEST_DENSE} velocities with rows or contacts")
    rows, reason = _contact_rows(system)
    rigid = np.concatenate([rows, *_constraint_rows(system)])
    return _of_block(system, range(len(system.bodies)), rigid, reason)


# — one body of any structure —


def _of_body(system: EquilibriumSystem, b: int) -> Stability:
    """Bracket the lowest ω² of a body without constraints."""
    equilibrium, where = system.equilibria[b], system.slices[b]
    terms = equilibrium.terms
    if terms.body.nv <= _SMALL:
        return _of_block(system, [b], np.zeros((0, system.nv)))
    test = make_factorisation(terms.matrix, None, terms.prescribed)

    def is_definite(shift: float) -> bool:
        equilibrium.assemble(-shift)
        symmetrise(terms.matrix)
        return test.refactor(terms.matrix, None)

    equilibrium.assemble(0.0)
    stiffness, mass = diagonal(terms.matrix), diagonal(terms.mass)
    kept = system.free[where] & (mass > 0)
    stiffest = float(np.max(np.abs(stiffness[kept]) / mass[kept], initial=0.0))
    if not stiffest > 0:
        return Stability("neutral", 0.0)
    tiny = _NEUTRAL * stiffest
    if is_definite(tiny):
        low, high = tiny, stiffest
    elif is_definite(-tiny):
        return Stability("neutral", 0.0)
    else:
        # unstable: find a shift that makes it definite, then bracket between the two
        low, high = -4.0 * tiny, -tiny
        while not is_definite(low):
            low, high = 4.0 * low, low
            if low < -1e30:
                return Stability("unstable", modes=-1, reason="along massless coordinates")
    while abs(high - low) > 1e-6 * min(abs(low), abs(high)):
        # the bracket spans decades at first
        middle = math.copysign(math.sqrt(low * high), low)
        low, high = (middle, high) if is_definite(middle) else (low, middle)
    return Stability("stable", low) if low > 0 else Stability("unstable", low, -1)


# — bodies joined by constraints and contacts —


def _constraint_rows(system: EquilibriumSystem) -> list[Array]:
    """J of the rigid constraints of every body that are not at a bound, each (·, nv)."""
    found: list[Array] = []
    for each, where in zip(system.equilibria, system.slices, strict=True):
        rows, force = each.terms.rows, each.terms.row_impulse
        if rows is None:
            continue
        at_bound = (force <= rows.lower * (1 - 1e-9)) | (force >= rows.upper * (1 - 1e-9))
        rigid = np.flatnonzero((rows.compliance == 0) & ~(rows.bounded & at_bound))
        jacobian = np.zeros((len(rigid), system.nv))
        jacobian[:, where] = new_dense_rows(rows.dofs[rigid], rows.values[rigid], each.terms.body.nv)
        found.append(jacobian)
    return found


def _contact_rows(system: EquilibriumSystem) -> tuple[Array, str]:
    """J of what touching contacts hold, in contact axes; those of a potential hold nothing."""
    contacts, record = system.contacts, system.record()
    presses = record.mode != ContactMode.SEPARATE
    if contacts.potential is not None or not presses.any():
        return np.zeros((0, system.nv)), ""
    sticks = presses & (contacts.friction_use(record) < 1.0 - 1e-6)
    # of four corners a solver may load two: the others touch and block the motion as well
    touches = presses | (record.gap <= max(1e-9, 2.0 * float(np.max(np.abs(record.gap[presses])))))
    rows = np.repeat(touches, contacts.width)
    rows.reshape(-1, contacts.width)[:, 1:] &= sticks[:, None]
    return contacts.jacobian()[rows], "touching contacts held"


def _of_block(system: EquilibriumSystem, bodies: Sequence[int], rigid: Array, reason: str = "") -> Stability:
    """Solve (1) densely for some bodies together."""
    n, potential = system.nv, system.contacts.potential
    stiffness, mass, chosen = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n, dtype=bool)
    for b in bodies:
        terms, where = system.equilibria[b].terms, system.slices[b]
        system.equilibria[b].assemble(0.0)
        stiffness[where, where], mass[where, where] = terms.matrix.dense(), terms.mass.dense()
        rows = terms.rows
        if rows is not None:
            soft = np.flatnonzero((rows.compliance > 0) & ~rows.is_velocity_level & ~rows.bounded)
            jacobian = new_dense_rows(rows.dofs[soft], rows.values[soft], terms.body.nv)
            stiffness[where, where] += jacobian.T @ (jacobian / rows.compliance[soft, None])
        chosen[where] = True
    if potential is not None and potential.count:
        stiffness += np.stack([potential.tangent_product(unit, 0.0, 1.0) for unit in np.eye(n)], axis=1)
    kept = np.flatnonzero(chosen & system.free)
    stiffness, mass = stiffness[np.ix_(kept, kept)], mass[np.ix_(kept, kept)]
    basis = null_space(rigid[:, kept]) if len(rigid) else np.eye(len(kept))
    if not basis.shape[1]:
        return Stability("stable", reason="nothing can move")
    if len(rigid):
        stiffness, mass = basis.T @ stiffness @ basis, basis.T @ mass @ basis
    stiffness = 0.5 * (stiffness + stiffness.T)
    try:
        values, modes = eigh(stiffness, mass, check_finite=False)
    except LinAlgError:
        # massless coordinates leave ω² without meaning, but not its sign
        scale = np.sqrt(np.maximum(np.abs(stiffness.diagonal()), 1e-300))
        values = np.linalg.eigvalsh(stiffness / np.outer(scale, scale)).astype(np.float64)
        said = f"{reason}, massless coordinates" if reason else "massless coordinates"
        return _judged(values, 1.0, math.nan, said)
    mode = np.zeros(n)
    mode[kept] = basis @ modes[:, 0]
    mode /= np.max(np.abs(mode))
    return _judged(values, float(np.max(np.abs(values))), float(values[0]), reason, mode)


def _judged(
    values: Array, scale: float, smallest: float, reason: str, mode: Array | None = None
) -> Stability:
    """The verdict on eigenvalues in ascending order, of which those below a share of `scale` count as zero."""
    unstable = int(np.count_nonzero(values < -_NEUTRAL * scale))
    verdict = "unstable" if unstable else "stable" if values[0] > _NEUTRAL * scale else "neutral"
    return Stability(verdict, smallest, unstable, reason, mode)
