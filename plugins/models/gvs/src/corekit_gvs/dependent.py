"""Dependent strain bases: strains that are any function b(X, q, t), and their derivatives by SymPy.

With D = ∂/∂t + Σ q̇ᵢ·∂/∂qᵢ, the derivative along a motion with q̈ = 0, a sweep needs at every place

    x₀ = ξ* + D_L·(b − b_q·q),   ẋ₀ = D_L·b_t,   a_v = D_L·D²b,   B = D_L·b_q                                 (1)

so that ξ = x₀ + B·q, ξ̇ = ẋ₀ + B·q̇ and ξ̈ = B·q̈ + a_v. a_v holds b_qq·q̇·q̇, without which accelerations are off
by several per cent. Along a motion d/dt = D + Σ q̈ᵢ·∂/∂q̇ᵢ, and ∂/∂q commutes with it, so tangents need

    ∂ξ/∂q = B,   ∂ξ̇/∂q = Ḃ = D_L·D b_q,   ∂ξ̈/∂q = B̈ = D_L·(D²b_q + b_qq·q̈),   ∂B/∂q = D_L·b_qq            (2)

The last is how J, and with it M, changes where strains are fixed: an independent basis has none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, final

import numpy as np
import sympy

from corekit.data.arrays import Array, IntArray
from corekit_gvs.basis import MODES, Basis
from corekit_gvs.formula import evaluator, expression, formula_of, translated
from corekit_gvs.python_functions import function_of, is_function

__all__ = ["DependentBasis"]


class _Derived(NamedTuple):
    """Formulas b of the symbols in `names`, and what gives b, b_q, b_t, D²b of them, and D b_q, D²b_q, b_qq."""

    names: list[str]
    formulas: list[Any]
    first: Callable[..., Array]
    second: Callable[..., Array]


def _formula(entry: Any, names: list[str], path: str) -> Any:
    """A formula, or what a Python function of X, t, q1, q2, … makes of symbols."""
    if not callable(entry):
        return expression(entry, names, path)
    symbols = [sympy.Symbol(name, real=True) for name in names]
    return formula_of(entry, symbols, names, path)


@lru_cache(maxsize=64)
def _derive(functions: tuple[Any, ...], count: int, path: str) -> _Derived:
    """Derivatives of a basis with `count` coordinates, kept: every place inside a link needs them again."""
    q_names, p_names = [f"q{i + 1}" for i in range(count)], [f"p{i + 1}" for i in range(count)]
    names = ["X", "t", *q_names]
    q, p = ([sympy.Symbol(name, real=True) for name in each] for each in (q_names, p_names))
    t = sympy.Symbol("t", real=True)
    diff: Any = sympy.diff  # whose declared result has no arithmetic

    def along(f: Any) -> Any:
        return diff(f, t) + sum(rate * diff(f, each) for rate, each in zip(p, q, strict=True))

    b = [_formula(entry, names, f"{path}.functions[{i}]") for i, entry in enumerate(functions)]
    slope = [diff(f, each) for f in b for each in q]
    flow = [along(f) for f in slope]
    first = [*b, *slope, *[diff(f, t) for f in b], *[along(along(f)) for f in b]]
    second = [*flow, *[along(f) for f in flow], *[diff(f, each) for f in slope for each in q]]
    known = [*names, *p_names]
    return _Derived(names, b, evaluator(first, known), evaluator(second, known))


@final
class DependentBasis:
    """One dependent basis of one division, written anew into the tables at every state.

    Args:
        basis: modes and formulas.
        X: places, shape (p,).
        scale: diagonal of D_L, (6,).
        first: velocity index of its first coordinate.
        column: its first column among the division's own.
        own: number of the division's own columns.
        path: where it stands in the options.
    """

    def __init__(
        self, basis: Basis, X: Array, scale: Array, first: int, column: int, own: int, path: str
    ) -> None:
        self._X, self._modes, self.count = X, [MODES[mode] for mode in basis.modes], basis.coordinates
        self._scale = scale[self._modes]
        self.first, self._column, self._own = first, column, own
        # before `_derive` looks for what it keeps, so that every robot checks whether its names may be imported
        functions = tuple(
            function_of(entry, f"{path}.functions[{i}]") if is_function(entry) else entry
            for i, entry in enumerate(basis.functions)
        )
        self._derived = _derive(functions, self.count, path)

    def place(self, bases: int, point: int, curvatures: int, plain: Array) -> None:
        """Gets the place of the tables of its first point; those of the others follow.

        Args:
            bases: place of b_q in BASES, 6·own each.
            point: index of the point.
            curvatures: place of b_qq in CURVATURES, own·own·6 each.
            plain: ξ* at the points, (p, 6).
        """
        own, count = self._own, len(self._X)
        self.points: IntArray = np.arange(point, point + count, dtype=np.int64)
        self._rows = slice(point, point + count)
        self._bases = slice(bases, bases + 6 * own * count)
        self._curvatures = slice(curvatures, curvatures + 6 * own * own * count)
        self._columns = slice(self._column, self._column + self.count)
        self._plain = plain[:, self._modes].T.copy()
        # rows of what the formulas give, by the diagonal of D_L
        d, per_slope = self.count, np.repeat(self._scale, self.count)
        self._first_scale = np.concatenate([self._scale, per_slope, self._scale, self._scale])[:, None]
        self._second_scale = np.concatenate([per_slope, per_slope, np.repeat(per_slope, d)])[:, None]

    def update(self, q: Array, v: Array, t: float, strains: Array, bases: Array) -> None:
        """Write (1): strains (points, 18), bases flat."""
        m, d, first = len(self._modes), self.count, self.first
        own_q = q[first : first + d]
        found = self._derived.first(self._X, t, *own_q.tolist(), *v[first : first + d].tolist())
        found *= self._first_scale
        slope, flow = found[m : m + m * d].reshape(m, d, -1), found[m + m * d :]
        table, rows = bases[self._bases].reshape(-1, 6, self._own), strains[self._rows]
        with np.errstate(invalid="ignore"):  # the run stops at what is not finite, and names it
            for i, mode in enumerate(self._modes):
                table[:, mode, self._columns] = slope[i].T
                rows[:, mode] = self._plain[i] + found[i] - own_q @ slope[i]
                rows[:, 6 + mode], rows[:, 12 + mode] = flow[i], flow[m + i]

    def update_slopes(self, q: Array, v: Array, w: Array, t: float, bases: Array, curvatures: Array) -> None:
        """Write Ḃ and B̈ into bases (3, size), and b_qq into curvatures; at q̈ = w, if not empty, B̈ has b_qq·w too."""
        m, d, first = len(self._modes), self.count, self.first
        own_q, own_v = q[first : first + d].tolist(), v[first : first + d].tolist()
        found = self._derived.second(self._X, t, *own_q, *own_v)
        found *= self._second_scale
        slopes, bent = found[: 2 * m * d].reshape(2, m, d, -1), found[2 * m * d :].reshape(m, d, d, -1)
        if len(w):
            slopes[1] += np.einsum("mkjp,j->mkp", bent, w[first : first + d])
        tables = [bases[row][self._bases].reshape(-1, 6, self._own) for row in (1, 2)]
        curved = curvatures[self._curvatures].reshape(-1, self._own, self._own, 6)
        for i, mode in enumerate(self._modes):
            for table, slope in zip(tables, slopes, strict=True):
                table[:, mode, self._columns] = slope[i].T
            curved[:, self._columns, self._columns, mode] = bent[i].transpose(2, 0, 1)

    @property
    def steady(self) -> bool:
        """Whether the formulas do without t."""
        return not any("t" in map(str, f.free_symbols) for f in self._derived.formulas)

    def strains_of(self, q: Any, functions: Mapping[str, Any]) -> list[list[tuple[int, Any]]]:
        """D_L·b at every place as (row of ξ, value), from what q and the functions of another library give.

        Args:
            q: its own coordinates, a sequence.
            functions: functions of formulas by their SymPy names.
        """
        made = translated(self._derived.formulas, self._derived.names, functions)
        return [
            [
                (row, scale * value)
                for row, scale, value in zip(self._modes, self._scale, made(X, 0.0, *q), strict=True)
            ]
            for X in self._X.tolist()
        ]
