"""A step without contact allocates no array: with 20,000 velocities a single temporary would show."""

import tracemalloc

import numpy as np
import pytest

from corekit.linalg.matrices import Banded, Diagonal
from corekit.roles.component import BuildContext
from corekit.roles.model import Coordinate, Model, ModelDescription, Outline
from corekit_testing.semi_implicit_euler import SemiImplicitEuler, SemiImplicitEulerConfig
from corekit_testing.small_world import small_world

N = 20_000


class StillBody(Model):
    """A body that answers without allocating anything itself."""

    def __init__(self, structure):
        entries = tuple(Coordinate(f"x{i}", "m") for i in range(N))
        self._layout = ModelDescription(coordinates=entries, velocities=entries)
        self._structure = structure

    @property
    def description(self):
        return self._layout

    def compute_initial_state(self, initial, out):
        pass

    def new_mass_matrix(self):
        matrix = Diagonal(N) if self._structure == "diagonal" else Banded(N, 3)
        (matrix.data if self._structure == "diagonal" else matrix.data[0]).fill(1.0)
        return matrix

    def new_stiffness_and_damping(self):
        return self.new_mass_matrix(), self.new_mass_matrix()

    def compute_mass_and_force(self, state, inputs, mass, force):
        force.fill(1.0)

    def compute_stiffness_and_damping(self, state, inputs, stiffness, damping):
        pass

    def integrate(self, start, velocity, step, previous, out):
        np.multiply(velocity, step, out=out.q)
        out.q += start.q

    def compute_frame_poses(self, state, position, rotation):
        pass

    def compute_outline(self, state):
        return Outline(np.zeros((1, 3)), np.zeros(1))


@pytest.mark.parametrize("structure", ["diagonal", "banded"])
def test_a_step_after_the_first_allocates_no_array(structure):
    step = 1e-3
    scheme = SemiImplicitEuler(SemiImplicitEulerConfig(beta=1.0), BuildContext(step=step))
    body = StillBody(structure)
    simulation = small_world({"body": body}, scheme, step=step, abilities=frozenset({"force-derivatives"}))
    simulation.step()
    tracemalloc.start()
    try:
        simulation.step()
        most = 0
        for _ in range(5):
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            simulation.step()
            most = max(most, tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    # a mask of one byte an entry would be 20 kB, an array of numbers 160 kB
    assert most < 0.5 * N
    assert simulation.state.v[0] > 0.0
