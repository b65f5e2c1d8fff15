"""A step size to try after a failure, from the model's own rates where it can give them.

The largest frequency and the largest damping rate of a body are estimated apart, at its last good state:

    ω² = λ_max(K, M),   d = λ_max(D, M)                                                  (1)

One mode  q̈ = −ω²·q − d·q̇  under semi-implicit Euler has  λ² − (2 − hd − h²ω²)·λ + (1 − hd) = 0, whose
roots stay in the unit circle (Jury: 4 − 2hd − h²ω² > 0) while

    h < 4/(d + √(d² + 4ω²)),    that is 2/ω without damping and 2/d without stiffness      (2)
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import LinAlgError, eigh

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.dynamics.bodies import Body

__all__ = ["explicit_limit", "fastest_rates", "step_to_try"]

_MOST = 400
"""Velocities up to which (1) is solved densely."""
_SAFETY = 0.9


def fastest_rates(body: Body, state: State) -> tuple[float, float] | None:
    """Return ω and d of (1) [1/s] at a state; None without force derivatives, mass, or if the body is too large."""
    if "force-derivatives" not in body.abilities or body.nv > _MOST:
        return None
    model, inputs = body.model, body.inputs.at(state.time)
    mass, force = model.new_mass_matrix(), np.zeros(body.nv)
    stiffness, damping = model.new_stiffness_and_damping()
    model.compute_mass_and_force(state, inputs, mass, force)
    model.compute_stiffness_and_damping(state, inputs, stiffness, damping)
    free = np.setdiff1d(np.arange(body.nv), body.description.prescribed_velocity_index)
    dense = [matrix.dense()[np.ix_(free, free)] for matrix in (mass, stiffness, damping)]
    if not len(free) or not all(np.isfinite(matrix).all() for matrix in dense):
        return None
    try:
        squared, rate = (_largest(matrix, dense[0]) for matrix in dense[1:])
    except LinAlgError:
        return None  # massless coordinates
    return math.sqrt(squared), rate


def explicit_limit(body: Body, state: State) -> float | None:
    """h of (2) [s] at a body's state; None where its rates are not known, or nothing limits it."""
    rates = fastest_rates(body, state)
    if rates is None:
        return None
    omega, damping = rates
    bound = damping + math.sqrt(damping * damping + 4.0 * omega * omega)
    return 4.0 / bound if bound > 0 else None


def _largest(matrix: Array, mass: Array) -> float:
    """λ_max of the pencil's symmetric part, at least 0."""
    last = len(mass) - 1
    values = eigh(0.5 * (matrix + matrix.T), mass, eigvals_only=True, subset_by_index=(last, last))
    return max(0.0, float(values[0]))


def step_to_try(
    step: float, body: Body | None = None, state: State | None = None, *, implicit: bool = False
) -> str:
    """A sentence that suggests a step smaller than `step` [s], or an implicit integrator where that may help.

    Args:
        step: that failed [s].
        body, state: whose rates may tell, at its last good state.
        implicit: whether an implicit integrator runs already.
    """
    limit = None if body is None or state is None else explicit_limit(body, state)
    if body is not None and limit is not None and step >= _SAFETY * limit and not implicit:
        return (
            f"Try a step of {_rounded(_SAFETY * limit)} s or an implicit integrator: explicit steps of "
            f"{body.name!r} are stable below {limit:.3g} s."
        )
    # where rates are known and the step is below their limit, and where contacts are the trouble, it is no cure
    other = ", or an implicit integrator" if body is not None and limit is None and not implicit else ""
    return f"Try a smaller step than {step:g} s, for example {_rounded(0.5 * step)} s{other}."


def _rounded(step: float) -> str:
    """A step rounded down to two digits."""
    unit = 10.0 ** (math.floor(math.log10(step)) - 1)
    return f"{math.floor(step / unit + 1e-9) * unit:.2g}"
