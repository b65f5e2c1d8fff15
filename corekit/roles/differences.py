"""Derivatives of a model without formulas: exact by the complex step, or by differences with a declared error.

    ∂f/∂x_j = Im f(x + iη·e_j)/η                                                              (1)
    ∂f/∂x_j = (f(x + h_j·e_j) − f(x − h_j·e_j))/(2·h_j)                                       (2)

(1) has no difference that could cancel: with η = 10⁻¹⁰⁰ it is exact to rounding. It needs an f that is made of analytic
functions of complex arguments: no |x|, no comparison of x, no `np.linalg.norm`, no conjugate transpose.

(2) needs f alone. If s is the size of x over which f changes, its error is h²/(6·s²) + ε·s/h relative to f/s. With
h = 2⁻¹⁷·s, close to the best ∛(3·ε)·s, that is 4·10⁻¹¹; `DIFFERENCE_ERROR` leaves a factor for a ∂f/∂x that is
smaller than f/s. A model says so in `ModelDescription.derivative_error`; the conformance kit holds it to that, and
recorders write it beside what the model's runs leave.

Sources: Squire, Trapp (1998), Using complex variables to estimate derivatives of real functions, SIAM Review 40;
Nocedal, Wright (2006), Numerical Optimization, section 8.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import PluginError
from corekit.linalg.matrices import Dense, Matrix
from corekit.roles.model import Model

__all__ = ["DIFFERENCE_ERROR", "DifferencedForce", "DifferencedPoints", "complex_step"]

DIFFERENCE_ERROR = 1e-8
"""Error of (2) relative to the largest entry, for a description."""

_IMAGINARY = 1e-100
_STEP = 2.0**-17


def complex_step(function: Callable[[Any], Any], x: Array) -> Array:
    """Return ∂f/∂x at x by (1), shape (m, n).

    Args:
        function: f, from a complex array of shape (n,) to one of shape (m,).
        x: where, shape (n,), real.
    Raises:
        PluginError: f drops the imaginary part.
    """
    argument = x.astype(complex)
    columns: list[Array] = []
    for j in range(len(x)):
        argument[j] += 1j * _IMAGINARY
        value = np.asarray(function(argument))
        argument[j] = x[j]
        if not np.iscomplexobj(value):
            raise PluginError(
                "the function answers a complex argument with real numbers, so that the complex step sees no slope: "
                "its buffers must have the dtype of its argument"
            )
        columns.append(value.imag / _IMAGINARY)
    return np.array(columns).T


class DifferencedForce(Model):
    """A model whose K and D are differences (2) of its force: it has the ability `force-derivatives` without formulas.

    A concrete model derives from it in place of `Model`, and its description has `derivative_error`. Each evaluation
    calls the force 4·nv times and allocates what it needs.

    Attributes:
        displacement_size: s of K, a displacement over which the force changes, in the units of v times seconds.
        velocity_size: s of D, the same of a velocity.
    """

    displacement_size: float = 1.0
    velocity_size: float = 1.0

    def new_stiffness_and_damping(self) -> tuple[Matrix, Matrix]:
        """Allocate full matrices."""
        count = len(self.description.velocities)
        return Dense(count), Dense(count)

    def compute_stiffness_and_damping(
        self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix
    ) -> None:
        """Write K and D by (2); see `ForceDerivativesAbility`."""
        mass = self.new_mass_matrix()

        def force_at(moved: State) -> Array:
            force = np.zeros(len(state.v))
            self.compute_mass_and_force(moved, inputs, mass, force)
            return force

        h = _STEP * self.displacement_size
        forces = [force_at(moved) for moved in _displaced(self, state, h)]
        stiffness.data[:] = np.subtract(forces[1::2], forces[::2]).T / (2.0 * h)
        at = state.copy()
        for j in range(len(state.v)):
            h = _STEP * max(self.velocity_size, abs(float(state.v[j])))
            at.v[j] = state.v[j] - h
            damping.data[:, j] = force_at(at)
            at.v[j] = state.v[j] + h
            damping.data[:, j] = (damping.data[:, j] - force_at(at)) / (2.0 * h)
            at.v[j] = state.v[j]


class DifferencedPoints(Model):
    """A model whose point Jacobians are differences (2) of its poses: it can touch things without formulas.

    A concrete model derives from it in place of `Model`, or beside `DifferencedForce`; its description has
    `jacobian_width` = nv. Each evaluation calls the poses 2·nv times and allocates what it needs.

    Attributes:
        displacement_size: s, a displacement over which directions change, in the units of v times seconds.
    """

    displacement_size: float = 1.0

    def compute_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        """Write ẋ = J·v by (2); see `PointJacobianAbility`."""
        count = len(self.description.frames)
        position, rotation = np.zeros((count, 3)), np.zeros((count, 3, 3))

        def points_at(moved: State) -> Array:
            self.compute_frame_poses(moved, position, rotation)
            return position[frame] + np.einsum("cij,cj->ci", rotation[frame], local)

        h = _STEP * self.displacement_size
        points = [points_at(moved) for moved in _displaced(self, state, h)]
        dofs[:] = np.arange(len(state.v))
        values[:] = np.moveaxis(np.subtract(points[::2], points[1::2]), 0, 2) / (2.0 * h)


def _displaced(model: Model, state: State, distance: float) -> Iterator[State]:
    """For each velocity the state that is displaced by h forward, then backward, in one buffer."""
    at, displacement = state.copy(), np.zeros(len(state.v))
    for j in range(len(state.v)):
        for displacement[j] in (distance, -distance):
            model.integrate(state, displacement, 1.0, state, at)
            yield at
        displacement[j] = 0.0
