"""Arguments of public calls, checked before any of them counts: all mistakes of a call at once."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from corekit.data.state import State
from corekit.errors import ConfigError, Mistake

__all__ = [
    "COUNT",
    "FUNCTION",
    "PATH",
    "PERIOD",
    "STATE",
    "TABLE",
    "TEXT",
    "TEXTS",
    "TRUTH",
    "Kind",
    "check_arguments",
    "check_state",
    "is_number",
    "or_none",
]  # fmt: skip

Kind = tuple[str, Callable[[Any], bool]]
"""What an argument must be: in words, after “must be”, and whether a value is."""


def is_number(value: Any) -> bool:
    """Whether a value is one finite number, which True is not."""
    scalar = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    is_real = isinstance(scalar, (int, float, np.integer, np.floating)) and not isinstance(scalar, bool)
    return is_real and bool(abs(scalar) < math.inf)


TEXT: Kind = "a text that is not empty", lambda value: isinstance(value, str) and value != ""
TEXTS: Kind = (
    "a text, or a list of texts",
    lambda value: isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)),
)
PATH: Kind = (
    "the path of a file or folder",
    lambda value: isinstance(value, (str, os.PathLike)) and isinstance(os.fspath(value), str),
)
TRUTH: Kind = "True or False", lambda value: isinstance(value, bool)
TABLE: Kind = "a dictionary", lambda value: isinstance(value, Mapping)
FUNCTION: Kind = "a function", callable
PERIOD: Kind = "a time above 0 [s]", lambda value: is_number(value) and value > 0
COUNT: Kind = (
    "a whole number, 0 or more",
    lambda value: isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0,
)
STATE: Kind = "a State, or what `internal_state` returned", lambda value: isinstance(value, (State, Mapping))


def or_none(kind: Kind) -> Kind:
    """Allow None beside a kind."""
    words, allows = kind
    return f"{words}, or None", lambda value: value is None or allows(value)


def check_arguments(call: str, **given: tuple[object, Kind]) -> None:
    """Refuse arguments that are not what they must be.

    Args:
        call: whose they are, as its user writes it. given: value and kind, by the names of the arguments.
    Raises:
        ConfigError: some are not.
    """
    mistakes = [
        Mistake(name, value, f"must be {words}")
        for name, (value, (words, allows)) in given.items()
        if not allows(value)
    ]
    if mistakes:
        raise ConfigError(mistakes, call)


def check_state(given: State | Mapping[str, Any], now: State) -> None:
    """Refuse a state, or an internal state, that is of another world, before any of it is taken.

    Raises:
        ConfigError: a part is missing, no number, or of another size.
    """
    check_arguments("the state", state=(given, STATE))
    own = {"q": now.q, "v": now.v, "aux": now.aux}
    if isinstance(given, State):
        found: Mapping[str, Any] = {name: getattr(given, name) for name in own}
    else:
        found, own = given, {"time": np.zeros(()), "step_index": np.zeros((), dtype=int), **own}
    mistakes: list[Mistake] = []
    for name, mine in own.items():
        value = np.asarray(found.get(name))
        if not np.can_cast(value.dtype, mine.dtype, "same_kind") or value.shape != mine.shape:
            said = f"must be {'whole ' * (mine.dtype.kind == 'i')}numbers of shape {mine.shape}"
            mistakes.append(Mistake(name, found.get(name), said))
    if mistakes:
        raise ConfigError(mistakes, "the state, which is not one of this world,")
