"""What must not change from call to call, be written whole and be read; and damping, which must not drive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import ConfigError
from corekit.registry.resolve import load_target
from corekit.roles.model import Model
from corekit_testing.conformance.check import Check, NotApplicable, check, expect
from corekit_testing.conformance.drawn_options import other_numbers
from corekit_testing.conformance.model_states import ModelSession, Probe, moved, new_state
from corekit_testing.conformance.subject import Subject, skew_context, structured

__all__ = ["CONSTANCY"]


@check("description-constant", "the description is the same whenever it is asked for")
def layout_constant(subject: Subject) -> None:
    model = subject.build(skew_context())
    first = _fields(model.description)
    session = ModelSession(subject, model)
    for question in range(session.questions):
        session.ask(question)
        later = _fields(model.description)
        changed = [name for name, value in first.items() if not _same(value, later[name])]
        expect(not changed, f"{', '.join(changed)} of the description changes while the model is asked")


def _fields(description: Any) -> dict[str, Any]:
    """The layout's entries, arrays copied."""
    return {each.name: _copy(getattr(description, each.name)) for each in attrs.fields(type(description))}


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(np.asarray(one), np.asarray(other))
    return bool(one == other)


@check("initial-state-whole", "the initial state is written whole, whatever its buffer held")
def initial_state_whole(subject: Subject) -> None:
    model = subject.build(skew_context())
    tables = [None] if subject.spec.initial is None else [None, load_target(subject.spec.initial)()]
    for initial in tables:
        which = "rest state" if initial is None else "initial state by default"
        found = []
        for rubbish in (0.0, 17.0, np.nan):
            state = _started(model, initial, rubbish)
            found.append(np.concatenate([state.q, state.v, state.aux]))
            expect(np.isfinite(found[-1]).all(), f"the {which} leaves entries as they were")
        expect(np.array_equal(found[0], found[1]), f"the {which} depends on what its buffer held")


def _started(model: Model, initial: Any, rubbish: float = 0.0) -> State:
    state = new_state(model)
    for values in (state.q, state.v, state.aux):
        values[:] = rubbish
    model.compute_initial_state(initial, state)
    return state


@check("initial-options-read", "every option of the initial state changes it")
def initial_options_read(subject: Subject) -> None:
    if subject.spec.initial is None:
        raise NotApplicable("has no options of an initial state")
    model = subject.build(skew_context())
    cls = load_target(subject.spec.initial)
    for each in attrs.fields(cls):
        states = [np.concatenate([s.q, s.v, s.aux]) for s in _others(model, cls, each)]
        expect(
            len(states) < 2 or any(not np.array_equal(states[0], other) for other in states[1:]),
            f"initial.{each.name} changes nothing",
        )


def _others(model: Model, cls: Any, option: Any) -> list[State]:
    """The initial states by default and with other values of one option, of those values that are allowed."""
    description = model.description
    default = getattr(cls(), option.name)
    tried: list[Any] = [default]
    if isinstance(default, bool):
        tried.append(not default)
    elif isinstance(default, (int, float)):
        tried += [default + 0.05, default - 0.05, default * 1.1]
    else:
        sizes = {len(description.coordinates), len(description.velocities), description.aux, 1, 2, 3, 4}
        if isinstance(default, tuple):
            sizes.add(len(default))
        tried += [[0.01 * (i + 1) for i in range(size)] for size in sorted(sizes) if size]
        tried.append(0.05)
    found = []
    for value in tried:
        key = option.metadata.get("key", option.name)
        try:
            initial = cls() if value is default else structured(cls, {key: value}, "initial")
            found.append(_started(model, initial))
        except (ConfigError, ValueError):  # a value that this option does not allow
            continue
    return found


@check(
    "damping-dissipates", "what is odd in the velocities takes energy: ½·(f(v) − f(−v))ᵀ·v ≤ 0 without inputs"
)
def damping_dissipates(subject: Subject) -> None:
    probe = Probe(subject)
    nothing = np.zeros_like(probe.inputs)
    for state in probe.states:
        mass = np.abs(probe.mass(state))
        for velocity in [state.v, *np.diag(np.maximum(np.abs(state.v), 0.1))]:
            forward, backward = (_force(probe, state, sign * velocity, nothing) for sign in (1.0, -1.0))
            power = 0.5 * float((forward - backward) @ velocity)
            # f sums up to some ten thousand terms of its size, each rounded: 1e4·ε < 1e-11; those of inertia, as
            # ω × I·ω, may cancel to nothing
            speed = np.abs(velocity)
            terms = np.abs(forward) + np.abs(backward) + float(np.max(speed)) * (mass @ speed)
            rounding = 1e-11 * float(terms @ speed)
            expect(power <= rounding, f"damping gives a power of {power:.3g} W")


def _force(probe: Probe, state: State, velocity: Array, inputs: Array) -> Array:
    moving = state.copy()
    moving.v[:] = velocity
    return probe.force(moving, inputs)


_NUDGE = 1e-12
"""Time [s] of a motion after which a state is another one, and its answers are the same but for some digits."""


@check("numbers-apart", "asked at the states of another one, a model with other numbers answers by its own")
def numbers_apart(subject: Subject) -> None:
    other = other_numbers(subject)
    if other is None:
        raise NotApplicable("has no numbers among its options")
    first, second = Probe(subject), Probe(other)
    for state in first.states:
        # a state that nobody has asked about before, and one beside it
        asked = moved(first.model, state, state.v, 3.0 * _NUDGE)
        beside = moved(first.model, asked, state.v, _NUDGE)
        farther = moved(first.model, asked, state.v, 2.0 * _NUDGE)
        for name, ask in _ANSWERS.items():
            if name.partition(" ")[0] == "K" and "force-derivatives" not in subject.spec.provides:
                continue
            one = ask(first, asked)
            found, wanted = ask(second, asked), ask(second, beside)
            apart = float(np.max(np.abs(one - wanted), initial=0.0))
            # of a stiff model the way between both states counts too; farther on, where the other one was not asked
            way = float(np.max(np.abs(one - ask(first, farther)), initial=0.0))
            size = float(np.max(np.abs(wanted), initial=0.0))
            same = apart <= 1e-6 * size + 1e-12 * _terms(second, beside) + 10.0 * way
            expect(
                same or float(np.max(np.abs(found - wanted))) < 0.5 * apart,
                f"{name} of a model with other numbers is that of this one where both were asked at the same state: "
                "what is kept is found again without its options",
            )


def _terms(probe: Probe, state: State) -> float:
    """Size of what cancels to rounding where links turn in balance, in f and its slopes."""
    speed = float(np.abs(state.v).max(initial=0.0))
    inertia = float(np.abs(probe.mass(state)).max(initial=0.0)) * (speed + speed**2)
    return inertia + float(np.abs(probe.force(state)).max(initial=0.0))


_ANSWERS: Mapping[str, Callable[[Probe, State], Array]] = {
    "M": Probe.mass,
    "f": Probe.force,
    "the position of frames": lambda probe, state: probe.poses(state)[0],
    "the rotation of frames": lambda probe, state: probe.poses(state)[1],
    "K and D": lambda probe, state: np.stack(probe.tangent(state)),
}


CONSTANCY: tuple[Check, ...] = (
    layout_constant, numbers_apart, initial_state_whole, initial_options_read, damping_dissipates,
)  # fmt: skip
"""Checks of what stays, what is whole and what is read."""
