"""The contact solver role, in its two kinds: impulses by complementarity, and potentials.

An impulse solver answers, for the contact and bounded rows of one step,

    w = W·λ + w₀                                                                       (1)
    0 ≤ λ_n ⊥ w_n ≥ 0,  friction(λ_t, w_t; law, λ_n)                                   (2)
    w_b = 0 if lo < λ_b < hi,  w_b ≥ 0 at lo,  w_b ≤ 0 at hi                           (3)

with λ impulses [N·s] and w velocities [m/s]; W = J·G·Jᵀ is the Delassus matrix, G the inverse of the
step matrix with bilateral rows and prescribed coordinates eliminated. Stabilisation is inside w₀.
The law is that of `BuildContext.friction_law`: Coulomb's, or one that the spec of the solver provides by name;
`corekit.roles.friction` states them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

import numpy as np
from attrs import define, field, frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.status import SolveInfo
from corekit.errors import PluginError
from corekit.linalg.matrices import Matrix
from corekit.roles.component import Component

if TYPE_CHECKING:
    from corekit.roles.contact_blocks import ContactBlocks
    from corekit.roles.pyramid import DirectionCovector

__all__ = [
    "ContactMotion",
    "ContactPotential",
    "ContactSolver",
    "FrictionDirections",
    "ImpulseSolver",
    "PotentialTerms",
    "StepProblem",
    "UnreducedStepProblem",
    "UnreducedStepSolver",
]


class StepProblem(Protocol):
    """The problem (1)–(3) of one step, or of an island of it, as the kernel built it; what a solver asks for its form.

    A class that derives from this one has W dense alone.

    Rows stand as: for each of the m contacts its rows (normal, first tangent and, in space, second tangent), then the
    p bounded rows; R = m·rows_per_contact + p.

    Attributes:
        contact_count: m.
        rows_per_contact: 3, or 2 in a planar world.
        bounded_count: p.
        id: contact identities for warm starts, shape (m,).
        friction: μ, shape (m,); of a law with several coefficients the largest.
        friction_record: the numbers of such a law, shape (m, k), which a solver of Coulomb's law need not read; of a
            directional law the first tangent is the material direction.
        gap: signed distance at the state of the rows [m], shape (m,).
        free_velocity: w₀, relative velocity at λ = 0 with stabilisation and moving obstacles, shape (R,).
        start_impulse: λ of the last step, shape (R,), zero for new contacts; constant in the
            iterations of a step, while the guess that `solve` gets is the answer of the last iteration.
        lower, upper: impulse bounds of the bounded rows, shape (p,), possibly infinite.
        step: h [s].
    """

    contact_count: int
    rows_per_contact: int
    bounded_count: int
    id: IntArray
    friction: Array
    friction_record: Array
    gap: Array
    free_velocity: Array
    start_impulse: Array
    lower: Array
    upper: Array
    step: float

    @abstractmethod
    def delassus(self) -> Array:
        """W, shape (R, R), symmetric positive semidefinite (bounded rows carry their compliance)."""

    def blocks(self) -> ContactBlocks | None:
        """W by the bodies that its contacts touch; None where it is known dense alone."""
        return None

    def unreduced(self) -> UnreducedStepProblem | None:
        """The step before anything is eliminated; None where the world has more than that form can say.

        It is given to an `UnreducedStepSolver` alone. Where it is there, W and w₀ are not known.
        """
        return None


@define(eq=False)
class UnreducedStepProblem(StepProblem):
    """One step before anything is eliminated, its rows by entries.

        A·Δ = b + J_bᵀ·λ_b + J_cᵀ·λ_c                                                 (4)
        w_b = J_b·Δ + E·λ_b − r                           with λ_b and w_b as in (3)
        w_c = J_c·Δ + bias                                with λ_c and w_c as in (2)

    Δ is the change of velocity from where the step was linearised, whose velocity at the contacts is in the bias.
    Bounded rows stand among those of constraints, so that λ has m·width entries and `bounded_count` is 0.

    The same object step by step; arrays that begin with the same size stay, those of contacts are replaced.

    Args:
        matrix, rhs: A, symmetric, and b, shape (n,).
        constraint_dofs, constraint_values: J_b, shape (nb, k), in the order of the model's chain; unused entries have
            value 0.
        compliance, target_rate: E and r, shape (nb,).
        row_lower, row_upper: bounds of λ_b, shape (nb,), infinite for rows that always hold [N·s].
        increment, row_impulse: Δ (n,) and λ_b (nb,), to be written; λ_b holds a guess.
        rows_per_contact, contact_count, id, gap, friction, friction_record, start_impulse, step: as of `StepProblem`.
        frictional: whether any contact may ever have friction.
        free_velocity: empty, since w₀ is not known.
        contact_dofs, contact_values: J_c, shape (m·width, k_c). bias: stabilisation and obstacles, (m, width) [m/s].
    """

    matrix: Matrix
    rhs: Array
    constraint_dofs: IntArray
    constraint_values: Array
    compliance: Array
    target_rate: Array
    row_lower: Array
    row_upper: Array
    increment: Array
    row_impulse: Array
    rows_per_contact: int
    contact_count: int = 0
    bounded_count: int = 0
    frictional: bool = True
    id: IntArray = field(factory=lambda: np.zeros(0, dtype=np.int64))
    gap: Array = field(factory=lambda: np.zeros(0))
    friction: Array = field(factory=lambda: np.zeros(0))
    friction_record: Array = field(factory=lambda: np.zeros((0, 0)))
    lower: Array = field(factory=lambda: np.zeros(0))
    upper: Array = field(factory=lambda: np.zeros(0))
    contact_dofs: IntArray = field(factory=lambda: np.zeros((0, 1), dtype=np.int64))
    contact_values: Array = field(factory=lambda: np.zeros((0, 1)))
    bias: Array = field(factory=lambda: np.zeros((0, 3)))
    start_impulse: Array = field(factory=lambda: np.zeros(0))
    step: float = 0.0
    free_velocity: Array = field(init=False, factory=lambda: np.zeros(0))

    def delassus(self) -> Array:
        """Not known: nothing is eliminated."""
        raise PluginError(
            "W of a step that is given unreduced is not known: a solver that derives from UnreducedStepSolver answers "
            "StepProblem.unreduced() where that is not None, or returns Status.SINGULAR"
        )

    def unreduced(self) -> UnreducedStepProblem:
        """This."""
        return self


class ContactSolver(Component, ABC):
    """Turns a step's contacts into impulses or forces. Concrete solvers derive from one of the two kinds."""


class ImpulseSolver(ContactSolver):
    """Solves (1)–(3) for the impulses of a step."""

    @abstractmethod
    def solve(self, problem: StepProblem, impulse: Array) -> SolveInfo:
        """Write λ, shape (R,) [N·s]; what `impulse` held before is a guess (0 if there is none).

        The kernel calls it for every island of a step: contacts that no body connects do not know of each other.

        The residuals in the answer are measured in the physical problem (1)–(3) after the solve. A
        problem without solution is never said to be solved.
        """


class FrictionDirections(ABC):
    """What an impulse solver derives from too, if its friction is that of pyramids.

    Derivatives of steps need the directions in which contacts slide. A solver without this one slides against the
    slip, as Coulomb's cone says.
    """

    @property
    @abstractmethod
    def turns_directions(self) -> bool:
        """Whether the directions depend on the problem and not on its friction alone."""

    @abstractmethod
    def compute_friction_directions(self, problem: StepProblem) -> Array:
        """Return d_k, corners of a convex polygon in the order of their angle, shape (m, width − 1, r).

        Friction is λ_t in the polygon of the corners μ·λ_n·d_k, as `ImpulseSolver.solve` would have it for the problem.
        """

    def pull_friction_directions(
        self, problem: StepProblem, directions: Array, covector: Array
    ) -> DirectionCovector | None:
        """What a covector of the directions, shape (m, width − 1, r), is of the problem that they follow.

        None where it is not known: steps are then differentiated by columns.
        """
        return None


class UnreducedStepSolver(ImpulseSolver):
    """An impulse solver that asks for `StepProblem.unreduced`, and keeps the structure of its rows.

    Where that is there, `solve` writes Δ and λ_b of the form, and λ_c (m·width,) to `impulse`, which holds a guess.
    SINGULAR where A is not positive definite: `solve` is then called again, with a problem that is reduced. The errors
    of J_b·Δ + E·λ_b = r are among the residuals `normal`.
    """


@frozen(eq=False)
class PotentialTerms:
    """What a potential returns for m contacts, in the space of their material points (12 numbers a contact).

    Buffers owned by the kernel; axis a of point i stands at 3·i + a; unused points stay zero.

    Args:
        energy: [J], shape (m,).
        force: f_c on the points [N], shape (m, 12), weights included.
        stiffness: K_c = −∂f_c/∂x [N/m], shape (m, 12, 12).
        damping: D_c = −∂f_c/∂ẋ [N·s/m], shape (m, 12, 12).
        normal_force: readable normal force [N], shape (m,).
        tangential_force: in tangent and normal × tangent [N], shape (m, 2).
    """

    energy: Array
    force: Array
    stiffness: Array
    damping: Array
    normal_force: Array
    tangential_force: Array


class ContactMotion(Protocol):
    """How the contacts of an accepted step move at its end; nothing is computed that is not read."""

    @property
    def normal_velocity(self) -> Array:
        """Rate of every gap, shape (m,) [m/s]; negative where it closes."""

    @property
    def normal_acceleration(self) -> Array:
        """Mean change of `normal_velocity` in the step, shape (m,) [m/s²]."""

    def effective_mass(self, contact: int) -> float:
        """1/(J_n·M⁻¹·J_nᵀ) of a contact [kg], constraints left out; infinite where no motion changes its gap."""


class ContactPotential(ContactSolver):
    """A contact force that is a function of the trial state; no complementarity."""

    @property
    @abstractmethod
    def activation_distance(self) -> float:
        """Gap [m] up to which the potential acts: candidates closer than this are measured."""

    @property
    def resolution(self) -> float:
        """How far a pair may move through the layer in a step [m], at most half of `activation_distance`.

        Steps are cut to this. A conservative force conserves energy as well as a step resolves it.
        """
        return 0.5 * self.activation_distance

    @abstractmethod
    def evaluate(
        self, contacts: ContactSet, position: Array, velocity: Array, step: float, out: PotentialTerms
    ) -> SolveInfo:
        """Write the terms of every contact at the trial state.

        Args:
            contacts: the set at the trial state.
            position, velocity: of the material points in the world, shape (m, 4, 3) [m], [m/s]; the velocities
                are relative to the obstacle's where one side is an obstacle.
            step: h [s].
            out: zeroed buffers.
        """

    @abstractmethod
    def on_step_accepted(self, contacts: ContactSet, motion: ContactMotion, step: float) -> None:
        """Adapt stiffness, remember slip; called once per accepted step; most do nothing.

        Steps are cut so that a pair that closes is seen here at a gap between half of `activation_distance` and all of
        it, before the potential pushes. A stiffness that changes under load makes or
        takes energy; changed there it does not.

        Args:
            contacts: the last set of the step; of a contact that closes before it is loaded, up to the margin.
            motion: of these contacts at the end of the step.
            step: h [s].
        """
