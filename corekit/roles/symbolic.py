"""What the expressions of some models answer beside `SymbolicModel`: options as symbols, and bilateral rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from attrs import frozen

__all__ = ["SymbolicConstraints", "SymbolicParameter", "SymbolicParameters"]


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
        ...

    def with_parameters(self, values: Mapping[str, Any]) -> Any:
        """The same `SymbolicModel` with (1, 1) expressions instead of the options' numbers.

        Every method of the answer but `functions`, which may not have free symbols, holds them. The numbers of
        `parameters` given back leave everything as it was.
        """
        ...


class SymbolicConstraints(Protocol):
    """Ability `symbolic-constraints`: the constraints of `ConstraintAbility` as expressions of `symbolic()`."""

    def constraints(self, q: Any, v: Any, inputs: Any) -> tuple[Any, Any, Any]:
        """J_b (nb, nv), c (nb, 1) and u (nb, 1), rows in the same order.

        c of rate rows and u of position rows are zero. Which rows give a rate, their compliances and bounds are
        those of `bilateral_rows()`.
        """
        ...
