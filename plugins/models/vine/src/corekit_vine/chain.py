"""Constants of a robot, as arrays for the compiled kernels, and what they give at the lengths of its links.

Body i = 0 … n − 1 from base to tip has the coordinates (x_i, y_i, t_i) in the plane, the axis a = (cos t, sin t) and
the normal b = (−sin t, cos t). Link j, of the length ℓ_j, consists of the bodies 2j and 2j + 1, each of which is half
of it: it reaches from r − d·a to r + d·a, d = ℓ_j/4, and r is its centre. Pin j joins the far end of body 2j − 1
(pin 0: the base) to the near end of body 2j.

In a tube of bending stiffness EI and mass μ per length a pin bends the halves of both its links; the clamped base is
half a cell. With the radius of gyration i of the section,

    D_0 = ½·ℓ_0,   D_j = ½·(ℓ_j−1 + ℓ_j),   K_j = EI/D_j,   C_j = c/D_j                          (1)
    m_j = ½·μ·ℓ_j,   J_j = m_j·(ℓ_j²/48 + i²)                                                   (2)

In a tube, `form = "tube"` or `"everting"`, ℓ_j is the length at the start of the step: a tube that grew is the tube
that it would be if it had been made as long. In a `telescope`, which is the paper's form, it is that of the options
however far the bodies slide apart, and d, m, J, K and C never change.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.roles.component import BuildContext
from corekit_vine.config import VineConfig
from corekit_vine.inertia import compute_body_inertia, compute_square_gyration, compute_streams
from corekit_vine.pin_values import pin_matrix

__all__ = ["Chain", "body_inertia", "build_chain", "half_length", "pin_spacing", "stowed_lengths"]

# entries of `Chain.scalars`
LEAST_LENGTH, GRAVITY_X, GRAVITY_Y, HEADING, RATE_COUNT, PRESSURE_DRIVEN, EXTENSIBILITY, YIELD = range(8)
STEP_SIZE, END_OFFSET, PUBLISHED, ROWS_PER_LINK, COMPLIANCE, MAX_FORCE, LINE_MASS, SQUARE_GYRATION = range(
    8, 16
)
MEAN_FLOW, SQUARE_FLOW, TIP_FLOW, FULL_LENGTH, STOWED, HEADING_RATES = range(16, 22)
# columns of `Chain.pins`
RIGIDITY, DAMPING, CURVATURE, ONSET, ACTUATOR = range(5)

_DEFAULT_STIFFNESS = 0.0133
"""EI of the paper's runtime case [N·m²]: 0.5 N·m/rad at pins 26.7 mm apart."""


class Chain(NamedTuple):
    """Constants of a robot of n bodies and N = n/2 links.

    Attributes:
        scalars: least length of a link [m], gravity in the plane (2) [m/s²], heading [rad], count of rate inputs,
            whether pressure drives growth, extensibility φ [m/(s·Pa)], yield pressure [Pa], step size h [s], distance
            of the frame of a link's first body from its pin [m], whether the rows are those of the paper, rows per
            link, compliance of a growth row [(m/s)/N], force bound of a growth row [N], μ [kg/m], i² [m²], the moments
            of flow of `matter`, ℓ_f, or 0, and ℓ_s of `growth` [m], and count of inputs for the rate of heading; shape
            (22,).
        lengths: of the links of a robot that is `length` long [m], shape (N,).
        pins: EI [N·m²], c [N·m²·s], natural curvature [1/m], curvature at the onset of wrinkling [1/m], or where
            pressure drives growth that by pressure [1/(m·Pa)], index of the actuator or −1; shape (N, 5).
    """

    scalars: Array
    lengths: Array
    pins: Array


@compiled
def half_length(lengths: Array, j: int) -> float:
    """Return d of the bodies of link j [m]."""
    return 0.25 * lengths[j]


@compiled
def pin_spacing(lengths: Array, j: int) -> float:
    """Return D_j of (1) [m]."""
    return 0.5 * lengths[0] if j == 0 else 0.5 * (lengths[j - 1] + lengths[j])


@compiled
def body_inertia(scalars: Array, lengths: Array, j: int) -> tuple[float, float]:
    """Return m_j and J_j of (2) [kg, kg·m²]."""
    mass = 0.5 * scalars[LINE_MASS] * lengths[j]
    return mass, mass * (lengths[j] * lengths[j] / 48.0 + scalars[SQUARE_GYRATION])


def stowed_lengths(config: VineConfig, length: float) -> Array:
    """Return the lengths of the links of an everting robot that has come out to a length [m], shape (N,)."""
    links, stowed, more = config.links, config.stowed_length, config.full_length - config.stowed_length
    left = length - links * stowed - more * np.arange(links, dtype=np.float64)
    return np.asarray(stowed + np.clip(left, 0.0, more), dtype=np.float64)


def _build_pins(config: VineConfig) -> Array:
    pins = np.zeros((config.links, 5))
    spacing = np.full(config.links, config.spacing)
    spacing[0] *= 0.5
    rigidity = _DEFAULT_STIFFNESS if config.bending_stiffness is None else config.bending_stiffness
    pins[:, RIGIDITY] = rigidity
    if config.joint_stiffness is not None:
        pins[:, RIGIDITY] = np.diag(pin_matrix(config.joint_stiffness, config.links)) * spacing
    pins[:, DAMPING] = config.bending_damping or 0.0
    if config.joint_damping is not None:
        pins[:, DAMPING] = np.diag(pin_matrix(config.joint_damping, config.links)) * spacing
    pins[:, CURVATURE] = np.array(config.natural_curvature)
    pins[:, ONSET] = math.inf
    if config.moment_law == "wrinkling":
        # κ_w = M_w/EI, of the pressure inside: the one that drives growth, where one does
        pressure = 1.0 if config.growth == "pressure" else config.pressure
        pins[:, ONSET] = 0.5 * math.pi * pressure * (0.5 * config.diameter) ** 3 / rigidity
    pins[:, ACTUATOR] = -1.0
    for number, (first, last) in enumerate(config.actuators):
        pins[first : last + 1, ACTUATOR] = number
    return pins


def build_chain(config: VineConfig, context: BuildContext) -> Chain:
    """Return the constants of a robot, in the axes of the context's base."""
    mass, _ = compute_body_inertia(config)
    body = 2.0 * config.half_length
    # the plane is the base's x–z plane
    gravity = context.base.rotation.T @ context.gravity
    section = math.pi * (0.5 * config.diameter) ** 2
    everts, links = config.form == "everting", config.links
    lengths = np.full(links, 2.0 * body)
    if everts:
        lengths = stowed_lengths(config, config.length)
    scalars = [
        0.5 * config.stowed_length if everts else body + config.shortest,
        gravity[0],
        gravity[2],
        config.heading,
        1.0 if config.growth_input == "total" else config.links,
        1.0 if config.growth == "pressure" else 0.0,
        config.extensibility,
        config.yield_pressure,
        context.step,
        body,
        1.0 if config.equations == "published" else 0.0,
        6.0 if config.irreversible else 5.0,
        config.extensibility / (section * (1 if everts else links)),
        config.growth_force,
        mass / body,
        compute_square_gyration(config),
        *compute_streams(config),
        config.full_length,
        config.stowed_length,
        1.0 if config.is_damped else 0.0,
    ]
    return Chain(np.array(scalars, dtype=np.float64), lengths, _build_pins(config))
