"""What the tables of a scenario file share: kinds of fields, and checks of them."""

from __future__ import annotations

import re
from typing import Any

from attrs import field

from corekit.data.signals import Constant, Signal, as_signal

__all__ = ["OF_SURFACE", "Triple", "about", "name_problem", "triple_signal"]

Triple = tuple[float, float, float]

OF_SURFACE = "friction coefficient of its surface, or { forward, backward, sideways } along its axis"


def name_problem(name: str) -> str | None:
    """Return what is wrong with a name; None if nothing is."""
    fits = re.fullmatch(r"\w[\w-]*", name)
    return None if fits else "must be made of letters, digits, '-' and '_' only"


def _three_numbers(_instance: object, _attribute: object, value: Signal) -> None:
    if value.size != 3:
        raise ValueError(f"must have 3 numbers, has {value.size}")


def about(help: str, **more: str) -> dict[str, str]:
    """Return the metadata of a field that `option` cannot make, because its bounds are not those of a number."""
    return {"help": help, "unit": "", "allowed": "", **more}


def triple_signal(help: str, unit: str) -> Any:
    """Return a field of three numbers, or of a signal of three; zero if absent."""
    return field(
        default=Constant((0.0, 0.0, 0.0)),
        converter=as_signal,
        validator=_three_numbers,
        metadata=about(help, unit=unit),
    )
