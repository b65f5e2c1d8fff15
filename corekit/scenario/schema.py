"""What a scenario file holds: a world, bodies in it, how they touch, how time passes, what is kept.

A scenario is data: reading one executes nothing of it. Lengths [m], angles [rad], times [s].
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from corekit.data.signals import Signal
from corekit.errors import ConfigError
from corekit.geometry.shape_specs import KERNEL_SHAPES, ShapeSpec, obstacle_kinds, shape_spec
from corekit.roles.friction import friction_problem
from corekit.roles.options import ComponentRef, component_option, option
from corekit.scenario.checks import mistakes_between
from corekit.scenario.schema_bodies import (
    OF_SURFACE,
    Base,
    Body,
    Input,
    Joint,
    Triple,
    about,
    name_problem,
    triple_signal,
)

__all__ = [
    "FORMAT",
    "Base",
    "Body",
    "Contact",
    "Controller",
    "EnergyWatch",
    "FrictionPair",
    "Impact",
    "Input",
    "Joint",
    "Obstacle",
    "Output",
    "PenetrationWatch",
    "RestitutionPair",
    "ScenarioTables",
    "Stabilisation",
    "Time",
    "Watchdog",
    "World",
    "run_name_problem",
]

FORMAT = "corekit-scenario/1"

_SHAPES = ", ".join(repr(kind) for kind, spec in KERNEL_SHAPES.items() if spec.is_obstacle)


def run_name_problem(name: str) -> str | None:
    """Return what is wrong with a name that is to be part of a folder's; None if it can be."""
    fits = re.fullmatch(r"\w[\w.-]*", name)
    return (
        None if fits else "must be made of letters, digits, '-', '_' and '.' only: it names the run's folder"
    )


def _known_shape(_obstacle: Obstacle, _attribute: object, value: str) -> None:
    # read here: an installed distribution may bring further ones
    kinds = obstacle_kinds()
    if value not in kinds or not shape_spec(value).is_obstacle:
        raise ValueError(f"must be one of {', '.join(map(repr, kinds))}")


def _spec_of(obstacle: Obstacle) -> ShapeSpec | None:
    """Return the spec of its shape; None if the shape is a mistake of its own."""
    return shape_spec(obstacle.shape) if obstacle.shape in obstacle_kinds() else None


def _sizes_of_shape(obstacle: Obstacle, _attribute: object, value: tuple[float, ...]) -> None:
    spec = _spec_of(obstacle)
    if spec is None:
        return
    names = spec.file_sizes
    # half of the smallest number is zero
    halves = [factor * size for factor, size in zip(names.values(), value, strict=False)]
    if len(value) != len(names) or not all(0 < size < float("inf") for size in halves):
        sizes = f"must be [{', '.join(names)}], positive" if names else "must be empty or absent"
        raise ValueError(f"{sizes}, for shape {obstacle.shape!r}")


def _vertices_of_shape(obstacle: Obstacle, _attribute: object, value: tuple[tuple[float, ...], ...]) -> None:
    spec = _spec_of(obstacle)
    if spec is None:
        return
    rule = spec.vertices
    if rule is None:
        if value:
            able = [kind for kind in obstacle_kinds() if shape_spec(kind).vertices is not None]
            raise ValueError(f"must be absent: only {', '.join(able)} have vertices")
    elif len(value) < rule.least or any(len(point) != rule.numbers for point in value):
        wanted = f"must be a list of at least {rule.least} points {rule.written}"
        raise ValueError(f"{wanted}, for shape {obstacle.shape!r}")


def _detectors(value: ComponentRef | str | Mapping[str, Any] | Sequence[Any]) -> tuple[ComponentRef, ...]:
    several = [value] if isinstance(value, (ComponentRef, str, Mapping)) else value
    return tuple(ComponentRef.from_value(each) for each in several)


def _at_least_one(_instance: object, _attribute: object, value: tuple[Any, ...]) -> None:
    if not value:
        raise ValueError("must have at least one entry")


@frozen(kw_only=True)
class Time:
    """How long and how finely."""

    duration: float = option(help="simulated time", unit="s", above=0)
    step: float = option(help="length of a step", unit="s", above=0)


@frozen(kw_only=True)
class Obstacle:
    """A shape that bodies can touch, at rest or moving as its signals say."""

    name: str = option(help="what friction pairs and results call it", check=name_problem)
    shape: str = field(
        validator=_known_shape,
        metadata=about(
            "its form", allowed=f"one of {_SHAPES}, or a kind that an installed distribution brings"
        ),
    )
    size: tuple[float, ...] = field(
        default=(), validator=_sizes_of_shape, metadata=about("sizes of the shape", unit="m")
    )
    vertices: tuple[tuple[float, ...], ...] = field(
        default=(),
        validator=_vertices_of_shape,
        metadata=about("of a polytope [x, y, z], of polygon or segments [x, z], in its own axes", unit="m"),
    )
    position: Signal = triple_signal("origin in the world, 3 numbers or a signal of 3", "m")
    rotation_rpy: Signal = triple_signal(
        "roll, pitch, yaw about the world's axes, 3 numbers or a signal of 3", "rad"
    )
    friction: float | Mapping[str, Any] | None = option(None, OF_SURFACE, low=0, check=friction_problem)


@frozen(kw_only=True)
class FrictionPair:
    """Friction between two named things, instead of what their surfaces say; a direction is along the first."""

    between: tuple[str, str] = option(help="names of two bodies, or of a body and an obstacle")
    value: float | Mapping[str, Any] = option(
        help="friction coefficient of this pair, or { forward, backward, sideways } along the axis of the first, or "
        "{ sliding, torsional, rolling }",
        low=0,
        check=friction_problem,
    )


@frozen(kw_only=True)
class World:
    """What surrounds the bodies."""

    gravity: Triple = option((0.0, 0.0, -9.81), "gravitational acceleration", unit="m/s²")
    obstacles: tuple[Obstacle, ...] = field(default=(), metadata=about("what bodies can touch"))
    pairs: tuple[FrictionPair, ...] = field(
        default=(), metadata=about("friction of single pairs", key="friction")
    )


@frozen(kw_only=True)
class Controller:
    """Feedback that drives inputs; the file must give their channels no signal."""

    name: str = option(help="what messages and Python call it", check=name_problem)
    use: str = field(metadata=about("the controller", role="controllers"))
    options: Mapping[str, Any] = field(factory=dict, metadata=about("the controller's own options"))
    every: float | None = option(
        None, "sampling period, a whole number of steps; a step if absent", unit="s", above=0
    )


@frozen(kw_only=True)
class Stabilisation:
    """How fast gaps close, with h the step and φ a gap at its start.

    s(φ) = approach·φ                                       φ ≥ 0                      (1)
    s(φ)/h = max(φ·min(1/h, push_out), −cap)                φ < 0                      (2)
    """

    approach: float = option(1.0, "share of an open gap that one step may close", low=0, high=1)
    push_out: float = option(
        20.0, "rate at which penetration recedes, inf: in one step", unit="1/s", low=0, infinite=True
    )
    cap: float = option(
        0.5, "highest speed at which penetration recedes, inf: any", unit="m/s", low=0, infinite=True
    )


@frozen(kw_only=True)
class RestitutionPair:
    """Restitution between two named things."""

    between: tuple[str, str] = option(help="names of two bodies, or of a body and an obstacle")
    value: float = option(help="coefficient of restitution of this pair", low=0, high=1)


@frozen(kw_only=True)
class Impact:
    """How an approach ends when a contact closes.

    `velocity`: one solve of the velocities after the impact. `position`: the step closes the gap, and the next one
    stops what is left of the approach; what friction does to the bodies then depends on where in a step the impact
    falls. A contact potential resolves an impact over the steps it lasts, and has no level.
    """

    level: str | None = option(
        None,
        "what ends the approach; if absent `velocity`, with solvers of impulses",
        choices=("position", "velocity"),
    )
    restitution: float = option(
        0.0, "speed of separation over speed of approach, for level `velocity`", low=0, high=1
    )
    pairs: tuple[RestitutionPair, ...] = field(default=(), metadata=about("restitution of single pairs"))


@frozen(kw_only=True)
class Contact:
    """How contacts are found and answered."""

    stabilisation: Stabilisation = field(
        default=Stabilisation(),
        metadata=about("how fast gaps close and penetration recedes, with solvers of impulses"),
    )
    detector: tuple[ComponentRef, ...] = field(
        default=(),
        converter=_detectors,
        metadata=about("finds contacts; of several the first that serves a pair", role="contact_detectors"),
    )
    solver: ComponentRef | None = component_option("contact_solvers", help="answers contacts", optional=True)
    friction: float | None = option(
        None, "friction coefficient where neither surface has one; 0 if absent", low=0
    )
    impact: Impact = field(default=Impact(), metadata=about("how an approach ends when a contact closes"))
    margin: float = option(
        1e-3,
        "gap up to which contacts enter a step, at least; what moves fast is seen from farther",
        unit="m",
        low=0,
    )


RECORDED = ("inputs", "frames", "energies", "reactions", "contacts", "outlines")
"""What a record holds beside the state and how the step was solved."""


def _unknown_part(parts: Iterable[str]) -> str | None:
    wrong = [each for each in parts if each not in RECORDED]
    return f"{wrong[0]!r} is none of {', '.join(RECORDED)}" if wrong else None


@frozen(kw_only=True)
class Output:
    """What a run keeps."""

    every: float | None = option(
        None, "time from record to record, a whole number of steps; if absent one step", unit="s", above=0
    )
    record: tuple[str, ...] = option(
        RECORDED,
        f"what a record holds beside the state and how the step was solved, of {', '.join(RECORDED)}",
        check=_unknown_part,
        converter=tuple,
    )
    directory: str = option("runs", "folder for run folders, relative to where the run is started")


_POLICIES = ("stop", "warn", "record")
"""At a bad step: end the run; say so once on the terminal and in the log; in the log only."""


@frozen(kw_only=True)
class EnergyWatch:
    """Energy that grows without work."""

    policy: str = option("warn", "what to do then", choices=_POLICIES)
    limit: float = option(
        0.5, "growth, as a share of the largest energy that was moved before it", above=0, infinite=True
    )


@frozen(kw_only=True)
class PenetrationWatch:
    """Bodies inside what they touch."""

    policy: str = option("warn", "what to do then", choices=_POLICIES)
    limit: float | None = option(
        None,
        "deepest penetration allowed; left out: 0.01, or the layer of a contact potential where that is thinner",
        unit="m",
        low=0,
        infinite=True,
    )


@frozen(kw_only=True)
class Watchdog:
    """What to do at a bad step: `stop` the run there, `warn` once on the terminal, or `record` in the log."""

    non_finite: str = option("stop", "a number that is not finite", choices=("stop",))
    unsolved: str = option("warn", "a solve that missed its tolerance", choices=_POLICIES)
    ambiguous: str = option(
        "warn",
        "a fallback that may have chosen another motion, where contacts are redundant",
        choices=_POLICIES,
    )
    energy: EnergyWatch = field(default=EnergyWatch(), metadata=about("energy that grows without work"))
    penetration: PenetrationWatch = field(
        default=PenetrationWatch(), metadata=about("bodies inside what they touch")
    )


@frozen(kw_only=True)
class ScenarioTables:
    """Everything that decides a run, as a file holds it.

    Options of components are complete: every default is filled in when a file is loaded.

    Args:
        source: the file it was read from.
        document: the table as given, templates written out and overrides applied; not compared.
        text: what it was read from, if nothing overrides it; not compared.
        allow_code: whether Python functions that it names may be imported; no entry of a file, so that no scenario
            allows itself; not compared.
        added: controllers from Python, as `Scenario.with_controller` adds them; not compared.
        dropped: what overrides dropped, a sentence each; not compared.
    Raises:
        ConfigError: parts that contradict each other.
    """

    format: str = option(help="version of this format", choices=(FORMAT,))
    name: str = option(help="names the run's folder", check=run_name_problem)
    seed: int = option(0, "seed of every random stream", low=0)
    time: Time = field(metadata=about("how long and how finely"))
    world: World = field(default=World(), metadata=about("what surrounds the bodies"))
    bodies: tuple[Body, ...] = field(validator=_at_least_one, metadata=about("models placed in the world"))
    joints: tuple[Joint, ...] = field(default=(), metadata=about("what holds bodies to each other"))
    start: str = option(
        "initial",
        "where a run begins: at the bodies' initial states, or, at rest, at the equilibrium reached from there under "
        "the loads of time 0",
        choices=("initial", "equilibrium"),
    )
    contact: Contact | None = field(default=None, metadata=about("how bodies touch; if absent they do not"))
    integrator: ComponentRef = component_option("integrators", help="steps through time")
    engine: str = option("step-equation", help="who makes the steps")
    controllers: tuple[Controller, ...] = field(
        default=(), metadata=about("feedback, sampled and held while the world is stepped")
    )
    output: Output = field(default=Output(), metadata=about("what is kept"))
    watchdog: Watchdog = field(default=Watchdog(), metadata=about("what to do at bad steps"))
    source: Path | None = field(default=None, eq=False, repr=False, metadata={"hidden": True})
    document: Mapping[str, Any] = field(factory=dict, eq=False, repr=False, metadata={"hidden": True})
    text: str = field(default="", eq=False, repr=False, metadata={"hidden": True})
    allow_code: bool = field(default=False, eq=False, repr=False, metadata={"hidden": True})
    added: tuple[Any, ...] = field(default=(), eq=False, repr=False, metadata={"hidden": True})
    dropped: tuple[str, ...] = field(default=(), eq=False, repr=False, metadata={"hidden": True})

    def __attrs_post_init__(self) -> None:
        mistakes = mistakes_between(self)
        if mistakes:
            raise ConfigError(mistakes, f"scenario {self.name!r}")
