"""What only some models can do: the methods of each ability, and a model's abilities as its users hold them.

A spec declares abilities by words. Composition resolves them once, to `ModelAbilities`: a holder of one can call its
methods, and None says that the model lacks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

from attrs import fields, frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.linalg.constraint_rows import ConstraintRows
from corekit.linalg.matrices import Matrix
from corekit.roles.compiled_form import CompiledFormAbility
from corekit.roles.symbolic import SymbolicAbility

__all__ = [
    "ConstraintAbility",
    "DissipationAbility",
    "EnergyAbility",
    "ForceDerivativesAbility",
    "ForceTermsAbility",
    "FreeBaseAbility",
    "InputJacobianAbility",
    "InverseDynamicsAbility",
    "MassGradientAbility",
    "ModelAbilities",
    "NewNumbersAbility",
    "PointJacobianAbility",
    "PrescribedMotionAbility",
    "ReparametrisationAbility",
    "StateDoubtsAbility",
]


class PointJacobianAbility(Protocol):
    """Ability `point-jacobian`: velocities of material points."""

    def compute_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        """Rows of the points `local` (c, 3) [m] fixed in frames `frame` (c,): ẋ = Σⱼ values[:, :, j]·v[dofs[:, j]].

        Write `dofs` (c, k) and `values` (c, 3, k), world axes, with k = `ModelDescription.jacobian_width`; unused
        entries have value 0 and a valid index.
        """


class ForceDerivativesAbility(Protocol):
    """Ability `force-derivatives`."""

    def new_stiffness_and_damping(self) -> tuple[Matrix, Matrix]:
        """Allocate buffers for K and D in the structures of this model."""

    def compute_stiffness_and_damping(
        self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix
    ) -> None:
        """Write K = −∂f(integrate(q, δ, 1))/∂δ at δ = 0, and D = −∂f/∂v. The derivative of M is not part of K."""


class DissipationAbility(Protocol):
    """Ability `dissipation`, with `force-derivatives`: which part of D damps.

    The rest is that of inertia forces −c(v), quadratic in v and without work, c·v = 0, as ω × I·ω of a rigid body.
    """

    def compute_dissipation(self, state: State, inputs: Array, out: Matrix) -> None:
        """Write D₀ = D − ∂c/∂v, symmetric and positive semidefinite, into a buffer like D's."""


class InverseDynamicsAbility(Protocol):
    """Ability `inverse-dynamics`, with `force-derivatives`: the residual at an acceleration w, and its derivatives."""

    def compute_dynamics_residual(
        self, state: State, inputs: Array, acceleration: Array, out: Array, mass: Matrix | None = None
    ) -> None:
        """Write f − M·w, shape (nv,), and M if a buffer is given."""

    def compute_residual_derivatives(
        self,
        state: State,
        inputs: Array,
        acceleration: Array,
        stiffness: Matrix,
        damping: Matrix,
        impulse: Array | None = None,
    ) -> None:
        """Write K = −∂(f − M·w + J_bᵀ·λ)/∂δ at constant w and λ, and D = −∂f/∂v; K need not be symmetric.

        δ is a displacement as in `compute_stiffness_and_damping`. Only models with constraints get λ as `impulse`; it
        saves a `compute_constraint_force_gradient`.
        """


class MassGradientAbility(Protocol):
    """Ability `mass-gradient`: derivatives of runs ask for it in each step, and difference M without it."""

    def compute_mass_gradient(self, state: State, w: Array, x: Array, out: Array) -> None:
        """Write ∂(wᵀ·M(integrate(q, δ, 1))·x)/∂δ at δ = 0, shape (nv,), for w and x of shape (nv,)."""


class ConstraintAbility(Protocol):
    """Ability `constraints`: they always hold, rigid or compliant, possibly with force bounds."""

    def new_constraints(self) -> ConstraintRows:
        """Allocate a buffer for the constraints, with its fixed width."""

    def compute_constraints(self, state: State, inputs: Array, rows: ConstraintRows) -> None:
        """Write J_b, position errors c, target rates u, compliances and force bounds at this state."""

    def compute_constraint_force_gradient(self, state: State, impulse: Array, out: Matrix) -> None:
        """Write ∂(J_bᵀ·λ)/∂δ for given λ into a buffer like K's, δ as in `compute_stiffness_and_damping`."""


class PrescribedMotionAbility(Protocol):
    """Ability `prescribed`: coordinates that follow a given motion."""

    def compute_prescribed_motion(self, time: float, value: Array, rate: Array) -> None:
        """Write p(t) and ṗ(t) of the prescribed coordinates, both (p,), in the order of `prescribed_velocity_index`."""


class FreeBaseAbility(Protocol):
    """Ability `free-base`: with `BuildContext.free_base` the base moves, and its pose is among the coordinates.

    The first frame of the description is the base.
    """

    def place_base(
        self, state: State, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> None:
        """Write the base's pose (3,) [m], (3, 3) and its twist (3,) [m/s], (3,) [rad/s] into q and v of a state.

        All in world axes. The body moves with its base as a rigid one: what else q and v say of it stays.
        """


class ReparametrisationAbility(Protocol):
    """Ability `reparametrisation`: several coordinates stand for the same configuration."""

    def reparametrise(self, state: State) -> bool:
        """Change q, v and aux to equivalent coordinates, or v where a prescribed rate jumps; return whether it did.

        The kernel calls it at the start of a run and after every accepted step.
        """


class EnergyAbility(Protocol):
    """Ability `energy`."""

    def compute_energies(self, state: State) -> tuple[float, float]:
        """Return kinetic and potential energy [J]; the potential of constant inputs does not count."""


class ForceTermsAbility(Protocol):
    """Ability `force-terms`."""

    def compute_force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        """Return named parts of f, each of shape (nv,), that sum to f; performance does not matter here."""


class InputJacobianAbility(Protocol):
    """Ability `input-jacobian`."""

    def compute_input_jacobian(self, state: State, inputs: Array, out: Array) -> None:
        """Write ∂f/∂u, shape (nv, nu), u the stacked inputs."""


class NewNumbersAbility(Protocol):
    """Ability `new-numbers`."""

    def with_numbers(self, config: Any) -> Any | None:
        """Return the model that these options build, to the bit, with the description of this one.

        None where they differ in more than numbers that this one can exchange. It is not changed. The two may share
        what no such number touches, but no buffer that remembers a state.
        """


class StateDoubtsAbility(Protocol):
    """Ability `state-doubts`."""

    def find_state_doubts(self, state: State, inputs: Array) -> Sequence[str]:
        """Return what the model leaves out and matters in this state, a sentence each; runs ask now and then."""


@frozen(eq=False)
class ModelAbilities:
    """A model by what it can do: each field is the model itself, or None where its spec does not declare the ability.

    Args:
        words: all that the spec declares, facts without methods (`planar`, `growth`) among them.
    """

    words: frozenset[str] = frozenset()
    point_jacobian: PointJacobianAbility | None = None
    force_derivatives: ForceDerivativesAbility | None = None
    dissipation: DissipationAbility | None = None
    inverse_dynamics: InverseDynamicsAbility | None = None
    mass_gradient: MassGradientAbility | None = None
    constraints: ConstraintAbility | None = None
    prescribed: PrescribedMotionAbility | None = None
    free_base: FreeBaseAbility | None = None
    reparametrisation: ReparametrisationAbility | None = None
    energy: EnergyAbility | None = None
    force_terms: ForceTermsAbility | None = None
    input_jacobian: InputJacobianAbility | None = None
    new_numbers: NewNumbersAbility | None = None
    state_doubts: StateDoubtsAbility | None = None
    compiled_form: CompiledFormAbility | None = None
    symbolic: SymbolicAbility | None = None

    @classmethod
    def from_model(cls, model: Any, words: frozenset[str]) -> Self:
        """Resolve the words of a spec, whose methods the contract check has found on the model."""
        own = {word.replace("-", "_") for word in words} & {each.name for each in fields(cls)}
        return cls(words, **dict.fromkeys(own, model))
