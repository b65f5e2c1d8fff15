"""What a world is at one state, for whom asks beside its steps: statics, modes, the balance of energy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.linalg.constraint_rows import ConstraintRows, EliminatedConstraints
from corekit.linalg.factorisation import Factorisation
from corekit.linalg.matrices import Matrix
from corekit.roles.body import Body
from corekit.roles.component import InternalState
from corekit.roles.contact import ContactPotential, PotentialTerms

__all__ = ["BodyRows", "BodyTerms", "EquilibriumTerms", "PotentialTermsAt", "PrescribedPath", "WorldTerms"]


class PrescribedPath(Protocol):
    """p(t) of a body. Attributes: `exists`, `coordinates` (p,)."""

    exists: bool
    coordinates: IntArray

    def values_at(self, time: float) -> Array:
        """p and ṗ, shape (2, p)."""

    def set_coordinates(self, state: State, time: float) -> None:
        """Set the prescribed coordinates of a body's state to p(time)."""

    def impose(self, state: State, time: float) -> None:
        """Set prescribed coordinates and velocities of a body's state."""


class BodyRows(Protocol):
    """The constraints of a body, J·Δ + E·λ = r.

    Attributes:
        rows: as the model wrote them. kept: indices of those without bounds. eliminated_impulse: their λ_b.
    """

    rows: ConstraintRows
    kept: IntArray
    eliminated_impulse: Array

    def evaluate(self, state: State, inputs: Array) -> None:
        """Write the rows of the model at a state of the body."""

    def set_rows(self, compliance: Array, target: Array) -> None:
        """Set E and r (nb,), with J as the model wrote it last."""

    def eliminate(self) -> None:
        """Copy the rows without bounds to those that the factorisation eliminates."""

    def compute_force_gradient(self, state: State, impulse: Array, out: Matrix) -> None:
        """Write ∂(Jᵀ·λ)/∂δ at a state of the body, for λ of all rows."""


class BodyTerms(Protocol):
    """One body's terms.

    Attributes:
        body: whose. mass, force: M and f. stiffness, damping: K and D, or None.
        matrix, rhs: A and r, which the caller may write before `refactor`.
        constraints: or None. rows: as the model wrote them, or None. eliminated: those without bounds.
        row_impulse: λ_b of all rows. bounded: their indices with bounds.
        motion: prescribed motion. prescribed: its velocity indices. free: which are not, (nv,).
        fixed: Δ of the prescribed velocities, (p,). factor: A factorised.
    """

    body: Body
    mass: Matrix
    force: Array
    stiffness: Matrix | None
    damping: Matrix | None
    matrix: Matrix
    rhs: Array
    rows: ConstraintRows | None
    eliminated: EliminatedConstraints
    row_impulse: Array
    bounded: IntArray
    prescribed: IntArray
    free: BoolArray
    fixed: Array
    factor: Factorisation

    @property
    def constraints(self) -> BodyRows | None: ...
    @property
    def motion(self) -> PrescribedPath: ...

    def inputs_at(self, time: float) -> Array:
        """u(t), shape (nu,)."""

    def reparametrise(self, state: State) -> bool:
        """Change to equivalent coordinates if the model wants to; return whether it did."""

    def refactor(self) -> bool:
        """Factorise A with the constraints as they are; False if that failed."""

    def add_constraint_impulses(self, out: Array) -> None:
        """out += J_bᵀ·λ_b over all rows."""


class PotentialTermsAt(Protocol):
    """A contact potential and its terms of `count` contacts where it was evaluated last."""

    potential: ContactPotential
    terms: PotentialTerms
    count: int

    def tangent_product(self, velocity: Array, damping: float, stiffness: float) -> Array:
        """Pᵀ·(damping·D_c + stiffness·K_c)·P·v, shape (nv,)."""


class WorldTerms(Protocol):
    """Terms of all bodies. Attribute `forces`: of a contact potential, or None."""

    @property
    def bodies(self) -> Sequence[BodyTerms]: ...
    @property
    def forces(self) -> PotentialTermsAt | None: ...

    def contact_energy(self, state: State, step: float) -> float:
        """Σ energy that a contact potential stores at an accepted state after a step h, 0 without one [J]."""


class EquilibriumTerms(Protocol):
    """The balance of forces at rest: bodies, whose A and r the caller writes, contacts and their forces.

    A step of 1 s has impulses of the same value as forces.

    Attributes:
        count: contacts at the last state. bounded: rows with bounds.
        failed_body: index of the first body whose matrix could not be factorised, −1 if all could.
    """

    count: int

    @property
    def bodies(self) -> Sequence[BodyTerms]: ...
    @property
    def forces(self) -> PotentialTermsAt | None: ...
    @property
    def failed_body(self) -> int: ...
    @property
    def contact_forces(self) -> Array: ...

    def new_state(self) -> State:
        """A buffer for a state of the world."""

    def find_contacts(self, state: State, margin: float, step: float) -> None:
        """Find the contacts with a gap below `margin` [m] at a state, with the forces so far; a potential's for h."""

    def force(self) -> Array:
        """J_cᵀ·λ_c or the potential's force, shape (nv,) [N or N·m]."""

    def solve(self, out: Array) -> SolveInfo | None:
        """Factorise A, write the displacement δ and the forces of all rows; None where a matrix is singular."""

    def rows(self) -> Array:
        """J_c of the contacts, shape (m·width, nv)."""

    def accept(self) -> None:
        """Keep the tangents of the contacts."""

    def record(self, *, by_point: bool = False) -> ContactRecord:
        """What every contact carries, as impulses over 1 s, or, by point, the points that stand for areas."""

    def internal_state(self) -> InternalState:
        """The forces known, as named arrays."""

    def restore(self, internal_state: InternalState) -> None:
        """Restore what `internal_state` gave."""
