"""Options of the potential and of the detector."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["EdgeDetectorConfig", "ImplicitContactConfig"]


@frozen(kw_only=True)
class ImplicitContactConfig:
    """Options of `imc`."""

    tolerance: float = option(
        5e-4, "δ: half the layer about gap 0 in which the force sets in smoothly", unit="m", above=0
    )
    stiffness: float = option(1e4, "k: of the contact, the least one if it adapts", unit="N/m", above=0)
    adapt: bool = option(
        True,
        "let k follow the mean load between steps, so that surfaces rest at most about δ/5 deep in each other",
    )
    damping: float = option(
        0.0,
        "b: of a dashpot beside the spring, which resists approach and lets go freely",
        unit="N·s/m",
        low=0,
    )
    slip_tolerance: float = option(
        1e-3,
        "ν: slip above which friction is Coulomb's; below it a load under the cone creeps",
        unit="m/s",
        above=0,
    )


@frozen(kw_only=True)
class EdgeDetectorConfig:
    """Options of `edges`."""

    neighbourhood: float = option(
        1.5707963267948966,
        "edges of one body nearer to each other along it than this times (r₁ + r₂) never touch",
        low=0,
    )
