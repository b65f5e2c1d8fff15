"""Options of the initial state of rods."""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.roles.options import option
from corekit_der.options import Triple, to_points

__all__ = ["BendingMode", "DERInitial", "LimbStart", "bending_mode"]


@frozen(kw_only=True)
class LimbStart:
    """Initial state of one limb; an absent entry means the rest shape with zero velocity."""

    limb: str = option(help="name of the limb")
    points: tuple[Triple, ...] = option(
        (), "nodes of the limb, in the base's axes", unit="m", converter=to_points
    )
    velocity: Triple = option((0.0, 0.0, 0.0), "velocity of all its nodes, in the base's axes", unit="m/s")
    velocities: tuple[Triple, ...] = option(
        (), "velocity of each node, added to `velocity`", unit="m/s", converter=to_points
    )
    twist: float = option(0.0, "twist of the rod, measured from its first edge", unit="rad/m")
    spin: float = option(
        0.0, "rate at which its edges turn about their tangents; see the option `gyroscopic`", unit="rad/s"
    )


@frozen(kw_only=True)
class BendingMode:
    """Velocity with the shape of a bending mode of a clamped-free beam, see `bending_mode`."""

    limb: str = option(help="name of the limb; clamped at its start")
    number: int = option(1, "number of the mode, counted from 1", low=1, high=20)
    tip: Triple = option(help="velocity of the tip, in the base's axes", unit="m/s")


@frozen(kw_only=True)
class DERInitial:
    """Initial state of a graph of rods; the default is the rest shape with zero velocity."""

    limbs: tuple[LimbStart, ...] = option((), "limbs with another initial state, each once")
    modes: tuple[BendingMode, ...] = option((), "velocities of bending modes, added to those of the limbs")


def bending_mode(number: int, position: Array) -> Array:
    """Return the shape of a bending mode of a clamped-free beam at `position` = s/L, scaled to 1 at the tip.

        w = cosh bs − cos bs − σ·(sinh bs − sin bs),   σ = (cosh b + cos b)/(sinh b + sin b),
        cosh b·cos b = −1                                                                    (1)

    cosh bs − σ·sinh bs loses a digit for every factor ten of cosh b. With ½·(1 − σ) = a·exp(−b) it is

        w = a·(exp(b·(s − 1)) − exp(−b·(s + 1))) + exp(−bs) − cos bs + σ·sin bs,   σ = 1 − 2·a·exp(−b),
        a = (sin b − cos b − exp(−b))/(1 − exp(−2b) + 2·exp(−b)·sin b)                       (2)

    in which no term exceeds 2.

    Source: Timoshenko, Young, Weaver (1974), "Vibration problems in engineering", section 5.11.
    """
    b = math.pi * (number - 0.5)
    for _ in range(20):  # Newton on cos b + 1/cosh b
        b += (math.cos(b) + 1.0 / math.cosh(b)) / (math.sin(b) + math.tanh(b) / math.cosh(b))
    fall = math.exp(-b)
    a = (math.sin(b) - math.cos(b) - fall) / (1.0 - fall * fall + 2.0 * fall * math.sin(b))
    s = 1.0 - 2.0 * a * fall

    def shape(x: Array) -> Array:
        rises = np.exp(b * (x - 1.0)) - np.exp(-b * (x + 1.0))
        return a * rises + np.exp(-b * x) - np.cos(b * x) + s * np.sin(b * x)

    return shape(position) / shape(np.ones(1))[0]
