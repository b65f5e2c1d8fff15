"""How a cable's tension reaches along its path, as CasADi expressions: (1) and (2) of `cable_friction`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit_der.cable_friction import SMOOTHING

__all__ = ["CableExpressionData", "cable_shares"]

Expression = Any
"""A CasADi SX, MX or DM."""


@frozen(eq=False)
class CableExpressionData:
    """One of `cables`: its edges, offsets (P, 3), strains at rest (P, 3), k and T_max, or None, and its input.

    `pairs`, `place` and `friction` are those of `cable_friction`.
    """

    edges: IntArray
    arm: Array
    rest: Array
    stiffness: float | None
    limit: float
    first: int
    friction: float
    pairs: IntArray
    place: Array


def cable_shares(cable: CableExpressionData, strains: Sequence[tuple[Expression, ...]]) -> Expression:
    """Return g of `cable_friction`, of the edges and then the pairs."""
    count = len(cable.edges) + len(cable.pairs)
    if not cable.friction or not len(cable.pairs):
        return ca.DM.ones(count)
    sizes = [ca.sqrt(sum(k**2 for k in strain[:2]) + SMOOTHING**2) - SMOOTHING for strain in strains]
    loss = cable.friction * 2.0 * ca.atan(0.5 * ca.vertcat(*sizes))
    places = np.concatenate([np.arange(len(cable.edges)), cable.place])
    reaching = ca.exp(-ca.DM((cable.place < places[:, None]).astype(float)) @ loss)
    small = loss < 1e-3
    some = ca.if_else(small, 1.0, loss)
    series = 1.0 - loss * (0.5 - loss * (1.0 / 6.0 - loss / 24.0))
    mean = ca.if_else(small, series, (1.0 - ca.exp(-some)) / some)
    return reaching * ca.vertcat(ca.DM.ones(len(cable.edges)), mean)
