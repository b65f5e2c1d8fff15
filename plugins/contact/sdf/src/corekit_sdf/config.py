"""Options of the closed-form detector."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["SdfConfig"]


@frozen(kw_only=True)
class SdfConfig:
    """Options of `sdf`; they change how many points report a pair, never its gap."""

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
