"""Derivatives of a model's force without formulas: exact by the complex step, or by differences with a declared error.

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

from collections.abc import Callable
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import PluginError
from corekit.linalg.matrices import Dense, Matrix
from corekit.roles.model import Model

__all__ = ["DIFFERENCE_ERROR", "DifferencedModel", "complex_step"]

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


class DifferencedModel(Model):
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
        mass, at = self.new_mass_matrix(), state.copy()
        displacement = np.zeros(len(state.v))

        def force_at(moved: State) -> Array:
            force = np.zeros(len(state.v))
            self.compute_mass_and_force(moved, inputs, mass, force)
            return force

        def displaced(j: int, distance: float) -> Array:
            displacement[j] = distance
            self.integrate(state, displacement, 1.0, state, at)
            displacement[j] = 0.0
            return force_at(at)

        def faster(j: int, speed: float) -> Array:
            at.v[j] = state.v[j] + speed
            force = force_at(at)
            at.v[j] = state.v[j]
            return force

        for j in range(len(state.v)):
            h = _STEP * self.displacement_size
            stiffness.data[:, j] = (displaced(j, -h) - displaced(j, h)) / (2.0 * h)
        at.copy_from(state)
        for j in range(len(state.v)):
            h = _STEP * max(self.velocity_size, abs(float(state.v[j])))
            damping.data[:, j] = (faster(j, -h) - faster(j, h)) / (2.0 * h)
