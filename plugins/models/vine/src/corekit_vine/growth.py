"""Which links grow, and how fast: all alike, or those of an everting tube one after the other, at its tip.

Pressure P asks for the rate φ·(P − Y) of the tip, see `joints`. Where all links grow alike each has its N-th part. The
links of an everting tube come out one by one: each grows from its stowed length ℓ_s to its full length ℓ_f. Those that
have come out keep theirs, so that their pins are points of the wall, which rests. Those that have yet to come wait at
the tip and move along with it, as a piece of tube of N·ℓ_s at most:

    ġ_j = u for the link that comes out,   ġ_j = 0 for all others                                 (1)

It is the last one of 2·ℓ_s or more while that is shorter than ℓ_f, and the next one then. A step may take a link beyond
ℓ_f, and in retraction below ℓ_s, by less than |u|·h: the length of the robot is the integral of its rate. Only the wall
of the link that comes out slides along what it touches.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit_vine.chain import EXTENSIBILITY, FULL_LENGTH, PRESSURE_DRIVEN, RATE_COUNT, STOWED, YIELD

__all__ = ["asked_rate", "growing_link", "link_rate", "tip_rate"]

_EVEN = -2
"""In place of a link: all grow alike."""


@compiled
def tip_rate(scalars: Array, inputs: Array) -> float:
    """Return the rate that is asked of the tip, where it is not one of each link [m/s]."""
    if scalars[PRESSURE_DRIVEN] > 0.0:
        return scalars[EXTENSIBILITY] * max(inputs[0] - scalars[YIELD], 0.0)
    return inputs[0]


@compiled
def growing_link(scalars: Array, lengths: Array, links: int, rate: float) -> int:
    """Return the link that comes out at a rate; −1 or N where none is left to, and −2 where all grow alike."""
    full, stowed = scalars[FULL_LENGTH], scalars[STOWED]
    if full == 0.0:
        return _EVEN
    out = -1
    for j in range(links):
        if lengths[j] >= 2.0 * stowed:
            out = j
    after = out + 1
    if rate < 0.0:
        return after if after < links and lengths[after] > stowed else out
    return out if out >= 0 and lengths[out] < full else after


@compiled
def link_rate(links: int, rate: float, growing: int, j: int) -> float:
    """Return the part of link j in the rate of the tip [m/s]; `growing` is that of `growing_link`."""
    if growing == _EVEN:
        return rate / links
    return rate if j == growing else 0.0


@compiled
def asked_rate(scalars: Array, inputs: Array, links: int, rate: float, growing: int, j: int) -> float:
    """Return the rate that is asked of link j [m/s]; `rate` and `growing` are those of the two functions above."""
    return inputs[j] if scalars[RATE_COUNT] > 1.0 else link_rate(links, rate, growing, j)
