"""Options of a vine robot."""

from __future__ import annotations

import math
from typing import Any

from attrs import frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import doubt_given, option, refuse_given
from corekit_vine.inertia import compute_slender
from corekit_vine.pin_values import PinValues, check_pin_values, count_mistake, is_matrix, to_pin_values

__all__ = ["VineConfig", "VineInitial"]


def _to_floats(value: Any) -> Any:
    """Convert a number or a list of numbers to a tuple of floats; the validator rejects other values."""
    entries = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    fine = all(isinstance(entry, (int, float)) and not isinstance(entry, bool) for entry in entries)
    return tuple(float(entry) for entry in entries) if fine else value


def _check_floats(value: object) -> str | None:
    fine = isinstance(value, tuple) and value and all(isinstance(entry, float) for entry in value)
    return None if fine else "give one number, or a list of them"


def _check_even(value: object) -> str | None:
    fine = isinstance(value, int) and not isinstance(value, bool) and value % 2 == 0
    return None if fine else "must be an even integer: two bodies make a link"


def _to_ranges(value: Any) -> Any:
    listed = isinstance(value, (list, tuple)) and all(isinstance(each, (list, tuple)) for each in value)
    return tuple(tuple(each) for each in value) if listed else value


@frozen(kw_only=True)
class VineConfig:
    """Options of a vine robot; the defaults are a 0.4 m tube of 24 mm.

    Raises:
        ConfigError: contradictory options.
    """

    bodies: int = option(
        30, "count of rigid bodies; two make a telescoping link", low=2, high=20000, check=_check_even
    )
    length: float = option(0.4, "length with the bodies end to end", unit="m", above=0)
    diameter: float = option(0.024, "outer diameter of the tube", unit="m", above=0)
    heading: float = option(0.0, "angle of the base from the first axis of the plane", unit="rad")

    form: str = option(
        "tube",
        "what grows: `tube`, all links alike, with stiffness and mass of their length now; `everting`, the tip, link "
        "by link, while the wall behind it rests; `telescope`, the paper's, as `tube` with what `length` had",
        choices=("tube", "everting", "telescope"),
    )
    longest: float | None = option(
        None, "length to which an everting robot can grow, divided equally among the links", unit="m", above=0
    )
    stowed: float | None = option(
        None, "length of a link that has yet to come out, at the tip; a fortieth of its full one if absent", unit="m",
        above=0,
    )  # fmt: skip

    wall_density: float = option(
        920.0, "density of the wall, unless `body_mass` is given and there is no gas", unit="kg/m³", above=0
    )
    wall_thickness: float = option(
        1e-4,
        "thickness of the wall, unless `body_mass` and `body_inertia` leave it without effect",
        unit="m",
        above=0,
    )
    wall_layers: float = option(2.0, "layers of wall; 2 includes the tail inside, which everts", low=1)
    gas_density: float = option(0.0, "density of the gas inside", unit="kg/m³", low=0)
    body_mass: float | None = option(
        None, "mass of each body at `length`; if absent, that of a hollow cylinder", unit="kg", above=0
    )
    body_inertia: float | None = option(
        None,
        "moment of inertia of each body at `length`; if absent, that of a hollow cylinder",
        unit="kg·m²",
        above=0,
    )

    base_mass: float | None = option(
        None, "mass of a base that moves, of no other; if absent, that of a body", unit="kg", above=0
    )
    base_inertia: float | None = option(
        None, "moment of inertia of a base that moves, of no other, about any axis; if absent, that of a body",
        unit="kg·m²", above=0,
    )  # fmt: skip

    bending_stiffness: float | None = option(
        None, "EI of the tube, pins have EI/D; 0.0133 if `joint_stiffness` is absent too", unit="N·m²",
        low=0,
    )  # fmt: skip
    bending_damping: float | None = option(
        None, "bending damping of the tube; pins have this value divided by D", unit="N·m²·s", low=0
    )
    joint_stiffness: PinValues | None = option(
        None, "stiffness of the pins at `length`, instead of EI; the robot then depends on the count of bodies: one "
        "for all, one per pin, or the lower triangle of a matrix, row by row, that couples pins of a `telescope`",
        unit="N·m/rad", converter=to_pin_values, check=check_pin_values,
    )  # fmt: skip
    joint_damping: PinValues | None = option(
        None, "damping of the pins at `length`, instead of `bending_damping`, in the same forms", unit="N·m·s/rad",
        converter=to_pin_values, check=check_pin_values,
    )  # fmt: skip
    moment_law: str = option(
        "linear", "bending moment: linear with EI, or linear until the wall wrinkles",
        choices=("linear", "wrinkling"),
    )  # fmt: skip
    pressure: float = option(
        0.0,
        "gauge pressure inside, for `wrinkling` alone; left out where the input of that name drives growth",
        unit="Pa", low=0,
    )  # fmt: skip
    natural_curvature: tuple[float, ...] = option(
        (0.0,),
        "natural curvature: one, or one per pin",
        unit="1/m",
        converter=_to_floats,
        check=_check_floats,
    )
    actuators: tuple[tuple[int, int], ...] = option(
        (), "first and last pin of each curvature actuator; pin 0 is at the base", converter=_to_ranges
    )

    growth: str = option(
        "rate",
        "input of growth: `growth-rate`, or `pressure`",
        choices=("rate", "pressure"),
    )
    growth_input: str = option(
        "total",
        "growth rate of the tip, divided equally among the links, or one per link",
        choices=("total", "links"),
    )
    extensibility: float = option(
        0.0, "φ of the pressure law: growth rate per missing pressure; 0: a load does not slow growth",
        unit="m/(s·Pa)", low=0,
    )  # fmt: skip
    yield_pressure: float = option(
        0.0, "least pressure that lets the robot grow, for growth by pressure alone", unit="Pa", low=0
    )
    growth_force: float = option(
        math.inf,
        "largest force of growth along the robot",
        unit="N",
        above=0,
        infinite=True,
    )
    irreversible: bool = option(False, "whether a load can stop growth, but not reverse it")
    shortest: float = option(0.0, "least distance of a link's two bodies in retraction", unit="m", low=0)

    collision: str = option(
        "links", "what touches: capsules from pin to pin, a closed surface; the paper's spheres at pins and tip; none",
        choices=("links", "points", "none"),
    )  # fmt: skip
    friction: float | None = option(
        None, "friction coefficient of the tube; if absent, that of the scenario", low=0
    )
    equations: str = option(
        "regular", "constraints of the telescoping joints: never singular, or those of the paper",
        choices=("regular", "published"),
    )  # fmt: skip

    def __attrs_post_init__(self) -> None:
        mistakes = [*self._bending_mistakes(), *self._growth_mistakes(), *self._eversion_mistakes()]
        if self.body_mass is not None and not self.gas_density:
            allowed = "must be left out: `body_mass` says it, and there is no gas to share it with"
            mistakes += refuse_given(self, ("wall_density",), allowed)
        if not mistakes and self.form != "telescope" and self.body_inertia is not None:
            least = compute_slender(self)[1]
            if self.body_inertia < least * (1.0 - 1e-12):
                allowed = f"must be ≥ {least:.3g} kg·m², that of a body's length, or form = 'telescope'"
                mistakes.append(Mistake("body_inertia", self.body_inertia, allowed))
        if mistakes:
            raise ConfigError(mistakes, "the vine robot")

    @property
    def doubts(self) -> tuple[str, ...]:
        """A sentence on every option that a choice beside it leaves unread."""
        said: tuple[str, ...] = ()
        if self.collision == "none":
            said += doubt_given(self, "collision", ("friction",))
        if self.moment_law == "linear":
            said += doubt_given(self, "moment_law", ("pressure",))
        if self.growth == "rate":
            said += doubt_given(self, "growth", ("yield_pressure",))
        return said

    def _bending_mistakes(self) -> list[Mistake]:
        mistakes: list[Mistake] = []
        for of_tube, joint in (
            ("bending_stiffness", "joint_stiffness"),
            ("bending_damping", "joint_damping"),
        ):
            if getattr(self, of_tube) is not None and getattr(self, joint) is not None:
                mistakes.append(Mistake(joint, getattr(self, joint), f"give it or {of_tube}, not both"))
            values = getattr(self, joint)
            wrong = count_mistake(values, self.links)
            if not wrong and is_matrix(values) and self.form != "telescope":
                wrong = "needs form = 'telescope': what couples pins is known at one length"
            if wrong:
                mistakes.append(Mistake(joint, values, wrong))
        if len(self.natural_curvature) not in (1, self.links):
            found = f"{len(self.natural_curvature)} entries"
            mistakes.append(Mistake("natural_curvature", found, f"give 1, or {self.links}: one per pin"))
        for i, ends in enumerate(self.actuators):
            integers = all(isinstance(end, int) and not isinstance(end, bool) for end in ends)
            if len(ends) != 2 or not integers or not 0 <= ends[0] <= ends[1] < self.links:
                allowed = f"must be [first, last] with 0 ≤ first ≤ last ≤ {self.links - 1}"
                mistakes.append(Mistake(f"actuators[{i}]", list(ends), allowed))
        if 2.0 * self.wall_thickness > self.diameter:
            mistakes.append(Mistake("wall_thickness", self.wall_thickness, "must be at most the radius"))
        if self.moment_law == "wrinkling":
            if self.growth == "pressure":
                mistakes += refuse_given(
                    self, ("pressure",), "must be left out: the input `pressure` says it"
                )
            elif self.pressure <= 0.0:
                mistakes.append(Mistake("pressure", self.pressure, "must be > 0 if the wall can wrinkle"))
            if self.joint_stiffness is not None or self.bending_stiffness == 0.0:
                allowed = "give bending_stiffness > 0 if the wall can wrinkle: the law is that of the tube"
                mistakes.append(Mistake("joint_stiffness", self.joint_stiffness, allowed))
        return mistakes

    def _growth_mistakes(self) -> list[Mistake]:
        mistakes: list[Mistake] = []
        if self.growth == "pressure":
            if self.extensibility <= 0.0:
                allowed = "must be > 0 if pressure drives growth"
                mistakes.append(Mistake("extensibility", self.extensibility, allowed))
            if self.growth_input == "links":
                mistakes.append(
                    Mistake("growth_input", self.growth_input, "must be 'total': there is one pressure")
                )
        if self.irreversible and self.extensibility <= 0.0 and math.isinf(self.growth_force):
            allowed = "needs extensibility > 0 or a growth_force: otherwise the rate is rigid"
            mistakes.append(Mistake("irreversible", self.irreversible, allowed))
        if self.equations == "published" and self.irreversible:
            mistakes.append(Mistake("irreversible", self.irreversible, "needs equations = 'regular'"))
        return mistakes

    def _eversion_mistakes(self) -> list[Mistake]:
        if self.form != "everting":
            given = {"longest": self.longest, "stowed": self.stowed}
            return [
                Mistake(name, at, "needs form = 'everting'") for name, at in given.items() if at is not None
            ]
        if self.longest is None or self.longest < self.length:
            return [Mistake("longest", self.longest, f"must be ≥ the length, {self.length:g} m")]
        mistakes: list[Mistake] = []
        if self.stowed_length > 0.25 * self.full_length or self.links * self.stowed_length > self.length:
            allowed = f"must be ≤ {min(0.25 * self.full_length, self.length / self.links):.3g} m: links wait at the tip"
            mistakes.append(Mistake("stowed", self.stowed_length, allowed))
        if self.growth_input == "links":
            mistakes.append(Mistake("growth_input", "links", "must be 'total': only the tip grows"))
        if self.shortest > 0.0:
            mistakes.append(Mistake("shortest", self.shortest, "must be 0: links are stowed at the tip"))
        return mistakes

    @property
    def full_length(self) -> float:
        """Length of a link of an everting robot that has come out [m]; 0 of other ones."""
        return 0.0 if self.longest is None else self.longest / self.links

    @property
    def stowed_length(self) -> float:
        """Length of a link that has yet to come out [m]."""
        return self.full_length / 40.0 if self.stowed is None else self.stowed

    @property
    def links(self) -> int:
        """Count N of links, pins and telescoping joints."""
        return self.bodies // 2

    @property
    def is_damped(self) -> bool:
        """Whether damping of the pins is given, so that the robot has the input `heading-rate`."""
        return self.bending_damping is not None or self.joint_damping is not None

    @property
    def half_length(self) -> float:
        """Distance d from a body's centre to its end [m]."""
        return self.length / (2.0 * self.bodies)

    @property
    def spacing(self) -> float:
        """Distance D between pins with the bodies end to end [m]."""
        return self.length / self.links


@frozen(kw_only=True)
class VineInitial:
    """Initial state of a vine robot; the default has natural curvature and no velocity."""

    grown_length: float | None = option(
        None,
        "initial length, divided equally among the links; if absent, the bodies are end to end",
        unit="m",
        above=0,
    )
    bend: tuple[float, ...] | None = option(
        None, "angle at the pins: one, or one per pin; if absent, that of the natural curvature", unit="rad",
        converter=lambda value: None if value is None else _to_floats(value),
    )  # fmt: skip
    bend_rate: tuple[float, ...] = option(
        (0.0,),
        "rate of the angle at the pins: one, or one per pin",
        unit="rad/s",
        converter=_to_floats,
        check=_check_floats,
    )
    growth_rate: float = option(0.0, "rate of the length, divided equally among the links", unit="m/s")
