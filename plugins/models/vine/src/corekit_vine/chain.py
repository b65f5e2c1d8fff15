"""Constants of a robot, as arrays for the compiled kernels.

Body i = 0 … n − 1 from base to tip has the coordinates (x_i, y_i, t_i) in the plane, the axis a = (cos t, sin t),
the normal b = (−sin t, cos t) and the ends r ∓ d·a. Link j consists of the bodies 2j and 2j + 1. Pin j joins the
far end of body 2j − 1 (pin 0: the base) to the near end of body 2j.

Stiffness of pins at the distance D in a tube of bending stiffness EI; the clamped base is half a cell:

    K_j = EI/D_j,   D_j = D,   D_0 = D/2                                                        (1)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.component import BuildContext
from corekit_vine.config import VineConfig
from corekit_vine.inertia import compute_body_inertia

__all__ = ["Chain", "build_chain"]

# entries of `Chain.scalars`
HALF, GRAVITY_X, GRAVITY_Y, HEADING, RATE_COUNT, PRESSURE_DRIVEN, EXTENSIBILITY, YIELD = range(8)
STEP_SIZE, SHORTEST, PUBLISHED, ROWS_PER_LINK, COMPLIANCE, MAX_FORCE = range(8, 14)
# columns of `Chain.pins`
STIFFNESS, DAMPING, NATURAL_ANGLE, SPACING, ONSET, ACTUATOR = range(6)

_DEFAULT_STIFFNESS = 0.0133
"""EI of the paper's runtime case [N·m²]: 0.5 N·m/rad at pins 26.7 mm apart."""


class Chain(NamedTuple):
    """Constants of a robot of n bodies and N = n/2 links.

    Attributes:
        scalars: half length d [m], gravity in the plane (2) [m/s²], heading [rad], count of rate inputs,
            whether pressure drives growth, extensibility φ [m/(s·Pa)], yield pressure [Pa], step size h [s], shortest
            s [m], whether the rows are those of the paper, rows per link, compliance of a growth row [(m/s)/N],
            force bound of a growth row [N]; shape (14,).
        mass: m, m, J of every body [kg, kg·m²], shape (3n,).
        pins: stiffness K_j [N·m/rad], damping C_j [N·m·s/rad], natural angle [rad], spacing D_j [m], curvature at
            the onset of wrinkling [1/m], index of the actuator or −1; shape (N, 6).
    """

    scalars: Array
    mass: Array
    pins: Array


def _build_pins(config: VineConfig) -> Array:
    pins = np.zeros((config.links, 6))
    pins[:, SPACING] = config.spacing
    pins[0, SPACING] *= 0.5
    bending_stiffness = _DEFAULT_STIFFNESS if config.bending_stiffness is None else config.bending_stiffness
    pins[:, STIFFNESS] = bending_stiffness / pins[:, SPACING]
    if config.joint_stiffness is not None:
        pins[:, STIFFNESS] = config.joint_stiffness
    pins[:, DAMPING] = (config.bending_damping or 0.0) / pins[:, SPACING]
    if config.joint_damping is not None:
        pins[:, DAMPING] = config.joint_damping
    pins[:, NATURAL_ANGLE] = pins[:, SPACING] * np.array(config.natural_curvature)
    pins[:, ONSET] = math.inf
    if config.moment_law == "wrinkling":
        # κ_w = M_w/EI
        pins[:, ONSET] = 0.5 * math.pi * config.pressure * (0.5 * config.diameter) ** 3 / bending_stiffness
    pins[:, ACTUATOR] = -1.0
    for number, (first, last) in enumerate(config.actuators):
        pins[first : last + 1, ACTUATOR] = number
    return pins


def build_chain(config: VineConfig, context: BuildContext) -> Chain:
    """Return the constants of a robot, in the axes of the context's base."""
    mass, inertia = compute_body_inertia(config)
    # the plane is the base's x–z plane
    gravity = context.base.rotation.T @ context.gravity
    section = math.pi * (0.5 * config.diameter) ** 2
    scalars = [
        config.half_length,
        gravity[0],
        gravity[2],
        config.heading,
        1.0 if config.growth_input == "total" else config.links,
        1.0 if config.growth == "pressure" else 0.0,
        config.extensibility,
        config.yield_pressure,
        context.step,
        config.shortest,
        1.0 if config.equations == "published" else 0.0,
        6.0 if config.irreversible else 5.0,
        config.extensibility / (section * config.links),
        config.growth_force,
    ]
    return Chain(
        np.array(scalars, dtype=np.float64),
        np.tile(np.array([mass, mass, inertia]), config.bodies),
        _build_pins(config),
    )
