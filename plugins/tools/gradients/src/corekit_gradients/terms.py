"""The terms of an optimisation file as a loss of an instant.

    ℓ = Σ_i w_i·|p_i − t_i|²,      ∂ℓ/∂δ = Σ_i 2·w_i·J_iᵀ·(p_i − t_i)                                         (1)
    r = √w_i·(p_i − t_i)·e,        ∂r/∂δ = √w_i·J_iᵀ·e                                                        (2)

with J_i of the origin of a frame, over the axes e that count; less J of the frame that it is measured from. The sum of
squares of all r is ℓ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.code import code_allowed, import_function
from corekit.simulation.frames import find_frame
from corekit.simulation.loop import Simulation
from corekit_gradients.losses import Instant, Loss
from corekit_gradients.optimise_file import Term

__all__ = ["loss_of", "residuals_of"]

_AXES: Final = "xyz"


def loss_of(terms: Sequence[Term], simulation: Simulation, *, allow_code: bool) -> Loss:
    """The sum of terms; one of positions alone knows its own derivative.

    Raises:
        ConfigError: a function that is not there, or not allowed. ControlError: a frame that is not there.
    """
    for term in terms:
        for name in filter(None, (term.frame, term.relative_to)):
            find_frame(simulation.bodies, name)
    if all(term.kind == "position" for term in terms):
        return _Positions(terms, simulation)
    with code_allowed(allow_code):
        parts = [_part(term) for term in terms]
    return lambda instant: sum(part(instant) for part in parts)


def residuals_of(terms: Sequence[Term], simulation: Simulation) -> list[Loss]:
    """(2) of every axis of terms of positions and velocities; those of positions know their own derivatives."""
    out: list[Loss] = []
    for term in terms:
        for axis in term.axes:
            size = np.sqrt(term.weight) * (np.array(list(_AXES)) == axis)
            if term.kind == "position":
                out.append(_Residual(term, size, simulation))
            else:
                out.append(lambda instant, term=term, size=size: float(size @ _apart(term, instant)))
    return out


def _part(term: Term) -> Loss:
    """One term."""
    if term.kind == "function":
        given = term.function
        function = import_function(given, "terms.function") if isinstance(given, str) else given
        return lambda instant: term.weight * float(function(instant))

    def size(instant: Instant) -> float:
        apart = _apart(term, instant)
        return term.weight * float(apart @ apart)

    return size


def _apart(term: Term, instant: Instant) -> Array:
    """From the target to the frame, zero along axes that do not count, shape (3,)."""
    frame = instant.frame(term.frame)
    reached = (frame.velocity if term.kind == "velocity" else frame.position).copy()
    if term.relative_to:
        reached -= instant.frame(term.relative_to).position
    axes, out = [_AXES.index(each) for each in term.axes], np.zeros(3)
    out[axes] = reached[axes] - (term.target or 0.0)
    return out


@final
class _Positions:
    """(1), with its derivative."""

    def __init__(self, terms: Sequence[Term], simulation: Simulation) -> None:
        self._simulation = simulation
        self._parts = [(term, _part(term)) for term in terms]

    def __call__(self, instant: Instant) -> float:
        return sum(part(instant) for _, part in self._parts)

    def covector(self, instant: Instant) -> tuple[Array, Array]:
        """∂ℓ/∂δ of (1), and ∂ℓ/∂v = 0."""
        out = np.zeros((2, self._simulation.system.nv))
        for term, _ in self._parts:
            out[0] += _pulled(term, 2.0 * term.weight * _apart(term, instant), instant, self._simulation)
        return out[0], out[1]


@final
class _Residual:
    """(2) of a position, with its derivative."""

    def __init__(self, term: Term, size: Array, simulation: Simulation) -> None:
        self._term, self._size, self._simulation = term, size, simulation

    def __call__(self, instant: Instant) -> float:
        return float(self._size @ _apart(self._term, instant))

    def covector(self, instant: Instant) -> tuple[Array, Array]:
        """∂r/∂δ of (2), and ∂r/∂v = 0."""
        return _pulled(self._term, self._size, instant, self._simulation), np.zeros(
            self._simulation.system.nv
        )


def _pulled(term: Term, force: Array, instant: Instant, simulation: Simulation) -> Array:
    """J_iᵀ·force, shape (nv,)."""
    out = np.zeros(simulation.system.nv)
    for name, sign in ((term.frame, 1.0), (term.relative_to, -1.0)):
        if name:
            where = simulation.system.slices[find_frame(simulation.bodies, name)[0].index]
            out[where] += sign * force @ instant.frame(name).jacobian
    return out
