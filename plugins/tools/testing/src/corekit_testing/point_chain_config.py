"""Options of the reference point chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from corekit.roles.options import option

__all__ = ["LINKS", "PointChainConfig"]

LINKS = ("none", "spring", "rod", "weld", "winch", "brake", "tendon")
"""Link kinds: nothing; a spring; a length that holds (compliant if α > 0); all coordinates held; a rate of
the length given by the input `reel`; a length that slips at force bounds; a length that only pulls within
force bounds."""


def _numbers(value: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(entry) for entry in value)


def _points(value: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(_numbers(entry) for entry in value)


def _known_links(value: tuple[str, ...]) -> str | None:
    unknown = [link for link in value if link not in LINKS]
    return f"{unknown[0]!r} is no link; links are {', '.join(LINKS)}" if unknown else None


def _vector(help: str, unit: str) -> Any:
    return option((0.0, 0.0, 0.0), help, unit=unit, converter=_numbers)


@frozen(kw_only=True)
class PointChainConfig:
    """A chain of point masses; link i joins node i to node i − 1, the first one to the base's origin.

    Positions are in the base's axes, (x, y, z), or (x, z) if planar. Raises ValueError where the lists
    do not fit each other.
    """

    masses: tuple[float, ...] = option(
        (1.0,),
        "mass of every node; a massless one must be held by rows",
        unit="kg",
        low=0,
        converter=_numbers,
    )
    positions: tuple[tuple[float, ...], ...] = option(
        ((0.0, 0.0, 0.0),), "where the nodes start", unit="m", converter=_points
    )
    velocities: tuple[tuple[float, ...], ...] = option(
        (), "velocities at the start; none: at rest", unit="m/s", converter=_points
    )
    links: tuple[str, ...] = option(
        (), "kind of every link; none given: no links", converter=tuple, check=_known_links
    )
    lengths: tuple[float, ...] = option(
        (), "natural lengths; none given: those at the start", unit="m", low=0, converter=_numbers
    )
    stiffness: float = option(1e3, "of spring links", unit="N/m", low=0)
    damping: float = option(0.0, "of spring links, against any relative velocity", unit="N·s/m", low=0)
    drag: float = option(0.0, "of every node against the surroundings", unit="N·s/m", low=0)
    compliance: float = option(0.0, "α of rods and tendons [m/N], of winches and brakes [m/(s·N)]", low=0)
    lower: float = option(-1.0, "least force of brakes and tendons; < 0 pulls", unit="N", infinite=True)
    upper: float = option(1.0, "largest force of brakes and tendons; > 0 pushes", unit="N", infinite=True)
    structure: str = option(
        "diagonal",
        "layout of the mass matrix",
        choices=("diagonal", "block-diagonal", "banded", "dense"),
    )
    planar: bool = option(False, "lives in the base's x–z plane")
    shape: str = option(
        "none", "what can touch: a sphere a node or an edge a link", choices=("none", "sphere", "edge")
    )
    radius: float = option(0.1, "of spheres and edges", unit="m", above=0)
    self_contact: bool = option(False, "whether its own shapes touch each other")
    driven: tuple[int, ...] = option((), "nodes that follow p(t)", low=0, converter=tuple)
    drive_rate: tuple[float, ...] = _vector("p(t) = start + rate·t + amplitude·sin(2π·frequency·t)", "m/s")
    drive_amplitude: tuple[float, ...] = _vector("see drive_rate", "m")
    drive_frequency: float = option(1.0, "see drive_rate", unit="Hz", low=0)
    winding: int = option(-1, "node whose angle about the base's y axis is counted over all turns", low=-1)
    winding_stiffness: float = option(0.0, "of a spiral spring on that angle", unit="N·m/rad", low=0)

    def __attrs_post_init__(self) -> None:
        nodes, size = len(self.masses), 2 if self.planar else 3
        for name, length in (
            ("positions", nodes),
            ("velocities", nodes),
            ("links", nodes),
            ("lengths", nodes),
        ):
            given = getattr(self, name)
            if len(given) != length and (given or name == "positions"):
                raise ValueError(f"{name}: one for each of the {nodes} masses, found {len(given)}")
        for name in ("positions", "velocities"):
            if any(len(entry) != size for entry in getattr(self, name)):
                raise ValueError(f"{name}: every entry needs {size} numbers")
        if any(node >= nodes for node in (*self.driven, self.winding)):
            raise ValueError(f"driven, winding: nodes are 0 … {nodes - 1}")
