"""Options of the closed-form detector."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["SdfConfig"]


@frozen(kw_only=True)
class SdfConfig:
    """Options of `sdf`; none changes the gap of a pair, only how many points report it."""

    patch: bool = option(
        True, "whether a flat or a line on a flat gives up to four points instead of the closest one alone"
    )
    flat_angle: float = option(
        0.1, "tilt up to which a flat or a line counts as lying on a flat", unit="rad", above=0.0, high=0.5
    )
