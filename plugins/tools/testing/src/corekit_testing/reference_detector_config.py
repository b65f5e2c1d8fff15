"""Options of the reference detector."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["ReferenceDetectorConfig"]


@frozen(kw_only=True)
class ReferenceDetectorConfig:
    """Options of the reference detector."""

    hollow: bool = option(False, "spheres of the surroundings hold the bodies inside")
