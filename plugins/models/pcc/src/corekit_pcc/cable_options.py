"""Options of a cable along an arm."""

from __future__ import annotations

import math

from attrs import frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import doubt_given, option

__all__ = ["Cable"]


@frozen(kw_only=True)
class Cable:
    """A cable along the arm: channel `tension-NAME` [N], or driven by its length `length-NAME` [m].

    Raises:
        ConfigError: a drive by length without the cable's stiffness.
    """

    name: str = option(help="names its channel")
    sections: int | None = option(None, "number of sections it runs through; left out: all", low=1)
    radius: float = option(help="distance from the backbone", unit="m", low=0)
    angle: float = option(0.0, "angle from the local x axis about z", unit="rad")
    drive: str = option("tension", "what its input sets", choices=("tension", "length"))
    stiffness: float | None = option(
        None, "E·A/L of the whole cable, for a drive by length alone", unit="N/m", above=0
    )
    friction: float = option(0.0, "friction coefficient in its guides, for the capstan loss", low=0)
    limit: float = option(math.inf, "highest tension of its drive", unit="N", above=0, infinite=True)

    def __attrs_post_init__(self) -> None:
        if self.drive == "length" and self.stiffness is None:
            allowed = "give E·A/L of the cable in N/m: its tension follows from its stretch"
            raise ConfigError([Mistake("stiffness", None, allowed)], f"cable {self.name!r}")

    def doubts(self, path: str) -> tuple[str, ...]:
        """Return a sentence on what its drive leaves unread; `path` is its own among the options."""
        return doubt_given(self, "drive", ("stiffness",), f"{path}.") if self.drive == "tension" else ()
