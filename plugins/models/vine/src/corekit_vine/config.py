"""Options of a vine robot."""

from __future__ import annotations

import math
from typing import Any

from attrs import frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import option

__all__ = ["VineConfig", "VineInitial"]


def _floats(value: Any) -> Any:
    """A number or a list of numbers as a tuple of floats; what is neither is left for the check to name."""
    entries = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    fine = all(isinstance(entry, (int, float)) and not isinstance(entry, bool) for entry in entries)
    return tuple(float(entry) for entry in entries) if fine else value


def _are_floats(value: object) -> str | None:
    fine = isinstance(value, tuple) and value and all(isinstance(entry, float) for entry in value)
    return None if fine else "give one number, or a list of them"


def _even(value: object) -> str | None:
    fine = isinstance(value, int) and not isinstance(value, bool) and value % 2 == 0
    return None if fine else "must be a whole even number: two bodies make a link"


def _ranges(value: Any) -> Any:
    listed = isinstance(value, (list, tuple)) and all(isinstance(each, (list, tuple)) for each in value)
    return tuple(tuple(each) for each in value) if listed else value


@frozen(kw_only=True)
class VineConfig:
    """Options of a vine robot; the defaults are a 0.4 m tube of 24 mm.

    Raises ConfigError with all that contradicts itself.
    """

    bodies: int = option(30, "rigid bodies; two make a link that telescopes", low=2, high=20000, check=_even)
    length: float = option(0.4, "length at which the bodies stand end to end", unit="m", above=0)
    diameter: float = option(0.024, "outer diameter of the tube", unit="m", above=0)
    heading: float = option(0.0, "angle of the base from the first axis of the plane", unit="rad")

    wall_density: float = option(920.0, "density of the wall", unit="kg/m³", above=0)
    wall_thickness: float = option(1e-4, "thickness of the wall", unit="m", above=0)
    wall_layers: float = option(2.0, "layers of wall: 2 counts the tail inside, which everts", low=1)
    gas_density: float = option(0.0, "density of the gas inside", unit="kg/m³", low=0)
    body_mass: float | None = option(
        None, "mass of each body; left out, that of a hollow cylinder", unit="kg", above=0
    )
    body_inertia: float | None = option(
        None, "moment of inertia of each body; left out, that of a hollow cylinder", unit="kg·m²", above=0
    )

    bending_stiffness: float | None = option(
        None, "EI of the tube, so that joints get EI/D; left out and no `joint_stiffness`, 0.0133", unit="N·m²",
        low=0,
    )  # fmt: skip
    bending_damping: float | None = option(
        None, "the same for damping, so that joints get it divided by D", unit="N·m²·s", low=0
    )
    joint_stiffness: float | None = option(
        None, "stiffness of every pin alike, instead of EI: another number of bodies is another robot", unit="N·m/rad",
        low=0,
    )  # fmt: skip
    joint_damping: float | None = option(
        None, "damping of every pin alike, instead of `bending_damping`", unit="N·m·s/rad", low=0
    )
    moment_law: str = option(
        "linear", "how the moment grows with the bend: with EI for ever, or until the wall wrinkles",
        choices=("linear", "wrinkling"),
    )  # fmt: skip
    pressure: float = option(0.0, "gauge pressure inside, for `wrinkling`", unit="Pa", low=0)
    natural_curvature: tuple[float, ...] = option(
        (0.0,),
        "curvature it is made with: one, or one a pin",
        unit="1/m",
        converter=_floats,
        check=_are_floats,
    )
    actuators: tuple[tuple[int, int], ...] = option(
        (), "first and last pin of each curvature actuator, pin 0 is the base", converter=_ranges
    )

    growth: str = option(
        "rate",
        "what drives growth: the input `growth-rate`, or the input `pressure`",
        choices=("rate", "pressure"),
    )
    growth_input: str = option(
        "total",
        "whether the rate is that of the tip, shared evenly, or one a link",
        choices=("total", "links"),
    )
    extensibility: float = option(
        0.0, "φ of the pressure law, by how much pressure short of the load slows growth; 0: by nothing",
        unit="m/(s·Pa)", low=0,
    )  # fmt: skip
    yield_pressure: float = option(0.0, "pressure below which nothing grows", unit="Pa", low=0)
    growth_force: float = option(
        math.inf,
        "largest force along the robot that growth can push or pull with",
        unit="N",
        above=0,
        infinite=True,
    )
    irreversible: bool = option(False, "whether a load can only stop growth, not push the robot back in")
    shortest: float = option(
        0.0, "distance of a link's two bodies below which it does not retract", unit="m", low=0
    )

    contact: str = option(
        "points", "what can touch: a ball at every pin and the tip, a capsule a link, or nothing",
        choices=("points", "links", "none"),
    )  # fmt: skip
    friction: float | None = option(
        None, "friction coefficient of the tube; left out, the scenario decides", low=0
    )
    equations: str = option(
        "regular", "rows of the telescoping joints: never singular, or the paper's with its rate rows",
        choices=("regular", "published"),
    )  # fmt: skip

    def __attrs_post_init__(self) -> None:
        wrong = [*self._bending_mistakes(), *self._growth_mistakes()]
        if wrong:
            raise ConfigError(wrong, "the vine robot")

    def _bending_mistakes(self) -> list[Mistake]:
        wrong = []
        for whole, joint in (("bending_stiffness", "joint_stiffness"), ("bending_damping", "joint_damping")):
            if getattr(self, whole) is not None and getattr(self, joint) is not None:
                wrong.append(Mistake(joint, getattr(self, joint), f"give it or {whole}, not both"))
        if len(self.natural_curvature) not in (1, self.links):
            found = f"{len(self.natural_curvature)} entries"
            wrong.append(Mistake("natural_curvature", found, f"give 1, or {self.links}: one a pin"))
        for i, ends in enumerate(self.actuators):
            whole = all(isinstance(end, int) and not isinstance(end, bool) for end in ends)
            if len(ends) != 2 or not whole or not 0 <= ends[0] <= ends[1] < self.links:
                allowed = f"must be [first, last] with 0 ≤ first ≤ last ≤ {self.links - 1}"
                wrong.append(Mistake(f"actuators[{i}]", list(ends), allowed))
        if 2.0 * self.wall_thickness > self.diameter:
            wrong.append(Mistake("wall_thickness", self.wall_thickness, "must be at most the radius"))
        if self.moment_law == "wrinkling":
            if self.pressure <= 0.0:
                wrong.append(Mistake("pressure", self.pressure, "must be > 0 where the wall can wrinkle"))
            if self.joint_stiffness is not None or self.bending_stiffness == 0.0:
                allowed = "give bending_stiffness > 0 where the wall can wrinkle: the law is that of the tube"
                wrong.append(Mistake("joint_stiffness", self.joint_stiffness, allowed))
        return wrong

    def _growth_mistakes(self) -> list[Mistake]:
        wrong = []
        if self.growth == "pressure":
            if self.extensibility <= 0.0:
                allowed = "must be > 0 where pressure drives growth"
                wrong.append(Mistake("extensibility", self.extensibility, allowed))
            if self.growth_input == "links":
                wrong.append(Mistake("growth_input", self.growth_input, "must be 'total': pressure is one"))
        if self.irreversible and self.extensibility <= 0.0 and math.isinf(self.growth_force):
            allowed = "needs extensibility > 0 or a growth_force: a rigid rate row already decides"
            wrong.append(Mistake("irreversible", self.irreversible, allowed))
        if self.equations == "published" and self.irreversible:
            wrong.append(Mistake("irreversible", self.irreversible, "needs equations = 'regular'"))
        return wrong

    @property
    def links(self) -> int:
        """N, the number of links, pins and telescoping joints."""
        return self.bodies // 2

    @property
    def half_length(self) -> float:
        """d, from a body's centre to its end [m]."""
        return self.length / (2.0 * self.bodies)

    @property
    def spacing(self) -> float:
        """D, from pin to pin while the bodies stand end to end [m]."""
        return self.length / self.links


@frozen(kw_only=True)
class VineInitial:
    """Where a vine robot starts: straight but for its natural curvature, at rest, where nothing is said."""

    grown_length: float | None = option(
        None,
        "length now, shared evenly among the links; left out, the bodies stand end to end",
        unit="m",
        above=0,
    )
    bend: tuple[float, ...] | None = option(
        None, "angle at every pin: one, or one a pin; left out, that of the natural curvature", unit="rad",
        converter=lambda value: None if value is None else _floats(value),
    )  # fmt: skip
    bend_rate: tuple[float, ...] = option(
        (0.0,), "its rate: one, or one a pin", unit="rad/s", converter=_floats, check=_are_floats
    )
    growth_rate: float = option(0.0, "rate of the length, shared evenly", unit="m/s")
