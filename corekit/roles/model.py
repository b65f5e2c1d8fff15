"""The model role: a body with coordinates, dynamics and frames, and the abilities of some models.

Conventions: q ∈ ℝ^nq are coordinates, v ∈ ℝ^nv velocities, and `integrate` realises q̇ = N(q)·v;

    M(q)·v̇ = f(q, v, u, t) + J_bᵀ·(constraint forces) + J_cᵀ·(contact forces)            (1)

f contains all forces but those of constraints and contacts, damping included.
"""

from __future__ import annotations

import enum
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.signal_base import Signal
from corekit.data.state import State
from corekit.geometry.shapes import Shape
from corekit.linalg.constraint_rows import ConstraintRows
from corekit.linalg.matrices import Matrix
from corekit.roles.component import Component

__all__ = [
    "Channel",
    "ChannelKind",
    "ConstraintAbility",
    "Coordinate",
    "EnergyAbility",
    "ForceDerivativesAbility",
    "ForceTermsAbility",
    "FreeBaseAbility",
    "InputJacobianAbility",
    "Model",
    "ModelDescription",
    "Outline",
    "PointJacobianAbility",
    "PrescribedMotionAbility",
    "ReparametrisationAbility",
    "SymbolicAbility",
    "SymbolicModel",
]


@frozen
class Coordinate:
    """One coordinate or velocity: its name and unit."""

    name: str
    unit: str


class ChannelKind(enum.Enum):
    """The quantity that an input channel sets."""

    EFFORT = "effort"
    VELOCITY = "velocity"
    POSITION = "position"


@frozen
class Channel:
    """One named input of a model: `size` numbers of one unit.

    Args:
        lower, upper: bounds of every number: a signal beyond them is refused, what is written or computed is clipped.
        sign: what a positive number does, a phrase.
    """

    name: str
    unit: str
    size: int = 1
    kind: ChannelKind = ChannelKind.EFFORT
    lower: float = -math.inf
    upper: float = math.inf
    sign: str = ""


def _no_index() -> IntArray:
    return np.zeros(0, dtype=np.int64)


@frozen(eq=False, kw_only=True)
class ModelDescription:
    """All that is constant about a model.

    Args:
        coordinates, velocities: names and units, lengths nq and nv.
        inputs: channels; the input vector u stacks them in order.
        frames: names of the frames that carry shapes and points of interest.
        shapes: collision shapes on those frames.
        excluded_pairs: pairs of own shapes that detectors never test, shape (k, 2).
        self_contact: whether own shapes may touch each other.
        aux: length of the state's auxiliary array.
        prescribed_velocity_index: velocities that follow a given motion p(t) (clamps, driven joints).
        prescribed_coordinate_index: the coordinate index of each, so that q[...] = p(t + h) after a step.
        prescribed_signals: the signals of p(t); steps land on their breakpoints.
        constraint_count: number of constraints, ordered along the model's chain.
        jacobian_width: k, the most velocities on which a material point depends (nv for dense models).
        plane: for a planar model its embedding: origin and two axes in the world, shape (3, 3); else None.
        velocity_scale: surface speed per unit of each velocity, which weighs errors of velocities, shape (nv,): 1 where
            the unit is m/s, the radius where a thin body spins; None: all are 1.
        derivative_error: declared bound of the error of K and D relative to their largest entry; 0: exact to rounding.
            Those of `corekit.roles.differences` are not.
        untracked_work: names of effects whose work is neither of inputs nor of prescribed motions; empty: none.
        doubts: what is allowed but improbable in its options, a sentence each, for `corekit check`.
    """

    coordinates: tuple[Coordinate, ...]
    velocities: tuple[Coordinate, ...]
    inputs: tuple[Channel, ...] = ()
    frames: tuple[str, ...] = ()
    shapes: tuple[Shape, ...] = ()
    excluded_pairs: IntArray = field(factory=lambda: np.zeros((0, 2), dtype=np.int64))
    self_contact: bool = False
    aux: int = 0
    prescribed_velocity_index: IntArray = field(factory=_no_index)
    prescribed_coordinate_index: IntArray = field(factory=_no_index)
    prescribed_signals: tuple[Signal, ...] = ()
    constraint_count: int = 0
    jacobian_width: int = 0
    plane: Array | None = None
    velocity_scale: Array | None = None
    derivative_error: float = 0.0
    untracked_work: str = ""
    doubts: tuple[str, ...] = ()

    @property
    def input_size(self) -> int:
        """Length of the stacked input vector u."""
        return sum(channel.size for channel in self.inputs)


@frozen(eq=False)
class Outline:
    """What to draw of a body: polylines through frame origins or free points.

    Args:
        points: [m], shape (n, 3).
        radius: of the drawn tube at each point [m], shape (n,).
        starts: index of the first point of each polyline, shape (k,).
    """

    points: Array
    radius: Array
    starts: IntArray = field(factory=lambda: np.zeros(1, dtype=np.int64))


class Model(Component, ABC):
    """A body. Every method is a pure function of its arguments and writes into buffers of the caller.

    A concrete model is final and built as `Model(config, context)`; `context` gives the base pose and gravity. An
    ability is what only some models have; their specs declare it, and the protocols below state its methods.
    """

    @property
    @abstractmethod
    def description(self) -> ModelDescription:
        """All that is constant about the model."""

    @abstractmethod
    def compute_initial_state(self, initial: Any, out: State) -> None:
        """Write the state that `initial` (the spec's attrs class) describes, or the rest state if it is None."""

    @abstractmethod
    def new_mass_matrix(self) -> Matrix:
        """Allocate a buffer for M in the structure of this model, with its fixed pattern."""

    @abstractmethod
    def compute_mass_and_force(self, state: State, inputs: Array, mass: Matrix, force: Array) -> None:
        """Write M(q) into `mass` and f(q, v, u, t) [N or N·m] into `force`, shape (nv,)."""

    @abstractmethod
    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        """Move from `start` with constant velocity v̄ over h: write q and aux of `out` (not v, not time).

        `near` is the previous iterate, for branches (unwrapped angles, frames) to stay close to; it may
        be `start` or `out` itself. `velocity` must not alias anything in `out`.
        """

    @abstractmethod
    def compute_frame_poses(self, state: State, position: Array, rotation: Array) -> None:
        """Write the frames' poses in the world, shapes (frames, 3) [m] and (frames, 3, 3)."""

    @abstractmethod
    def compute_outline(self, state: State) -> Outline:
        """Return the curves to draw; performance does not matter here."""


class PointJacobianAbility(Protocol):
    """Ability `point-jacobian`: velocities of material points."""

    def compute_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        """Rows of the points `local` (c, 3) [m] fixed in frames `frame` (c,): ẋ = Σⱼ values[:, :, j]·v[dofs[:, j]].

        Write `dofs` (c, k) and `values` (c, 3, k), world axes, k = layout.jacobian_width; unused entries have
        value 0 and a valid index.
        """
        ...


class ForceDerivativesAbility(Protocol):
    """Ability `force-derivatives`."""

    def new_stiffness_and_damping(self) -> tuple[Matrix, Matrix]:
        """Allocate buffers for K and D in the structures of this model."""
        ...

    def compute_stiffness_and_damping(
        self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix
    ) -> None:
        """Write K = −∂f(integrate(q, δ, 1))/∂δ at δ = 0, and D = −∂f/∂v. The derivative of M is not part of K."""
        ...


class InverseDynamicsAbility(Protocol):
    """Ability `inverse-dynamics`, with `force-derivatives`: the residual at an acceleration w, and its derivatives."""

    def compute_dynamics_residual(
        self, state: State, inputs: Array, acceleration: Array, out: Array, mass: Matrix | None = None
    ) -> None:
        """Write f − M·w, shape (nv,), and M if a buffer is given."""
        ...

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
        ...


class ConstraintAbility(Protocol):
    """Ability `constraints`: they always hold, rigid or compliant, possibly with force bounds."""

    def new_constraints(self) -> ConstraintRows:
        """Allocate a buffer for the constraints, with its fixed width."""
        ...

    def compute_constraints(self, state: State, inputs: Array, rows: ConstraintRows) -> None:
        """Write J_b, position errors c, target rates u, compliances and force bounds at this state."""
        ...

    def compute_constraint_force_gradient(self, state: State, impulse: Array, out: Matrix) -> None:
        """Write ∂(J_bᵀ·λ)/∂δ for given λ into a buffer like K's, δ as in `compute_stiffness_and_damping`."""
        ...


class PrescribedMotionAbility(Protocol):
    """Ability `prescribed`: coordinates that follow a given motion."""

    def compute_prescribed_motion(self, time: float, value: Array, rate: Array) -> None:
        """Write p(t) and ṗ(t) of the prescribed coordinates, both (p,), in the order of `prescribed_velocity_index`."""
        ...


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
        ...


class ReparametrisationAbility(Protocol):
    """Ability `reparametrisation`: several coordinates stand for the same configuration."""

    def reparametrise(self, state: State) -> bool:
        """Change q, v and aux to equivalent coordinates, or v where a prescribed rate jumps; return whether it did.

        The kernel calls it at the start of a run and after every accepted step.
        """
        ...


class EnergyAbility(Protocol):
    """Ability `energy`."""

    def compute_energies(self, state: State) -> tuple[float, float]:
        """Return kinetic and potential energy [J]; the potential of constant inputs does not count."""
        ...


class ForceTermsAbility(Protocol):
    """Ability `force-terms`."""

    def compute_force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        """Return named parts of f, each of shape (nv,), that sum to f; performance does not matter here."""
        ...


class InputJacobianAbility(Protocol):
    """Ability `input-jacobian`."""

    def compute_input_jacobian(self, state: State, inputs: Array, out: Array) -> None:
        """Write ∂f/∂u, shape (nv, nu), u the stacked inputs."""
        ...


class SymbolicModel(Protocol):
    """A model's equations as CasADi expressions: arguments and results are SX, MX or DM.

    q of shape (nq, 1), v (nv, 1), inputs (nu, 1); frames are indices into the description's, `local` (3, 1) [m].
    """

    def mass(self, q: Any) -> Any:
        """M, shape (nv, nv)."""
        ...

    def force(self, q: Any, v: Any, inputs: Any) -> Any:
        """f, shape (nv, 1), with the options of the model."""
        ...

    def kinetic_energy(self, q: Any, v: Any) -> Any:
        """Kinetic energy [J]."""
        ...

    def potential_energy(self, q: Any) -> Any:
        """Potential energy [J], of the same level as the model's `energy`."""
        ...

    def pose(self, q: Any, frame: int) -> tuple[Any, Any]:
        """World position (3, 1) [m] and rotation (3, 3) of a frame."""
        ...

    def point(self, q: Any, frame: int, local: Any) -> Any:
        """World position (3, 1) [m] of a point fixed in a frame."""
        ...

    def point_jacobian(self, q: Any, frame: int, local: Any) -> Any:
        """J of that point, shape (3, nv): ẋ = J·v."""
        ...

    def functions(self) -> Mapping[str, Any]:
        """CasADi Functions: mass (q), force (q, v, u), energy (q, v) → (T, V), poses (q) → x (3, f), R (3, 3·f)."""
        ...


class SymbolicAbility(Protocol):
    """Ability `symbolic`: the same equations as CasADi expressions, equal to the numbers to 1e-10."""

    def symbolic(self) -> SymbolicModel:
        """The expressions; imports CasADi."""
        ...
