"""Step up to which explicit integrators are stable, and a step to try, from the rates of a model's forces.

The largest frequency and the largest damping rate of a body are estimated apart, at its last good state:

    ω² = λ_max(K, M),   d = λ_max(D, M)                                                  (1)

One mode  q̈ = −ω²·q − d·q̇  under semi-implicit Euler has  λ² − (2 − hd − h²ω²)·λ + (1 − hd) = 0, whose
roots stay in the unit circle (Jury: 4 − 2hd − h²ω² > 0) while

    h < 4/(d + √(d² + 4ω²)),    that is 2/ω without damping and 2/d without stiffness      (2)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, eigh

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import StepReport
from corekit.registry.discover import discover
from corekit.registry.resolve import load_spec
from corekit.roles.body import Body

__all__ = ["explicit_limit", "fastest_rates", "is_exceeded", "is_implicit", "limit_at_rest", "step_to_try"]

_MOST = 400
"""Velocities up to which (1) is solved densely."""
_SAFETY = 0.9
_DIVERGED = 1e-3
"""Share of a step below which a limit is that of a motion that diverged already."""


def fastest_rates(body: Body, state: State) -> tuple[float, float] | None:
    """Return ω and d of (1) [1/s] at a state; None without force derivatives, mass, or if the body is too large."""
    derivatives = body.abilities.force_derivatives
    if derivatives is None or body.nv > _MOST:
        return None
    model, inputs = body.model, body.inputs.value_at(state.time)
    mass, force = model.new_mass_matrix(), np.zeros(body.nv)
    stiffness, damping = derivatives.new_stiffness_and_damping()
    model.compute_mass_and_force(state, inputs, mass, force)
    derivatives.compute_stiffness_and_damping(state, inputs, stiffness, damping)
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
    """Return h of (2) [s] at a body's state; None if its rates are not known, or nothing limits it."""
    rates = fastest_rates(body, state)
    if rates is None:
        return None
    omega, damping = rates
    bound = damping + math.sqrt(damping * damping + 4.0 * omega * omega)
    return 4.0 / bound if bound > 0 else None


def limit_at_rest(body: Body) -> float | None:
    """Return `explicit_limit` at the model's own rest state.

    A motion that diverges stiffens what it stretches and turns: at its states the limit is its own, not its cause.
    """
    rest = State.stacked([body.sizes]).body_states[0]
    body.model.compute_initial_state(None, rest)
    return explicit_limit(body, rest)


def is_implicit(simulation: Any, report: StepReport) -> bool:
    """Whether the integrator of a simulation is declared implicit, or iterated in a step."""
    integrator = simulation.component_name(simulation.integrator).rpartition(":")[2]
    rows = [row for row in discover() if row.role == "integrators" and row.name == integrator and row.usable]
    return report.iterations > 1 or any("implicit" in load_spec(row).provides for row in rows)


def is_exceeded(limit: float | None, step: float) -> bool:
    """Whether a step [s] is near a limit or beyond it."""
    return limit is not None and step >= _SAFETY * limit


def _largest(matrix: Array, mass: Array) -> float:
    """Return λ_max of the pencil's symmetric part, at least 0."""
    # all of them: LAPACK's search for one alone found none for a rod where sums were rounded down, and saves little
    values = eigh(0.5 * (matrix + matrix.T), mass, eigvals_only=True)
    return max(0.0, float(values[-1]))


def step_to_try(
    step: float, body: Body | None = None, state: State | None = None, *, implicit: bool = False
) -> str:
    """Return a sentence that suggests a step smaller than `step` [s], or another kind of scheme where that may help.

    Args:
        step: that failed [s].
        body, state: whose rates limit the step, at its last good state.
        implicit: whether an implicit integrator runs already.
    """
    limit = None
    if body is not None and state is not None:
        limit = limit_at_rest(body)
        if not is_exceeded(limit, step):
            limit = explicit_limit(body, state)
            # far below the step it is that of a motion that diverged
            limit = None if limit is not None and limit < _DIVERGED * step else limit
    if body is not None and limit is not None and is_exceeded(limit, step):
        cure, reason = (
            ("a scheme that damps", f"longer steps do not resolve the fastest motion of {body.name!r}.")
            if implicit
            else (
                "an implicit integrator",
                f"explicit steps of {body.name!r} are stable below {limit:.3g} s.",
            )
        )
        return f"Try a step of {_rounded(_SAFETY * limit)} s or {cure}: {reason}"
    # where rates are known and the step is below their limit, and where contacts are the trouble, it is no cure
    other = ", or an implicit integrator" if body is not None and limit is None and not implicit else ""
    return f"Try a smaller step than {step:g} s, for example {_rounded(0.5 * step)} s{other}."


def _rounded(step: float) -> str:
    """Round a step down to two digits."""
    unit = 10.0 ** (math.floor(math.log10(step)) - 1)
    return f"{math.floor(step / unit + 1e-9) * unit:.2g}"
