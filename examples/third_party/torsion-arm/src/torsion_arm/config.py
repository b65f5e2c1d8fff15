"""Options of a torsion arm."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.roles.options import option

__all__ = ["TorsionArmConfig", "TorsionArmInitial"]


def _numbers(value: Any) -> tuple[float, ...]:
    entries = value if isinstance(value, (list, tuple)) else (value,)
    return tuple(float(entry) for entry in entries)


def _each(default: float, help: str, **limits: Any) -> Any:
    return option((default,), help + "; one for all or one a link", converter=_numbers, **limits)


@frozen(kw_only=True)
class TorsionArmConfig:
    """An arm of n links; link i turns about joint i, which stands at its beginning.

    Raises ValueError where a list has neither one entry nor one a link.
    """

    links: int = option(4, "number of links", low=1, high=200)
    length: tuple[float, ...] = _each(0.15, "of a link", unit="m", above=0)
    mass: tuple[float, ...] = _each(0.1, "of a link, uniform along it", unit="kg", above=0)
    radius: tuple[float, ...] = _each(0.015, "of a link's capsule", unit="m", above=0)
    stiffness: tuple[float, ...] = _each(1.0, "of a joint's spring", unit="N·m/rad", low=0)
    damping: tuple[float, ...] = _each(0.01, "of a joint", unit="N·m·s/rad", low=0)
    natural_angle: tuple[float, ...] = _each(0.0, "at which a joint's spring is at rest", unit="rad")
    friction: float | None = option(None, "coefficient of its surface; left out, the scenario decides", low=0)

    def __attrs_post_init__(self) -> None:
        for name in ("length", "mass", "radius", "stiffness", "damping", "natural_angle"):
            if (count := len(getattr(self, name))) not in (1, self.links):
                raise ValueError(
                    f"{name}: give one number or one for each of {self.links} links, found {count}"
                )

    def spread(self, name: str) -> Array:
        """The option `name` with one entry a link, shape (links,)."""
        return np.array(np.broadcast_to(getattr(self, name), self.links))


@frozen(kw_only=True)
class TorsionArmInitial:
    """Where an arm starts."""

    angle: tuple[float, ...] = _each(0.0, "of a joint", unit="rad")
    rate: tuple[float, ...] = _each(0.0, "of a joint's angle", unit="rad/s")
