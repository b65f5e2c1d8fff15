"""What the parts of a scenario must agree on: names, references by name, steps and records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from corekit.errors import Mistake
from corekit.scenario.error_text import NOTHING_FOUND, hint_for
from corekit.simulation.controllers import period_mistake

__all__ = ["WORLD", "mistakes_between"]

WORLD = "world"
"""What carries a joint that holds a body to the ground."""

_MOST_STEPS = 2.0**53
"""Beyond it the last steps are smaller than the spacing of numbers at the end time."""


def mistakes_between(scenario: Any) -> list[Mistake]:
    """Find contradictions between parts of a scenario.

    Args:
        scenario: a `Scenario`, or the table of one, in which wrong or missing parts are passed over:
            they are mistakes of their own.
    """
    parts = (_times, _names, _channels, _joints, _pairs, _restitution, _controllers)
    return [mistake for find in parts for mistake in find(scenario)]


def _times(scenario: Any) -> Iterable[Mistake]:
    time, output = _part(scenario, "time"), _part(scenario, "output")
    duration, step = _positive(time, "duration"), _positive(time, "step")
    if step and duration and step > duration:
        yield Mistake("time.step", step, f"must be at most time.duration = {duration:g} [s]")
        return
    if step and duration and duration / step > _MOST_STEPS:
        allowed = (
            f"must be at least {duration / _MOST_STEPS:.3g} s: added to the time, less does not change it"
        )
        yield Mistake("time.step", step, allowed)
        return
    every = _positive(output, "every")
    if step and every and (mistake := period_mistake("output.every", every, step)):
        yield mistake


def _named(scenario: Any) -> list[tuple[str, str]]:
    """List path and name of every body and obstacle."""
    groups = {
        "bodies": _part(scenario, "bodies"),
        "world.obstacles": _part(_part(scenario, "world"), "obstacles"),
    }
    return [
        (f"{group}[{i}].name", name)
        for group, entries in groups.items()
        for i, entry in enumerate(_list(entries))
        if isinstance(name := _part(entry, "name"), str)
    ]


def _names(scenario: Any) -> Iterable[Mistake]:
    named = _named(scenario)
    yield from _repeated(named, "names of bodies and obstacles must differ")
    yield from (
        Mistake(path, name, "must be another name: joints and mounts mean the ground by it")
        for path, name in named
        if name == WORLD
    )


def _repeated(named: Iterable[tuple[str, Any]], allowed: str) -> Iterable[Mistake]:
    """Find the names that an entry before has already; `named` is the path and the name of each."""
    first: dict[str, str] = {}
    for path, name in named:
        if isinstance(name, str) and first.setdefault(name, path) != path:
            yield Mistake(path, name, f"{allowed}, {first[name]} is the same")


def _channels(scenario: Any) -> Iterable[Mistake]:
    for i, body in enumerate(_list(_part(scenario, "bodies"))):
        inputs = enumerate(_list(_part(body, "inputs")))
        named = ((f"bodies[{i}].inputs[{j}].channel", _part(entry, "channel")) for j, entry in inputs)
        yield from _repeated(named, "a channel is driven once")


def _joints(scenario: Any) -> Iterable[Mistake]:
    bodies = list(_list(_part(scenario, "bodies")))
    names = [name for body in bodies if isinstance(name := _part(body, "name"), str)]
    around = [name for path, name in _named(scenario) if path.startswith("world")]
    for i, body in enumerate(bodies):
        base, path = _part(body, "base"), f"bodies[{i}].base"
        mount = _part(base, "mount")
        if isinstance(mount, str):
            others = [each for each in names if each != _part(body, "name")]
            yield from _carrier(f"{path}.mount", mount, others, [*around, WORLD])
            moving = [name for name in ("position", "rotation_rpy") if not _is_constant(_part(base, name))]
            yield from (
                Mistake(f"{path}.{name}", "a signal", "must be numbers: it is the place in the mount")
                for name in moving
            )
    joints = list(_list(_part(scenario, "joints")))
    yield from _repeated(
        ((f"joints[{i}].name", _part(each, "name")) for i, each in enumerate(joints)),
        "names of joints must differ",
    )
    for i, each in enumerate(joints):
        for j, name in enumerate(_list(_part(each, "between"))):
            if isinstance(name, str):
                yield from _carrier(f"joints[{i}].between[{j}]", name, names, [*around, WORLD] if j else [])


def _is_constant(value: Any) -> bool:
    if value is None or isinstance(value, (list, tuple)):
        return True
    return (
        bool(value.get("kind") == "constant")
        if isinstance(value, Mapping)
        else bool(getattr(value, "constant", True))
    )


def _carrier(path: str, name: str, bodies: list[str], around: list[str]) -> Iterable[Mistake]:
    """Find a name that is neither BODY.FRAME nor one of the surroundings; the frame is known to the model alone."""
    owner, dot, _ = name.partition(".")
    if name in around or (dot and owner in bodies):
        return
    frames = f"must be a frame, BODY.FRAME, of {', '.join(bodies) or NOTHING_FOUND}"
    allowed = f"{frames}, or one of {', '.join(around)}" if around else frames
    yield Mistake(path, name, allowed, hint_for(owner, [*bodies, *around]))


def _pairs(scenario: Any) -> Iterable[Mistake]:
    world, impact = _part(scenario, "world"), _part(_part(scenario, "contact"), "impact")
    friction = _part(world, "friction" if isinstance(world, Mapping) else "pairs")
    yield from _named_pairs("world.friction", friction, scenario)
    yield from _named_pairs("contact.impact.pairs", _part(impact, "pairs"), scenario)


def _named_pairs(path: str, pairs: Any, scenario: Any) -> Iterable[Mistake]:
    named = _named(scenario)
    names = list(dict.fromkeys(name for _, name in named))
    bodies = {name for path, name in named if path.startswith("bodies")}
    around = {name for name in names if name not in bodies}
    known: dict[frozenset[Any], int] = {}
    for i, pair in enumerate(_list(pairs)):
        between = frozenset(each for each in _list(_part(pair, "between")) if isinstance(each, str))
        if between and known.setdefault(between, i) != i:
            allowed = f"a pair is given once, {path}[{known[between]}] is the same"
            yield Mistake(f"{path}[{i}].between", list(_part(pair, "between")), allowed)
        if between and between <= around:
            allowed = "must name a body: obstacles do not touch each other"
            yield Mistake(f"{path}[{i}].between", list(_part(pair, "between")), allowed)
        for j, name in enumerate(_list(_part(pair, "between"))):
            if isinstance(name, str) and name not in names:
                allowed = f"must be the name of a body or obstacle: {', '.join(names) or NOTHING_FOUND}"
                yield Mistake(f"{path}[{i}].between[{j}]", name, allowed, hint_for(name, names))


def _restitution(scenario: Any) -> Iterable[Mistake]:
    impact = _part(_part(scenario, "contact"), "impact")
    if _part(impact, "level") != "position":
        return
    allowed = "leave impact.level = 'position' out: at that level nothing separates again"
    if _positive(impact, "restitution"):
        yield Mistake("contact.impact.restitution", _part(impact, "restitution"), allowed)
    for i, pair in enumerate(_list(_part(impact, "pairs"))):
        if _positive(pair, "value"):
            yield Mistake(f"contact.impact.pairs[{i}].value", _part(pair, "value"), allowed)


def _controllers(scenario: Any) -> Iterable[Mistake]:
    step = _positive(_part(scenario, "time"), "step")
    controllers = list(_list(_part(scenario, "controllers")))
    for i, each in enumerate(controllers):
        every = _positive(each, "every")
        if step and every and (mistake := period_mistake(f"controllers[{i}].every", every, step)):
            yield mistake
    named = ((f"controllers[{i}].name", _part(each, "name")) for i, each in enumerate(controllers))
    yield from _repeated(named, "names of controllers must differ")


def _part(whole: Any, key: str) -> Any:
    return whole.get(key) if isinstance(whole, Mapping) else getattr(whole, key, None)


def _list(entries: Any) -> Iterable[Any]:
    return entries if isinstance(entries, (list, tuple)) else ()


def _positive(whole: Any, key: str) -> float | None:
    number = _part(whole, key)
    usable = isinstance(number, (int, float)) and not isinstance(number, bool)
    return float(number) if usable and 0 < number <= 1.7e308 else None
