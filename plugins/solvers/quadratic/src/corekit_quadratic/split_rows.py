"""Equalities and inequalities apart, as interior point and augmented Lagrangian solvers take them."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from corekit.data.arrays import Array
from corekit_quadratic.patterns import Pattern
from corekit_quadratic.standard_form import StandardForm

__all__ = ["Parts", "SplitRows"]


class Parts(NamedTuple):
    """Ĥ with both triangles, the equalities and their targets, the other rows and their bounds."""

    hessian: Any
    equal: Any
    target: Array
    other: Any
    lower: Array
    upper: Array


@final
class SplitRows:
    """The patterns of a standard form, rows split; valid while the form is not fresh."""

    def __init__(self, form: StandardForm) -> None:
        equal = form.equal
        number = np.where(equal, np.cumsum(equal), np.cumsum(~equal)) - 1
        i, j = form.rows_at
        self._equal, self._mine = equal, equal[i]
        self._hessian = Pattern(form.hessian_at[0], form.hessian_at[1], (form.size, form.size))
        self._rows = Pattern(number[i][self._mine], j[self._mine], (int(equal.sum()), form.size))
        self._others = Pattern(number[i][~self._mine], j[~self._mine], (int((~equal).sum()), form.size))

    def parts(self, form: StandardForm) -> Parts:
        """The current program's parts."""
        equal = self._equal
        return Parts(
            hessian=self._hessian.fill(form.hessian),
            equal=self._rows.fill(form.rows[self._mine]),
            target=form.lower[equal],
            other=self._others.fill(form.rows[~self._mine]),
            lower=form.lower[~equal],
            upper=form.upper[~equal],
        )

    def join(self, of_equal: Array, of_others: Array) -> Array:
        """Multipliers in the form's order of places."""
        joined = np.zeros(len(self._equal))
        joined[self._equal], joined[~self._equal] = of_equal, of_others
        return joined
