"""Strain bases: which strains of a division may vary, and with which functions along it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, final

from attrs import frozen

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import option, refuse_given
from corekit_gvs.options import text_list, texts

__all__ = ["MODES", "PER_ELEMENT", "Basis"]

MODES: Mapping[str, int] = MappingProxyType(
    {"torsion": 0, "bend-y": 1, "bend-z": 2, "stretch": 3, "shear-y": 4, "shear-z": 5}
)
"""Mode → its row in ξ = (k; l)."""

_ORDERED = ("monomial", "legendre", "chebyshev", "fourier")
PER_ELEMENT: Mapping[str, int] = MappingProxyType(
    {
        "fem-linear": 1,
        "fem-quadratic": 2,
        "fem-cubic": 3,
        "hermite": 3,
        "gaussian": 3,
        "inverse-multiquadric": 3,
    }
)
"""Local bases → degree of their functions within an element."""

DEPENDENT: Mapping[str, tuple[str, int]] = MappingProxyType(
    {
        "pulse": ("q1*exp(-q2**2*(X - t/duration)**2)", 2),
        "sigmoid": ("q1/(1 + exp(q2*(X - q3)))", 3),
        "bump": ("q1/(1 + (q2*(X - q3))**2)", 3),
        "bump-quadratic": ("q1/(1 + (q2*(X - q3))**2) + q4 + q5*X + q6*X**2", 6),
    }
)
"""Named dependent bases → formula of the strain of their mode, and number of coordinates."""

_KINDS = ("constant", *_ORDERED, *PER_ELEMENT, "custom", "dependent")


@final
@frozen(kw_only=True)
class Basis:
    """Functions of one or several strain modes of a division of length L, X = s/L ∈ [0, 1].

        ξ(X) = ξ*(X) + D_L·Σⱼ e_mode·φⱼ(X)·qⱼ,   D_L = diag(1/L, 1/L, 1/L, 1, 1, 1)                  (1)
        dependent:   ξ(X) = ξ*(X) + D_L·Σ e_mode·b_mode(X, q, t)                                        (2)

    So a coordinate of torsion or bending is an angle over the division [rad], that of stretch or shear a strain.
    Independent functions are repeated for each of `modes`, coordinates ordered by the mode's row in ξ, then by j. A
    dependent basis has its own coordinates q1, q2, … for all its modes together.

    Built by `Basis.legendre(4)`, `Basis.fem("quadratic", elements=2)`, `Basis.dependent("q1*exp(-q2**2*X**2)", 2)`, …
    """

    kind: str = option("constant", "the functions: " + ", ".join(_KINDS), choices=_KINDS)
    modes: tuple[str, ...] = option(
        ("torsion", "bend-y", "bend-z"),
        "which strains: " + ", ".join(MODES),
        converter=text_list,
        check=lambda value: (
            None
            if value and set(value) <= set(MODES) and len(set(value)) == len(value)
            else "name each strain once: " + ", ".join(MODES)
        ),
    )
    order: int = option(0, f"of {', '.join(_ORDERED)}: highest degree (Fourier: wave number)", low=0, high=40)
    elements: int = option(1, "number of elements of a local basis", low=1, high=1000)
    functions: tuple[str | Callable[..., Any], ...] = option(
        (),
        "custom: formulas of X, one a function; dependent: formulas of X, t, q1, q2, …, one a mode; in place of a "
        "formula a Python function, `file.py:function`, of the places X, or making a formula of SymPy's symbols",
        converter=texts,
    )
    coordinates: int = option(0, "of a dependent basis: how many q", low=0, high=60)

    def __attrs_post_init__(self) -> None:
        wrong: list[Mistake] = []
        if self.kind == "custom" and not self.functions:
            wrong.append(Mistake("functions", "none", "give at least one formula of X, for kind 'custom'"))
        if self.kind == "dependent" and len(self.functions) != len(self.modes):
            said = f"give one formula of X, t, q1, q2, … a mode: {len(self.modes)}"
            wrong.append(Mistake("functions", f"{len(self.functions)} formulas", said))
        if self.kind == "dependent" and not self.coordinates:
            wrong.append(Mistake("coordinates", 0, "must be ≥ 1, for kind 'dependent'"))
        of_kinds = {
            "order": _ORDERED,
            "elements": tuple(PER_ELEMENT),
            "functions": ("custom", "dependent"),
            "coordinates": ("dependent",),
        }
        unread = [name for name, kinds in of_kinds.items() if self.kind not in kinds]
        wrong += refuse_given(self, unread, f"must be left out, for kind {self.kind!r}")
        if wrong:
            raise ConfigError(wrong, "the basis")

    @property
    def size(self) -> int:
        """Number of coordinates."""
        if self.kind == "dependent":
            return self.coordinates
        return len(self.modes) * self.per_mode

    @property
    def per_mode(self) -> int:
        """Number of functions of one mode of an independent basis."""
        n = self.elements
        counts = {
            "constant": 1, "fourier": 2 * self.order + 1, "fem-linear": n + 1, "fem-quadratic": 2 * n + 1,
            "fem-cubic": 3 * n + 1, "hermite": 2 * n + 2, "gaussian": n + 1, "inverse-multiquadric": n + 1,
            "custom": len(self.functions),
        }  # fmt: skip
        return counts.get(self.kind, self.order + 1)

    @classmethod
    def constant(cls, *modes: str) -> Basis:
        """The same strain everywhere (piecewise constant strain)."""
        return cls(kind="constant", **_modes(modes))

    @classmethod
    def monomial(cls, order: int, *modes: str) -> Basis:
        """1, X, …, X^order."""
        return cls(kind="monomial", order=order, **_modes(modes))

    @classmethod
    def legendre(cls, order: int, *modes: str) -> Basis:
        """Legendre polynomials on [0, 1] up to `order`."""
        return cls(kind="legendre", order=order, **_modes(modes))

    @classmethod
    def chebyshev(cls, order: int, *modes: str) -> Basis:
        """Chebyshev polynomials of the first kind on [0, 1] up to `order`."""
        return cls(kind="chebyshev", order=order, **_modes(modes))

    @classmethod
    def fourier(cls, order: int, *modes: str) -> Basis:
        """1, cos 2πjX, sin 2πjX for j = 1 … order."""
        return cls(kind="fourier", order=order, **_modes(modes))

    @classmethod
    def fem(cls, degree: str, elements: int, *modes: str) -> Basis:
        """Continuous piecewise polynomials: degree linear, quadratic or cubic."""
        return cls(kind=f"fem-{degree}", elements=elements, **_modes(modes))

    @classmethod
    def hermite(cls, elements: int, *modes: str) -> Basis:
        """Cubic splines of values and slopes d/dX at the nodes."""
        return cls(kind="hermite", elements=elements, **_modes(modes))

    @classmethod
    def gaussian(cls, elements: int, *modes: str) -> Basis:
        """exp(−c²(X − aⱼ)²) about evenly spaced aⱼ, half as high half an element away."""
        return cls(kind="gaussian", elements=elements, **_modes(modes))

    @classmethod
    def inverse_multiquadric(cls, elements: int, *modes: str) -> Basis:
        """1/√(1 + c²(X − aⱼ)²) about evenly spaced aⱼ, half as high half an element away."""
        return cls(kind="inverse-multiquadric", elements=elements, **_modes(modes))

    @classmethod
    def custom(cls, functions: Sequence[str | Callable[..., Any]], *modes: str) -> Basis:
        """Formulas of X, for example `("1", "sin(pi*X)")`, or Python functions of the places X, (p,)."""
        return cls(kind="custom", functions=tuple(functions), **_modes(modes))

    @classmethod
    def dependent(
        cls,
        functions: str | Callable[..., Any] | Sequence[str | Callable[..., Any]],
        coordinates: int,
        *modes: str,
    ) -> Basis:
        """Formulas of X, t, q1, q2, …, one a mode; derivatives are worked out by SymPy.

        Or Python functions that make them: `lambda X, t, q1, q2: q1 * sympy.exp(-((q2 * X) ** 2))`.
        """
        return cls(
            kind="dependent",
            functions=texts(functions),
            coordinates=coordinates,
            **_modes(modes or ("bend-y",)),
        )

    @classmethod
    def named(cls, name: str, *modes: str, duration: float = 1.0) -> Basis:
        """A dependent basis by name: pulse (2 q, moves over `duration`), sigmoid (3), bump (3), bump-quadratic (6)."""
        if name not in DEPENDENT:
            raise ConfigError([Mistake("name", name, f"must be one of {', '.join(DEPENDENT)}")], "the basis")
        formula, count = DEPENDENT[name]
        return cls.dependent(formula.replace("duration", repr(float(duration))), count, *modes)


def _modes(modes: tuple[str, ...]) -> dict[str, Any]:
    return {"modes": modes} if modes else {}
