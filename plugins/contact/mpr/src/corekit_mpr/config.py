"""Options of the detector for convex shapes."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["MprConfig"]


@frozen(kw_only=True)
class MprConfig:
    """Options of `mpr`; `patch` and `flat_angle` are those of `sdf` and change no gap of a pair."""

    patch: bool = option(
        True, "whether a flat or a line on a flat gives up to four points instead of the closest one alone"
    )
    flat_angle: float = option(
        0.1, "tilt up to which a flat or a line counts as lying on a flat", unit="rad", above=0.0, high=0.5
    )
    tolerance: float = option(
        1e-7,
        "how near the proven bounds of a depth come where overlapping shapes are round",
        unit="m",
        above=0.0,
    )
