"""Options of the detector for convex shapes."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["MprConfig"]


@frozen(kw_only=True)
class MprConfig:
    """Options of `mpr`; `patch` and `flat_angle` are those of `sdf` and change no gap of a pair.

    `tolerance` counts in the radius of the largest ball about the centre of either shape that fits into it, the lesser
    of both. A pair is seldom deeper than its thinner shape is thick, so an error of its depth is small or large beside
    that: not beside a floor that a ball lies on, nor beside the length of a rod. Rounding of the pair's coordinates is
    the least that bounds can differ (`expansion.depth`).
    """

    patch: bool = option(
        True, "report a flat or a line on a flat by up to four points, not by the closest one alone"
    )
    flat_angle: float = option(
        0.1,
        "largest tilt at which a flat or a line counts as lying on a flat",
        unit="rad",
        above=0.0,
        high=0.5,
    )
    tolerance: float = option(
        1e-5,
        "largest distance between the proven bounds of the penetration of round shapes, relative to the radius of the "
        "largest ball about its centre that fits into the thinner shape",
        above=0.0,
        high=0.01,
    )
