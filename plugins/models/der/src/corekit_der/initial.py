"""Where rods start."""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.roles.options import option
from corekit_der.options import Triple, triples

__all__ = ["BendingMode", "DERInitial", "LimbStart", "bending_mode"]


@frozen(kw_only=True)
class LimbStart:
    """How one limb starts; what is left out is as in its rest shape, at rest."""

    limb: str = option(help="its name")
    points: tuple[Triple, ...] = option((), "its nodes, in the base's axes", unit="m", converter=triples)
    velocity: Triple = option((0.0, 0.0, 0.0), "of all its nodes, in the base's axes", unit="m/s")
    velocities: tuple[Triple, ...] = option((), "of each node beside that", unit="m/s", converter=triples)
    twist: float = option(0.0, "twist of the rod, the angle growing from its first edge", unit="rad/m")


@frozen(kw_only=True)
class BendingMode:
    """A velocity in the shape of a bending mode of a clamped-free beam, see `bending_mode`."""

    limb: str = option(help="its name; clamped at its start")
    number: int = option(1, "which mode, counted from 1", low=1, high=20)
    tip: Triple = option(help="velocity of the tip, in the base's axes", unit="m/s")


@frozen(kw_only=True)
class DERInitial:
    """Start of a graph of rods: its rest shape at rest where nothing is said."""

    limbs: tuple[LimbStart, ...] = option((), "limbs that start otherwise")
    modes: tuple[BendingMode, ...] = option((), "velocities that are added")


def bending_mode(number: int, place: Array) -> Array:
    """Shape of a bending mode of a clamped-free beam at `place` = s/L, scaled to 1 at the tip.

        w = cosh bs − cos bs − σ·(sinh bs − sin bs),   σ = (cosh b + cos b)/(sinh b + sin b),
        cosh b·cos b = −1                                                                    (1)

    Source: Timoshenko, Young, Weaver (1974), "Vibration problems in engineering", section 5.11.
    """
    b = math.pi * (number - 0.5)
    for _ in range(20):  # Newton on cos b + 1/cosh b
        b += (math.cos(b) + 1.0 / math.cosh(b)) / (math.sin(b) + math.tanh(b) / math.cosh(b))
    s = (math.cosh(b) + math.cos(b)) / (math.sinh(b) + math.sin(b))

    def shape(x: Array) -> Array:
        return np.cosh(b * x) - np.cos(b * x) - s * (np.sinh(b * x) - np.sin(b * x))

    return shape(place) / shape(np.ones(1))[0]
