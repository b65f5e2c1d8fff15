"""What is allowed in a scenario but improbable: most of it is a slip of a unit, a sign or a place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import attrs
import numpy as np

from corekit.data.contacts import ContactSet
from corekit.data.signals import Constant
from corekit.registry.resolve import resolve
from corekit.scenario.component_selection import load_config
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation
from corekit_inspect.impossible_inertia import inertia_doubt
from corekit_inspect.input_response import input_doubts
from corekit_inspect.piles import contacts_at_start, pile_doubts
from corekit_inspect.sharp_bends import bend_doubts
from corekit_inspect.turning import Turning

__all__ = ["scenario_doubts"]

_TURN = 2.0 * math.pi * (1.0 + 1e-9)
_OVERLAP = 1e-4
"""Deeper than this at the start, shapes are said to overlap [m]."""

_RANGES: Mapping[str, tuple[str, float, float]] = MappingProxyType(
    {
        "m": ("", 1e-6, 50.0),
        "kg": ("", 1e-9, 1e4),
        "Pa": ("young", 1e2, 5e11),
        "kg/m³": ("density", 10.0, 25e3),
    }
)
"""Unit → a word in the names of options that are meant, and between what robots and their materials have it."""


def scenario_doubts(scenario: Scenario, simulation: Simulation) -> list[str]:
    """Return a sentence for everything improbable."""
    contacts = contacts_at_start(simulation)
    found = [*_duration(scenario), *_missing(scenario, simulation), *_values(scenario)]
    found += [*bend_doubts(simulation, "at the start"), *input_doubts(simulation, scenario.time.duration)]
    found += Turning(simulation).doubts(simulation.step_length, "at the start")
    if contacts is not None:
        found += [*_overlaps(simulation, contacts), *_openings(simulation)]
        found += pile_doubts(scenario, simulation, contacts)
    return list(dict.fromkeys(found))


def _missing(scenario: Scenario, simulation: Simulation) -> Iterator[str]:
    """Find what was probably forgotten: contact beside obstacles, friction beside contact."""
    pipeline, obstacles = simulation.system.pipeline, simulation.obstacles
    if pipeline is None:
        if obstacles:
            names = ", ".join(obstacle.name for obstacle in obstacles)
            yield f"nothing touches the obstacles ({names}): there is no [contact] with a solver"
        return
    own = [shape.friction for body in simulation.bodies for shape in body.description.shapes]
    own += [each.friction for each in (*simulation.bodies, *obstacles)]
    given = scenario.contact is not None and scenario.contact.friction is not None
    if not given and not scenario.world.pairs and all(each is None for each in own):
        yield "no friction is given anywhere, so everything slides: set contact.friction, 0 if that is meant"
    for body, table in zip(simulation.bodies, scenario.bodies, strict=True):
        if not body.description.shapes:
            yield (
                f"bodies.{body.name} has no collision shape, so that it passes through everything: "
                f"`corekit info {table.use}` lists the options that give it some"
            )


def _duration(scenario: Scenario) -> Iterator[str]:
    """Find a duration that is no whole number of steps, and an end that is not recorded."""
    duration, step = scenario.time.duration, scenario.time.step
    steps = round(duration / step)
    end = steps * step
    if abs(end - duration) > 1e-6 * step:
        yield f"time.duration = {duration:g} s is no whole number of steps of {step:g} s: the run ends at {end:g} s"
    every = round((scenario.output.every or step) / step)
    if missed := steps % every:
        yield (
            f"output.every = {every * step:g} s does not divide the run: the last record is of "
            f"{(steps - missed) * step:g} s, the end at {end:g} s has none"
        )


def _values(scenario: Scenario) -> Iterator[str]:
    """Find numbers that no robot has."""
    documents = scenario.document.get("bodies") or [{}] * len(scenario.bodies)
    specs = {use: resolve("models", use) for use in {body.use for body in scenario.bodies}}
    for body, document in zip(scenario.bodies, documents, strict=True):
        yield from _fields(body.base, f"bodies.{body.name}.base")
        options = load_config(specs[body.use], body.options, "")
        path, written = f"bodies.{body.name}.options", document.get("options", {})
        # what stands for a file is no option: options that nobody wrote come from it
        references = set(written) - {_key(each) for each in attrs.fields(type(options))}
        for each in attrs.fields(type(options)):
            foreign = references and _key(each) not in written
            where = f"{path}.{', '.join(sorted(references))}: " if foreign else f"{path}."
            yield from _field(options, each, where)
            if each.name == "inertia":
                yield from _inertia(options, f"{where}inertia")
    for obstacle in scenario.world.obstacles:
        path = f"world.obstacles.{obstacle.name}.rotation_rpy"
        if isinstance(obstacle.rotation_rpy, Constant):
            yield from _number(obstacle.rotation_rpy.numbers, "rad", "rotation_rpy", path)


def _fields(config: Any, path: str) -> Iterator[str]:
    """Look at every number with a unit in an attrs instance, nested ones included."""
    for each in attrs.fields(type(config)):
        yield from _field(config, each, f"{path}.")
    yield from _inertia(config, f"{path}.inertia")


def _inertia(config: Any, path: str) -> Iterator[str]:
    """Look at the moments of what has them beside a mass."""
    mass, moments = getattr(config, "mass", None), getattr(config, "inertia", None)
    if (
        isinstance(mass, (int, float))
        and isinstance(moments, tuple)
        and (said := inertia_doubt(mass, moments))
    ):
        yield f"{path}: {said}"


def _key(of: Any) -> str:
    """The name of an attrs field in a file."""
    return str(of.metadata.get("key", of.alias or of.name))


def _field(config: Any, of: Any, where: str) -> Iterator[str]:
    """Look at one field of an attrs instance; `where` stands before its name."""
    value, name = getattr(config, of.name, None), _key(of)
    value = value.numbers if isinstance(value, Constant) else value
    for i, inner in enumerate(value if isinstance(value, tuple) else (value,)):
        if attrs.has(type(inner)):
            yield from _fields(inner, f"{where}{name}[{i}]" if isinstance(value, tuple) else f"{where}{name}")
    yield from _number(value, str(of.metadata.get("unit", "")), name, f"{where}{name}")


def _number(value: Any, unit: str, name: str, path: str) -> Iterator[str]:
    for number in value if isinstance(value, (tuple, list)) else (value,):
        if isinstance(number, (tuple, list)):
            yield from _number(number, unit, name, path)
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
            continue
        if unit == "rad" and abs(number) > _TURN:
            yield f"{path} = {number:g} rad is more than a turn: {math.radians(number):.6g} rad are {number:g}°"
        word, least, most = _RANGES.get(unit, ("", 0.0, math.inf))
        if word in name and "fluid" not in name and number != 0.0 and not least <= abs(number) <= most:
            yield f"{path} = {number:g} {unit} is not what robots have, {least:g} … {most:g} {unit}"


def _overlaps(simulation: Simulation, contacts: ContactSet) -> Iterator[str]:
    """Find shapes that overlap at the start."""
    deepest: dict[tuple[str, str], float] = {}
    for (first, second), gap in zip(
        contacts.shape[: contacts.count], contacts.gap[: contacts.count], strict=True
    ):
        pair = simulation.shape_owner(int(first)), simulation.shape_owner(int(second))
        owners = pair[0].partition(".")[0], pair[1].partition(".")[0]
        deepest[owners] = min(deepest.get(owners, 0.0), float(gap))
    for (first, second), gap in deepest.items():
        if gap < -_OVERLAP:
            depth = f"{-1e3 * gap:.3g} mm" if gap > -1.0 else f"{-gap:.3g} m"
            yield f"{first} starts {depth} inside {second}: move one of them, or check their sizes, in metres"


def _openings(simulation: Simulation) -> Iterator[str]:
    """Find bodies that touch by chains of spheres that stand apart, where obstacles have corners."""
    obstacles, pipeline = simulation.obstacles, simulation.system.pipeline
    cornered = [
        each.name for each in obstacles if each.shape.kind == "box" or each.shape.vertices is not None
    ]
    if pipeline is None or not cornered:
        return
    for body in simulation.bodies:
        description = body.description
        neighbours = [int(one) for one, other in description.excluded_pairs if other == one + 1]
        if not neighbours or any(shape.kind != "sphere" for shape in description.shapes):
            continue
        radius = np.array([shape.size[0] for shape in description.shapes])
        place = pipeline.scene.poses.position[body.first_shape : body.first_shape + len(radius)]
        opening = np.linalg.norm(np.diff(place, axis=0), axis=1) - radius[:-1] - radius[1:]
        widest = float(opening[neighbours].max())
        if widest > 0.0:
            yield (
                f"bodies.{body.name}: the spheres by which it touches stand up to {1e3 * widest:.3g} mm apart, and "
                f"corners ({', '.join(cornered)}) slip between them: choose a closed surface, or more spheres"
            )
