"""What every signal answers, and how the numbers in one are read and checked."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import attrs
import numpy as np

from corekit.data.arrays import Array

__all__ = [
    "HeldSignal",
    "Signal",
    "Vector",
    "as_vector",
    "broadcast_vectors",
    "field_metadata",
    "finite",
    "is_number",
    "set_derived",
]

Vector: TypeAlias = float | tuple[float, ...]
"""Numbers of a signal: one for every entry, or a tuple with one an entry."""


class Signal(ABC):
    """A vector x(t) of `size` entries.

    `value`, `rate` and `acceleration` write x, ẋ and ẍ at time `t` [s] into `out`, shape (size,).
    """

    kind: ClassVar[str]
    """The word that names it in a scenario file."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of entries."""

    @property
    @abstractmethod
    def constant(self) -> bool:
        """Whether it never changes."""

    @abstractmethod
    def value(self, t: float, out: Array) -> None:
        """Write x(t)."""

    @abstractmethod
    def rate(self, t: float, out: Array) -> None:
        """Write ẋ(t) [1/s]."""

    @abstractmethod
    def acceleration(self, t: float, out: Array) -> None:
        """Write ẍ(t) [1/s²]."""

    @abstractmethod
    def breakpoints(self, t0: float, t1: float) -> list[float]:
        """Instants t0 < t ≤ t1 [s] at which x or a derivative jumps, in order; a step should end on each."""


class HeldSignal(Signal):
    """A signal that does not move: what it is may be set from outside, but between two settings nothing changes."""

    def rate(self, t: float, out: Array) -> None:
        out.fill(0.0)

    def acceleration(self, t: float, out: Array) -> None:
        out.fill(0.0)

    def breakpoints(self, t0: float, t1: float) -> list[float]:
        return []


def as_vector(value: float | Sequence[float]) -> Vector:
    """One number for every entry, or a tuple of them."""
    return float(value) if isinstance(value, (int, float)) else tuple(float(entry) for entry in value)


def is_number(text: str) -> bool:
    """Whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def finite(_instance: object, attribute: attrs.Attribute[Any], value: Vector) -> None:
    """A validator: at least one number, all finite."""
    entries = value if isinstance(value, tuple) else (value,)
    if not entries:
        raise ValueError(f"{attribute.name} = {value!r}: must hold at least one number")
    if not all(math.isfinite(entry) for entry in entries):
        raise ValueError(f"{attribute.name} = {value!r}: must be finite")


def field_metadata(help: str, *, unit: str = "", key: str = "") -> dict[str, str]:
    """What loader and docs read of a field; `key` is its word in a file, where it is reserved in Python."""
    said = {"help": help, "unit": unit, "allowed": "must be finite"}
    return {**said, "key": key} if key else said


def set_derived(signal: Signal, **derived: object) -> None:
    """Set fields of a frozen signal that follow from the others."""
    for name, value in derived.items():
        object.__setattr__(signal, name, value)


def broadcast_vectors(**vectors: Vector) -> tuple[Array, ...]:
    """The vectors as read-only arrays of their common length; one number stands for every entry.

    Raises:
        ValueError: two of them are lists of different lengths.
    """
    lengths = {name: len(value) for name, value in vectors.items() if isinstance(value, tuple)}
    common = max(lengths.values(), default=1)
    if any(length != common for length in lengths.values()):
        listing = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"its lists must have one length: {listing}")
    arrays = tuple(np.array(np.broadcast_to(value, common), dtype=float) for value in vectors.values())
    for array in arrays:
        array.setflags(write=False)
    return arrays
