"""Options of a tree of soft and rigid links; the classes they are made of are offered here too."""

from __future__ import annotations

from typing import final

from attrs import frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import option
from corekit_gvs.basis import Basis
from corekit_gvs.joints import Joint
from corekit_gvs.link_shapes import LinkShape
from corekit_gvs.links import Division, Link
from corekit_gvs.load_options import Cable, Chamber, Distributed, Load, Loop, Tendon
from corekit_gvs.options import numbers

__all__ = [
    "Basis",
    "Cable",
    "Chamber",
    "Distributed",
    "Division",
    "GVSConfig",
    "GVSInitial",
    "Joint",
    "Link",
    "LinkInitial",
    "LinkShape",
    "Load",
    "Loop",
    "Tendon",
]

_ARM = Link.soft("arm", length=0.3, radius=0.015)


@final
@frozen(kw_only=True)
class GVSConfig:
    """Options of a tree of links, and of what acts on it. Raises ConfigError with all that does not fit together.

    Coordinates are ordered by link, within a link joint first, then divisions; inputs in the order joints, cables,
    tendons, chambers, distributed, loads.
    """

    links: tuple[Link, ...] = option((_ARM,), "the links; what carries a link stands before it")
    loops: tuple[Loop, ...] = option((), "joints that close loops")
    cables: tuple[Cable, ...] = option((), "threads inside soft links")
    tendons: tuple[Tendon, ...] = option((), "straight threads between places")
    chambers: tuple[Chamber, ...] = option((), "pneumatic chambers along soft links")
    distributed: tuple[Distributed, ...] = option((), "wrenches along soft links")
    loads: tuple[Load, ...] = option((), "wrenches at places, given by inputs")
    fluid_density: float = option(
        0.0, "of what surrounds it: buoyancy, drag and added mass", unit="kg/m³", low=0
    )
    regularisation: float = option(
        0.0,
        "added to M's diagonal for soft coordinates without inertia, as a dependent basis may have",
        unit="kg·m²",
        low=0,
    )
    self_contact: bool = option(False, "whether its own shapes may touch each other, but for neighbours")

    def __attrs_post_init__(self) -> None:
        wrong: list[Mistake] = []
        if not self.links:
            wrong.append(Mistake("links", "none", "give at least one link"))
        for group in ("links", "loops", "cables", "tendons", "chambers", "distributed", "loads"):
            names = [each.name for each in getattr(self, group)]
            wrong.extend(
                Mistake(f"{group}[{i}].name", name, "is taken: every one needs its own name")
                for i, name in enumerate(names)
                if name in names[:i]
            )
        threads = [each.name for each in (*self.cables, *self.tendons)]
        wrong.extend(
            Mistake(
                f"tendons[{i}].name", each.name, "is taken by a cable: both have a channel `tension-NAME`"
            )
            for i, each in enumerate(self.tendons)
            if each.name in threads[: len(self.cables)]
        )
        if wrong:
            raise ConfigError(wrong, "the list of links")


@final
@frozen(kw_only=True)
class LinkInitial:
    """Where one link starts: its joint's coordinates, then those of its divisions.

    Entries of a prescribed joint are p(0) and ṗ(0).
    """

    name: str = option(help="the link")
    coordinates: tuple[float, ...] = option((), "its coordinates", unit="rad, m or –", converter=numbers)
    velocity: tuple[float, ...] = option((), "its q̇", unit="rad/s, m/s or 1/s", converter=numbers)


@final
@frozen(kw_only=True)
class GVSInitial:
    """Where it starts: all coordinates, or those of some links. What is not given is 0 (a prescribed one: p(0)).

    Where a basis moves with t, rates that are not given are those of least kinetic energy: q̇ = 0 is no rest there.
    """

    coordinates: tuple[float, ...] = option(
        (), "every coordinate; left out: 0", unit="rad, m or –", converter=numbers
    )
    velocity: tuple[float, ...] = option(
        (), "every q̇; left out: at rest", unit="rad/s, m/s or 1/s", converter=numbers
    )
    links: tuple[LinkInitial, ...] = option(
        (), "of single links, each once, instead of what is given for all"
    )
