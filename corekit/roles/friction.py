"""Friction laws: the coefficients of surfaces, and the friction of a contact.

The kernel forms the rows of a contact; contact solvers implement the law by which a tangential impulse opposes slip.
From a scenario to a solver the kernel passes, per contact,

- `friction`: μ, the largest |λ_t|/λ_n that the law allows; 0: no friction, for any record;
- `friction_record`: the k numbers of the law, which the kernel does not interpret; k = 0 for Coulomb's law; all are
  above 0, or all are 0 where a surface has the coefficient 0;

and, for a directional law, a material direction: an axis of one of the two surfaces, rotated by its pose and projected
on the tangent plane. It is the first tangent t₁ of the contact; the second is t₂ = n × t₁.

**Coulomb's law**, `coulomb`: |λ_t| ≤ μ·λ_n, and λ_t opposes the slip w_t with |λ_t| = μ·λ_n where w_t ≠ 0.

**Anisotropic Coulomb friction**, `anisotropic-coulomb`. Scales or bristles resist sliding by μ_f forward along an axis
of the surface, by μ_b backward and by μ_s sideways. Per unit of normal impulse, admissible friction is

    F = { f : (f₁/μ₁)² + (f₂/μ_s)² ≤ 1 },    μ₁ = μ_f for f₁ ≤ 0 (it resists forward slip), else μ_b            (1)

two half ellipses with a common tangent where they meet, so that F is convex. Friction maximises dissipation:

    λ_t ∈ argmax { −λᵀ·w_t : λ ∈ λ_n·F }                                                                       (2)

    w_t ≠ 0:   λ_t = −λ_n·A²·w_t/|A·w_t|,    A = diag(μ₁, μ_s),   μ₁ = μ_f for w₁ ≥ 0, else μ_b                 (3)

and w_t = 0 if λ_t is inside λ_n·F. With the gauge of F and its support function,

    g(f) = ((f₁/μ₁)² + (f₂/μ_s)²)^½,    d(w) = max { −fᵀ·w : f ∈ F } = |A·w|                                   (4)

(2) is the same as    g(λ_t) ≤ λ_n   and   λ_tᵀ·w_t + λ_n·d(w_t) = 0                                           (5)

which are the residuals of a solution. The cone K = { g(λ_t) ≤ λ_n } has the dual K* = { d(w_t) ≤ w_n }, and
non-penetration with (2) is   K ∋ λ ⊥ (w_n + d(w_t), w_t) ∈ K*. By (3), friction is parallel to oblique slip only if
μ_f = μ_b = μ_s. Otherwise it turns the slip towards the direction of least resistance. If two contacts with different
axes share a point, their loads and so their friction are not unique: such a point should have one contact.

**Torsional and rolling friction**, beside Coulomb's law: the touching surfaces are an area, which resists spin about
the normal and rolling. The moment about the normal is at most the length `torsional` [m] times λ_n, that about the
tangents `rolling` times λ_n; it opposes the rates of turning. Contacts stand for it by several points, see
`corekit.engine.contact_areas`.

A `FrictionLaw` states a law of the form (5): F is convex, fixed per contact, and friction maximises dissipation.
Solvers with the ability `convex-friction` need no more than its gauge (`corekit.roles.friction_edge`). What depends on
the speed of slip (Stribeck), on time or on history is no such law. A `ContactPotential` may have it, as it is given the
velocities; or an `ImpulseSolver` by options of its own, with μ of the scenario as the largest coefficient, to which the
kernel holds every answer.

Sources: Michałowski, Mróz (1978), Associated and non-associated sliding rules in contact friction problems, Archives of
Mechanics 30, for (1)-(3). De Saxcé, Feng (1998), The bipotential method, Math. Comput. Modelling 28, for K and K*.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from attrs import field, frozen

from corekit.errors import PluginError
from corekit.extensions import Extensions

__all__ = [
    "ANISOTROPIC_COULOMB",
    "COULOMB",
    "FRICTION_LAWS",
    "GROUP",
    "FrictionLaw",
    "SurfaceFriction",
    "friction_law",
    "friction_laws",
    "friction_problem",
    "surface_friction",
]

GROUP = "corekit.friction_laws"
"""Entry-point group by which a distribution brings a law; the entry point has the law's name."""


_TURNING = frozenset({"sliding", "torsional", "rolling"})
_DIRECTIONS = 256
"""Directions among which the largest friction of a law is looked for first."""


def _geometric_means(one: Sequence[float], other: Sequence[float]) -> tuple[float, ...]:
    return tuple(math.sqrt(a * b) for a, b in zip(one, other, strict=True))


def _repeated(count: int, coefficient: float) -> tuple[float, ...]:
    return (coefficient,) * count


@frozen(kw_only=True)
class FrictionLaw:
    """Description of a friction law for the kernel.

    Args:
        name: of the law, and of the ability of contact solvers that support it.
        coefficients: names of its numbers in a scenario file, in the order of a record; a table gives each above 0.
        is_directional: whether its numbers refer to an axis of the surface.
        gauge: g of (4): (record, f₁, f₂) → least λ_n that allows the tangential impulse f.
        dissipation: d of (4): (record, w₁, w₂) → power per unit of normal force at the slip w [m/s].
        combine: the records of two surfaces → the record of their contact; geometric means by default.
        isotropic: μ > 0 → the record of a surface of which a scenario gives the one number μ; by default every number
            is μ, which suits a law whose numbers are all coefficients of friction.
    """

    name: str
    coefficients: tuple[str, ...]
    is_directional: bool = False
    gauge: Callable[[Sequence[float], float, float], float] = field(repr=False)
    dissipation: Callable[[Sequence[float], float, float], float] = field(repr=False)
    combine: Callable[[Sequence[float], Sequence[float]], tuple[float, ...]] = field(
        default=_geometric_means, repr=False
    )
    isotropic: Callable[[float], tuple[float, ...]] = field(repr=False)

    @isotropic.default
    def _every_number_alike(self) -> Callable[[float], tuple[float, ...]]:
        return partial(_repeated, len(self.coefficients))

    @property
    def record_width(self) -> int:
        """k, the numbers that the kernel carries beside μ."""
        return 0 if self.name == COULOMB.name else len(self.coefficients)

    def max_coefficient(self, record: Sequence[float]) -> float:
        """The largest |f| of F = { g(f) ≤ 1 }, in any direction: μ of a contact; to 1e-12 of it."""
        largest = max(record)
        if not self.record_width or largest <= 0.0:
            return largest

        def size(angle: float) -> float:
            gauge = self.gauge(record, math.cos(angle), math.sin(angle))
            return 1.0 / gauge if gauge > 0.0 else math.inf

        width = 2.0 * math.pi / _DIRECTIONS
        middle = width * max(range(_DIRECTIONS), key=lambda k: size(k * width))
        found = size(middle)
        while width > 1e-14:  # the size of a convex set has one peak between two directions that are close
            width *= 0.5
            middle = max((middle - width, middle, middle + width), key=size)
            found = max(found, size(middle))
        return largest if math.isclose(found, largest, rel_tol=1e-12) else found


def _circle_gauge(record: Sequence[float], along: float, across: float) -> float:
    size = math.hypot(along, across)
    return size / record[0] if record[0] > 0.0 else (math.inf if size > 0.0 else 0.0)


def _circle_dissipation(record: Sequence[float], along: float, across: float) -> float:
    return record[0] * math.hypot(along, across)


def _ellipse_gauge(record: Sequence[float], along: float, across: float) -> float:
    forward, backward, sideways = record
    if min(record) <= 0.0:
        return math.inf if along or across else 0.0
    return math.hypot(along / (forward if along <= 0.0 else backward), across / sideways)


def _ellipse_dissipation(record: Sequence[float], along: float, across: float) -> float:
    forward, backward, sideways = record
    return math.hypot(along * (forward if along >= 0.0 else backward), across * sideways)


COULOMB = FrictionLaw(
    name="coulomb", coefficients=("friction",), gauge=_circle_gauge, dissipation=_circle_dissipation
)
ANISOTROPIC_COULOMB = FrictionLaw(
    name="anisotropic-coulomb",
    coefficients=("forward", "backward", "sideways"),
    is_directional=True,
    gauge=_ellipse_gauge,
    dissipation=_ellipse_dissipation,
)
FRICTION_LAWS: Mapping[str, FrictionLaw] = MappingProxyType(
    {law.name: law for law in (COULOMB, ANISOTROPIC_COULOMB)}
)
"""Name → law, of those that the kernel names."""


_LAWS = Extensions(GROUP, FrictionLaw, "friction law", "name", FRICTION_LAWS)


def friction_law(name: str) -> FrictionLaw:
    """The law of a name, the kernel's or an installed distribution's.

    Raises:
        ValueError: there is no such law.
        PluginError: a distribution brings it, but its entry point cannot be loaded or names something else, or
            two distributions do.
    """
    return _LAWS.find(name)


def friction_laws() -> tuple[str, ...]:
    """Names of all laws that there are, the kernel's first."""
    return _LAWS.names()


@frozen
class SurfaceFriction:
    """Friction of one surface, or of a pair of surfaces.

    Args:
        law: the friction law.
        record: its numbers.
        axis: unit, forward along the surface, in the axes of the frame that carries its shapes; None: their own axis.
        torsional: largest moment about the normal per normal force [m]; None: as the other surface says.
        rolling: the same about the tangents.
    """

    law: FrictionLaw
    record: tuple[float, ...]
    axis: tuple[float, float, float] | None = None
    torsional: float | None = None
    rolling: float | None = None

    def record_in(self, law: FrictionLaw) -> tuple[float, ...]:
        """Its numbers in its own law, or as another law of the world has one coefficient; zeros for none."""
        if self.law is law:
            return self.record
        return law.isotropic(self.record[0]) if self.record[0] > 0.0 else (0.0,) * len(law.coefficients)


def surface_friction(value: float | Mapping[str, Any] | SurfaceFriction | None) -> SurfaceFriction | None:
    """Friction of a surface from a scenario: a coefficient, or `{ forward = …, backward = …, sideways = … }`.

    A table has every coefficient of its `law`, by default `anisotropic-coulomb`, and for a directional law `axis` if
    the shapes have no axis. With torsional or rolling friction it is `{ sliding = …, torsional = …, rolling = … }`.

    Raises:
        ValueError: a mistake in the table.
        PluginError: an installed law that cannot be used.
    """
    if value is None or isinstance(value, SurfaceFriction):
        return value
    if not isinstance(value, Mapping):
        return SurfaceFriction(COULOMB, (float(value),))
    table = dict(value)
    if "law" not in table and not _TURNING.isdisjoint(table):
        return _with_moments(table)
    name = str(table.pop("law", ANISOTROPIC_COULOMB.name))
    law = friction_law(name)
    axis = _unit_axis(table.pop("axis")) if law.is_directional and "axis" in table else None
    known = ("law", *law.coefficients, *(("axis",) if law.is_directional else ()))
    unknown = sorted(set(table) - set(law.coefficients))
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r} of the law {name!r}; known here: {', '.join(known)}")
    missing = [each for each in law.coefficients if each not in table]
    if missing:
        raise ValueError(f"the law {name!r} lacks {', '.join(missing)}; for one coefficient write a number")
    for each in law.coefficients:
        if not (_is_number(table[each]) and table[each] > 0.0):
            raise ValueError(f"{each} must be a number > 0, found {table[each]!r}")
    return SurfaceFriction(law, tuple(float(table[each]) for each in law.coefficients), axis)


def _with_moments(table: dict[str, Any]) -> SurfaceFriction:
    """Read `{ sliding = …, torsional = …, rolling = … }`, of which one of the last two may be left out."""
    if not ("sliding" in table and len(table) > 1 and table.keys() <= _TURNING):
        raise ValueError(
            f"a table has sliding with torsional, rolling or both, found {', '.join(sorted(table))}"
        )
    sliding = table.pop("sliding")
    if not (_is_number(sliding) and sliding > 0.0):
        raise ValueError(
            f"sliding must be a number > 0, without which nothing resists turning, found {sliding!r}"
        )
    for name, length in table.items():
        if not (_is_number(length) and length >= 0.0):
            raise ValueError(f"{name} must be a length >= 0 in m, moment per normal force, found {length!r}")
    torsional, rolling = (
        None if each is None else float(each) for each in map(table.get, ("torsional", "rolling"))
    )
    return SurfaceFriction(COULOMB, (float(sliding),), torsional=torsional, rolling=rolling)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _unit_axis(value: object) -> tuple[float, float, float]:
    if isinstance(value, (list, tuple)) and len(value) == 3 and all(_is_number(each) for each in value):
        x, y, z = (float(each) for each in value)
        size = math.hypot(x, y, z)
        if size > 0.0:
            return x / size, y / size, z / size
    raise ValueError(f"axis must be three numbers that are not all 0, found {value!r}")


def friction_problem(value: float | Mapping[str, Any] | None) -> str | None:
    """The mistake in the friction of a surface in a scenario, or None."""
    try:
        surface_friction(value)
    except (ValueError, PluginError) as error:
        return str(error)
    return None
