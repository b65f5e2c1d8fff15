"""Friction laws with one small mistake each: a sign, a factor, a power, an order, a set that is no convex one."""

from __future__ import annotations

import math
from itertools import count
from typing import Any

from corekit.roles.friction import FrictionLaw

__all__ = ["LAWS", "box"]

box = FrictionLaw(
    name="kit:box",
    coefficients=("along", "across"),
    is_directional=True,
    gauge=lambda record, along, across: max(abs(along) / record[0], abs(across) / record[1]),
    dissipation=lambda record, along, across: record[0] * abs(along) + record[1] * abs(across),
)
"""|f₁| ≤ along, |f₂| ≤ across per unit of normal impulse."""


def gauge(record: Any, along: float, across: float) -> float:
    return float(box.gauge(record, along, across))


def dissipation(record: Any, along: float, across: float) -> float:
    return float(box.dissipation(record, along, across))


def star(record: Any, along: float, across: float) -> float:
    """A star with the corners of a rhombus, which its dissipation knows alone."""
    return (math.sqrt(abs(along) / record[0]) + math.sqrt(abs(across) / record[1])) ** 2


def ellipse(record: Any, along: float, across: float) -> float:
    """By the square of its size, which is 0 at rest."""
    return (along**2 / record[0] ** 2 + across**2 / record[1] ** 2) / math.hypot(
        along / record[0], across / record[1]
    )


def rising(record: Any, along: float, across: float) -> float:
    """Friction that falls with the slip, after Stribeck."""
    return dissipation(record, along, across) * (0.6 + 0.4 * math.exp(-math.hypot(along, across)))


def remembering() -> Any:
    """Keeps what it once found, and forgets for which record."""
    known: dict[Any, float] = {}
    return lambda record, along, across: known.setdefault((along, across), gauge(record, along, across))


def ageing() -> Any:
    """Counts how often it is asked."""
    asked = count()
    return lambda record, along, across: gauge(record, along, across) * (1.0 + 1e-12 * next(asked))


def sorting(record: Any, along: float, across: float) -> float:
    """Sorts the record that is handed over."""
    value = gauge(record, along, across)
    if isinstance(record, list):
        record.sort()
    return value


LAWS: dict[str, tuple[dict[str, Any], str, str]] = {
    "a gauge that is no number": ({"gauge": lambda record, x, y: math.nan}, "law-dual", "it must be above 0"),
    "a gauge with a sign": ({"gauge": lambda record, x, y: x / record[0]}, "law-dual", "it must be above 0"),
    "a gauge that is a square": (
        {"gauge": lambda record, x, y: gauge(record, x, y) ** 2},
        "law-dual",
        "the gauge admits",
    ),
    "a gauge that multiplies": (
        {"gauge": lambda record, x, y: max(abs(x) * record[0], abs(y) * record[1])},
        "law-dual",
        "the gauge admits",
    ),
    "a gauge that is smoothed": (
        {"gauge": lambda record, x, y: math.sqrt(gauge(record, x, y) ** 2 + 1e-4)},
        "law-dual",
        "of twice the argument",
    ),
    "dissipation drives": (
        {"dissipation": lambda record, x, y: -dissipation(record, x, y)},
        "law-dual",
        "the dissipation is -",
    ),
    "dissipation of one coefficient": (
        {"dissipation": lambda record, x, y: record[0] * (abs(x) + abs(y))},
        "law-dual",
        "the gauge admits",
    ),
    "dissipation turned": (
        {"dissipation": lambda record, x, y: dissipation(record, y, x)},
        "law-dual",
        "the gauge admits",
    ),
    "dissipation of an ellipse": (
        {"dissipation": lambda record, x, y: math.hypot(record[0] * x, record[1] * y)},
        "law-dual",
        "the gauge admits",
    ),
    "friction falls with the slip": ({"dissipation": rising}, "law-dual", "the gauge admits"),
    "a star": (
        {"gauge": star, "dissipation": lambda record, x, y: max(record[0] * abs(x), record[1] * abs(y))},
        "law-convex",
        "is not convex",
    ),
    "no word of directions": ({"is_directional": False}, "law-directional", "without is_directional = True"),
    "an ellipse that divides by 0 at rest": (
        {"gauge": ellipse, "dissipation": lambda record, x, y: math.hypot(record[0] * x, record[1] * y)},
        "law-at-rest",
        "raised ZeroDivisionError",
    ),
    "the first surface counts": (
        {"combine": lambda one, other: tuple(one)},
        "law-numbers",
        "must not depend on which comes first",
    ),
    "two surfaces make one number": (
        {"combine": lambda one, other: (math.sqrt(one[0] * other[0]),)},
        "law-numbers",
        "it must be 2 numbers above 0",
    ),
    "one number for two": (
        {"isotropic": lambda friction: (friction,)},
        "law-numbers",
        "it must be 2 numbers above 0",
    ),
    "no friction across": ({"isotropic": lambda friction: (friction, 0.0)}, "law-numbers", "above 0"),
    "remembers, and forgets the record": ({"gauge": remembering()}, "law-dual", "the gauge admits"),
    "ages": ({"gauge": ageing()}, "law-pure", "it remembers"),
    "sorts the record": ({"gauge": sorting}, "law-pure", "the record that is handed over is changed"),
}
