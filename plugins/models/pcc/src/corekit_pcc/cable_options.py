"""Options of a cable along an arm."""

from __future__ import annotations

import math

from attrs import frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import option, refuse_given

__all__ = ["Cable"]


@frozen(kw_only=True)
class Cable:
    """A cable along the arm: channel `tension-NAME` [N], or driven by its length `length-NAME` [m].

    Raises:
        ConfigError: a drive by length without the cable's stiffness, or one by tension with it.
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
        wrong: list[Mistake] = []
        if self.drive == "tension":
            allowed = "must be left out where the tension is given: it belongs to drive = 'length'"
            wrong = refuse_given(self, ("stiffness",), allowed)
        elif self.stiffness is None:
            allowed = "give E·A/L of the cable in N/m: its tension follows from its stretch"
            wrong = [Mistake("stiffness", None, allowed)]
        if wrong:
            raise ConfigError(wrong, f"cable {self.name!r}")
