"""The model `der`: a graph of discrete elastic rods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, final

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.linalg.matrices import Diagonal, Matrix, Sparse
from corekit.roles.compiled_form import CompiledForm
from corekit.roles.component import BuildContext
from corekit.roles.model import Model, ModelDescription, Outline
from corekit_der.config import DERConfig
from corekit_der.initial_options import DERInitial
from corekit_der.system import RodSystem

if TYPE_CHECKING:
    from corekit_der.symbolic import SymbolicRods

__all__ = ["DER"]


@final
class DER(Model):
    """Graph of rods that stretch, bend and twist.

        M·v̇ = −∂E/∂q + m·g − (damping) + (nodal forces),   q = (x of nodes [m], θ of edges [rad]),   v = q̇     (1)

    with the elastic energy E of `elastic_forces`, in the base's axes. M is diagonal and constant: half the mass of its
    edges at a node, ρ·(I₁ + I₂)·L at an edge. K is exact, and a symmetric band unless a load has no potential. With
    the option `gyroscopic` M depends on q, f has inertia forces, and the matrices are sparse, see `gyroscopic`.

    The state's `aux` contains the source of every edge's reference directors (see `frames`) and the last reference
    twist of every pair. `reparametrise` updates them after a step that turned an edge far.

    Frames: the nodes (base's axes), and with `collision = "capsules"` also the edges (directors and tangent); before
    them the base if it moves. It then is the edge that the only clamp holds, see `moving_base`.

    Other materials and drag of limbs make no new graph, see `with_numbers`.

    Source: Bergou et al. (2008), (2010); Choi et al. (2024).
    """

    def __init__(self, config: DERConfig, context: BuildContext | None = None) -> None:
        context = BuildContext() if context is None else context
        self._rods = RodSystem(config, context)

    @property
    def description(self) -> ModelDescription:
        """Coordinates, prescribed coordinates of clamps and collision shapes."""
        return self._rods.description

    def with_numbers(self, config: DERConfig) -> DER | None:
        """The same rods with other materials and drag of limbs.

        None where more is different, the base moves, there are cables, or viscosity or drag across or along the rods
        begins or ends, which gives K and D another form.
        """
        rods = self._rods.with_numbers(config)
        if rods is None:
            return None
        other = copy(self)
        vars(other).update(_rods=rods)
        return other

    def compiled_form(self) -> CompiledForm | str:
        """The tables and entries of `compiled_form`; in words what its options ask for that has none."""
        return self._rods.compiled_form()

    def compute_initial_state(self, initial: DERInitial | None, out: State) -> None:
        """Write the rest shape, changed by `initial`.

        Raises:
            ConfigError: unknown limbs, wrong numbers of points, or clamped nodes that start away from their clamp.
        """
        self._rods.initial_state_writer.write(DERInitial() if initial is None else initial, out)

    def new_mass_matrix(self) -> Diagonal | Sparse:
        """Return a diagonal buffer, or a sparse one with `gyroscopic`."""
        return self._rods.new_mass_matrix()

    def compute_mass_and_force(self, state: State, inputs: Array, mass: Matrix, force: Array) -> None:
        """Write M and f."""
        self._rods.compute_force(state, inputs, force)
        self._rods.write_mass(mass)

    def new_stiffness_and_damping(self) -> tuple[Matrix, Matrix]:
        """Return buffers for K and D."""
        return self._rods.new_stiffness_and_damping()

    def compute_stiffness_and_damping(
        self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix
    ) -> None:
        """Write K and D, both exact."""
        self._rods.compute_stiffness_and_damping(state, inputs, stiffness, damping)

    def compute_input_jacobian(self, state: State, inputs: Array, out: Array) -> None:
        """Write ∂f/∂u, shape (nv, nu), u the stacked inputs."""
        self._rods.compute_input_jacobian(state, inputs, out)

    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        """Write q + h·v̄; only `reparametrise` changes sources and twists."""
        self._rods.integrate(start, velocity, step, out)

    def reparametrise(self, state: State) -> bool:
        """Update sources and reference twists if an edge turned by more than 60° from its source."""
        return self._rods.reparametrise(state)

    def compute_prescribed_motion(self, time: float, value: Array, rate: Array) -> None:
        """Write the values and rates of clamped coordinates."""
        self._rods.clamp_motion.evaluate(time, value, rate)

    def compute_frame_poses(self, state: State, position: Array, rotation: Array) -> None:
        """Write the poses of node and edge frames."""
        self._rods.compute_frame_poses(state, position, rotation)

    def compute_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        """Write the Jacobians of points fixed in frames, see `frame_points`."""
        self._rods.compute_point_jacobians(state, frame, local, dofs, values)

    def place_base(
        self, state: State, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> None:
        """Carry the rods to a pose and a twist of their base, see `moving_base`."""
        self._rods.place_base(state, position, rotation, velocity, angular_velocity)

    def find_state_doubts(self, state: State, inputs: Array) -> Sequence[str]:
        """Return a sentence where the spin's momentum, which is left out without `gyroscopic`, matters."""
        return self._rods.find_state_doubts(state, inputs)

    def compute_energies(self, state: State) -> tuple[float, float]:
        """Return kinetic energy, and elastic and gravitational potential [J]; heights from the world's origin."""
        return self._rods.compute_energies(state)

    def compute_force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        """Return f as stretching, bending, twisting, gravity, drag, viscosity and applied [N, N·m]."""
        return self._rods.compute_force_terms(state, inputs)

    def symbolic(self) -> SymbolicRods:
        """Return the same equations as CasADi expressions; needs `corekit-der[symbolic]`."""
        return self._rods.symbolic()

    def compute_outline(self, state: State) -> Outline:
        """Return every limb as a polyline with the radius of the rod."""
        return self._rods.compute_outline(state)
