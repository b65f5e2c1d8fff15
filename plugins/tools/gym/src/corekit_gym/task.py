"""A task: a scenario with what is observed, acted on, rewarded and varied.

Everything that a policy sees and is paid for is a *quantity*, a vector with a name and a unit, read of the world:

| kind | what | numbers | unit |
|---|---|---|---|
| position | of the origin of `frame`, from that of `relative_to` if given | 3 | m |
| velocity | of the origin of `frame` | 3 | m/s |
| rotation | first two axes of `frame`, in world axes | 6 | – |
| angular-velocity | of `frame`, in world axes | 3 | rad/s |
| coordinates, velocities | of `body`, those of `entries` or all | as many | the model's |
| input | what `channel` of `body` holds | its size | the channel's |
| contact-force | sum of the contact forces on `body`, from `against` if given, world axes, of the last step | 3 | N |
| sensor | reading of `sensor`, `controller.name` | as many | the sensor's |
| target | a target of the task | as many | its own |
| action | the last action, each number in −1 … 1 | as many | – |
| time | since the start of the episode | 1 | s |
| clock | sine and cosine of 2π·`frequency`·time | 2 | – |
| function | what `function(simulation)` returns | `size` | its own |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from corekit.roles.options import option
from corekit.scenario.scenario import Scenario
from corekit.scenario.schema import run_name_problem

__all__ = [
    "FORMAT",
    "KINDS",
    "Action",
    "Draw",
    "Ending",
    "Quantity",
    "Reward",
    "StartDraw",
    "Target",
    "Task",
]

FORMAT = "corekit-task/1"
KINDS: Mapping[str, tuple[str, ...]] = {
    "position": ("frame",),
    "velocity": ("frame",),
    "rotation": ("frame",),
    "angular-velocity": ("frame",),
    "coordinates": ("body",),
    "velocities": ("body",),
    "input": ("body", "channel"),
    "contact-force": ("body",),
    "sensor": ("sensor",),
    "target": ("target",),
    "action": (),
    "time": (),
    "clock": ("frequency",),
    "function": ("function", "size"),
}
"""Kind of a quantity → the entries that it needs."""
_MEANT: Mapping[str, tuple[str, ...]] = {
    "relative_to": ("position",),
    "entries": ("coordinates", "velocities"),
    "against": ("contact-force",),
}
"""Entry that may be left out → the kinds that read it."""
_NEEDED = ("frame", "body", "channel", "sensor", "target", "frequency", "function", "size")


@frozen(kw_only=True)
class Quantity:
    """A vector that is read of the world."""

    name: str = option(help="what rewards and endings call it")
    kind: str = option(help="what it is", choices=tuple(KINDS))
    frame: str = option("", "`body.frame`")
    relative_to: str = option("", "of position: the frame, obstacle or target that it is measured from")
    body: str = option("", "name of a body")
    entries: tuple[str, ...] = option(
        (), "of coordinates and velocities: their names; left out, all", converter=tuple
    )
    channel: str = option("", "an input channel of the body")
    against: str = option("", "of contact-force: what pushes, a body or an obstacle; left out, everything")
    sensor: str = option("", "`controller.name` of a sensor")
    target: str = option("", "name of a target of the task")
    frequency: float = option(0.0, "of clock", unit="Hz", low=0)
    function: str | Callable[..., Any] = field(
        default="", metadata={"help": "`file.py:function` of the simulation, or in Python a function"}
    )
    size: int = option(0, "of function: how many numbers it returns", low=0)
    observed: bool = field(default=True, metadata={"help": "whether a policy sees it"})
    scale: float = option(1.0, "what a policy sees as 1", above=0)

    def __attrs_post_init__(self) -> None:
        for needed in KINDS[self.kind]:
            if not getattr(self, needed):
                raise ValueError(f"quantity {self.name!r}: {needed} is missing, which {self.kind} needs")
        meant = {*KINDS[self.kind], *(each for each, kinds in _MEANT.items() if self.kind in kinds)}
        for each in (*_NEEDED, *_MEANT):
            if each not in meant and getattr(self, each):
                raise ValueError(f"quantity {self.name!r}: {each} says nothing of {self.kind}")


@frozen(kw_only=True)
class Action:
    """Numbers of a policy, each in −1 … 1, that drive an input channel, held until the next action.

    With rows r_k of the channel's size and an offset o,   u = o + Σ_k a_k·r_k.   Without rows each number drives one
    entry from `low` to `high`. With `rate` the numbers are rates: u changes by rate·(Σ_k a_k·r_k) each second and
    stays within low and high.
    """

    body: str = option(help="whose channel")
    channel: str = option(help="the input channel")
    low: float | None = option(None, "least value of an entry; left out, the channel's bound")
    high: float | None = option(None, "largest value of an entry; left out, the channel's bound")
    rows: tuple[tuple[float, ...], ...] = option(
        (),
        "what each number of the policy adds at 1, one list of the channel's size a number",
        converter=tuple,
    )
    offset: tuple[float, ...] = option((), "of rows: the value without action; left out, 0", converter=tuple)
    rate: float = option(
        0.0, "above 0 the numbers are rates: 1 passes half of the range in 1/rate", unit="1/s", low=0
    )


@frozen(kw_only=True)
class Target:
    """A vector drawn uniformly at each reset, in the box of `low` and `high` or one of the `choices`."""

    name: str = option(help="what quantities call it")
    low: tuple[float, ...] = option((), "least value of each number", converter=tuple)
    high: tuple[float, ...] = option((), "largest value of each number", converter=tuple)
    choices: tuple[tuple[float, ...], ...] = option((), "vectors of which one is drawn", converter=tuple)

    def __attrs_post_init__(self) -> None:
        if bool(self.choices) == bool(self.low):
            raise ValueError(f"target {self.name!r}: give low and high, or choices")
        if len(self.low) != len(self.high) or any(a > b for a, b in zip(self.low, self.high, strict=True)):
            raise ValueError(f"target {self.name!r}: high needs as many numbers as low, none below it")
        if len({len(each) for each in self.choices}) > 1:
            raise ValueError(f"target {self.name!r}: its choices have different sizes")


@frozen(kw_only=True)
class Reward:
    """A term of the reward: weight · shape(measure(quantity))."""

    name: str = option(help="of the term, as the environment reports it")
    quantity: str = option(help="name of a quantity")
    measure: str = option(
        "norm", "number of the vector: its length, the square of it, or one component",
        choices=("norm", "square", "component"),
    )  # fmt: skip
    component: int = option(0, "of measure component: which, from 0", low=0)
    shape: str = option(
        "value",
        "value: as it is; change: its growth since the last action; bell: exp(−(value/width)²)",
        choices=("value", "change", "bell"),
    )
    width: float = option(1.0, "of the bell, in the quantity's unit", above=0)
    weight: float = option(1.0, "the term's weight; of what is to be small, negative")


@frozen(kw_only=True)
class Ending:
    """An episode is over where a measure of a quantity is below or above a bound."""

    name: str = option(help="of the ending, as the environment reports it")
    quantity: str = option(help="name of a quantity")
    measure: str = option("norm", "number of the vector", choices=("norm", "square", "component"))
    component: int = option(0, "of measure component: which, from 0", low=0)
    below: float | None = option(None, "it ends where the measure is below this")
    above: float | None = option(None, "it ends where the measure is above this")
    reward: float = option(0.0, "paid at the end")
    success: bool = field(default=False, metadata={"help": "whether the task is done then"})

    def __attrs_post_init__(self) -> None:
        if (self.below is None) == (self.above is None):
            raise ValueError(f"ending {self.name!r}: give below or above")


@frozen(kw_only=True)
class Draw:
    """A number of the scenario that is drawn anew at each reset."""

    path: str = option(
        help="entry of the scenario: bodies.arm.options.stiffness, world.obstacles[0].friction"
    )
    low: float = option(help="least value")
    high: float = option(help="largest value")
    scale: str = option("linear", "linear: uniform; log: its logarithm is", choices=("linear", "log"))

    def __attrs_post_init__(self) -> None:
        if self.low > self.high or (self.scale == "log" and self.low <= 0.0):
            raise ValueError(
                f'draw of {self.path!r}: low must be at most high, and above 0 for scale = "log"'
            )


@frozen(kw_only=True)
class StartDraw:
    """Coordinates or velocities of a body that begin off their start by a number drawn for each."""

    body: str = option(help="which")
    of: str = option("coordinates", "what begins elsewhere", choices=("coordinates", "velocities"))
    entries: tuple[str, ...] = option((), "their names; left out, all", converter=tuple)
    low: float = option(help="least change, in the entry's unit")
    high: float = option(help="largest change")

    def __attrs_post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"start of {self.body!r}: low must be at most high")


@frozen(kw_only=True)
class Task:
    """A scenario with what is observed, acted on, rewarded and varied.

    Args:
        loaded: the scenario. source: the file, if it is of one.
    """

    format: str = option(FORMAT, help="version of this format", choices=(FORMAT,))
    name: str = option(help="of the task", check=run_name_problem)
    scenario: str = option(
        "", help="file of the scenario, relative to this one, or the name of a shipped one"
    )
    overrides: tuple[str, ...] = field(
        default=(), metadata={"help": "changes to the scenario, as `--set` takes them", "key": "set"}
    )
    frame_skip: int = option(10, "grid steps for which an action is held", low=1)
    duration: float = option(help="after which an episode is cut", unit="s", above=0)
    bound: float = option(10.0, "what a policy sees lies in ± this: larger values are cut", above=0)
    failure_reward: float | None = option(
        None, "paid where a step fails, which then ends the episode; left out, it is an error"
    )
    quantities: tuple[Quantity, ...] = option((), "what is read of the world", converter=tuple)
    actions: tuple[Action, ...] = option((), "what a policy drives", converter=tuple)
    rewards: tuple[Reward, ...] = option((), "what it is paid for", converter=tuple)
    endings: tuple[Ending, ...] = option((), "what ends an episode before its duration", converter=tuple)
    targets: tuple[Target, ...] = option((), "vectors drawn at each reset", converter=tuple)
    draws: tuple[Draw, ...] = option((), "numbers of the scenario drawn at each reset", converter=tuple)
    starts: tuple[StartDraw, ...] = option((), "where bodies begin, drawn at each reset", converter=tuple)
    loaded: Scenario | None = field(default=None, eq=False, repr=False, metadata={"hidden": True})
    source: Path | None = field(default=None, eq=False, repr=False, metadata={"hidden": True})

    def __attrs_post_init__(self) -> None:
        for what in ("quantities", "rewards", "endings", "targets"):
            names = [each.name for each in getattr(self, what)]
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"{what}: two are called {twice[0]!r}")
        quantities = {each.name for each in self.quantities}
        targets = {each.name for each in self.targets}
        for what in ("rewards", "endings"):
            for each in getattr(self, what):
                if each.quantity not in quantities:
                    raise ValueError(
                        f"{what}: {each.name!r} is of quantity {each.quantity!r}, and there is "
                        f"{', '.join(sorted(quantities)) or 'none'}"
                    )
        for each in self.quantities:
            if each.target and each.target not in targets:
                raise ValueError(
                    f"quantity {each.name!r}: there is no target {each.target!r}, only "
                    f"{', '.join(sorted(targets)) or 'none'}"
                )
        if not self.actions:
            raise ValueError("actions: a policy needs at least one")
        if not any(each.observed for each in self.quantities):
            raise ValueError("quantities: a policy needs at least one that is observed")
