"""Options of the detector for convex shapes."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["MprConfig"]


@frozen(kw_only=True)
class MprConfig:
    """Options of `mpr`; `patch` and `flat_angle` are those of `sdf` and change no gap of a pair."""

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
        1e-7,
        "largest distance between the proven bounds of the penetration of round shapes",
        unit="m",
        above=0.0,
    )
