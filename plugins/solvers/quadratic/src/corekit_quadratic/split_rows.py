"""Separate matrices of equalities and inequalities, for interior point and augmented Lagrangian solvers."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from corekit.data.arrays import Array
from corekit_quadratic.patterns import Pattern
from corekit_quadratic.standard_form import StandardForm

__all__ = ["SplitProgram", "SplitRows"]


class SplitProgram(NamedTuple):
    """Ĥ with both triangles, the equalities and their targets, the other rows and their bounds."""

    hessian: Any
    equal: Any
    target: Array
    other: Any
    lower: Array
    upper: Array


@final
class SplitRows:
    """Patterns of a standard form with separate rows; valid until the form has a new pattern."""

    def __init__(self, form: StandardForm) -> None:
        equal = form.equal
        position = np.where(equal, np.cumsum(equal), np.cumsum(~equal)) - 1
        i, j = form.rows_index
        self._equal, self._in_equality = equal, equal[i]
        self._hessian = Pattern(form.hessian_index[0], form.hessian_index[1], (form.size, form.size))
        self._rows = Pattern(
            position[i][self._in_equality], j[self._in_equality], (int(equal.sum()), form.size)
        )
        self._others = Pattern(
            position[i][~self._in_equality], j[~self._in_equality], (int((~equal).sum()), form.size)
        )

    def split(self, form: StandardForm) -> SplitProgram:
        """Return the current program with separate rows."""
        equal = self._equal
        return SplitProgram(
            hessian=self._hessian.fill(form.hessian), equal=self._rows.fill(form.rows[self._in_equality]),
            target=form.lower[equal], other=self._others.fill(form.rows[~self._in_equality]),
            lower=form.lower[~equal], upper=form.upper[~equal],
        )  # fmt: skip

    def join(self, equal_multiplier: Array, other_multiplier: Array) -> Array:
        """Return the multipliers in the form's order of rows."""
        joined = np.zeros(len(self._equal))
        joined[self._equal], joined[~self._equal] = equal_multiplier, other_multiplier
        return joined
