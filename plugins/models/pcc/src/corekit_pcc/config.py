"""Options of a piecewise-constant-curvature arm; the defaults are the arm of the CUSP paper."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import option

__all__ = ["PCCConfig", "PCCInitial"]

_CUSP_MASS = (1.17, 0.54, 0.265)
_LEFT_OUT = "left out, it is the CUSP arm's: three sections"
_PER_SECTION = ("chambers", "length", "mass", "stiffness", "damping", "chamber_radius", "chamber_angle")
_PER_SECTION += ("plate_thickness", "disks", "disk_radius", "disk_half_height", "disk_inertia")


def _is_number(entry: object) -> bool:
    return isinstance(entry, (int, float)) and not isinstance(entry, bool)


def _numbers(value: Any) -> Any:
    """A number or a list of numbers as a tuple of floats; what is neither is left for the check to name."""
    entries = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    return tuple(float(entry) for entry in entries) if all(map(_is_number, entries)) else value


def _counts(value: Any) -> Any:
    """A whole number or a list of them as a tuple of ints; what is neither is left for the check to name."""
    entries = _numbers(value)
    whole = isinstance(entries, tuple) and all(_is_number(entry) and entry % 1 == 0 for entry in entries)
    return tuple(int(entry) for entry in entries) if whole else value


def _are_numbers(value: object) -> str | None:
    fine = isinstance(value, tuple) and value and all(map(_is_number, value))
    return None if fine else "give one number, or a list with one a section"


def _are_counts(value: object) -> str | None:
    fine = isinstance(value, tuple) and value and all(isinstance(entry, int) for entry in value)
    return None if fine else "give one whole number, or a list with one a section"


def _is_whole(value: object) -> str | None:
    return None if isinstance(value, int) and not isinstance(value, bool) else "must be a whole number"


def _per_section(default: float | tuple[float, ...], help: str, **limits: Any) -> Any:
    entries = default if isinstance(default, tuple) else (default,)
    return option(
        entries, help + "; one for all or one a section", converter=_numbers, check=_are_numbers, **limits
    )


def _count_per_section(default: int, help: str, **limits: Any) -> Any:
    return option(
        (default,), help + "; one for all or one a section", converter=_counts, check=_are_counts, **limits
    )


@frozen(kw_only=True)
class PCCConfig:
    """Options of a piecewise-constant-curvature arm.

    Every option "one for all or one a section" takes a number or a list; `spread` gives one per section.
    Raises ConfigError with every list whose length does not fit the number of sections.
    """

    sections: int = option(3, "number of sections in the chain", low=1, high=64, check=_is_whole)
    chambers: tuple[int, ...] = _count_per_section(
        3, "chambers around the backbone, evenly spaced; 3 make the elongations coordinates", low=3, high=64
    )
    length: tuple[float, ...] = _per_section(0.15, "rest length L₀ of the backbone", unit="m", above=0)
    mass: tuple[float, ...] = _per_section(_CUSP_MASS, "mass, uniform along the arc", unit="kg", above=0)
    stiffness: tuple[float, ...] = _per_section(265.0, "stiffness of each chamber", unit="N/m", low=0)
    damping: tuple[float, ...] = _per_section(125.0, "damping of each chamber", unit="N·s/m", low=0)
    chamber_radius: tuple[float, ...] = _per_section(
        0.05, "distance of the chambers from the backbone", unit="m", above=0
    )
    chamber_angle: tuple[float, ...] = _per_section(
        0.0, "angle of the first chamber from the local x axis", unit="rad"
    )
    plate_thickness: tuple[float, ...] = _per_section(
        0.0, "rigid straight length between a section's end and the next section's start", unit="m", low=0
    )
    disks: tuple[int, ...] = _count_per_section(
        3, "disks inside a section, beside the one at its end", low=0, high=200
    )
    disk_radius: tuple[float, ...] = _per_section(0.06, "radius of the disks", unit="m", above=0)
    disk_half_height: tuple[float, ...] = _per_section(
        0.005, "half the height of the disks", unit="m", above=0
    )
    disk_inertia: tuple[float, ...] = _per_section(
        0.0,
        "moment of inertia of each disk about its diameter, twice that about its axis",
        unit="kg·m²",
        low=0,
    )
    base_disk: bool = option(True, "whether a disk that can be touched stands at the base")
    friction: float | None = option(
        None, "friction coefficient of the disks; left out, the scenario decides", low=0
    )
    self_contact: bool = option(False, "whether disks that are not neighbours may touch each other")
    mass_nodes: int = option(
        3, "Gauss–Legendre nodes a section for the inertia and gravity", low=1, high=16, check=_is_whole
    )
    coriolis: bool = option(
        False, "whether centrifugal and Coriolis forces count; the CUSP paper leaves them out"
    )

    def __attrs_post_init__(self) -> None:
        allowed = f"give one number, or {self.sections}: one a section"
        wrong = [
            Mistake(name, f"{len(value)} entries", allowed, _LEFT_OUT if value == _CUSP_MASS else "")
            for name in _PER_SECTION
            if len(value := getattr(self, name)) not in (1, self.sections)
        ]
        if wrong:
            raise ConfigError(wrong, "the arm")

    def spread(self, name: str) -> tuple[Any, ...]:
        """The option `name` with exactly one entry a section."""
        value = getattr(self, name)
        return value * self.sections if len(value) == 1 else value


@frozen(kw_only=True)
class PCCInitial:
    """Where an arm starts; lengths are checked when the arm is known.

    One number counts for every chamber, a list of one a section for every chamber of that section
    (both are pure extension), a list of three a section gives the coordinates themselves.
    """

    elongation: tuple[float, ...] = option(
        (0.0,),
        "elongation: one, one a section, or every coordinate",
        unit="m",
        converter=_numbers,
        check=_are_numbers,
    )
    velocity: tuple[float, ...] = option(
        (0.0,),
        "its rate: one, one a section, or every coordinate",
        unit="m/s",
        converter=_numbers,
        check=_are_numbers,
    )
