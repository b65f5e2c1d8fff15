"""The model `der`: what the kernel asks of a graph of elastic rods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.linalg.matrices import Diagonal, Matrix
from corekit.roles.component import BuildContext, Memory
from corekit.roles.model import Layout, Model, Outline
from corekit_der.config import DERConfig
from corekit_der.initial import DERInitial
from corekit_der.system import RodSystem

if TYPE_CHECKING:
    from corekit_der.symbolic import SymbolicRods

__all__ = ["DER"]


@final
class DER(Model):
    """Rods that stretch, bend and twist, joined into any graph.

        M·v̇ = −∂E/∂q + m·g − (drag) + (forces at nodes),   q = (x of nodes [m], θ of edges [rad]),   v = q̇     (1)

    with the elastic energy E of `elastic`, in the base's axes. M is diagonal and constant: half the mass of its edges
    at a node, ρ·(I₁ + I₂)·L at an edge. K is the exact symmetric Hessian, banded.

    The state's `aux` holds, of every edge, the source of its reference directors (see `frames`), and of every pair
    the reference twist as last renewed. `rechart` renews them after a step that turned an edge far.

    Frames: the nodes (base's axes); with `collision = "capsules"` the edges too (directors and tangent).

    Source: Bergou et al. (2008), (2010); Choi et al. (2024).
    """

    def __init__(self, config: DERConfig, context: BuildContext | None = None) -> None:
        context = BuildContext() if context is None else context
        self._rods = RodSystem(config, context)

    @property
    def layout(self) -> Layout:
        """Nodes and angles, clamps as prescribed coordinates, collision shapes."""
        return self._rods.layout

    def memory(self) -> Memory:
        """Nothing: frames and twists are in the state."""
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Nothing to take over."""

    def initial_state(self, initial: DERInitial | None, out: State) -> None:
        """Write the rest shape, or what `initial` says.

        Raises:
            ConfigError: limbs that do not exist, wrong numbers of points, held nodes elsewhere than they are held.
        """
        self._rods.starter.write(DERInitial() if initial is None else initial, out)

    def mass_matrix(self) -> Diagonal:
        """A diagonal buffer."""
        return Diagonal(self._rods.size)

    def dynamics(self, state: State, inputs: Array, mass: Matrix, force: Array) -> None:
        """Write M and f."""
        mass.data[:] = self._rods.mass
        self._rods.force(state, inputs, force)

    def tangent_matrices(self) -> tuple[Matrix, Matrix]:
        """Buffers for K and D."""
        return self._rods.tangent_matrices()

    def tangent(self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix) -> None:
        """Write K and D, both exact."""
        self._rods.tangent(state, inputs, stiffness, damping)

    def input_jacobian(self, state: State, inputs: Array, out: Array) -> None:
        """Write ∂f/∂u, shape (nv, nu), u the stacked inputs."""
        self._rods.input_jacobian(state, inputs, out)

    def advance(self, start: State, velocity: Array, step: float, near: State, out: State) -> None:
        """Write q + h·v̄; sources and twists stay until `rechart`."""
        self._rods.advance(start, velocity, step, out)

    def rechart(self, state: State) -> bool:
        """Renew the sources of the reference directors if an edge has turned by more than 60° from its own."""
        return self._rods.rechart(state)

    def prescribed(self, time: float, value: Array, rate: Array) -> None:
        """Write where clamped coordinates are, and their rates."""
        self._rods.held.at(time, value, rate)

    def poses(self, state: State, position: Array, rotation: Array) -> None:
        """Write the poses of nodes, and of edges that have frames."""
        self._rods.poses(state, position, rotation)

    def carrier_rows(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        """Write rows of points fixed in frames, see `carriers`."""
        self._rods.carrier_rows(state, frame, local, dofs, values)

    def energy(self, state: State) -> tuple[float, float]:
        """Kinetic energy, and elastic and gravitational potential [J]; heights count from the world's origin."""
        return self._rods.energy(state)

    def force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        """f as stretching, bending, twisting, gravity, drag and applied [N, N·m]."""
        return self._rods.force_terms(state, inputs)

    def symbolic(self) -> SymbolicRods:
        """The same equations as CasADi expressions; needs `corekit-der[symbolic]`."""
        return self._rods.symbolic()

    def outline(self, state: State) -> Outline:
        """Every limb as a polyline as thick as the rod."""
        return self._rods.outline(state)
