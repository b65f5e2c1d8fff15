"""Options of the potential and of the detector."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["EdgeDetectorConfig", "ImplicitContactConfig"]


@frozen(kw_only=True)
class ImplicitContactConfig:
    """Options of `imc`."""

    distance_tolerance: float = option(
        5e-4, "δ: half the layer about gap 0 in which the force rises smoothly", unit="m", above=0
    )
    stiffness: float = option(1e4, "k: contact stiffness, its lower bound with `adapt`", unit="N/m", above=0)
    adapt: bool = option(
        True,
        "choose k of every contact before it is loaded: impacts stay within δ, loads at rest within about δ/5",
    )
    restitution: float | None = option(
        None,
        "e: share of the speed of an impact that comes back, 0 if absent; less than 0.05 counts as 0.05",
        low=0,
        high=1,
    )
    damping: float | None = option(
        None,
        "b: of one dashpot for all contacts in place of `restitution`, which resists approach but not separation",
        unit="N·s/m",
        low=0,
    )
    slip_tolerance: float = option(
        1e-3,
        "ν: slip speed above which friction is Coulomb's; below it a load under the cone creeps",
        unit="m/s",
        above=0,
    )

    def __attrs_post_init__(self) -> None:
        if self.restitution is not None and self.damping is not None:
            raise ValueError(
                "restitution: leave it out where `damping` gives one dashpot for all contacts, or that"
            )


@frozen(kw_only=True)
class EdgeDetectorConfig:
    """Options of `edges`."""

    neighbourhood: float = option(
        1.5707963267948966,
        "edges of one body never touch if their distance along it is below this times (r₁ + r₂)",
        low=0,
    )
