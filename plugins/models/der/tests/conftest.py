"""Rods that return their results as new arrays, and equilibria by Newton's method with dense matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.roles.component import BuildContext
from corekit_der.config import Clamp, DERConfig, Force, Joint, Limb
from corekit_der.frames import update_reference_frames
from corekit_der.initial_options import DERInitial
from corekit_der.model import DER
from corekit_der.tables import Rods


class Rod:
    """A model at one state.

    Args:
        config: options of the model.
        gravity: gravity in the world [m/s²].
        initial: options of the initial state.
    """

    def __init__(
        self, config: DERConfig, gravity: tuple[float, ...] = (0.0, 0.0, 0.0), initial: Any = None
    ) -> None:
        self.model = DER(config, BuildContext(gravity=np.array(gravity)))
        self.description = self.model.description
        n = len(self.description.coordinates)
        self.size = n
        self.state = State.zeros(n, n, self.description.aux)
        self.model.compute_initial_state(initial or DERInitial(), self.state)
        self.inputs = np.zeros(self.description.input_size)
        self.names = [coordinate.name for coordinate in self.description.coordinates]

    def indices(self, *names: str) -> IntArray:
        """Return the indices of coordinates."""
        return np.array([self.names.index(name) for name in names])

    def nodes(self, limb: str, count: int, axes: str = "xyz") -> IntArray:
        """Return the indices of a limb's node coordinates, (count, 3)."""
        return np.array([self.indices(*(f"{limb}-{i}-{axis}" for axis in axes)) for i in range(count)])

    @property
    def free(self) -> IntArray:
        """Coordinates that are not prescribed."""
        return np.setdiff1d(np.arange(self.size), self.description.prescribed_velocity_index)

    def displace(self, displacement: Array) -> State:
        """Return the displaced state with the same sources."""
        out = self.state.copy()
        self.model.integrate(self.state, displacement, 1.0, self.state, out)
        return out

    def shake(self, size: float, seed: int = 0) -> None:
        """Displace every coordinate at random; the sources do not change."""
        self.state = self.displace(size * np.random.default_rng(seed).normal(size=self.size))

    def force(self, state: State | None = None) -> Array:
        """Return f."""
        out = np.zeros(self.size)
        self.model.compute_mass_and_force(state or self.state, self.inputs, self.model.new_mass_matrix(), out)
        return out

    def mass(self) -> Array:
        """Return the diagonal of M."""
        mass = self.model.new_mass_matrix()
        self.model.compute_mass_and_force(self.state, self.inputs, mass, np.zeros(self.size))
        return mass.data

    def stiffness(self) -> Array:
        """Return K, dense."""
        stiffness, damping = self.model.new_stiffness_and_damping()
        self.model.compute_stiffness_and_damping(self.state, self.inputs, stiffness, damping)
        return stiffness.dense()

    def damping(self) -> Array:
        """Return D, dense."""
        stiffness, damping = self.model.new_stiffness_and_damping()
        self.model.compute_stiffness_and_damping(self.state, self.inputs, stiffness, damping)
        return damping.dense()

    def update_reference_frames(self) -> None:
        """Make the present edges the sources of their frames, for any rotation of the edges."""
        rods, state = self.tables, self.state
        update_reference_frames(rods, np.zeros(len(rods.length), dtype=bool), state.q, state.v, state.aux)

    @property
    def tables(self) -> Rods:
        """Tables of the kernels."""
        return self.model._rods._elasticity.rods

    def find_equilibrium(
        self, iterations: int = 40, tolerance: float = 1e-10, max_increment: float = 0.05
    ) -> list[float]:
        """Find the equilibrium of the free coordinates by Newton's method and return the residuals."""
        free, history = self.free, []
        for _ in range(iterations):
            residual = self.force()[free]
            history.append(float(np.abs(residual).max()))
            if history[-1] < tolerance:
                return history
            step = np.linalg.solve(self.stiffness()[np.ix_(free, free)], residual)
            step *= min(1.0, max_increment / float(np.abs(step).max()))
            increment = np.zeros(self.size)
            increment[free] = step
            self.state = self.displace(increment)
        raise AssertionError(f"no equilibrium: residuals {history}")


@pytest.fixture
def rod_of() -> Callable[..., Rod]:
    """Make a rod from its config, gravity and initial state."""
    return Rod


@pytest.fixture
def rod() -> Callable[..., Rod]:
    """Make a rod from options."""

    def make(*limbs: Limb, gravity: Any = (0.0, 0.0, 0.0), initial: Any = None, **options: Any) -> Rod:
        return Rod(DERConfig(limbs=limbs, **options), gravity, initial)

    return make


@pytest.fixture
def cantilever(rod: Callable[..., Rod]) -> Callable[..., Rod]:
    """Make the cantilever of the paper: 1 m along x, clamped at its start, a force at its end."""

    def make(nodes: int = 21, kind: str = "clamp", gravity: Any = (0.0, 0.0, 0.0), **options: Any) -> Rod:
        values: dict[str, Any] = {"radius": 0.02, "density": 500.0, "young": 1e5, **options}
        planar = values.pop("planar", False)
        limb = Limb(name="beam", start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), nodes=nodes, **values)
        clamps, forces = (Clamp(at="beam.start", kind=kind),), (Force(name="tip", at="beam.end"),)
        return rod(limb, clamps=clamps, forces=forces, gravity=gravity, planar=planar)

    return make


@pytest.fixture
def spider() -> DERConfig:
    """Nine limbs and five joints: a body, four arms from its lower end, and a leg down from each arm."""
    material: dict[str, Any] = {"radius": 5e-3, "young": 3e6, "density": 1180.0, "nodes": 6}
    ends = [(0.1, 0.0, 0.1), (-0.1, 0.0, 0.1), (0.0, 0.1, 0.1), (0.0, -0.1, 0.1)]
    limbs = [Limb(name="body", start=(0.0, 0.0, 0.2), end=(0.0, 0.0, 0.1), **material)]
    limbs += [Limb(name=f"arm{i}", start=(0.0, 0.0, 0.1), end=end, **material) for i, end in enumerate(ends)]
    limbs += [
        Limb(name=f"leg{i}", start=(x, y, z), end=(x, y, 0.0), **material) for i, (x, y, z) in enumerate(ends)
    ]
    joints = [Joint(at=("body.end", *(f"arm{i}.start" for i in range(4))))]
    joints += [Joint(at=(f"arm{i}.end", f"leg{i}.start")) for i in range(4)]
    return DERConfig(limbs=tuple(limbs), joints=tuple(joints))
