"""Forces, their derivatives and energies: springs at the pins, gravity, and a load at the tip.

With θ_0 = t_0 − heading, θ_j = t_2j − t_2j−1, and θ* the sum of natural and actuated angle of pin j,

    τ_j = −M_j(θ_j − θ*_j) − C_j·θ̇_j        on body 2j, its opposite on body 2j − 1              (1)
    M_j(δ) = K_j·δ, or the wrinkling law of `wrinkling` at the curvature δ/D_j                   (2)

Equations (7) and (8) of the paper are the linear law with one K for all pins.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit_vine.chain import (
    ACTUATOR,
    DAMPING,
    GRAVITY_X,
    GRAVITY_Y,
    HALF,
    HEADING,
    NATURAL_ANGLE,
    ONSET,
    RATE_COUNT,
    SPACING,
    STIFFNESS,
)
from corekit_vine.wrinkling import bend_energy, bend_moment

__all__ = [
    "compute_energies",
    "compute_mass_and_force",
    "compute_stiffness_and_damping",
    "integrate",
    "pin_angle",
]


@compiled
def integrate(q: Array, velocity: Array, step: float, out: Array) -> None:
    """Write q + h·v̄."""
    for i in range(len(q)):
        out[i] = q[i] + step * velocity[i]


@compiled
def pin_angle(scalars: Array, pins: Array, q: Array, inputs: Array, j: int) -> float:
    """Return θ_j − θ*_j [rad]; inputs are growth, heading, curvatures of the actuators, force at the tip."""
    heading = int(scalars[RATE_COUNT])
    before = scalars[HEADING] + inputs[heading] if j == 0 else q[6 * j - 1]
    angle = q[6 * j + 2] - before - pins[j, NATURAL_ANGLE]
    actuator = int(pins[j, ACTUATOR])
    if actuator >= 0:
        angle -= pins[j, SPACING] * inputs[heading + 1 + actuator]
    return angle


@compiled
def _moment(pins: Array, angle: float, j: int) -> tuple[float, float]:
    """Return M_j and its derivative at an angle δ."""
    stiffness, onset = pins[j, STIFFNESS], pins[j, ONSET]
    if not abs(angle) > onset * pins[j, SPACING]:
        return stiffness * angle, stiffness
    moment, slope = bend_moment(angle / pins[j, SPACING], stiffness * pins[j, SPACING], onset)
    return moment, slope / pins[j, SPACING]


@compiled
def compute_mass_and_force(
    scalars: Array, mass: Array, pins: Array, q: Array, v: Array, inputs: Array, inertia: Array, force: Array
) -> None:
    """Write the diagonal of M into `inertia` and f [N, N·m] into `force`, both of shape (3n,)."""
    gx, gy = scalars[GRAVITY_X], scalars[GRAVITY_Y]
    for i in range(0, len(q), 3):
        inertia[i] = mass[i]
        inertia[i + 1] = mass[i + 1]
        inertia[i + 2] = mass[i + 2]
        force[i] = mass[i] * gx
        force[i + 1] = mass[i] * gy
        force[i + 2] = 0.0
    for j in range(len(pins)):
        rate = v[6 * j + 2] - (v[6 * j - 1] if j > 0 else 0.0)
        torque = -_moment(pins, pin_angle(scalars, pins, q, inputs, j), j)[0] - pins[j, DAMPING] * rate
        force[6 * j + 2] += torque
        if j > 0:
            force[6 * j - 1] -= torque
    last, load = len(q) - 1, len(inputs) - 2
    fx, fy = inputs[load], inputs[load + 1]
    force[last - 2] += fx
    force[last - 1] += fy
    force[last] += scalars[HALF] * (math.cos(q[last]) * fy - math.sin(q[last]) * fx)


@compiled
def compute_stiffness_and_damping(
    scalars: Array, pins: Array, q: Array, inputs: Array, stiffness: Array, damping: Array
) -> None:
    """Write K and D as lower bands, shapes (6, 3n) and (4, 3n)."""
    stiffness[:] = 0.0
    damping[:] = 0.0
    for j in range(len(pins)):
        slope = _moment(pins, pin_angle(scalars, pins, q, inputs, j), j)[1]
        pin_damping = pins[j, DAMPING]
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
    stiffness[0, last] += scalars[HALF] * axial


@compiled
def compute_energies(
    scalars: Array, mass: Array, pins: Array, q: Array, v: Array, inputs: Array
) -> tuple[float, float]:
    """Return kinetic energy, and elastic and gravitational energy [J]; heights count from the base."""
    kinetic, potential = 0.0, 0.0
    for i in range(0, len(q), 3):
        for k in range(3):
            kinetic += 0.5 * mass[i + k] * v[i + k] * v[i + k]
        potential -= mass[i] * (scalars[GRAVITY_X] * q[i] + scalars[GRAVITY_Y] * q[i + 1])
    for j in range(len(pins)):
        spacing = pins[j, SPACING]
        curvature = pin_angle(scalars, pins, q, inputs, j) / spacing
        potential += spacing * bend_energy(curvature, pins[j, STIFFNESS] * spacing, pins[j, ONSET])
    return kinetic, potential
