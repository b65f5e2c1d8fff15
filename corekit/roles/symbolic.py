"""A model's equations as CasADi expressions: the equations themselves, options as symbols, and constraints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from attrs import frozen

__all__ = [
    "SymbolicAbility",
    "SymbolicConstraints",
    "SymbolicModel",
    "SymbolicParameter",
    "SymbolicParameters",
]


class SymbolicModel(Protocol):
    """A model's equations as CasADi expressions: arguments and results are SX, MX or DM.

    q of shape (nq, 1), v (nv, 1), inputs (nu, 1); frames are indices into the description's, `local` (3, 1) [m].
    """

    def mass(self, q: Any) -> Any:
        """M, shape (nv, nv)."""

    def force(self, q: Any, v: Any, inputs: Any) -> Any:
        """f, shape (nv, 1), with the options of the model."""

    def kinetic_energy(self, q: Any, v: Any) -> Any:
        """Kinetic energy [J]."""

    def potential_energy(self, q: Any) -> Any:
        """Potential energy [J], of the same level as the model's `energy`."""

    def pose(self, q: Any, frame: int) -> tuple[Any, Any]:
        """World position (3, 1) [m] and rotation (3, 3) of a frame."""

    def point(self, q: Any, frame: int, local: Any) -> Any:
        """World position (3, 1) [m] of a point fixed in a frame."""

    def point_jacobian(self, q: Any, frame: int, local: Any) -> Any:
        """J of that point, shape (3, nv): ẋ = J·v."""

    def functions(self) -> Mapping[str, Any]:
        """CasADi Functions: mass (q), force (q, v, u), energy (q, v) → (T, V), poses (q) → x (3, f), R (3, 3·f)."""


class SymbolicAbility(Protocol):
    """Ability `symbolic`: the same equations as CasADi expressions, equal to the numbers to 1e-10."""

    def symbolic(self) -> SymbolicModel:
        """The expressions; imports CasADi."""


@frozen
class SymbolicParameter:
    """A number among a model's options that may become a symbol: its unit, and its value in the options."""

    unit: str
    value: float


class SymbolicParameters(Protocol):
    """Ability `symbolic-parameters`: the expressions of `symbolic()` hold options as symbols, for estimators.

    Parameters are named as the options that hold them, so that a fitted value can be written back to a scenario.
    """

    @property
    def parameters(self) -> Mapping[str, SymbolicParameter]:
        """Those that the options in use give a meaning to; one that another option overrules is absent."""

    def with_parameters(self, values: Mapping[str, Any]) -> Any:
        """The same `SymbolicModel` with (1, 1) expressions instead of the options' numbers.

        Every method of the answer but `functions`, which may not have free symbols, holds them. The numbers of
        `parameters` given back leave everything as it was.
        """


class SymbolicConstraints(Protocol):
    """Ability `symbolic-constraints`: the constraints of `ConstraintAbility` as expressions of `symbolic()`."""

    def constraints(self, q: Any, v: Any, inputs: Any) -> tuple[Any, Any, Any]:
        """J_b (nb, nv), c (nb, 1) and u (nb, 1), rows in the same order.

        c of velocity-level rows and u of position-level rows are zero. Levels, compliances and bounds are those of
        `ConstraintAbility.compute_constraints`.
        """
