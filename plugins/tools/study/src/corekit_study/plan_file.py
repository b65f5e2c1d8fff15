"""A plan file (TOML) read and checked: all mistakes at once, those of its scenario among them.

format = "corekit-plan/1"
name = "ball-x"
scenario = "ball.toml"               # beside this file, or the name of a shipped one: the world
set = ["bodies.arm.options.disks=0"] # as `--set` of `corekit run`
use = "ipopt-mpcc"                   # the planner; its options: `corekit info ipopt-mpcc`
[options]
...
[replay]                             # simulate the plan in the scenario; left out, it is not simulated
start = { arm = "elongation" }       # the entry of each driven body's initial table for its coordinates
stiffness = 2000.0                   # joint PD about the planned motion, by options of the model itself:
damping = 100.0
set = ["bodies.arm.options.stiffness=2265.0", "bodies.arm.options.damping=225.0"]
[replay.tracking]                    # and tracked by a controller, in the model as it is:
every = 0.02
press = 4.0                          # N more than planned where the plan touches and does not slip
settle = 0.5                         # s at the plan's start before it begins
ends = "target"                      # turned on by what the plan leaves of its way to the target
options = { coordinates = { arm = 1e4, ball = 1e4 }, rates = { arm = 1e2, ball = 1.0 } }
worlds = { stiffer = ["bodies.arm.options.stiffness=291.5"] }   # that the controller is not told of
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
from attrs import field, frozen

from corekit.errors import ConfigError, Mistake
from corekit.files import is_there
from corekit.roles.code import code_allowed
from corekit.roles.options import option
from corekit.scenario.dump import plain
from corekit.scenario.load import find_shipped, load
from corekit.scenario.overrides import apply_overrides
from corekit.scenario.scenario import Scenario
from corekit.scenario.schema import run_name_problem
from corekit.scenario.structure import structure
from corekit.simulation.arguments import PATH, TEXTS, TRUTH, check_arguments
from corekit_study.toml_file import toml_table

__all__ = ["FORMAT", "PlanFile", "ReplayTable", "TrackingTable", "load_plan_file"]

FORMAT = "corekit-plan/1"


@frozen(kw_only=True)
class TrackingTable:
    """How a plan is tracked by a controller that reads the differences of the simulator's steps about it."""

    use: str = option("tracking-lqr", "the controller, by name; its `file` is written into the plan's folder")
    every: float = option(help="sampling period, which divides the plan's intervals", unit="s", above=0)
    press: float = option(
        0.0, "by how much contacts of the plan that do not slip press more than planned", unit="N", low=0
    )
    settle: float = option(
        0.0,
        "time at rest at the plan's start before it begins; the replay lasts as much longer",
        unit="s",
        low=0,
    )
    ends: str = option(
        "plan", "where the tracked objects end: as planned, or at their targets", choices=("plan", "target")
    )
    options: Mapping[str, Any] = field(factory=dict, metadata={"help": "its other options"})
    worlds: Mapping[str, tuple[str, ...]] = field(
        factory=dict,
        metadata={
            "help": "name → changes to the scenario: worlds that differ from the planned one, tracked in too"
        },
    )


@frozen(kw_only=True)
class ReplayTable:
    """How a plan is simulated: the planned inputs alone, with a joint PD about the planned motion, and tracked.

        u = τ + stiffness·(q* − q) + damping·(v* − v)                                       (1)

    −stiffness·q − damping·v of (1) is a force of the model itself, through `overrides` of its options, so that an
    implicit integrator treats it implicitly; that they do exactly this is checked.
    """

    start: Mapping[str, str] = field(
        factory=dict, metadata={"help": "body → entry of its initial table that takes all its coordinates"}
    )
    stiffness: float = option(0.0, "of the joint PD, for every coordinate", low=0)
    damping: float = option(0.0, "of the joint PD, for every velocity", low=0)
    overrides: tuple[str, ...] = field(
        default=(), metadata={"help": "changes to the scenario by which models hold the PD", "key": "set"}
    )
    tracking: TrackingTable | None = field(default=None, metadata={"help": "how it is tracked"})
    angle: float = option(
        0.0175, "angle from the target up to which a replay has arrived", unit="rad", above=0
    )
    distance: float = option(5e-3, "distance from the target up to which it has arrived", unit="m", above=0)


@frozen(kw_only=True)
class PlanFile:
    """Entries of a plan file.

    Args:
        loaded: the scenario it names, loaded.
        world: the scenario's file or shipped name.
        given: the text of the file.
    """

    format: str = option(help="version of this format", choices=(FORMAT,))
    name: str = option(help="names the folder of results", check=run_name_problem)
    scenario: str = option(help="file of the scenario, relative to this one, or the name of a shipped one")
    overrides: tuple[str, ...] = field(
        default=(), metadata={"help": "changes to the scenario, as `--set` takes them", "key": "set"}
    )
    use: str = field(metadata={"help": "the planner", "role": "planners"})
    options: Mapping[str, Any] = field(factory=dict, metadata={"help": "the planner's own options"})
    replay: ReplayTable | None = field(default=None, metadata={"help": "how the plan is simulated"})
    loaded: Scenario | None = field(default=None, eq=False, repr=False, metadata={"hidden": True})
    world: Path | None = field(default=None, eq=False, repr=False, metadata={"hidden": True})
    given: str = field(default="", eq=False, repr=False, metadata={"hidden": True})


def load_plan_file(path: str | Path, overrides: Iterable[str] = (), *, allow_code: bool = False) -> PlanFile:
    """Load the plan in a TOML file, or of a shipped name, with its scenario.

    Args:
        path: relative paths in the file are relative to it.
        overrides: changes to the plan file itself: `options.target.rotation.angle=0.5`.
        allow_code: for the scenario and the planner's options, as for `corekit.load`.
    Raises:
        ConfigError: every mistake in it and in its scenario at once, or why it cannot be read.
    """
    check_arguments(
        "load_plan_file", path=(path, PATH), overrides=(overrides, TEXTS), allow_code=(allow_code, TRUTH)
    )
    path = Path(path)
    path = path if is_there(path) else find_shipped(path.as_posix()) or path
    text, table = toml_table(path, "plan file", FORMAT)
    mistakes: list[Mistake] = []
    document = plain(table, "", mistakes)
    apply_overrides(document, overrides, mistakes)
    directory = path.resolve().parent
    with code_allowed(allow_code):
        made = structure(PlanFile, document, "", mistakes, directory=directory, components=True)
    named = document.get("scenario")
    loaded, world = None, None
    if isinstance(named, str):
        world = directory / named if is_there(directory / named) else Path(named)
        loaded = _scenario(world, document.get("set", []), mistakes, allow_code=allow_code)
    if made is not None and loaded is not None and made.replay is not None:
        _check_starts(made.replay, loaded, mistakes)
    if made is None or loaded is None or mistakes:
        raise ConfigError(mistakes, str(path))
    return attrs.evolve(made, loaded=loaded, world=world, given=text)


def _scenario(world: Path, overrides: Any, mistakes: list[Mistake], *, allow_code: bool) -> Scenario | None:
    """Load the scenario of the plan; its mistakes are added, with `scenario:` before their path."""
    try:
        changes = [str(each) for each in overrides] if isinstance(overrides, list) else []
        return load(world, changes, allow_code=allow_code)
    except ConfigError as error:
        mistakes.extend(
            Mistake(f"scenario: {each.path}", each.found, each.allowed, each.hint) for each in error.mistakes
        )
    return None


def _check_starts(replay: ReplayTable, scenario: Scenario, mistakes: list[Mistake]) -> None:
    names = [body.name for body in scenario.bodies]
    mistakes.extend(
        Mistake(f"replay.start.{name}", replay.start[name], f"a body of the scenario: {', '.join(names)}")
        for name in replay.start
        if name not in names
    )
