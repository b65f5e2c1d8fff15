"""Forces, their derivatives and energies: springs at the pins, gravity, and a load at the tip.

With θ_0 = t_0 − heading, θ_j = t_2j − t_2j−1, D_j of `chain`, and the sum κ* of natural and actuated curvature,

    τ_j = −M(θ_j/D_j − κ*_j) − c·θ̇_j/D_j        on body 2j, its opposite on body 2j − 1            (1)
    M(κ) = EI·κ, or the wrinkling law of `wrinkling`                                             (2)

Equations (7) and (8) of the paper are the linear law with one K = EI/D for all pins. Lengths and the force of `matter`
are those at the start of a step, so that K and D do not know them.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit_vine.chain import (
    ACTUATOR,
    CURVATURE,
    DAMPING,
    GRAVITY_X,
    GRAVITY_Y,
    HEADING,
    HEADING_RATES,
    ONSET,
    PRESSURE_DRIVEN,
    RATE_COUNT,
    RIGIDITY,
    body_inertia,
    half_length,
    pin_spacing,
)
from corekit_vine.wrinkling import bend_energy, bend_moment

__all__ = [
    "compute_energies",
    "compute_mass_and_force",
    "compute_stiffness_and_damping",
    "integrate",
    "pin_curvature",
    "pin_onset",
    "pin_rate",
]


@compiled
def integrate(q: Array, velocity: Array, step: float, out: Array) -> None:
    """Write q + h·v̄."""
    for i in range(len(q)):
        out[i] = q[i] + step * velocity[i]


@compiled
def pin_curvature(scalars: Array, pins: Array, spacing: float, q: Array, inputs: Array, j: int) -> float:
    """Return θ_j/D_j − κ*_j [1/m].

    Inputs are growth, heading, its rate where a pin damps, curvatures of the actuators, force at the tip.
    """
    heading = int(scalars[RATE_COUNT])
    before = scalars[HEADING] + inputs[heading] if j == 0 else q[6 * j - 1]
    curvature = (q[6 * j + 2] - before) / spacing - pins[j, CURVATURE]
    actuator = int(pins[j, ACTUATOR])
    if actuator >= 0:
        curvature -= inputs[heading + 1 + int(scalars[HEADING_RATES]) + actuator]
    return curvature


@compiled
def pin_onset(scalars: Array, pins: Array, inputs: Array, j: int) -> float:
    """Return the curvature at which the wall wrinkles [1/m]: of the pressure inside, which may be the input."""
    onset = pins[j, ONSET]
    return onset * inputs[0] if scalars[PRESSURE_DRIVEN] > 0.0 and onset < math.inf else onset


@compiled
def pin_rate(scalars: Array, v: Array, inputs: Array, j: int) -> float:
    """Return θ̇_j [rad/s]; the clamp turns with the heading."""
    if j > 0:
        return v[6 * j + 2] - v[6 * j - 1]
    return v[2] - inputs[int(scalars[RATE_COUNT]) + 1] if scalars[HEADING_RATES] > 0.0 else v[2]


@compiled
def compute_mass_and_force(
    scalars: Array,
    lengths: Array,
    pins: Array,
    q: Array,
    v: Array,
    inputs: Array,
    inertia: Array,
    force: Array,
) -> None:
    """Write the diagonal of M into `inertia` and f [N, N·m] into `force`, both of shape (3n,).

    Args:
        lengths: of the links, which other numbers may follow.
    """
    gx, gy = scalars[GRAVITY_X], scalars[GRAVITY_Y]
    for j in range(len(pins)):
        mass, across = body_inertia(scalars, lengths, j)
        for i in range(6 * j, 6 * j + 6, 3):
            inertia[i] = mass
            inertia[i + 1] = mass
            inertia[i + 2] = across
            force[i] = mass * gx
            force[i + 1] = mass * gy
            force[i + 2] = 0.0
    for j in range(len(pins)):
        spacing = pin_spacing(lengths, j)
        rate = pin_rate(scalars, v, inputs, j)
        curvature = pin_curvature(scalars, pins, spacing, q, inputs, j)
        moment = bend_moment(curvature, pins[j, RIGIDITY], pin_onset(scalars, pins, inputs, j))[0]
        torque = -moment - pins[j, DAMPING] / spacing * rate
        force[6 * j + 2] += torque
        if j > 0:
            force[6 * j - 1] -= torque
    last, load = len(q) - 1, len(inputs) - 2
    fx, fy = inputs[load], inputs[load + 1]
    force[last - 2] += fx
    force[last - 1] += fy
    d = half_length(lengths, len(pins) - 1)
    force[last] += d * (math.cos(q[last]) * fy - math.sin(q[last]) * fx)


@compiled
def compute_stiffness_and_damping(
    scalars: Array, lengths: Array, pins: Array, q: Array, inputs: Array, stiffness: Array, damping: Array
) -> None:
    """Write K and D as lower bands, shapes (6, 3n) and (4, 3n)."""
    stiffness[:] = 0.0
    damping[:] = 0.0
    for j in range(len(pins)):
        spacing = pin_spacing(lengths, j)
        curvature = pin_curvature(scalars, pins, spacing, q, inputs, j)
        slope = bend_moment(curvature, pins[j, RIGIDITY], pin_onset(scalars, pins, inputs, j))[1] / spacing
        pin_damping = pins[j, DAMPING] / spacing
        angle_index = 6 * j + 2
        stiffness[0, angle_index] += slope
        damping[0, angle_index] += pin_damping
        if j > 0:
            stiffness[0, angle_index - 3] += slope
            damping[0, angle_index - 3] += pin_damping
            stiffness[3, angle_index - 3] = -slope
            damping[3, angle_index - 3] = -pin_damping
    last, load = len(q) - 1, len(inputs) - 2
    axial = math.cos(q[last]) * inputs[load] + math.sin(q[last]) * inputs[load + 1]
    stiffness[0, last] += half_length(lengths, len(pins) - 1) * axial


@compiled
def compute_energies(
    scalars: Array, lengths: Array, pins: Array, q: Array, v: Array, inputs: Array
) -> tuple[float, float]:
    """Return kinetic energy, and elastic and gravitational energy [J]; heights count from the base."""
    kinetic, potential = 0.0, 0.0
    for j in range(len(pins)):
        mass, across = body_inertia(scalars, lengths, j)
        for i in range(6 * j, 6 * j + 6, 3):
            kinetic += 0.5 * (mass * (v[i] * v[i] + v[i + 1] * v[i + 1]) + across * v[i + 2] * v[i + 2])
            potential -= mass * (scalars[GRAVITY_X] * q[i] + scalars[GRAVITY_Y] * q[i + 1])
        spacing = pin_spacing(lengths, j)
        curvature = pin_curvature(scalars, pins, spacing, q, inputs, j)
        potential += spacing * bend_energy(curvature, pins[j, RIGIDITY], pin_onset(scalars, pins, inputs, j))
    return kinetic, potential
