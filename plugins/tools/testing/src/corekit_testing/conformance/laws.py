"""Friction laws as their authors state them: numbers, a gauge and a dissipation of one convex set.

`corekit conform friction_laws.NAME` from a shell, and in the tests of a distribution one line,

    test_law = friction_law_conformance("mine:box")

With the admissible friction F = { f : g(f) ≤ 1 } per unit of normal impulse,

    d(w) = max { −fᵀ·w : f ∈ F } ≥ 0                                                       (1)
    g(½·a + ½·b) ≤ 1 for a, b in F,    g(s·f) = s·g(f),    g(0) = d(0) = 0                 (2)

The first of (2) is that F is convex. Whether solvers obey a law is asked of them (`friction-law-obeyed`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.friction import GROUP, FrictionLaw, friction_law
from corekit_testing.conformance.check import CheckFailed, expect, expect_close
from corekit_testing.conformance.claims import Claim, Claims, parametrised
from corekit_testing.conformance.light import expect_light

__all__ = ["LAW_CLAIMS", "NEAR", "circle", "expect_dual", "friction_law_conformance", "records"]

NEAR = 1e-6
"""Residual below which an answer counts as exact [m/s or N·s]."""
_DIRECTIONS = 720
"""Directions of f; between two of them (1) may be missed by their angle times the largest ratio of coefficients."""
_MISSED = 0.05
_ROUNDING = 1e-12
"""Relative, of a few operations."""


def records(law: FrictionLaw) -> list[tuple[float, ...]]:
    """Numbers of the law, equal ones and three times some drawn at random."""
    drawn = np.random.default_rng(17).uniform(0.2, 0.8, size=(3, len(law.coefficients)))
    return [law.isotropic(0.5), *map(tuple, drawn.tolist())]


def circle(count: int) -> Array:
    """Unit vectors all around, shape (count, 2)."""
    angle = 2.0 * np.pi * (np.arange(count) + 0.3) / count
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _what(law: FrictionLaw, record: tuple[float, ...]) -> str:
    return f"{law.name} {np.round(record, 3)}"


def expect_dual(law: FrictionLaw, record: tuple[float, ...]) -> None:
    """Raise `CheckFailed` unless gauge and dissipation are positive, of degree one, and (1) holds."""
    what, around = _what(law, record), circle(_DIRECTIONS)
    gauge = np.array([law.gauge(record, *f) for f in around])
    wrong = gauge[~(gauge > 0.0)]  # nan among them; inf admits no friction in that direction
    expect(not wrong.size, f"{what}: a gauge is {wrong[:1]}, it must be above 0")
    admitted = around / gauge[:, None]
    for slip in circle(24):
        power, needed = law.dissipation(record, *slip), law.gauge(record, *slip)
        expect(0.0 <= power < np.inf, f"{what}: the dissipation is {power:.6g} at the slip {slip}")
        most = float(np.max(-admitted @ slip))
        expect(
            (1.0 - _MISSED) * power - NEAR <= most <= (1.0 + NEAR) * power + NEAR,
            f"{what}: the dissipation is {power:.6g} at the slip {slip}, the gauge admits {most:.6g}",
        )
        twice = np.array([part(record, *(2.0 * slip)) for part in (law.gauge, law.dissipation)])
        once = 2.0 * np.array([needed, power])
        expect_close(f"{what}: gauge and dissipation of twice the argument", twice, once, NEAR)


def _light(law: FrictionLaw) -> None:
    expect_light(GROUP, law.name)


def _numbers(law: FrictionLaw) -> None:
    width = len(law.coefficients)
    for friction in (0.05, 0.5, 2.0):
        plain = law.isotropic(friction)
        good = len(plain) == width and all(0.0 < each < np.inf for each in plain)
        expect(
            good,
            f"isotropic({friction:g}) is {plain}: it must be {width} numbers above 0, {law.coefficients}",
        )
    one, other = records(law)[1:3]
    both, turned = law.combine(one, other), law.combine(other, one)
    good = len(both) == width and all(0.0 < each < np.inf for each in both)
    expect(good, f"combine of two records is {both}: it must be {width} numbers above 0, {law.coefficients}")
    size = _ROUNDING * max(both)
    expect_close(
        "combine of two surfaces in the other order: a contact must not depend on which comes first",
        np.array(turned), np.array(both), size,
    )  # fmt: skip


def _dual(law: FrictionLaw) -> None:
    for record in records(law):
        expect_dual(law, record)


def _convex(law: FrictionLaw) -> None:
    around = circle(48).tolist()
    for record in records(law):
        edge = [[x / gauge, y / gauge] for x, y in around if (gauge := law.gauge(record, x, y)) < np.inf]
        for i, one in enumerate(edge):
            for other in edge[:i]:
                needed = law.gauge(record, 0.5 * (one[0] + other[0]), 0.5 * (one[1] + other[1]))
                if not needed <= 1.0 + _ROUNDING:
                    raise CheckFailed(
                        f"{_what(law, record)}: the set of admissible friction is not convex: it admits "
                        f"{np.round(one, 4)} and {np.round(other, 4)}, but not what is midway, whose gauge is "
                        f"{needed:.6g}, above 1"
                    )


def _directional(law: FrictionLaw) -> None:
    if law.is_directional:
        return
    for record in records(law):
        for name, part in (("gauge", law.gauge), ("dissipation", law.dissipation)):
            around = np.array([part(record, *f) for f in circle(48)])
            expect(
                float(np.ptp(around)) <= _ROUNDING * float(around.max()) * 10.0,
                f"{_what(law, record)}: the {name} depends on the direction, from {around.min():.6g} to "
                f"{around.max():.6g}, and without is_directional = True the tangents of a contact point anywhere",
            )


def _at_rest(law: FrictionLaw) -> None:
    for record in records(law):
        for name, part in (("gauge", law.gauge), ("dissipation", law.dissipation)):
            still = part(record, 0.0, 0.0)
            expect(still == 0.0, f"{_what(law, record)}: the {name} of nothing is {still}, it must be 0")


def _pure(law: FrictionLaw) -> None:
    for record in records(law):
        given, asked = (
            list(record),
            [(part, f) for part in (law.gauge, law.dissipation) for f in circle(8).tolist()],
        )
        first = [part(given, *f) for part, f in asked]
        expect(tuple(given) == record, f"{_what(law, record)}: the record that is handed over is changed")
        again = [part(record, *f) for part, f in reversed(asked)][::-1]
        expect(
            first == again,
            f"{_what(law, record)}: asked again in another order it answers otherwise: it remembers",
        )


LAW_CLAIMS: Claims = {
    "law-light": Claim("importing its module imports nothing heavy", _light),
    "law-numbers": Claim("one number of a scenario and two surfaces make records of the law", _numbers),
    "law-dual": Claim("dissipation is the most power of what the gauge admits, and never negative", _dual),
    "law-convex": Claim("what the gauge admits is a convex set", _convex),
    "law-directional": Claim("a law whose friction depends on the direction says so", _directional),
    "law-at-rest": Claim("no force needs no load, and no slip dissipates nothing", _at_rest),
    "law-pure": Claim("answers depend on the arguments alone, which are not changed", _pure),
}
"""Checks of a law."""


def friction_law_conformance(name: str) -> Callable[..., None]:
    """A parametrised pytest test of an installed friction law."""
    return parametrised(LAW_CLAIMS, lambda _folder: (friction_law(name),))
