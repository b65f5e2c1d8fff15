"""Friction of MuJoCo's contacts as the scenario has it.

MuJoCo takes the larger coefficient of two geoms. A scenario names pairs, or takes the geometric mean of both surfaces,
or that of the one which has a coefficient. So a geom has its own coefficient, or that of the scenario, and pairs of
which the larger one is not right stand in `<contact>`. Both give a moment of spin or rolling per normal force [m].
Sources: `corekit.roles.surface_pairs`; MuJoCo documentation, XML reference, body/geom and contact/pair.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

from attrs import define, field

from corekit.roles.friction import SurfaceFriction, surface_friction
from corekit.scenario.scenario import Scenario

__all__ = ["Frictions"]

_LEAST = 1e-5
"""Below which MuJoCo takes no coefficient."""


class _Moments(NamedTuple):
    """Largest coefficient, and largest moments of spin and rolling per normal force [m]."""

    sliding: float
    torsional: float = 0.0
    rolling: float = 0.0


class _Geom(NamedTuple):
    name: str
    owner: str
    fixed: bool
    own: SurfaceFriction | None
    written: _Moments


@define
class Frictions:
    """The geoms of a model, and how each rubs against the others.

    Args:
        scenario: whose pairs and coefficients.
        notes: sentences on what is approximate are added here.
    """

    scenario: Scenario
    notes: list[str]
    _geoms: list[_Geom] = field(factory=list, init=False)
    _default: _Moments = field(init=False)
    _pairs: Mapping[frozenset[str], SurfaceFriction | None] = field(init=False)

    def __attrs_post_init__(self) -> None:
        contact = self.scenario.contact
        self._default = _Moments(0.0 if contact is None else contact.friction or 0.0)
        self._pairs = {
            frozenset(each.between): surface_friction(each.value) for each in self.scenario.world.pairs
        }

    def geom(self, name: str, owner: str, own: Any, *, fixed: bool = False) -> str:
        """Return the attributes of a geom.

        Args:
            owner: its body or obstacle. own: friction of its surface as the scenario writes it, or None.
            fixed: whether it is part of the world.
        """
        if self.scenario.contact is None:
            return ' contype="0" conaffinity="0"'
        friction = surface_friction(own)
        written = self._default if friction is None else self._moments(friction, owner)
        self._geoms.append(_Geom(name, owner, fixed, friction, written))
        return _attributes(written)

    def contact(self) -> list[str]:
        """Return the pairs of geoms that rub otherwise than by the larger coefficient."""
        lines = []
        for one, other in combinations(self._geoms, 2):
            if one.owner == other.owner or (one.fixed and other.fixed):
                continue
            wanted = self._between(one, other)
            larger = map(max, one.written, other.written)
            if not all(map(math.isclose, wanted, larger)):
                numbers = _attributes(wanted, across=True)
                lines.append(f'    <pair geom1="{one.name}" geom2="{other.name}"{numbers}/>')
        return ["  <contact>", *lines, "  </contact>"] if lines else []

    def _between(self, one: _Geom, other: _Geom) -> _Moments:
        names = frozenset((one.owner, other.owner))
        if (explicit := self._pairs.get(names)) is not None:
            return self._moments(explicit, " and ".join(sorted(names)))
        if one.own is None or other.own is None:
            either = one if one.own is not None else other
            return self._default if either.own is None else either.written
        lengths = [
            _mean(getattr(one.own, each), getattr(other.own, each)) for each in ("torsional", "rolling")
        ]
        sliding = math.sqrt(one.written.sliding * other.written.sliding)
        return _Moments(sliding, *lengths) if sliding > 0.0 else _Moments(0.0)

    def _moments(self, friction: SurfaceFriction, whose: str) -> _Moments:
        largest = friction.law.max_coefficient(friction.record)
        note = f"approximate: the friction of {whose!r} is its largest in every direction"
        if min(friction.record) < largest and note not in self.notes:
            self.notes.append(note)
        return _Moments(largest, friction.torsional or 0.0, friction.rolling or 0.0)


def _mean(one: float | None, other: float | None) -> float:
    given = [each for each in (one, other) if each is not None]
    return math.prod(given) ** (1.0 / len(given)) if given else 0.0


def _attributes(friction: _Moments, *, across: bool = False) -> str:
    """Return `friction`, of a pair with both directions of slip and roll, and `condim`: what of it counts."""
    dimension = 6 if friction.rolling > 0.0 else 4 if friction.torsional > 0.0 else 3
    if not friction.sliding > 0.0:
        dimension = 1
    twice = 1 + across
    numbers = [max(friction.sliding, _LEAST)] * twice + [friction.torsional] + [friction.rolling] * twice
    return f' condim="{dimension}" friction="{" ".join(f"{x:.9g}" for x in numbers)}"'
